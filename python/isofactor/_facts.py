"""What a fit found, as attributes, and its drawings."""

from __future__ import annotations

from typing import Any, Optional

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import NotFittedError

from . import _plots
from ._isofactor import Model
from ._link import Link
from ._values import whole


class Facts:
    """Attributes of a fitted model; before a fit each of them is a ``NotFittedError``."""

    _model: Model
    _provenance: dict[str, Any]

    @property
    def row_factors_(self) -> NDArray[np.float64]:
        """The factors of each row."""
        return self._fitted_model().factors()[0]

    @property
    def column_factors_(self) -> NDArray[np.float64]:
        """The factors of each column."""
        return self._fitted_model().factors()[1]

    @property
    def row_effects_(self) -> Optional[NDArray[np.float64]]:
        """The effect of each row."""
        effects = self._fitted_model().effects()
        return None if effects is None else effects[0]

    @property
    def column_effects_(self) -> Optional[NDArray[np.float64]]:
        """The effect of each column."""
        effects = self._fitted_model().effects()
        return None if effects is None else effects[1]

    @property
    def level_(self) -> Optional[float]:
        """What all scores share."""
        return self._fitted_model().level

    @property
    def link_(self) -> Link:
        """The link, a function."""
        return Link(self._fitted_model().link)

    @property
    def rank_(self) -> int:
        """Factors per row and column."""
        return self._fitted_model().rank

    @property
    def trace_(self) -> dict[str, NDArray[Any]]:
        """How the fit went, an array for each column; empty for a model from a file."""
        return self._fitted_model().trace()

    @property
    def fit_seconds_(self) -> float:
        """What the core took; 0 for a model from a file."""
        return self._fitted_model().seconds

    @property
    def n_iter_(self) -> int:
        """Iterations made."""
        return int(self._known("iterations"))

    @property
    def stop_reason_(self) -> str:
        """Why the fit ended."""
        return str(self._known("stop"))

    @property
    def chosen_(self) -> Optional[dict[str, Any]]:
        """What was chosen, and what was tried."""
        chosen: Optional[dict[str, Any]] = self._known("chosen")
        return chosen

    @property
    def train_error_(self) -> dict[str, Any]:
        """Errors on the training entries."""
        error: dict[str, Any] = self._known("train")
        return error

    @property
    def validation_error_(self) -> Optional[dict[str, Any]]:
        """Errors on the entries it was judged by."""
        error: Optional[dict[str, Any]] = self._known("validation")
        return error

    # Drawing

    def plot_link(self, ax: Any = None) -> Any:
        """Draw the link over the scores of the training entries.

        Parameters
        ----------
        ax : matplotlib axes, optional
            Where; new ones by default.

        Returns
        -------
        matplotlib axes
        """
        return _plots.link(self, ax)

    def plot_convergence(self, ax: Any = None) -> Any:
        """Draw the errors of every iteration.

        Parameters
        ----------
        ax : matplotlib axes, optional
            Where; new ones by default.

        Returns
        -------
        matplotlib axes
        """
        return _plots.convergence(self, ax)

    def plot_calibration(self, ax: Any = None, *, bins: int = 12) -> Any:
        """Draw mean values against mean predictions, of held-out entries if there are any.

        Parameters
        ----------
        ax : matplotlib axes, optional
            Where; new ones by default.
        bins : int, default 12
            How many groups of equally many entries.

        Returns
        -------
        matplotlib axes
        """
        return _plots.calibration(self, ax, whole("bins", bins))

    # Helpers

    def _fitted_model(self) -> Model:
        model: Optional[Model] = getattr(self, "_model", None)
        if model is None:
            raise NotFittedError(
                f"This {type(self).__name__} instance is not fitted yet. Call 'fit' with "
                "appropriate arguments before using this estimator."
            )
        return model

    def _known(self, fact: str) -> Any:
        self._fitted_model()
        return self._provenance[fact]
