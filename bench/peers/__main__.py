"""isofactor beside its peers, on the same entries, in one run: time, memory, error.

    python3 bench/peers --data ../shared/data --out bench-out

Prints a table and writes peers.txt, peers.json and peers.svg. Makes its own environment for the peers; needs nothing
but Python and the program. What cannot be installed or fails is a line of the table with its reason.
"""

from __future__ import annotations

import argparse
import json
import shutil
import sys
import tempfile
from pathlib import Path
from typing import Any

import catalogue
import chart
import cost
import machine
import measure
import program as isofactor
import summary
import table
from catalogue import DataSet, Peer, Variant
from environment import Environment, EnvironmentFailed
from files import write_whole

ROOT = Path(__file__).resolve().parents[2]
HERE = Path(__file__).resolve().parent
NUMPY = "numpy"  # the name of the comparison with the NumPy version, for --only and --skip


def say(text: str) -> None:
    """Progress goes to standard error, so that standard output is the table alone."""
    print(text, file=sys.stderr, flush=True)


# ---- arguments ----


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="bench/peers", description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--data", type=Path, help="folder with movielens-small/ and jester-1/")
    parser.add_argument("--out", type=Path, default=Path("bench-out"), help="folder for the results [bench-out]")
    parser.add_argument("--program", type=Path, default=ROOT / "target/release/isofactor", help="the isofactor binary")
    parser.add_argument(
        "--environment", type=Path, default=ROOT / "target/bench-venv", help="where peers are installed"
    )
    parser.add_argument("--sets", type=words, default=None, help="data sets by name, e.g. movielens,jester")
    parser.add_argument("--only", type=words, default=None, help="programs whose name contains one of these")
    parser.add_argument("--skip", type=words, default=[], help="leave out programs whose name contains one of these")
    parser.add_argument("--seeds", type=positive, default=1, help="how many splits, numbered from 0 [1]")
    parser.add_argument("--threads", type=positive, default=2, help="threads for everybody [2]")
    parser.add_argument("--limit", type=float, default=1800.0, help="seconds that one run may take [1800]")
    parser.add_argument("--quick", action="store_true", help="MovieLens only, one seed")
    chosen = parser.parse_args()
    known = [p.name for p in (*catalogue.VARIANTS, *catalogue.PEERS)] + [NUMPY]
    for word in (chosen.only or []) + chosen.skip:
        if not any(word in name.lower() for name in known):
            parser.error(f"no program's name contains {word!r}; there are: {', '.join(known)}")
    for word in chosen.sets or []:
        if word not in [data.name for data in catalogue.DATA]:
            parser.error(f"no data set {word!r}; there are: {', '.join(data.name for data in catalogue.DATA)}")
    if not chosen.program.is_file():
        parser.error(f"{chosen.program} is missing: build it with 'cargo build --release', or name it with --program")
    if chosen.quick:
        chosen.sets, chosen.seeds = ["movielens"], 1
    return chosen


def words(text: str) -> list[str]:
    return [word.strip().lower() for word in text.split(",") if word.strip()]


def positive(text: str) -> int:
    value = int(text)
    if value < 1:
        raise argparse.ArgumentTypeError("must be at least 1")
    return value


def wanted(name: str, options: argparse.Namespace) -> bool:
    low = name.lower()
    asked = options.only is None or any(word in low for word in options.only)
    return asked and not any(word in low for word in options.skip)


def choose_data(options: argparse.Namespace, remarks: list[str]) -> list[DataSet]:
    """The data sets that are asked for and there; what is missing is said, and made data are always possible."""
    asked = [data for data in catalogue.DATA if options.sets is None or data.name in options.sets]
    found = []
    for data in asked:
        path = options.data / data.source if options.data and data.source else None
        if not data.source or (path and path.is_file()):
            found.append(data)
        else:
            where = f"{path} is missing" if path else "no --data folder was given"
            remarks.append(f"{data.title} left out: {where}.")
            say(remarks[-1])
    if not found:
        found = [data for data in catalogue.DATA if not data.source]
        remarks.append("Made data were used instead.")
        say(remarks[-1])
    return found


# ---- runs ----


class Bench:
    """What all runs share, and what they found so far."""

    def __init__(self, options: argparse.Namespace, environment: Environment, missing: dict[tuple[str, ...], str]):
        self.options = options
        self.environment = environment
        self.missing = missing
        self.variants = [v for v in catalogue.VARIANTS if wanted(v.name, options)]
        self.peers = [p for p in catalogue.PEERS if wanted(p.name, options)]
        self.runs: list[dict[str, Any]] = []
        self.costs: list[dict[str, Any]] = []
        self.described: list[dict[str, Any]] = []
        self.baselines: dict[str, int] = {}

    def split(self, data: DataSet, seed: int, folder: Path) -> dict[str, int]:
        """Train and held-out entries in `folder`, made by a child so that this process stays small; their counts."""
        source = folder / "made.csv"
        if data.source:
            source = self.options.data / data.source
        else:
            command = [self.options.program, "generate", *catalogue.MADE_ARGUMENTS, "--seed", str(seed)]
            self.measured([*command, "--out", source])
        command = [self.environment.python, HERE / "prepare.py", data.kind, source, folder, str(seed)]
        return json.loads(self.measured(command).output)

    def measured(self, command: list[Any]) -> measure.Measured:
        return measure.run(command, self.options.threads, self.options.limit)

    def baseline(self, key: str, command: list[Any]) -> int:
        """Peak memory of a process that only loads what it needs; measured once for each adapter."""
        if key not in self.baselines:
            self.baselines[key] = self.measured(command).peak_bytes
        return self.baselines[key]

    def run_variant(self, variant: Variant, data: DataSet, seed: int, folder: Path) -> dict[str, Any]:
        o = self.options
        found = isofactor.fit_and_judge(o.program, variant, data, folder, o.threads, seed, o.limit)
        return found | {"fit_bytes": found["peak_bytes"] - self.baseline("program", [o.program, "--version"])}

    def run_peer(self, peer: Peer, data: DataSet, seed: int, folder: Path) -> dict[str, Any]:
        if peer.requires in self.missing:
            raise measure.Failed(f"not installed: {self.missing[peer.requires]}")
        python, script, result = self.environment.python, HERE / "child.py", folder / "result.json"
        before = self.baseline(peer.adapter, [python, script, peer.adapter, "--import-only"])
        result.unlink(missing_ok=True)
        options = json.dumps(peer.options_for(data.name))
        done = self.measured(
            [python, script, peer.adapter, folder, result, str(self.options.threads), str(seed), options]
        )
        found = json.loads(result.read_text())
        return found | {
            "wall_seconds": done.wall_seconds,
            "cpu_seconds": done.cpu_seconds,
            "peak_bytes": done.peak_bytes,
            "fit_bytes": done.peak_bytes - before,
        }

    def record(self, kind: Any, what: Variant | Peer, data: DataSet, seed: int, folder: Path) -> None:
        """One run with its outcome, good or bad."""
        outcome: dict[str, Any]
        try:
            outcome = kind(what, data, seed, folder)
            error = f"RMSE {outcome['rmse']:.4f}" if "rmse" in outcome else "predicts no values"
            told = f"{outcome['fit_seconds']:.2f} s, {error}"
        except measure.Failed as error:
            outcome = {"reason": str(error)}
            told = f"failed: {error}"
        say(f"  {what.name:<22} {told}")
        self.runs.append({"data": data.name, "program": what.name, "seed": seed} | outcome)

    def run_data(self, data: DataSet, seed: int) -> None:
        """Everybody on one split of one data set."""
        say(f"{data.title}, seed {seed}")
        with tempfile.TemporaryDirectory(prefix="isofactor-bench-") as scratch:
            folder = Path(scratch)
            counts = self.split(data, seed, folder)
            if seed == 0:
                self.described.append({"name": data.name, "title": data.title, **counts})
            for variant in self.variants:
                self.record(self.run_variant, variant, data, seed, folder)
            for peer in self.peers:
                self.record(self.run_peer, peer, data, seed, folder)
            if seed == 0 and wanted(NUMPY, self.options):
                self.run_cost(data, folder)

    def run_cost(self, data: DataSet, folder: Path) -> None:
        o = self.options
        try:
            found = cost.compare(o.program, self.environment.python, data, folder, o.threads, o.limit)
        except measure.Failed as error:
            found = [{"data": data.name, "reason": str(error)}]
        for line in found:
            told = (
                f"failed: {line['reason']}" if "reason" in line else f"{line['ratio']:.1f} times isofactor's iteration"
            )
            say(f"  {line.get('version', 'NumPy'):<22} {told}")
        self.costs += found


def report_of(bench: Bench, remarks: list[str]) -> dict[str, Any]:
    options = bench.options
    return {
        "machine": machine.describe(),
        "threads": options.threads,
        "seeds": list(range(options.seeds)),
        "versions": {"isofactor": isofactor.version(options.program), **bench.environment.versions()},
        "options": {p.name: {d.name: p.options_for(d.name) for d in catalogue.DATA} for p in bench.peers}
        | {v.name: list(v.arguments) for v in bench.variants},
        "data": bench.described,
        "summary": summary.summarise(bench.runs),
        "cost": bench.costs,
        "runs": bench.runs,
        "remarks": remarks,
    }


def save(report: dict[str, Any], out: Path) -> None:
    out.mkdir(parents=True, exist_ok=True)
    write_whole(out / "peers.txt", table.render(report))
    write_whole(out / "peers.json", json.dumps(report, indent=1) + "\n")
    if any("rmse" in line for line in report["summary"]):
        write_whole(out / "peers.svg", chart.draw(report))


def main() -> int:
    options = arguments()
    remarks: list[str] = []
    chosen = choose_data(options, remarks)
    environment = Environment(options.environment.absolute(), say)
    try:
        missing = environment.prepare(p.requires for p in catalogue.PEERS if wanted(p.name, options))
    except EnvironmentFailed as error:
        say(f"the environment for the peers could not be made: {error}")
        return 1
    measure.pin_cores(options.threads)
    remarks += machine.busy()
    # A copy, so that a build that goes on meanwhile does not change what is measured.
    with tempfile.TemporaryDirectory(prefix="isofactor-bench-") as scratch:
        options.program = Path(shutil.copy2(options.program, scratch))
        bench = Bench(options, environment, missing)
        try:
            for data in chosen:
                for seed in range(options.seeds):
                    bench.run_data(data, seed)
        except measure.Failed as error:
            say(f"the data could not be prepared: {error}")
            return 1
        report = report_of(bench, remarks)
    save(report, options.out)
    print(table.render(report), end="")
    say(f"wrote peers.txt, peers.json and peers.svg to {options.out}")
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except KeyboardInterrupt:
        say("interrupted: nothing was written")
        sys.exit(130)
