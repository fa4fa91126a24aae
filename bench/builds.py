"""Two builds of the cost benchmark in turn: whether a change made an iteration faster, on a machine that is not quiet.

    python3 bench/builds.py BEFORE AFTER --runs 7 -- --data FOLDER --sizes 1e5,1e6 --rounds 3

BEFORE and AFTER are executables that `cargo bench --bench cost --no-run` made; what follows `--` goes to both.
Of every figure the least over the runs is printed: what else the machine does only adds to it.
"""

import argparse
import json
import subprocess
import sys
import tempfile
from pathlib import Path

PASSES = ["gather", "identity", "learned", "projected"]


def measure(program: str, arguments: list[str]) -> dict[tuple, dict[str, float]]:
    """Nanoseconds an entry, of every data set, rank and number of threads."""
    with tempfile.TemporaryDirectory() as folder:
        command = [program, *arguments, "--out", folder]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
        rows = json.loads((Path(folder) / "cost.json").read_text())
    return {
        (row["data"], row["rank"], row["threads"]): {
            name: 1e9 * row["seconds"][name] / row["entries"] for name in PASSES
        }
        for row in rows
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("before")
    parser.add_argument("after")
    parser.add_argument("--runs", type=int, default=7)
    own, _, of_benchmark = " ".join(sys.argv[1:]).partition(" -- ")
    options = parser.parse_args(own.split())
    builds = {"before": options.before, "after": options.after}
    least: dict[tuple, dict[str, float]] = {}
    for run in range(options.runs):
        # Each build goes first every other time.
        for name in sorted(builds, reverse=run % 2 == 0):
            for what, figures in measure(builds[name], of_benchmark.split()).items():
                known = least.setdefault((*what, name), figures)
                least[(*what, name)] = {key: min(known[key], figures[key]) for key in PASSES}
    print(f"{'data':16} {'rank':>4} {'threads':>7} {'build':7}" + "".join(f"{name:>11}" for name in PASSES))
    for (data, rank, threads, name), figures in least.items():
        cells = "".join(f"{figures[key]:11.2f}" for key in PASSES)
        print(f"{data:16} {rank:4} {threads:7} {name:7}{cells}")


if __name__ == "__main__":
    main()
