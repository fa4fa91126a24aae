"""The figures as aligned plain text."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from catalogue import PEERS, VARIANTS

MEBI = 2**20

Cell = Callable[[dict[str, Any]], str]


def number(key: str, form: str, unit: float = 1.0) -> Cell:
    """A cell that shows one figure, or a dash."""
    return lambda line: format(line[key] / unit, form) if key in line else "-"


def seconds(key: str) -> Cell:
    """Three digits, whatever the size."""

    def cell(line: dict[str, Any]) -> str:
        if key not in line:
            return "-"
        digits = 3 if line[key] < 1 else 2 if line[key] < 10 else 1
        return f"{line[key]:.{digits}f}"

    return cell


def error(line: dict[str, Any]) -> str:
    deviation = f" ±{line['rmse_deviation']:.4f}" if "rmse_deviation" in line else ""
    return number("rmse", ".4f")(line) + deviation


COLUMNS: tuple[tuple[str, Cell], ...] = (
    ("program", lambda line: line["program"]),
    ("fit s", seconds("fit_seconds")),
    ("wall s", seconds("wall_seconds")),
    ("cpu s", seconds("cpu_seconds")),
    ("peak MB", number("peak_bytes", ".0f", MEBI)),
    ("of it fit", number("fit_bytes", ".0f", MEBI)),
    ("RMSE", error),
    ("MAE", number("mae", ".4f")),
    ("x time", number("time_ratio", ".3g")),
    ("x memory", number("memory_ratio", ".2f")),
    ("x RMSE", number("error_ratio", ".3f")),
)

COST_COLUMNS: tuple[tuple[str, Cell], ...] = (
    ("data", lambda line: line["title"]),
    ("version", lambda line: line["version"]),
    ("its", number("iterations", ".0f")),
    ("NumPy ms/it", number("numpy_seconds_per_iteration", ".1f", 1e-3)),
    ("isofactor ms/it", number("isofactor_seconds_per_iteration", ".2f", 1e-3)),
    ("ratio", number("ratio", ".1f")),
    ("objective gap", number("largest_gap", ".1e")),
)


def aligned(columns: tuple[tuple[str, Cell], ...], lines: list[dict[str, Any]], words: int = 1) -> list[str]:
    """The first `words` columns to the left, numbers to the right."""
    cells = [[title for title, _ in columns], *([cell(line) for _, cell in columns] for line in lines)]
    widths = [max(len(row[i]) for row in cells) for i in range(len(columns))]
    place = [str.ljust if i < words else str.rjust for i in range(len(columns))]
    return ["  ".join(put(text, w) for put, text, w in zip(place, row, widths, strict=True)).rstrip() for row in cells]


def render(report: dict[str, Any]) -> str:
    """Everything, in the order: data sets, cost of an iteration, notes."""
    out: list[str] = []
    for data in report["data"]:
        mine = [line for line in report["summary"] if line["data"] == data["name"]]
        if not mine:
            continue
        shape = f"{data['rows']:,} x {data['columns']:,}"
        out += ["", f"{data['title']}: {shape}, {data['train']:,} entries to fit, {data['held_out']:,} held out"]
        out += aligned(COLUMNS, [line for line in mine if "reason" not in line])
        out += [f"{line['program']}: failed, {line['reason']}" for line in mine if "reason" in line]
    titles = {data["name"]: data["title"] for data in report["data"]}
    costs = [{**line, "title": titles[line["data"]]} for line in report["cost"]]
    if costs:
        out += ["", "The paper's algorithm, one iteration, NumPy against isofactor:"]
        out += aligned(COST_COLUMNS, [line for line in costs if "reason" not in line], words=2)
        out += [f"{line['title']}: failed, {line['reason']}" for line in costs if "reason" in line]
    return "\n".join([*out, "", *notes(report)]) + "\n"


def notes(report: dict[str, Any]) -> list[str]:
    """What a reader needs to judge the figures by."""
    ran = {line["program"] for line in report["summary"]}
    machine, seeds = report["machine"], ", ".join(map(str, report["seeds"]))
    return [
        f"{machine['cpu']}, {machine['cores']} cores, threads: {report['threads']}, seeds: {seeds}.",
        f"x: times that of {VARIANTS[0].name}. 'of it fit': peak memory less that of a process that only imports.",
        *(f"{p.name}: {p.note}." for p in (*VARIANTS, *PEERS) if p.note and p.name in ran),
        *report["remarks"],
    ]
