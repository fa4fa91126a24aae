"""The link of a fitted model, as a function."""

from __future__ import annotations

from typing import Any, Union

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ._isofactor import Link as _CoreLink

Numbers = Union[float, NDArray[np.float64]]
"""A number for a number, an array for an array."""


class Link:
    """The increasing function through which scores are seen.

    Attributes
    ----------
    kind : str
        ``'learned'``, or the name of a known link such as ``'identity'``.
    domain : tuple of float
        The scores that it is known for; beyond them it goes on straight.
    table : ndarray of shape (201, 3)
        Score, value and slope over the scores of the training entries.

    Examples
    --------
    >>> import numpy as np
    >>> from isofactor import MonotoneFactorModel
    >>> X = np.add.outer(np.arange(8.0), np.arange(6.0) ** 2)
    >>> link = MonotoneFactorModel(rank=1, link="identity").fit(X).link_
    >>> link(2.5), link.slope([0.0, 1.0]), link.kind
    (2.5, array([1., 1.]), 'identity')
    """

    def __init__(self, core: _CoreLink) -> None:
        self._core = core

    @property
    def kind(self) -> str:
        """``'learned'``, or the name of a known link."""
        return self._core.kind

    @property
    def domain(self) -> tuple[float, float]:
        """The scores that it is known for."""
        return self._core.domain

    @property
    def table(self) -> NDArray[np.float64]:
        """Score, value and slope over the scores of the training entries."""
        return self._core.table()

    def __call__(self, scores: ArrayLike) -> Numbers:
        """Values at scores.

        Parameters
        ----------
        scores : float or array-like
            Where.

        Returns
        -------
        float or ndarray
            In the shape of the scores.
        """
        return _over(scores, self._core.values)

    def slope(self, scores: ArrayLike) -> Numbers:
        """Slopes at scores.

        Parameters
        ----------
        scores : float or array-like
            Where.

        Returns
        -------
        float or ndarray
            In the shape of the scores.
        """
        return _over(scores, self._core.slopes)

    def __repr__(self) -> str:
        low, high = self.domain
        return f"<Link {self.kind}, scores from {low:.4g} to {high:.4g}>"


def _over(scores: ArrayLike, function: Any) -> Numbers:
    array = np.asarray(scores, dtype=np.float64)
    found: NDArray[np.float64] = function(array.ravel()).reshape(array.shape)
    return float(found) if array.ndim == 0 else found
