"""What an iteration of the paper's algorithm costs in NumPy and in the program: same start, same steps, same answer.

Without the last, the first two would prove nothing, so the largest gap between the objectives stands beside the ratio.
Both sides make the same iterations, and the fastest of each is taken: what else runs on the machine only adds to it.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import measure
import program as isofactor
from catalogue import DataSet

RANK = 10
LINK_PENALTY = 1e-3
BALANCE_PENALTY = 0.5
SCATTERS = {"NumPy, add.at": "add-at", "NumPy, sparse products": "sparse"}


@dataclass(frozen=True)
class Iterations:
    """The objective from iteration 0 on, and the seconds of each iteration."""

    objective: list[float]
    seconds: list[float]


def bandwidth(data: DataSet) -> float:
    """A sixth of the domain's half-width, as the program would choose; named so that both sides use one number."""
    return data.radius**2 / 6


def run_program(program: Path, data: DataSet, folder: Path, threads: int, limit: float) -> Iterations:
    trace = folder / "cost.csv"
    options = {
        "solver": "bcd", "rank": RANK, "link": "learned", "loss": "sum", "kernel": "gaussian",
        "bandwidth": bandwidth(data), "link-penalty": LINK_PENALTY, "balance-penalty": BALANCE_PENALTY,
        "factor-step": data.factor_step, "link-step": data.link_step, "order": "factors-first", "start": "spectral",
        "start-link": "zero", "project-factors": data.radius, "monotone": "off", "effects": "off",
        "iterations": data.iterations, "threads": threads, "trace": trace,
    }  # fmt: skip
    command: list[str | Path] = [program, "fit", folder / "train.csv", "--json"]
    for name, value in options.items():
        command += [f"--{name}", str(value)]
    measure.run(command, threads, limit)
    lines = isofactor.read_trace(trace)
    seconds = [after["seconds"] - before["seconds"] for before, after in pairwise(lines)]
    return Iterations([line["objective"] for line in lines], seconds)


def run_numpy(python: Path, data: DataSet, folder: Path, scatter: str, threads: int, limit: float) -> Iterations:
    settings = {
        "rank": RANK, "radius": data.radius, "bandwidth": bandwidth(data), "factor_step": data.factor_step,
        "link_step": data.link_step, "link_penalty": LINK_PENALTY, "balance_penalty": BALANCE_PENALTY,
        "iterations": data.iterations,
    }  # fmt: skip
    result = folder / "numpy.json"
    script = Path(__file__).with_name("paper_numpy.py")
    command: list[str | Path] = [python, script, folder / "train.npz", result, scatter, json.dumps(settings)]
    measure.run(command, threads, limit)
    return Iterations(**json.loads(result.read_text()))


def compare(
    program: Path, python: Path, data: DataSet, folder: Path, threads: int, limit: float
) -> list[dict[str, Any]]:
    """One line for each way of writing it in NumPy."""
    ours = run_program(program, data, folder, threads, limit)
    lines = []
    for name, scatter in SCATTERS.items():
        theirs = run_numpy(python, data, folder, scatter, threads, limit)
        lines.append({
            "data": data.name,
            "version": name,
            "iterations": data.iterations,
            "numpy_seconds_per_iteration": min(theirs.seconds),
            "isofactor_seconds_per_iteration": min(ours.seconds),
            "ratio": min(theirs.seconds) / min(ours.seconds),
            "largest_gap": largest_gap(theirs.objective, ours.objective),
            "objective_start": ours.objective[0],
            "objective_end": ours.objective[-1],
        })  # fmt: skip
    return lines


def largest_gap(theirs: list[float], ours: list[float]) -> float:
    """Relative, over the start and all iterations."""
    return max(abs(a - b) / abs(b) for a, b in zip(theirs, ours, strict=True))
