"""LIBMF. It has no effects of its own, so it gets what the bias model leaves."""

from __future__ import annotations

import numpy as np
from libmf import mf

from adapters import Predict, biases
from entries import Entries


def fit(train: Entries, *, threads: int, seed: int, rank: int, iterations: int = 30, penalty: float = 0.07) -> Predict:
    del seed  # it has no option for one
    effects = biases.learn(train)
    residuals = train.values - effects.predict(train.rows, train.columns)
    scale = float(residuals.std())  # its step and penalty suit values of about this size
    model = mf.MF(
        fun=mf.P_L2_MFR, k=rank, nr_threads=threads, nr_iters=iterations, lambda_p2=penalty, lambda_q2=penalty,
        lambda_p1=0.0, lambda_q1=0.0, eta=0.1, quiet=True,
    )  # fmt: skip
    model.fit(np.column_stack([train.rows, train.columns, residuals / scale]))
    # Its own predict misreads the pairs it is given; the factors are right. Rows and columns it never saw are NaN
    # or missing: their factors are nothing, which leaves the bias model.
    row_factors = padded(model.p_factors(), train.shape[0])
    column_factors = padded(model.q_factors(), train.shape[1])

    def predict(rows: np.ndarray, columns: np.ndarray) -> np.ndarray:
        products = np.einsum("kr,kr->k", row_factors[rows], column_factors[columns])
        return effects.predict(rows, columns) + scale * products

    return predict


def padded(factors: np.ndarray, size: int) -> np.ndarray:
    """Factors of all rows or columns, zero for those at the end that LIBMF did not hear of."""
    out = np.zeros((size, factors.shape[1]))
    out[: len(factors)] = np.nan_to_num(factors)
    return out
