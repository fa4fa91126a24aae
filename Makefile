# Everything a contributor runs. `make test` is what must pass before a change lands.

CARGO ?= cargo

.PHONY: test format lint doc check bench-reference deny clean

test: format lint doc check

format:
	$(CARGO) fmt --all --check

lint:
	$(CARGO) clippy --workspace --all-targets --locked -- -D warnings

doc:
	RUSTDOCFLAGS="-D warnings" $(CARGO) doc --workspace --no-deps --locked

# The same random cases every time, so that a change fails for what it changed; leave the seed out
# to look for new ones.
check:
	PROPTEST_RNG_SEED=20261115 $(CARGO) test --workspace --locked

# The program against a plain NumPy version of the algorithm that keeps every kernel centre.
bench-reference: .venv/numpy
	$(CARGO) build --release --locked
	.venv/bin/python bench/compare_reference.py --program target/release/isofactor

.venv/numpy:
	python3 -m venv .venv
	.venv/bin/pip install --quiet numpy
	touch .venv/numpy

# Licences, duplicate versions and sources of all dependencies.
deny:
	command -v cargo-deny >/dev/null || $(CARGO) install --locked cargo-deny
	cargo deny check bans licenses sources

clean:
	$(CARGO) clean
	rm -rf .venv
