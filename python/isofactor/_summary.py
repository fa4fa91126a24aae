"""A fitted model at a glance, for notebooks."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from ._model import MonotoneFactorModel

_WIDTH, _HEIGHT = 260, 90


def html(model: MonotoneFactorModel) -> str:
    """A table of facts and the link, drawn small."""
    title = f"<b>{escape(type(model).__name__)}</b>"
    if not model.__sklearn_is_fitted__():
        return f"<div>{title}: not fitted yet<pre>{escape(repr(model))}</pre></div>"
    lines = "".join(
        f"<tr><td>{escape(name)}</td><td>{escape(text)}</td></tr>" for name, text in _facts(model)
    )
    return f"<div>{title}<table>{lines}</table>{_drawing(model)}</div>"


def _facts(model: MonotoneFactorModel) -> list[tuple[str, str]]:
    rows, columns = model._fitted_model().shape
    train, held = model.train_error_, model.validation_error_
    share = 100 * train["count"] / (rows * columns)
    facts = [
        ("data", f"{rows:,} rows x {columns:,} columns, {train['count']:,} entries ({share:.3g}%)"),
        ("model", f"rank {model.rank_}, link {model.link_.kind}, solver {model.solver}"),
        ("fit", f"{model.n_iter_} iterations, {model.stop_reason_}"),
        ("train RMSE", f"{train['rmse']:.4g}"),
    ]
    if held is not None:
        facts.append(("held-out RMSE", f"{held['rmse']:.4g} ({held['count']:,} entries)"))
    return facts


def _drawing(model: MonotoneFactorModel) -> str:
    table = model.link_.table[::4, :2]
    low, span = table.min(axis=0), np.ptp(table, axis=0)
    shares = (table - low) / np.where(span > 0, span, 1)
    points = " ".join(f"{x * _WIDTH:.1f},{(1 - y) * _HEIGHT:.1f}" for x, y in shares)
    first, last = table[0], table[-1]
    words = (
        f"the link: scores {first[0]:.3g} to {last[0]:.3g} give {first[1]:.3g} to {last[1]:.3g}"
    )
    return (
        f'<svg width="{_WIDTH + 10}" height="{_HEIGHT + 10}" viewBox="-5 -5 {_WIDTH + 10} '
        f'{_HEIGHT + 10}" role="img"><title>{escape(words)}</title><polyline points="{points}" '
        f'fill="none" stroke="currentColor" stroke-width="2"/></svg><div>{escape(words)}</div>'
    )
