"""How much sooner `--solver lbfgs` brings the paper's objective as low as Algorithm 1.

Algorithm 1 (`--solver bcd`) makes 5,000 iterations; lbfgs, with the same penalties and constraints,
goes on until its objective is as low. Both times are those of the trace, from the first line of
reading on. Run by `make bench-objective`; needs the program and nothing else.
"""

import argparse
import csv
import json
import subprocess
import sys
import tempfile
from pathlib import Path

ITERATIONS = 5000
MOST = 500
CONSTRAINTS = [[], ["--monotone", "off"], ["--project-factors", "auto"]]
MADE = ["sigmoid", "tanh", "softplus", "exponential"]


def trace(program: str, folder: Path, arguments: list[str]) -> list[tuple[int, float, float]]:
    """Iteration, objective and seconds of every line of the trace."""
    path = folder / "trace.csv"
    options = ["--tolerance", "0", "--json", "--trace", str(path), "--out", str(folder / "model")]
    run = subprocess.run([program, "fit", *arguments, *options], capture_output=True, text=True)
    if run.returncode != 0:
        sys.exit(run.stderr)
    with path.open() as lines:
        return [
            (int(row["iteration"]), float(row["objective"]), float(row["seconds"]))
            for row in csv.DictReader(lines)
        ]


def compare(program: str, folder: Path, name: str, arguments: list[str]) -> dict:
    slow = trace(program, folder, [*arguments, "--solver", "bcd", "--iterations", str(ITERATIONS)])
    fast = trace(program, folder, [*arguments, "--solver", "lbfgs", "--iterations", str(MOST)])
    _, goal, slow_seconds = slow[-1]
    hit = next((line for line in fast if line[1] <= goal), None)
    least = min(objective for _, objective, _ in fast)
    result = {
        "data": name,
        "options": " ".join(arguments[1:]),
        "objective": goal,
        "bcd_iterations": slow[-1][0],
        "bcd_seconds": slow_seconds,
        "lbfgs_iterations": hit and hit[0],
        "lbfgs_seconds": hit and hit[2],
        "ratio": hit and slow_seconds / hit[2],
        "lbfgs_least": least,
    }
    found = f"{hit[0]:5} {hit[2]:7.2f} s   {result['ratio']:6.1f}" if hit else f"not reached: {least:.6g}"
    print(f"{name:14} {result['options']:38} {goal:12.6g} {slow_seconds:8.2f} s   {found}", flush=True)
    return result


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--program", default="target/release/isofactor")
    parser.add_argument("--data", type=Path, help="folder with movielens-small/ratings.csv")
    parser.add_argument("--jester", action="store_true", help="Jester-1 too, with P_C: five minutes more")
    parser.add_argument("--out", type=Path, default=Path("target/bench"))
    options = parser.parse_args()
    results = []
    print(f"{'data':14} {'options':38} {'objective':>12} {'bcd':>10}   {'lbfgs':>15}   ratio")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for link in MADE:
            path = folder / f"{link}.csv"
            shape = ["--rows", "300", "--columns", "200", "--rank", "3", "--observed", "20000"]
            subprocess.run(
                [options.program, "generate", *shape, "--link", link, "--noise", "0.05",
                 "--seed", "1", "--out", str(path)],
                check=True, capture_output=True,
            )
            for constraints in CONSTRAINTS:
                arguments = [str(path), "--rank", "3", *constraints]
                results.append(compare(options.program, folder, link, arguments))
        if options.data:
            ratings = options.data / "movielens-small" / "ratings.csv"
            settings = [["10", *constraints] for constraints in CONSTRAINTS]
            for rank, *constraints in [*settings, ["5"], ["20"]]:
                arguments = [str(ratings), "--rank", rank, *constraints]
                results.append(compare(options.program, folder, "MovieLens", arguments))
        if options.data and options.jester:
            wide = options.data / "jester-1" / "jester-data-1.csv"
            read = [str(wide), "--wide", "--skip", "1", "--missing", "99", "--rank", "10"]
            results.append(compare(options.program, folder, "Jester", [*read, *CONSTRAINTS[2]]))
    options.out.mkdir(parents=True, exist_ok=True)
    (options.out / "objective.json").write_text(json.dumps(results, indent=2) + "\n")


if __name__ == "__main__":
    main()
