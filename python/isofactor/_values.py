"""Small conversions of the estimator: labels, frames, checked numbers."""

from __future__ import annotations

from typing import Any, Optional

import numpy as np
from numpy.typing import NDArray

from ._input import Names, is_pandas, is_polars


class Frame:
    """The kind of frame that was fitted and its labels, to give back the same."""

    def __init__(self, kind: Optional[str], index: Any, columns: Any) -> None:
        self.kind, self.index, self.columns = kind, index, columns

    @classmethod
    def of(cls, frame: Any) -> Frame:
        """What there is to remember of what was fitted."""
        if is_pandas(frame):
            return cls("pandas", frame.index, frame.columns)
        if is_polars(frame):
            return cls("polars", None, list(frame.columns))
        return cls(None, None, None)

    def around(self, matrix: NDArray[np.float64]) -> Any:
        """A matrix of the same shape as the same kind of frame."""
        if self.kind == "pandas":
            import pandas

            return pandas.DataFrame(matrix, index=self.index, columns=self.columns)
        if self.kind == "polars":
            import polars

            return polars.DataFrame(matrix, schema=self.columns)
        return matrix


def labels_of(texts: list[str]) -> NDArray[Any]:
    """Labels as numbers where all of them are, else as texts."""
    try:
        numbers = [int(text) for text in texts]
        if [str(each) for each in numbers] == texts:
            return np.asarray(numbers, dtype=np.int64)
    except (ValueError, OverflowError):
        pass
    labels = np.empty(len(texts), dtype=object)
    labels[:] = texts
    return labels


def stretched(names: Names, count: int) -> Names:
    """One name as many."""
    if len(names) != 1 or count == 1:
        return names
    return np.repeat(names, count) if isinstance(names, np.ndarray) else names * count


def whole(name: str, value: Any) -> int:
    """A whole number from 0 on, within what the core can take."""
    if isinstance(value, (int, np.integer)) and not isinstance(value, (bool, np.bool_)):
        if 0 <= value < 2**63:
            return int(value)
    raise ValueError(f"{name} must be a whole number from 0 on, got {value!r}")


def number(name: str, value: Any) -> float:
    """A number."""
    try:
        return float(value)
    except (TypeError, ValueError, OverflowError) as error:
        raise ValueError(f"{name} must be a number, got {value!r}") from error
