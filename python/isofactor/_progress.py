"""What a fit tells while it runs: a bar, the user's own function, or both."""

from __future__ import annotations

from typing import Any, Callable, Optional

Callback = Callable[["dict[str, Any]"], Any]
"""Takes a line of the trace; returns something true to put an end to the fit."""

# Sweeps of the default solver without a link; with one it may go on.
_MOST_SWEEPS = 40


class Progress:
    """A bar, in a terminal and in a notebook, and the user's function."""

    def __init__(
        self, verbose: int, callback: Optional[Callback], iterations: int, solver: str
    ) -> None:
        self._callback = callback
        self._bar: Any = None
        if verbose:
            from tqdm.auto import tqdm

            most = min(iterations, _MOST_SWEEPS) if solver == "fast" else iterations
            self._bar = tqdm(total=most, desc="choosing" if solver == "fast" else "starting")

    @property
    def wanted(self) -> bool:
        """Whether anyone wants to know."""
        return self._bar is not None or self._callback is not None

    def __call__(self, row: dict[str, Any]) -> bool:
        if self._bar is not None:
            self._show(row)
        return bool(self._callback(row)) if self._callback is not None else False

    def _show(self, row: dict[str, Any]) -> None:
        bar = self._bar
        bar.set_description("fitting", refresh=False)
        held = row["validation_rmse"]
        error = f"train RMSE {row['train_rmse']:.4g}"
        bar.set_postfix_str(error if held is None else f"held-out RMSE {held:.4g}", refresh=False)
        if row["iteration"] > bar.total:
            bar.total = row["iteration"]
        bar.update(row["iteration"] - bar.n)

    def close(self) -> None:
        """Leave the bar as it stands."""
        if self._bar is not None:
            self._bar.close()
