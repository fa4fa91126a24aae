"""From what users have to entries: matrices, sparse matrices, frames, arrays of entries."""

from __future__ import annotations

from collections import Counter
from typing import Any, Optional, Union

import numpy as np
from numpy.typing import NDArray

from . import _compat
from ._isofactor import Data

Names = Union[NDArray[np.int64], "list[str]"]
"""Labels as the core takes them: whole numbers, or texts."""

_LARGEST = np.iinfo(np.int64).max


class InputError(ValueError, TypeError):
    """Values that are no numbers.

    It is a ``ValueError``, as all bad input is here, and a ``TypeError``, which is what
    scikit-learn's contract asks for.
    """


def is_pandas(frame: Any) -> bool:
    """Whether it is a frame of pandas, found out without importing pandas."""
    return _of(frame, "pandas")


def is_polars(frame: Any) -> bool:
    """Whether it is a frame of polars."""
    return _of(frame, "polars")


def _of(frame: Any, package: str) -> bool:
    kind = type(frame)
    return kind.__name__ == "DataFrame" and kind.__module__.split(".")[0] == package


def text_of(label: Any) -> str:
    """The text by which a row or column is known, in Python and in the model file.

    >>> text_of(3), text_of("anna"), text_of(np.datetime64("2024-05-01"))
    ('3', 'anna', '2024-05-01T00:00:00')
    """
    if isinstance(label, str):
        return str(label)
    if _is_missing(label):
        raise ValueError(f"a label is missing ({label!r}): every row and column needs one")
    if isinstance(label, np.datetime64):
        label = label.astype("datetime64[us]").item()
    moment = getattr(label, "isoformat", None)
    if moment is None:
        return str(label)
    # A day and the midnight it begins with are the same label.
    text: str = moment()
    return text if "T" in text else f"{text}T00:00:00"


def _is_missing(label: Any) -> bool:
    if label is None or type(label).__name__ in ("NAType", "NaTType"):
        return True
    return isinstance(label, (float, np.floating, np.datetime64)) and bool(label != label)


def names_of(labels: Any, what: str = "labels") -> Names:
    """Labels as the core takes them.

    Parameters
    ----------
    labels : array-like
        One label an entry, or a single one.
    what : str
        What they are called in errors.

    Returns
    -------
    ndarray of int64, or list of str
        Whole numbers where they are, else texts.
    """
    if isinstance(labels, (str, bytes)):
        labels = [labels]
    if not isinstance(labels, np.ndarray) and isinstance(labels, (list, tuple)):
        kinds = {type(label) for label in labels}
        # Lists of mixed kinds, which numpy would turn into texts of another form.
        if len(kinds) > 1:
            return [text_of(label) for label in labels]
    array = np.atleast_1d(np.asarray(labels))
    if array.ndim != 1:
        raise ValueError(f"{what} must be one-dimensional, got {array.ndim} dimensions")
    if array.dtype.kind == "i" or (
        array.dtype.kind == "u" and (array.size == 0 or int(array.max()) <= _LARGEST)
    ):
        whole: NDArray[np.int64] = array.astype(np.int64, copy=False)
        return whole
    return [label if type(label) is str else text_of(label) for label in array]


def values_of(values: Any, what: str = "values") -> NDArray[np.float64]:
    """Values of entries as float64, the same memory where it can be."""
    try:
        array = np.atleast_1d(np.asarray(values))
        if array.dtype.kind == "c":
            raise ValueError(f"{what} are complex: complex data is not supported")
        numbers: NDArray[np.float64] = array.astype(np.float64, copy=False)
    except (TypeError, OverflowError) as error:
        raise InputError(f"{what} must be numbers: {error}") from error
    if numbers.ndim != 1:
        raise ValueError(f"{what} must be one-dimensional, got {numbers.ndim} dimensions")
    return numbers


def side_names(labels: Any, side: str) -> list[str]:
    """The names of the rows or columns of a frame, which must differ."""
    names = [text_of(label) for label in labels]
    if len(set(names)) < len(names):
        ((twice, _),) = Counter(names).most_common(1)
        raise ValueError(
            f"the {side} label '{twice}' occurs twice: labels must differ, for rows and columns are "
            "known by them"
        )
    return names


def checked_matrix(
    estimator: Any, X: Any, *, reset: bool, min_rows: int = 1, min_columns: int = 1
) -> Any:
    """A matrix as float64, dense or sparse, with its shape and names checked."""
    try:
        return _compat.validate(
            estimator, X, reset=reset, min_rows=min_rows, min_columns=min_columns
        )
    except (TypeError, OverflowError) as error:
        if isinstance(error, ValueError):
            raise
        raise InputError(f"the matrix must hold numbers: {error}") from error


def add_matrix(
    data: Data,
    matrix: Any,
    *,
    rows: Optional[list[str]] = None,
    columns: Optional[list[str]] = None,
    keep_empty: bool,
) -> None:
    """Put the observed entries of a checked matrix into data."""
    if isinstance(matrix, np.ndarray):
        data.add_dense(matrix, rows, columns, keep_empty)
        return
    # The coordinates as they are: other conversions would add repeated entries up.
    sparse = matrix.tocoo(copy=False)
    places = [np.asarray(place).astype(np.int64, copy=False) for place in (sparse.row, sparse.col)]
    data.add_sparse(places[0], places[1], values_of(sparse.data), sparse.shape, rows, columns)


def add_frame(
    data: Data,
    frame: Any,
    *,
    row: Optional[str],
    column: Optional[str],
    value: Optional[str],
    validation: bool = False,
) -> None:
    """Put the lines of a long frame into data."""
    if hasattr(frame, "__arrow_c_stream__") and not is_pandas(frame):
        data.add_arrow(frame, row, column, value, validation)
        return
    header = list(getattr(frame, "columns", []))
    if not header:
        raise ValueError(
            "a long frame with columns of rows, columns and values is needed: pandas, polars, or "
            "anything that streams Arrow batches"
        )
    if len(header) < 3:
        raise ValueError(
            f"{len(header)} column(s) found, at least 3 are needed (row, column and value)"
        )
    names = [given or header[place] for place, given in enumerate((row, column, value))]
    for name in names:
        if name not in header:
            listed = ", ".join(map(str, header))
            raise ValueError(f"there is no column '{name}'; there are: {listed}")
    parts = [frame[name] for name in names]
    rows, columns = names_of(parts[0], "rows"), names_of(parts[1], "columns")
    data.add_entries(rows, columns, values_of(parts[2]), validation)
