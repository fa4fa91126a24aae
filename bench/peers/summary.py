"""From single runs to lines of the table: means over seeds, and ratios to the program's first variant."""

from __future__ import annotations

from statistics import fmean, stdev
from typing import Any

from catalogue import VARIANTS

FIGURES = (
    "fit_seconds", "read_seconds", "predict_seconds", "wall_seconds", "cpu_seconds", "peak_bytes", "fit_bytes", "rmse",
    "mae",
)  # fmt: skip
RATIOS = {"time_ratio": "fit_seconds", "memory_ratio": "peak_bytes", "error_ratio": "rmse"}


def summarise(runs: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """One line for each data set and program, in the order in which they ran."""
    keys = dict.fromkeys((run["data"], run["program"]) for run in runs)
    lines = [one_line(*key, [run for run in runs if (run["data"], run["program"]) == key]) for key in keys]
    for line in lines:
        line |= ratios(line, lines)
    return lines


def one_line(data: str, name: str, runs: list[dict[str, Any]]) -> dict[str, Any]:
    """A program that fails for any seed has failed: a mean over the others would flatter it."""
    failed = [run["reason"] for run in runs if "reason" in run]
    if failed:
        return {"data": data, "program": name, "seeds": len(runs), "reason": failed[0]}
    line: dict[str, Any] = {"data": data, "program": name, "seeds": len(runs)}
    for figure in FIGURES:
        found = [run[figure] for run in runs if figure in run]
        if found:
            line[figure] = fmean(found)
    if len(runs) > 1 and "rmse" in line:
        line["rmse_deviation"] = stdev(run["rmse"] for run in runs)
    return line


def ratios(line: dict[str, Any], lines: list[dict[str, Any]]) -> dict[str, float]:
    """Empty where either side has no figure."""
    ours = next((o for o in lines if (o["data"], o["program"]) == (line["data"], VARIANTS[0].name)), {})
    return {name: line[of] / ours[of] for name, of in RATIOS.items() if of in line and ours.get(of)}
