# Everything a contributor runs. `make test` is what must pass before a change lands.

CARGO ?= cargo
# Where MovieLens and Jester are, and where benchmarks leave their results.
DATA ?= ../shared/data
BENCH_OUT ?= target/bench
# Without that folder the benchmarks use made data alone.
DATA_OPTION = $(if $(wildcard $(DATA)),--data $(abspath $(DATA)))

.PHONY: test format lint doc check browser-test python-test python-test-oldest wheel sdist \
        bench bench-passes bench-cost bench-memory bench-curved bench-objective bench-steps bench-peers bench-reference \
        bench-reading bench-python bench-porting fuzz-model fuzz-readers kill-test program deny guide clean

test: format lint doc check browser-test python-test

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

# Pages in a real browser: errors, requests, accessibility, keyboard, phone and paper. Skipped, with a
# line that says so, where Chromium or Node is missing. Screenshots go to target/browser/shots.
browser-test: test-program
	tests/browser/run.sh

# What a change to the inner loops should be judged by; no test asserts a time. One after the other
# even under -j, for they would slow each other down.
bench: program
	$(MAKE) bench-passes
	$(MAKE) bench-cost SIZES=1e5,1e6,1e7 ROUNDS=9
	$(MAKE) bench-peers

bench-passes:
	$(CARGO) bench --locked --package isofactor-lab --bench passes

# docs/cost.md is made from this; it takes ten minutes and 8 GiB.
SIZES ?= 1e5,1e6,4e6,1.6e7,6.4e7,1e8
ROUNDS ?= 5
bench-cost:
	$(CARGO) bench --locked --package isofactor-lab --bench cost -- $(DATA_OPTION) \
	    --sizes $(SIZES) --rounds $(ROUNDS) --out $(abspath $(BENCH_OUT))

# The peak of a whole `isofactor fit`, on a made file of a gigabyte that is removed again.
bench-memory: program
	$(CARGO) bench --locked --package isofactor-lab --bench cost -- --memory 5e7 \
	    --program $(abspath target/release/isofactor) --out $(abspath $(BENCH_OUT))

# How close a learned link comes to the fit that is given the true one, on made data.
bench-curved:
	$(CARGO) bench --locked --package isofactor-lab --bench curved -- --out $(abspath $(BENCH_OUT))

# How much sooner lbfgs brings the paper's objective as low as 5,000 iterations of Algorithm 1.
bench-objective: program
	python3 bench/objective.py $(DATA_OPTION) --out $(BENCH_OUT)

# What an iteration of Algorithm 1 costs with steps that are searched for, learned beside identity.
bench-steps: program
	python3 bench/steps.py $(DATA_OPTION) --out $(BENCH_OUT)

bench-peers: program
	python3 bench/peers $(DATA_OPTION) --out $(BENCH_OUT)

# Millions of damaged model files: none may panic, hang, or be used as what it is not.
MODEL_CASES ?= 2000000
fuzz-model:
	ISOFACTOR_FUZZ_CASES=$(MODEL_CASES) $(CARGO) test --release --locked --package isofactor-io \
	    --test model_fuzz -- --nocapture

# Fits by both solvers are killed so often, at any moment, and must end in the same bytes.
KILLS ?= 200
kill-test:
	KILLS=$(KILLS) $(CARGO) test --locked --package isofactor-cli --test cli kill:: -- --nocapture

# The CSV reader beside polars, on made files of 50 million lines that are removed again.
LINES ?= 5e7
bench-reading: .venv/polars
	$(CARGO) build --release --locked --package isofactor-io --example read_entries
	.venv/bin/python bench/reading/compare.py --lines $(LINES) --out $(abspath $(BENCH_OUT)) \
	    --reader $(or $(CARGO_TARGET_DIR),target)/release/examples/read_entries

# So many damaged files of each of 19 kinds; SEED=N begins elsewhere, ONLY=parquet takes some kinds.
CASES ?= 100000
fuzz-readers:
	CASES=$(CASES) $(CARGO) test --release --locked --package isofactor-io --test hostile -- --nocapture

# What the Python package adds to a fit of Jester-1 in time, and of a matrix in memory.
bench-python: wheel
	$(call python_environment,target/bench-python-venv,target/wheels,numpy pandas)
	DATA=$(abspath $(DATA)) target/bench-python-venv/bin/python bench/python_overhead.py

# The ports of docs/python.md beside their originals, in one run.
bench-porting: wheel
	$(call python_environment,target/porting-venv,target/wheels,numpy==2.3.5 pandas==2.3.3 \
	    scikit-surprise==1.1.5 cmfrec==3.5.1.post14)
	cd examples/porting && DATA=$(abspath $(DATA)) $(abspath target/porting-venv)/bin/python compare.py

program:
	$(CARGO) build --release --locked

# The program as the tests build it: a build of the program alone would compile the same
# dependencies again with fewer of their features.
test-program:
	$(CARGO) test --workspace --locked --no-run --quiet

# The program against a plain NumPy version of the algorithm that keeps every kernel centre.
bench-reference: .venv/numpy program
	.venv/bin/python bench/compare_reference.py --program target/release/isofactor

.venv/polars:
	python3 -m venv .venv
	.venv/bin/pip install --quiet numpy polars
	touch .venv/polars

.venv/numpy:
	python3 -m venv .venv
	.venv/bin/pip install --quiet numpy
	touch .venv/numpy

# The Python package: python3 from 3.9 on, with venv, and a package index.
PYTHON ?= python3
TARGET = $(if $(CARGO_TARGET_DIR),$(CARGO_TARGET_DIR),target)
MATURIN = target/build-venv/bin/maturin

target/build-venv/maturin:
	mkdir -p target
	$(PYTHON) -m venv --clear target/build-venv
	target/build-venv/bin/pip install --quiet --disable-pip-version-check 'maturin>=1.9.4,<2'
	touch $@

# An environment of its own, made anew: its folder, the folder of the wheel, what else it needs.
define python_environment
$(PYTHON) -m venv --clear $(1)
$(1)/bin/pip install --quiet --disable-pip-version-check $(2)/isofactor-*.whl $(3)
endef

# One wheel for Python 3.9 and later.
wheel: target/build-venv/maturin
	rm -rf target/wheels
	$(MATURIN) build --release --locked --manifest-path python/Cargo.toml --out target/wheels

sdist: target/build-venv/maturin
	$(MATURIN) sdist --manifest-path python/Cargo.toml --out target/wheels

# The package as users get it, in a fresh environment. Built like the tests of the crates, whose
# compiled dependencies it shares: the slower link of a release is not what is tested.
python-test: target/build-venv/maturin test-program
	rm -rf target/test-wheels
	$(MATURIN) build --profile dev --locked --manifest-path python/Cargo.toml --out target/test-wheels
	$(call python_environment,target/python-venv,target/test-wheels,matplotlib pandas polars pyarrow pytest mypy)
	$(call run_python_tests,target/python-venv)

# The same with the oldest versions that are supported, on the oldest Python: PYTHON=python3.9.
python-test-oldest: target/build-venv/maturin test-program
	rm -rf target/test-wheels
	$(MATURIN) build --profile dev --locked --manifest-path python/Cargo.toml --out target/test-wheels
	$(call python_environment,target/python-oldest-venv,target/test-wheels,-r python/oldest.txt)
	$(call run_python_tests,target/python-oldest-venv)

define run_python_tests
cd python/tests && ISOFACTOR_PROGRAM=$(abspath $(TARGET)/debug/isofactor) DATA=$(abspath $(DATA)) \
    $(abspath $(1))/bin/python -m pytest -q -p no:cacheprovider .
cd python/tests && $(abspath $(1))/bin/python -m pytest -q -p no:cacheprovider --doctest-modules --pyargs isofactor
endef

# Licences, duplicate versions and sources of all dependencies.
deny:
	command -v cargo-deny >/dev/null || $(CARGO) install --locked cargo-deny
	cargo deny check bans licenses sources

# The guide as pages to read in a browser: target/book/index.html.
guide:
	command -v mdbook >/dev/null || $(CARGO) install --locked mdbook --version '^0.5' --no-default-features --features search
	mdbook build docs

clean:
	$(CARGO) clean
	rm -rf .venv
