"""myFM: a factorisation machine on one-hot rows and columns, averaged over Gibbs samples; one thread."""

from __future__ import annotations

import numpy as np
from myfm import MyFMRegressor
from scipy.sparse import csr_matrix

from adapters import Predict
from entries import Entries


def one_hot(rows: np.ndarray, columns: np.ndarray, shape: tuple[int, int]) -> csr_matrix:
    """Each entry as a line with two ones: at its row, and at its column after all rows."""
    positions = np.column_stack([rows, shape[0] + columns]).ravel()
    starts = np.arange(0, len(positions) + 1, 2)
    return csr_matrix((np.ones(len(positions)), positions, starts), shape=(len(rows), sum(shape)))


def fit(train: Entries, *, threads: int, seed: int, rank: int, samples: int) -> Predict:
    del threads
    model = MyFMRegressor(rank=rank, random_seed=seed)
    model.fit(
        one_hot(train.rows, train.columns, train.shape), train.values, n_iter=samples, n_kept_samples=samples * 3 // 4,
        group_shapes=list(train.shape),
    )  # fmt: skip

    def predict(rows: np.ndarray, columns: np.ndarray) -> np.ndarray:
        return model.predict(one_hot(rows, columns, train.shape))

    return predict
