"""cmfrec's CMF without side information: alternating least squares with row and column effects."""

from __future__ import annotations

from typing import Any

import numpy as np
from cmfrec import CMF
from scipy.sparse import coo_matrix

from adapters import Predict
from entries import Entries


def fit(train: Entries, *, threads: int, seed: int, **options: Any) -> Predict:
    model = CMF(random_state=seed + 1, nthreads=threads, verbose=False, **options)  # a seed of 0 means none
    model.fit(coo_matrix((train.values, (train.rows, train.columns)), shape=train.shape))

    def predict(rows: np.ndarray, columns: np.ndarray) -> np.ndarray:
        return model.predict(user=rows, item=columns)

    return predict
