"""scikit-surprise's SVD: stochastic gradient descent on one thread, whatever it is allowed."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from surprise import SVD, Dataset, Reader

from adapters import Predict
from entries import Entries


def fit(train: Entries, *, threads: int, seed: int, **options: Any) -> Predict:
    del threads
    frame = pd.DataFrame({"row": train.rows, "column": train.columns, "value": train.values})
    reader = Reader(rating_scale=(train.values.min(), train.values.max()))
    model = SVD(random_state=seed, **options)
    model.fit(Dataset.load_from_df(frame, reader).build_full_trainset())

    def predict(rows: np.ndarray, columns: np.ndarray) -> np.ndarray:
        return np.array([model.predict(row, column).est for row, column in zip(rows, columns, strict=True)])

    return predict
