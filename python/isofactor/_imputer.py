"""Filling in missing values, as scikit-learn's imputers do."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Optional, Union

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.exceptions import NotFittedError
from sklearn.impute import MissingIndicator

from . import _input
from ._model import MonotoneFactorModel

if TYPE_CHECKING:
    from typing_extensions import Self


class MonotoneFactorImputer(TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """Fill in missing values by a factor model with a learned, increasing link.

    Parameters
    ----------
    rank, link, shrinkage, effects, iterations, seed, threads, verbose
        As in :class:`MonotoneFactorModel`.
    keep_empty_features : bool, default False
        Keep columns that had no value at all in ``fit``, filled in from the level and the row's
        effect. By default they are left out of what ``transform`` gives, as scikit-learn's
        imputers do.
    add_indicator : bool, default False
        Append a column of zeros and ones for every column that had missing values in ``fit``: one
        where the value was missing, for estimators that learn from it.

    Attributes
    ----------
    model_ : MonotoneFactorModel
        The model that fills in.
    indicator_ : sklearn.impute.MissingIndicator or None
        What makes the columns of ``add_indicator``.
    n_features_in_ : int

    Examples
    --------
    >>> import numpy as np
    >>> from isofactor import MonotoneFactorImputer
    >>> X = np.add.outer(np.arange(12.0), np.arange(5.0))
    >>> X[2, 3] = np.nan
    >>> filled = MonotoneFactorImputer(rank=1).fit_transform(X)
    >>> bool(abs(filled[2, 3] - 5) < 0.2)
    True
    """

    def __init__(
        self,
        rank: Optional[int] = None,
        *,
        link: Any = "auto",
        shrinkage: Union[float, str] = "auto",
        effects: str = "auto",
        iterations: int = 500,
        seed: int = 0,
        threads: int = 0,
        keep_empty_features: bool = False,
        add_indicator: bool = False,
        verbose: int = 0,
    ) -> None:
        self.rank = rank
        self.link = link
        self.shrinkage = shrinkage
        self.effects = effects
        self.iterations = iterations
        self.seed = seed
        self.threads = threads
        self.keep_empty_features = keep_empty_features
        self.add_indicator = add_indicator
        self.verbose = verbose

    def fit(self, X: Any, y: Any = None) -> Self:
        """Fit the model that fills in.

        Parameters
        ----------
        X : array-like or frame of shape (rows, columns)
            NaN is missing. Rows without any value are allowed.
        y : None
            There for scikit-learn's pipelines.

        Returns
        -------
        MonotoneFactorImputer
            Itself.
        """
        matrix = self._dense(X, reset=True, min_rows=2, min_columns=2)
        self.indicator_ = MissingIndicator(error_on_new=False) if self.add_indicator else None
        if self.indicator_ is not None:
            self.indicator_.fit(matrix)
        self._kept = np.flatnonzero(~np.isnan(matrix).all(axis=0))
        if self.keep_empty_features:
            self._kept = np.arange(matrix.shape[1])
        if len(self._kept) < matrix.shape[1]:
            matrix = matrix[:, self._kept]
        if matrix.shape[1] < 2:
            raise ValueError(
                f"n_features={matrix.shape[1]} with observed values: at least 2 are needed"
            )
        self.model_ = MonotoneFactorModel(
            self.rank,
            link=self.link,
            shrinkage=self.shrinkage,
            effects=self.effects,
            iterations=self.iterations,
            seed=self.seed,
            threads=self.threads,
            keep_empty=True,
            verbose=self.verbose,
        ).fit(matrix)
        return self

    def transform(self, X: Any) -> NDArray[np.float64]:
        """Fill in what is missing; observed values stay as they are.

        Parameters
        ----------
        X : array-like or frame of shape (rows, columns)
            The columns of the fit; each row is placed by its observed values.

        Returns
        -------
        ndarray of shape (rows, columns kept and columns of the indicator)
            Without missing values.
        """
        if not hasattr(self, "model_"):
            raise NotFittedError(
                f"This {type(self).__name__} instance is not fitted yet. Call 'fit' with "
                "appropriate arguments before using this estimator."
            )
        whole = self._dense(X, reset=False)
        matrix = whole[:, self._kept]
        missing = np.isnan(matrix)
        needed = np.flatnonzero(missing.any(axis=1))
        filled: NDArray[np.float64] = np.array(matrix, copy=True)
        if len(needed):
            predicted = self.model_.predict(matrix[needed])
            filled[needed] = np.where(missing[needed], predicted, matrix[needed])
        if self.indicator_ is None:
            return filled
        return np.hstack([filled, self.indicator_.transform(whole)])

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[Any]:
        """Names of the columns that ``transform`` gives.

        Parameters
        ----------
        input_features : array-like of str, optional
            Names of the columns of ``fit``; by default those it was given, or ``x0``, ``x1``, ...

        Returns
        -------
        ndarray of str
        """
        names = input_features
        if names is None:
            names = getattr(self, "feature_names_in_", None)
        if names is None:
            names = [f"x{i}" for i in range(self.n_features_in_)]
        names = np.asarray(names, dtype=object)
        if len(names) != self.n_features_in_:
            raise ValueError("input_features should have length equal to number of features")
        if self.indicator_ is None:
            return names[self._kept]
        return np.concatenate([names[self._kept], self.indicator_.get_feature_names_out(names)])

    def _dense(self, X: Any, *, reset: bool, min_rows: int = 1, min_columns: int = 1) -> Any:
        matrix = _input.checked_matrix(
            self, X, reset=reset, min_rows=min_rows, min_columns=min_columns
        )
        if not isinstance(matrix, np.ndarray):
            raise ValueError(
                "a sparse matrix cannot be filled in: use MonotoneFactorModel, or X.toarray() with "
                "NaN where nothing was observed"
            )
        return matrix

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "model_")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        return tags

    def _more_tags(self) -> dict[str, Any]:
        return {"allow_nan": True, "preserves_dtype": [np.float64]}
