"""Drawings on matplotlib axes; matplotlib is imported when one is asked for."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from ._facts import Facts


def _axes(ax: Any) -> Any:
    if ax is not None:
        return ax
    try:
        import matplotlib.pyplot as pyplot
    except ImportError as error:
        raise ImportError(
            "drawing needs matplotlib: pip install matplotlib, or isofactor[plot]"
        ) from error
    return pyplot.subplots()[1]


def link(model: Facts, ax: Any) -> Any:
    """The link over the scores of the training entries."""
    table, kind = model.link_.table, model.link_.kind
    ax = _axes(ax)
    ax.plot(table[:, 0], table[:, 1], label=f"{kind} link")
    ax.set_xlabel("score")
    ax.set_ylabel("value")
    ax.legend()
    return ax


def convergence(model: Facts, ax: Any) -> Any:
    """The errors of every iteration."""
    trace = model.trace_
    if not len(trace["iteration"]):
        raise ValueError("a model from a file has no trace to draw: use the model that was fitted")
    ax = _axes(ax)
    ax.plot(trace["iteration"], trace["train_rmse"], label="training entries")
    if np.isfinite(trace["validation_rmse"]).any():
        ax.plot(trace["iteration"], trace["validation_rmse"], "--", label="held-out entries")
    ax.set_xlabel("iteration")
    ax.set_ylabel("root mean squared error")
    ax.legend()
    return ax


def calibration(model: Facts, ax: Any, bins: int) -> Any:
    """Mean values against mean predictions, in groups of equally many entries."""
    if bins < 1:
        raise ValueError("bins must be at least 1")
    (predictions, values), what = model._fitted_model().judged()
    order = np.argsort(predictions, kind="stable")
    groups = [group for group in np.array_split(order, bins) if len(group)]
    predicted = [float(predictions[group].mean()) for group in groups]
    observed = [float(values[group].mean()) for group in groups]
    ax = _axes(ax)
    ax.axline((predicted[0], predicted[0]), slope=1, color="0.6", linewidth=1, label="equal")
    ax.plot(predicted, observed, "o-", label=f"{what} entries")
    ax.set_xlabel("mean prediction")
    ax.set_ylabel("mean observed value")
    ax.legend()
    return ax
