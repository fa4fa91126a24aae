"""Time against held-out error, one panel a data set, as an SVG that needs nothing else.

Lower left is better. Errors far above the rest are drawn at the upper edge with their value, because one bad fit would
otherwise flatten the differences that matter.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from html import escape
from statistics import median
from typing import Any

WIDTH, PANEL = 820, 380
LEFT, RIGHT, TOP, BOTTOM = 70, 36, 46, 56
OURS, THEIRS, INK, FAINT = "#c2410c", "#475569", "#1e293b", "#e2e8f0"
TEXT, CHARACTER, LINE = 12, 7.1, 14  # size of labels, mean width of a character, height of a line
REACH = 2.5  # errors further from the best than this many times the median's distance go to the edge


@dataclass(frozen=True)
class Box:
    left: float
    top: float
    right: float
    bottom: float

    def overlap(self, other: Box) -> float:
        wide = min(self.right, other.right) - max(self.left, other.left)
        high = min(self.bottom, other.bottom) - max(self.top, other.top)
        return wide * high if wide > 0 and high > 0 else 0.0

    def outside(self, frame: Box) -> float:
        """How far it sticks out."""
        return (
            max(0.0, frame.left - self.left) + max(0.0, self.right - frame.right)
            + max(0.0, frame.top - self.top) + max(0.0, self.bottom - frame.bottom)
        )  # fmt: skip


@dataclass(frozen=True)
class Point:
    x: float
    y: float
    label: str
    ours: bool
    over_the_edge: bool

    def box(self) -> Box:
        return Box(self.x - 6, self.y - 6, self.x + 6, self.y + 6)


@dataclass(frozen=True)
class Label:
    point: Point
    x: float  # of the text's left end
    y: float  # of its middle
    far: bool  # so far that a line has to say whose it is

    def box(self) -> Box:
        wide = CHARACTER * len(self.point.label) * (1.06 if self.point.ours else 1.0)
        return Box(self.x - 2, self.y - LINE / 2, self.x + wide + 2, self.y + LINE / 2)

    def line_end(self) -> tuple[float, float]:
        """Where a line from the point meets the label."""
        box = self.box()
        x = min(max(self.point.x, box.left + 4), box.right - 4)
        return x, box.bottom - 1 if box.bottom < self.point.y else box.top + 1

    def line_crosses(self, other: Box) -> bool:
        """Whether that line runs through something else; looked at in a few places."""
        x, y = self.line_end()
        steps = (i / 12 for i in range(13))
        along = ((self.point.x + s * (x - self.point.x), self.point.y + s * (y - self.point.y)) for s in steps)
        return any(other.left < x < other.right and other.top < y < other.bottom for x, y in along)


class Axes:
    """Seconds on a log scale and errors on a plain one, as places in the panel."""

    def __init__(self, lines: list[dict[str, Any]], offset: float) -> None:
        times = [line["fit_seconds"] for line in lines]
        # Powers of ten, to the half, with some air.
        self.first = math.floor(2 * math.log10(min(times)) - 0.3) / 2
        self.last = math.ceil(2 * math.log10(max(times)) + 0.3) / 2
        errors = [line["rmse"] for line in lines]
        best = min(errors)
        ours = [line["rmse"] for line in lines if is_ours(line)]
        limit = max([best + REACH * (median(errors) - best), *ours])
        shown = [error for error in errors if error <= limit]
        self.step = nice_step((max(shown) - best) or abs(best) * 0.1)
        self.low = math.floor(best / self.step - 0.2) * self.step
        self.high = math.ceil(max(shown) / self.step + 0.3) * self.step
        self.frame = Box(LEFT, offset + TOP, WIDTH - RIGHT, offset + PANEL - BOTTOM)

    def x(self, seconds: float) -> float:
        share = (math.log10(seconds) - self.first) / (self.last - self.first)
        return self.frame.left + share * (self.frame.right - self.frame.left)

    def y(self, error: float) -> float:
        share = (min(error, self.high) - self.low) / (self.high - self.low)
        return self.frame.bottom - share * (self.frame.bottom - self.frame.top)

    def error_ticks(self) -> list[float]:
        return [self.low + i * self.step for i in range(round((self.high - self.low) / self.step) + 1)]


def is_ours(line: dict[str, Any]) -> bool:
    return line["program"].startswith("isofactor")


def nice_step(span: float) -> float:
    """1, 2 or 5 times a power of ten that cuts the span into about five."""
    power = 10 ** math.floor(math.log10(span / 5))
    return next(power * m for m in (1, 2, 5, 10) if power * m >= span / 5)


def points_of(lines: list[dict[str, Any]], axes: Axes) -> list[Point]:
    out = []
    for line in lines:
        over = line["rmse"] > axes.high
        label = f"{line['program']} ({line['rmse']:.3g})" if over else line["program"]
        y = axes.frame.top + 8 if over else axes.y(line["rmse"])
        out.append(Point(axes.x(line["fit_seconds"]), y, label, is_ours(line), over))
    return out


# ---- labels ----


def candidates(point: Point) -> list[Label]:
    """Places for a point's label, best first: beside it, above, below, then further out in a ring."""
    wide = Label(point, 0, 0, False).box().right
    near = [(11, 0), (-11 - wide, 0), (-wide / 2, -15), (-wide / 2, 15)]
    near += [(9, -12), (9, 12), (-9 - wide, -12), (-9 - wide, 12)]
    out = [Label(point, point.x + dx, point.y + dy, False) for dx, dy in near]
    for distance in (30, 46, 62):
        for dx in (-wide - distance / 2, -wide / 2, distance / 2):
            out += [Label(point, point.x + dx, point.y + dy, True) for dy in (-distance, distance)]
    return out


def place_labels(points: list[Point], frame: Box) -> list[Label]:
    """Each label in turn to the place that costs least given the others, until nothing moves."""
    placed = [candidates(point)[0] for point in points]
    for _ in range(30):
        before = list(placed)
        for i, point in enumerate(points):
            others = [label for j, label in enumerate(placed) if j != i]
            points_elsewhere = [other.box() for other in points if other is not point]
            costs = [
                rank + cost(label, others, points_elsewhere, frame) for rank, label in enumerate(candidates(point))
            ]
            placed[i] = candidates(point)[costs.index(min(costs))]
        if placed == before:
            break
    return placed


def cost(label: Label, others: list[Label], points: list[Box], frame: Box) -> float:
    """Overlap is what must not be; a line to a distant label is a lesser evil, unless it runs through other things."""
    box = label.box()
    obstacles = [other.box() for other in others] + points
    crossings = sum(label.far and label.line_crosses(obstacle) for obstacle in obstacles)
    crossings += sum(other.far and other.line_crosses(box) for other in others)
    overlap = sum(box.overlap(obstacle) for obstacle in obstacles)
    return 10 * overlap + 50 * box.outside(frame) + 200 * crossings + (20 if label.far else 0)


# ---- drawing ----


def text(
    x: float, y: float, content: str, *,
    anchor: str = "start", size: int = TEXT, fill: str = INK, bold: bool = False, halo: bool = False,
) -> str:  # fmt: skip
    """A line of text; the halo keeps grid lines from running through it."""
    weight = ' font-weight="600"' if bold else ""
    around = ' stroke="#fff" stroke-width="4" stroke-linejoin="round" paint-order="stroke"' if halo else ""
    return (
        f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" font-size="{size}" fill="{fill}"{weight}{around}>'
        f"{escape(content)}</text>"
    )


def rule(x1: float, y1: float, x2: float, y2: float, colour: str) -> str:
    return f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" stroke="{colour}"/>'


def draw_axes(axes: Axes) -> list[str]:
    frame = axes.frame
    out = []
    for power in range(math.ceil(axes.first), math.floor(axes.last) + 1):
        x = axes.x(10**power)
        out.append(rule(x, frame.top, x, frame.bottom, FAINT))
        out.append(text(x, frame.bottom + 18, f"{10**power:g} s", anchor="middle", fill=THEIRS))
    digits = max(0, -math.floor(math.log10(axes.step) + 1e-9))
    for error in axes.error_ticks():
        y = axes.y(error)
        out.append(rule(frame.left, y, frame.right, y, FAINT))
        out.append(text(frame.left - 8, y + 4, f"{error:.{digits}f}", anchor="end", fill=THEIRS))
    out.append(text((frame.left + frame.right) / 2, frame.bottom + 38, "seconds to fit", anchor="middle"))
    return out


def draw_point(point: Point) -> str:
    colour = OURS if point.ours else THEIRS
    title = f"<title>{escape(point.label)}</title>"
    look = f'fill="{colour}" stroke="#fff" stroke-width="1.5"'
    if point.over_the_edge:
        return f'<path d="M{point.x:.1f} {point.y - 6:.1f} l6 11 h-12 z" {look}>{title}</path>'
    return f'<circle cx="{point.x:.1f}" cy="{point.y:.1f}" r="{6 if point.ours else 4.5}" {look}>{title}</circle>'


def draw_label(label: Label) -> list[str]:
    point, colour = label.point, OURS if label.point.ours else INK
    out = []
    if label.far:
        out.append(rule(point.x, point.y, *label.line_end(), "#94a3b8"))
    # Widths are estimates: the end that faces the point is the one to fix.
    end = label.box().right - 2
    x, anchor = (end, "end") if end < point.x else (label.x, "start")
    return [*out, text(x, label.y + 4, point.label, anchor=anchor, fill=colour, bold=point.ours, halo=True)]


def draw_panel(data: dict[str, Any], lines: list[dict[str, Any]], offset: float) -> list[str]:
    axes = Axes(lines, offset)
    points = points_of(lines, axes)
    labels = place_labels(points, axes.frame)
    heading = f"{data['title']}: {data['train']:,} entries"
    out = [
        text(LEFT, offset + 24, heading, size=15, bold=True),
        text(WIDTH - RIGHT, offset + 24, "held-out RMSE against time; lower left is better", anchor="end", fill=THEIRS),
        *draw_axes(axes),
    ]
    if any(point.over_the_edge for point in points):
        low = axes.frame.bottom + 38
        out.append(text(WIDTH - RIGHT, low, "▲ off the scale, error in brackets", anchor="end", fill=THEIRS))
    drawn = [draw_label(label) for label in labels]
    out += [part for parts in drawn for part in parts[:-1]]  # lines to labels go under the points
    out += [draw_point(point) for point in points]
    return out + [parts[-1] for parts in drawn]


def draw(report: dict[str, Any]) -> str:
    """The whole picture, as the text of an SVG file."""
    body: list[str] = []
    height = 8.0
    for data in report["data"]:
        lines = [line for line in report["summary"] if line["data"] == data["name"] and "rmse" in line]
        if lines:
            body += draw_panel(data, lines, height)
            height += PANEL
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height:.0f}"'
        f' width="{WIDTH}" height="{height:.0f}"'
        ' font-family="system-ui, -apple-system, Segoe UI, Helvetica, Arial, sans-serif" role="img"'
        ' aria-label="Held-out error against fitting time, isofactor and its peers">'
    )
    return "\n".join([head, f'<rect width="{WIDTH}" height="{height:.0f}" fill="#fff"/>', *body, "</svg>"]) + "\n"
