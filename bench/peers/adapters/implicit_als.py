"""implicit's alternating least squares: every seen entry is a 1, every other cell a 0, so values are not predicted."""

from __future__ import annotations

import numpy as np
from implicit.als import AlternatingLeastSquares
from scipy.sparse import csr_matrix

from entries import Entries


def fit(train: Entries, *, threads: int, seed: int, factors: int) -> None:
    seen = csr_matrix((np.ones(len(train), dtype=np.float32), (train.rows, train.columns)), shape=train.shape)
    model = AlternatingLeastSquares(factors=factors, num_threads=threads, random_state=seed)
    model.fit(seen, show_progress=False)
