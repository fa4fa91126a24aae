"""The program's own lines of the table: fitted on the training entries alone, judged by `evaluate` afterwards.

`fit --valid` would choose the iterate by the held-out entries, which no peer is allowed to see.
"""

from __future__ import annotations

import csv
import json
import subprocess
from pathlib import Path
from typing import Any

import measure
from catalogue import DataSet, Variant


def fit_and_judge(
    program: Path, variant: Variant, data: DataSet, folder: Path, threads: int, seed: int, limit: float
) -> dict[str, Any]:
    """Times, memory and held-out errors of one variant on one split."""
    model, trace = folder / "model", folder / "trace.csv"
    extra = [argument.format(radius=data.radius) for argument in variant.arguments]
    command: list[str | Path] = [program, "fit", folder / "train.csv", "--json", "--out", model, "--trace", trace]
    command += ["--seed", str(seed), "--threads", str(threads), *extra]
    trace.unlink(missing_ok=True)
    fitted = measure.run(command, threads, limit)
    judged = measure.run([program, "evaluate", model, folder / "valid.csv", "--json"], threads, limit)
    report, error = json.loads(fitted.output), json.loads(judged.output)
    # The trace's clock starts after reading; the report's at the start of the program.
    lines = read_trace(trace) if trace.exists() else []
    fit_seconds = lines[-1]["seconds"] if lines else report["seconds"]
    return {
        "fit_seconds": fit_seconds,
        "read_seconds": max(report["seconds"] - fit_seconds, 0.0),
        "predict_seconds": judged.wall_seconds,
        "wall_seconds": fitted.wall_seconds + judged.wall_seconds,
        "cpu_seconds": fitted.cpu_seconds + judged.cpu_seconds,
        "peak_bytes": fitted.peak_bytes,
        "rmse": error["rmse"],
        "mae": error["mae"],
        "unpredicted": 0,
        "iterations": report["iterations"],
        "rank": report["rank"],
        "solver": report["solver"],
    }


def read_trace(path: Path) -> list[dict[str, float]]:
    """The trace's lines; what is empty there is left out here."""
    with open(path, newline="", encoding="utf-8") as file:
        return [{name: float(text) for name, text in line.items() if text} for line in csv.DictReader(file)]


def version(program: Path) -> str:
    said = subprocess.run([program, "--version"], capture_output=True, text=True, check=False)
    return said.stdout.strip() or "unknown"
