"""The entries that a child process is given: arrays of row numbers, column numbers and values."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np


@dataclass(frozen=True)
class Entries:
    """Observed entries of a matrix of `shape`; rows and columns are numbered from 0."""

    rows: np.ndarray
    columns: np.ndarray
    values: np.ndarray
    shape: tuple[int, int]

    def __len__(self) -> int:
        return len(self.values)

    def where(self, chosen: np.ndarray) -> Entries:
        """The chosen entries of the same matrix."""
        return Entries(self.rows[chosen], self.columns[chosen], self.values[chosen], self.shape)


def save(path: Path, entries: Entries) -> None:
    """One uncompressed file, so that reading it costs every peer next to nothing."""
    np.savez(path, rows=entries.rows, columns=entries.columns, values=entries.values, shape=entries.shape)


def load(path: Path) -> Entries:
    with np.load(path) as file:
        rows, columns = file["shape"].tolist()
        return Entries(file["rows"], file["columns"], file["values"], (rows, columns))
