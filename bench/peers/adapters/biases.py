"""Level, row effect and column effect: a peer of its own, and what LIBMF's factors are added to."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from adapters import Predict
from entries import Entries

DAMPING = 5.0  # each effect is shrunk as if this many more entries showed none
SWEEPS = 10


@dataclass(frozen=True)
class Biases:
    level: float
    rows: np.ndarray
    columns: np.ndarray

    def predict(self, rows: np.ndarray, columns: np.ndarray) -> np.ndarray:
        return self.level + self.rows[rows] + self.columns[columns]


def damped_mean(group: np.ndarray, values: np.ndarray, size: int) -> np.ndarray:
    return np.bincount(group, values, size) / (np.bincount(group, minlength=size) + DAMPING)


def learn(train: Entries) -> Biases:
    """The ridge estimate of both effects, by turns."""
    level = float(train.values.mean())
    rows, columns = (np.zeros(n) for n in train.shape)
    for _ in range(SWEEPS):
        columns = damped_mean(train.columns, train.values - level - rows[train.rows], train.shape[1])
        rows = damped_mean(train.rows, train.values - level - columns[train.columns], train.shape[0])
    return Biases(level, rows, columns)


def fit(train: Entries, *, threads: int, seed: int) -> Predict:
    del threads, seed  # one pass after the other, nothing random
    return learn(train).predict
