"""The estimator: factors, effects and a link from a partly observed matrix."""

from __future__ import annotations

import copyreg
import json
import warnings
from os import PathLike
from typing import TYPE_CHECKING, Any, NamedTuple, Optional, Union

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.exceptions import ConvergenceWarning

from . import _input, _isofactor, _summary
from ._isofactor import Data, Model
from ._facts import Facts
from ._progress import Callback, Progress
from ._values import Frame, labels_of, number, stretched, whole

if TYPE_CHECKING:
    from typing_extensions import Self

Path = Union[str, "PathLike[str]"]

# Parameters that are settings of the core, under the same words.
_SETTINGS = (
    "rank",
    "link",
    "solver",
    "shrinkage",
    "effects",
    "iterations",
    "keep",
    "seed",
    "loss",
    "kernel",
    "bandwidth",
    "link_penalty",
    "balance_penalty",
    "factor_step",
    "link_step",
    "tolerance",
    "order",
    "start",
    "start_rescale",
    "start_link",
    "project_factors",
    "monotone",
)


class Ranking(NamedTuple):
    """Rows or columns, best first, with the number they are ranked by."""

    labels: NDArray[Any]
    """Which they are."""
    values: NDArray[np.float64]
    """Predictions, or similarities."""


class MonotoneFactorModel(Facts, TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """Factors of rows and columns, seen through an increasing link that is learned.

    ``y = phi(level + row effect + column effect + u_row . v_column) + noise`` for the observed
    entries. Nothing needs to be set: rank, shrinkage and whether to learn a link are chosen on
    held-back entries (see ``chosen_``).

    Rows and columns are known by their labels: those of a frame, those given with entries, or
    numbers from 0. Labels are matched by their text, so that ``7`` and ``"7"`` are the same.

    Parameters
    ----------
    rank : int, optional
        Factors per row and column. By default it is chosen.
    link : str or list of (float, float), default 'auto'
        ``'auto'`` (learned where that pays), ``'learned'``, ``'identity'``, ``'sigmoid'``,
        ``'tanh'``, ``'probit'``, ``'softplus'``, ``'exponential'``, ``'cubic'``, or knots.
    solver : {'fast', 'bcd'}, default 'fast'
        ``'bcd'`` is the algorithm of the paper, without effects; it cannot place new rows.
    shrinkage : float or 'auto', default 'auto'
        How many times more precise the prior of the factors is than they look.
    effects : {'auto', 'on', 'off'}, default 'auto'
        Effects of rows and columns.
    iterations : int, default 500
        At most so many; the fast solver makes 40, or 100 with a link.
    holdout : float, optional
        Hold back this share of every row, stop by it and report the error there.
    keep : {'best', 'last'}, default 'best'
        Which iterate to keep where entries are held back.
    seed : int, default 0
        Of everything random. The same seed gives the same model.
    threads : int, default 0
        0 is one per core. The result does not depend on it.
    keep_empty : bool, default False
        Keep rows and columns of a dense matrix that have no value at all, to be predicted from
        what is known of the other side. By default they are an error. Those of a sparse matrix
        are always kept: its shape says nothing about them.
    warm_start : bool, default False
        Let ``fit`` go on from the earlier fit, as ``update`` does.
    verbose : int, default 0
        1 shows a bar.
    callback : callable, optional
        Called with a dict for every line of the trace; something true puts an end to the fit.
    loss, kernel, bandwidth, link_penalty, balance_penalty, factor_step, link_step, tolerance, \
order, start, start_rescale, start_link, project_factors, monotone
        Settings of ``solver='bcd'``, by the names of the program's options.

    Attributes
    ----------
    row_factors_, column_factors_ : ndarray of shape (rows or columns, rank)
    row_effects_, column_effects_ : ndarray, or None without effects
    level_ : float, or None without effects
    link_ : Link
        A function, with ``slope``, ``domain`` and ``table``.
    row_labels_, column_labels_ : ndarray
    rank_, n_iter_ : int
    chosen_ : dict, or None with ``solver='bcd'``
        What was chosen, and the error of everything that was tried.
    trace_ : dict of ndarray
        A column each: iteration, objective, train_rmse, validation_rmse, seconds, ...
    stop_reason_ : str
        'converged', 'early-stop', 'chosen-number', 'iteration-limit' or 'cancelled'.
    train_error_, validation_error_ : dict with 'rmse', 'mae', 'count'; None without such entries
    fit_seconds_ : float
        What the core took.

    Examples
    --------
    >>> import numpy as np
    >>> from isofactor import MonotoneFactorModel
    >>> random = np.random.default_rng(0)
    >>> scores = random.normal(size=(60, 2)) @ random.normal(size=(2, 40))
    >>> X = 1 / (1 + np.exp(-3 * scores)) + 0.01 * random.normal(size=(60, 40))
    >>> X[random.random(X.shape) < 0.5] = np.nan
    >>> model = MonotoneFactorModel(rank=2).fit(X)
    >>> model.link_.kind
    'learned'
    >>> model.complete().shape
    (60, 40)
    >>> model.transform(X[:3]).shape
    (3, 3)
    """

    def __init__(
        self,
        rank: Optional[int] = None,
        *,
        link: Any = "auto",
        solver: str = "fast",
        shrinkage: Union[float, str] = "auto",
        effects: str = "auto",
        iterations: int = 500,
        holdout: Optional[float] = None,
        keep: str = "best",
        seed: int = 0,
        threads: int = 0,
        keep_empty: bool = False,
        warm_start: bool = False,
        verbose: int = 0,
        callback: Optional[Callback] = None,
        loss: str = "sum",
        kernel: str = "gaussian",
        bandwidth: Union[float, str] = "auto",
        link_penalty: float = 1e-3,
        balance_penalty: float = 0.5,
        factor_step: Union[float, str] = "backtracking",
        link_step: Union[float, str] = "backtracking",
        tolerance: float = 1e-7,
        order: str = "factors-first",
        start: str = "spectral",
        start_rescale: bool = False,
        start_link: str = "zero",
        project_factors: Union[float, str] = "off",
        monotone: Union[str, tuple[float, float]] = "auto",
    ) -> None:
        self.rank = rank
        self.link = link
        self.solver = solver
        self.shrinkage = shrinkage
        self.effects = effects
        self.iterations = iterations
        self.holdout = holdout
        self.keep = keep
        self.seed = seed
        self.threads = threads
        self.keep_empty = keep_empty
        self.warm_start = warm_start
        self.verbose = verbose
        self.callback = callback
        self.loss = loss
        self.kernel = kernel
        self.bandwidth = bandwidth
        self.link_penalty = link_penalty
        self.balance_penalty = balance_penalty
        self.factor_step = factor_step
        self.link_step = link_step
        self.tolerance = tolerance
        self.order = order
        self.start = start
        self.start_rescale = start_rescale
        self.start_link = start_link
        self.project_factors = project_factors
        self.monotone = monotone

    # Fitting

    def fit(self, X: Any, y: Any = None, *, validation: Any = None) -> Self:
        """Fit to the observed values of a matrix.

        Parameters
        ----------
        X : array-like, pandas or polars frame, or sparse matrix of shape (rows, columns)
            NaN (null) is missing; of a sparse matrix the explicit entries are observed, zeros
            too. Index and columns of a frame become labels.
        y : None
            There for scikit-learn's pipelines.
        validation : like X, optional
            Values to stop by and to report the error on.

        Returns
        -------
        MonotoneFactorModel
            Itself.
        """
        return self._fit_matrix(X, validation, self._earlier())

    def fit_entries(
        self,
        rows: ArrayLike,
        columns: ArrayLike,
        values: ArrayLike,
        *,
        validation: Optional[tuple[ArrayLike, ArrayLike, ArrayLike]] = None,
    ) -> Self:
        """Fit to entries.

        Parameters
        ----------
        rows, columns : array-like
            The labels of each entry: numbers, texts or dates.
        values : array-like
            What was observed. A pair may occur several times.
        validation : tuple of three array-likes, optional
            Entries to stop by and to report the error on.

        Returns
        -------
        MonotoneFactorModel
            Itself.

        Examples
        --------
        >>> from isofactor import MonotoneFactorModel
        >>> rows = ["anna", "anna", "bert", "bert", "cleo"]
        >>> columns = ["Alien", "Brazil", "Alien", "Cube", "Brazil"]
        >>> model = MonotoneFactorModel(rank=1).fit_entries(rows, columns, [4.5, 3, 5, 2, 4])
        >>> model.row_labels_.tolist()
        ['anna', 'bert', 'cleo']
        """
        return self._fit_entries(rows, columns, values, validation, self._earlier())

    def fit_frame(
        self,
        frame: Any,
        row: Optional[str] = None,
        column: Optional[str] = None,
        value: Optional[str] = None,
        *,
        validation: Any = None,
    ) -> Self:
        """Fit to a long frame: a line an entry.

        Parameters
        ----------
        frame : pandas or polars frame, Arrow table, or anything with ``__arrow_c_stream__``
            Arrow data are read where they lie.
        row, column, value : str, optional
            The columns of labels and values; the first three by default.
        validation : like frame, optional
            Entries to stop by and to report the error on.

        Returns
        -------
        MonotoneFactorModel
            Itself.
        """
        data = Data()
        _input.add_frame(data, frame, row=row, column=column, value=value)
        if validation is not None:
            _input.add_frame(
                data, validation, row=row, column=column, value=value, validation=True
            )
        return self._fitted(data, self._earlier(), frame=None)

    def update(self, X: Any, y: Any = None, *, validation: Any = None) -> Self:
        """Go on from this model with all the data there are now.

        The fit begins at the present factors, effects and link, keeps what was chosen, and sweeps
        over ``X`` alone: hand over the old values together with the new. Rows and columns are
        matched by their labels; new ones begin at zero, old ones that are missing are forgotten.

        Parameters
        ----------
        X : as in ``fit``
            All values, old and new.
        y : None
            There for scikit-learn's pipelines.
        validation : like X, optional
            Values to stop by and to report the error on.

        Returns
        -------
        MonotoneFactorModel
            Itself.
        """
        return self._fit_matrix(X, validation, self._fitted_model())

    def update_entries(
        self,
        rows: ArrayLike,
        columns: ArrayLike,
        values: ArrayLike,
        *,
        validation: Optional[tuple[ArrayLike, ArrayLike, ArrayLike]] = None,
    ) -> Self:
        """Go on from this model with all the entries there are now, as ``update`` does.

        Parameters
        ----------
        rows, columns, values, validation
            As in ``fit_entries``: all entries, old and new.

        Returns
        -------
        MonotoneFactorModel
            Itself.
        """
        return self._fit_entries(rows, columns, values, validation, self._fitted_model())

    def _fit_matrix(self, X: Any, validation: Any, start: Optional[Model]) -> Self:
        rows = columns = None
        if _input.is_pandas(X):
            rows = _input.side_names(X.index, "row")
            columns = _input.side_names(X.columns, "column")
        elif _input.is_polars(X):
            columns = _input.side_names(X.columns, "column")
        data = Data()
        matrix = _input.checked_matrix(self, X, reset=True, min_rows=2, min_columns=2)
        _input.add_matrix(data, matrix, rows=rows, columns=columns, keep_empty=self.keep_empty)
        if validation is not None:
            matrix = _input.checked_matrix(self, validation, reset=False)
            _input.add_matrix(data, matrix, rows=rows, columns=columns, keep_empty=True)
        return self._fitted(data, start, frame=X)

    def _fit_entries(
        self,
        rows: ArrayLike,
        columns: ArrayLike,
        values: ArrayLike,
        validation: Optional[tuple[ArrayLike, ArrayLike, ArrayLike]],
        start: Optional[Model],
    ) -> Self:
        data = Data()
        for entries, held in (((rows, columns, values), False), (validation, True)):
            if entries is None:
                continue
            names = (_input.names_of(entries[0], "rows"), _input.names_of(entries[1], "columns"))
            data.add_entries(*names, _input.values_of(entries[2]), held)
        return self._fitted(data, start, frame=None)

    def _fitted(self, data: Data, start: Optional[Model], *, frame: Any) -> Self:
        settings = {name: getattr(self, name) for name in _SETTINGS}
        if start is not None and self.rank is None:
            settings["rank"] = start.rank
        threads = whole("threads", self.threads)
        holdout = None if self.holdout is None else number("holdout", self.holdout)
        progress = Progress(
            self.verbose, self.callback, whole("iterations", self.iterations), self.solver
        )
        try:
            callback = progress if progress.wanted else None
            model = _isofactor.fit(data, settings, holdout, threads, callback, start)
        finally:
            progress.close()
        self._take(model, frame)
        if self.stop_reason_ == "iteration-limit":
            warnings.warn(
                f"the fit stopped at the limit of {self.n_iter_} iterations: increase iterations",
                ConvergenceWarning,
                stacklevel=4,
            )
        return self

    def _take(self, model: Model, frame: Any) -> None:
        self._model = model
        self._provenance = json.loads(model.provenance())
        self._frame = Frame.of(frame)
        rows, columns = model.labels
        self.row_labels_, self.column_labels_ = labels_of(rows), labels_of(columns)
        if frame is None:
            self.n_features_in_ = len(columns)
            if self.column_labels_.dtype.kind == "O":
                self.feature_names_in_ = self.column_labels_
            elif hasattr(self, "feature_names_in_"):
                del self.feature_names_in_

    def _earlier(self) -> Optional[Model]:
        return getattr(self, "_model", None) if self.warm_start else None

    # Using a fitted model

    def predict(self, X: Any, columns: Optional[ArrayLike] = None) -> NDArray[np.float64]:
        """Predict pairs of rows and columns, or all values of new rows.

        Parameters
        ----------
        X : array-like
            With ``columns``: labels of rows. Without: a matrix of new rows, as for
            ``transform`` but not sparse; each is placed by its observed values, and all its values,
            observed or not, are predicted.
        columns : array-like, optional
            Labels of columns, as many as rows, or one for all.

        Returns
        -------
        ndarray of shape (pairs,), or (new rows, columns)
            A row or column never seen is predicted from what is known of the other one.
        """
        model = self._fitted_model()
        if columns is None:
            if hasattr(X, "tocoo"):
                raise ValueError(
                    "predict(X) gives every value of every row, a dense matrix: for a sparse X use "
                    "predict(rows, columns) with labels, or inverse_transform(transform(X))"
                )
            return self.inverse_transform(self._coordinates(X))
        rows = _input.names_of(X, "rows")
        others = _input.names_of(columns, "columns")
        count = max(len(rows), len(others))
        rows, others = stretched(rows, count), stretched(others, count)
        if len(rows) != len(others):
            raise ValueError(
                f"rows and columns must be equally long, got {len(rows)} and {len(others)}"
            )
        return model.predict_pairs(rows, others)

    def transform(self, X: Any) -> NDArray[np.float64]:
        """Place new rows by their observed values.

        Parameters
        ----------
        X : array-like, frame or sparse matrix of shape (new rows, columns)
            The columns of the fit. A row without any value gets the mean of the prior.

        Returns
        -------
        ndarray of shape (new rows, rank + 1)
            The factors of each row, and its effect last.
        """
        return self._coordinates(X)

    def inverse_transform(self, X: ArrayLike) -> NDArray[np.float64]:
        """Predict all values of rows from their factors and effect.

        Parameters
        ----------
        X : array-like of shape (rows, rank + 1)
            As ``transform`` gives them.

        Returns
        -------
        ndarray of shape (rows, columns)
            The predictions.
        """
        model = self._fitted_model()
        coordinates = np.asarray(X, dtype=np.float64)
        if coordinates.ndim != 2:
            raise ValueError(f"a matrix is needed, got {coordinates.ndim} dimension(s)")
        return _isofactor.predict_placed(model, coordinates, whole("threads", self.threads))

    def fit_transform(self, X: Any, y: Any = None, **fit_params: Any) -> NDArray[np.float64]:
        """Fit, then place the same rows as if they were new.

        What comes out is what ``transform`` gives for them, which differs a little from
        ``row_factors_``, where rows and columns were fitted together.

        Parameters
        ----------
        X : as in ``fit``
        y : None
            There for scikit-learn's pipelines.
        **fit_params
            Handed to ``fit``.

        Returns
        -------
        ndarray of shape (rows, rank + 1)
            Factors and effect of each row.
        """
        return self.fit(X, y, **fit_params).transform(X)

    def complete(self) -> Any:
        """The matrix that was fitted, filled in.

        Returns
        -------
        ndarray or frame of shape (rows, columns)
            Observed values where there are, predictions elsewhere; a frame with the same labels
            where a frame was fitted.
        """
        matrix = self._fitted_model().matrix(True)
        return self._frame.around(matrix)

    def recommend(self, row: Any, top: int = 10, *, unseen: bool = True) -> Ranking:
        """The columns with the highest predictions for a row.

        Parameters
        ----------
        row : label
            The row.
        top : int, default 10
            How many columns.
        unseen : bool, default True
            Leave out columns that the row has a training entry with. A model from a file does
            not know its entries: there use ``unseen=False``.

        Returns
        -------
        Ranking
            Labels and predictions, best first.
        """
        model = self._fitted_model()
        found = model.recommend(_input.text_of(row), whole("top", top), unseen)
        return _ranking(found, self.column_labels_)

    def similar(self, *, row: Any = None, column: Any = None, top: int = 10) -> Ranking:
        """The rows (or columns) whose scores are most alike.

        Parameters
        ----------
        row, column : label
            One of the two.
        top : int, default 10
            How many.

        Returns
        -------
        Ranking
            Labels and the cosine of their centred scores, best first.
        """
        model = self._fitted_model()
        if (row is None) == (column is None):
            raise ValueError("give either row or column")
        of_columns = row is None
        name = _input.text_of(column if of_columns else row)
        labels = self.column_labels_ if of_columns else self.row_labels_
        return _ranking(model.similar(name, of_columns, whole("top", top)), labels)

    def score(self, X: Any, y: Any = None) -> float:
        """How well entries of new rows are predicted from the other entries of their row.

        The entries of each row are cut into five parts; each part is predicted by the row placed
        by the other four.

        Parameters
        ----------
        X : as in ``transform``
        y : None
            There for scikit-learn's searches.

        Returns
        -------
        float
            R squared: 1 is perfect, 0 is the mean of the training values.
        """
        errors, differences, _ = _isofactor.judge_rows(
            self._fitted_model(), self._new_rows(X), whole("threads", self.threads)
        )
        return 1.0 - errors / differences if differences > 0 else 0.0

    def evaluate(self, rows: ArrayLike, columns: ArrayLike, values: ArrayLike) -> dict[str, Any]:
        """Errors of predictions on entries.

        Parameters
        ----------
        rows, columns, values : array-like
            As in ``fit_entries``.

        Returns
        -------
        dict
            'rmse', 'mae' and 'count'.
        """
        model, data = self._fitted_model(), Data()
        names = (_input.names_of(rows, "rows"), _input.names_of(columns, "columns"))
        data.add_entries(*names, _input.values_of(values))
        rmse, mae, count = model.evaluate(data)
        return {"rmse": rmse, "mae": mae, "count": count}

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[Any]:
        """Names of what ``transform`` gives: ``factor0``, ..., ``effect``.

        Parameters
        ----------
        input_features : None
            Not used.

        Returns
        -------
        ndarray of str
        """
        names = [f"factor{i}" for i in range(self.rank_)]
        return np.asarray([*names, "effect"], dtype=object)

    # Files

    def save(self, path: Path) -> None:
        """Write the model to a file, which the program reads too.

        It holds all that is needed to predict, not the entries that were fitted; a pickle has
        both.

        Parameters
        ----------
        path : str or path
            Where.
        """
        self._fitted_model().save(path)

    @classmethod
    def load(cls, path: Path) -> Self:
        """Read a model that ``save`` or the program wrote.

        Parameters
        ----------
        path : str or path
            Where it is.

        Returns
        -------
        MonotoneFactorModel
            A fitted model.
        """
        model = Model.load(path)
        config = json.loads(model.provenance())["config"]
        known = {name: config.get(name.replace("_", "-")) for name in _SETTINGS}
        estimator = cls(**{name: value for name, value in known.items() if value is not None})
        estimator._take(model, None)
        return estimator

    def report(self, path: Path) -> None:
        """Write a page about the fit that can be looked at in a browser.

        Parameters
        ----------
        path : str or path
            Where.
        """
        self._fitted_model().report(path)

    def _repr_html_(self) -> str:
        return _summary.html(self)

    def _repr_mimebundle_(self, **kwargs: Any) -> dict[str, str]:
        return {"text/plain": repr(self), "text/html": _summary.html(self)}

    # scikit-learn's contract

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "_model")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.sparse = True
        return tags

    def _more_tags(self) -> dict[str, Any]:
        return {"allow_nan": True, "preserves_dtype": [np.float64]}

    # Helpers

    def _new_rows(self, X: Any) -> Data:
        data = Data()
        matrix = _input.checked_matrix(self, X, reset=False)
        _input.add_matrix(data, matrix, keep_empty=True)
        return data

    def _coordinates(self, X: Any) -> NDArray[np.float64]:
        model = self._fitted_model()
        return _isofactor.place_rows(model, self._new_rows(X), whole("threads", self.threads))


def _ranking(found: list[tuple[int, float]], labels: NDArray[Any]) -> Ranking:
    places = np.asarray([place for place, _ in found], dtype=np.intp)
    return Ranking(labels[places], np.asarray([value for _, value in found], dtype=np.float64))


def _restored(state: dict[str, Any]) -> Model:
    return Model.from_state(state)


def _stored(model: Model) -> tuple[Any, tuple[dict[str, Any]]]:
    return _restored, (model.state(),)


# The compiled class is pickled by what it is made of.
copyreg.pickle(Model, _stored)
