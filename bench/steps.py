"""What an iteration of `--solver bcd` costs with steps that are searched for, its default.

`make bench-cost` measures iterations that all cost the same; here they are those of whole fits: trials that
fail, projections and domains that grow included. The time is the difference between two lines of one trace.
Run by `make bench-steps`; needs the program and the data folder.
"""

import argparse
import json
import tempfile
from pathlib import Path

from objective import trace

RANK = "10"
IDENTITY = ["--link", "identity"]
P_C = ["--project-factors", "auto"]
# Each learned link beside the identity under the same constraint on the factors.
PAIRS = {"increasing": (IDENTITY, []), "both projections": ([*IDENTITY, *P_C], P_C)}


def iteration(program: str, folder: Path, arguments: list[str], lines: tuple[int, int]) -> float:
    """Milliseconds an iteration between two lines of the trace."""
    first, last = lines
    options = ["--solver", "bcd", "--rank", RANK, "--iterations", str(last)]
    seconds = {line: at for line, _, at in trace(program, folder, [*arguments, *options])}
    return 1e3 * (seconds[last] - seconds[first]) / (last - first)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--program", default="target/release/isofactor")
    parser.add_argument("--data", type=Path, required=True, help="folder with both data sets")
    parser.add_argument("--out", type=Path, default=Path("target/bench"))
    options = parser.parse_args()
    movielens = [str(options.data / "movielens-small" / "ratings.csv")]
    jester = [str(options.data / "jester-1" / "jester-data-1.csv"), "--wide", "--skip", "1", "--missing", "99"]
    sets = {"MovieLens": (movielens, (200, 1200)), "Jester": (jester, (20, 120))}
    results = []
    print(f"{'data':10} {'learned link':18} {'identity ms':>12} {'learned ms':>12} {'ratio':>6}")
    with tempfile.TemporaryDirectory() as name:
        for data, (arguments, lines) in sets.items():
            for constraint, pair in PAIRS.items():
                identity, learned = (
                    iteration(options.program, Path(name), [*arguments, *of], lines) for of in pair
                )
                ratio = learned / identity
                print(f"{data:10} {constraint:18} {identity:12.2f} {learned:12.2f} {ratio:6.2f}", flush=True)
                results.append({
                    "data": data, "constraint": constraint, "iterations": lines,
                    "identity_ms": identity, "learned_ms": learned, "ratio": ratio,
                })
    options.out.mkdir(parents=True, exist_ok=True)
    (options.out / "steps.json").write_text(json.dumps(results, indent=2) + "\n")


if __name__ == "__main__":
    main()
