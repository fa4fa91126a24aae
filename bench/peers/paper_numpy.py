"""The paper's Algorithm 1 as a careful user of NumPy would write it: the yardstick for the cost of an iteration.

    phi = sum_j w_j K(c_j, .)         centres c_j on a grid over the domain, fixed
    x_k = u_i . v_t,  g_k = y_k - phi(x_k)
    Z   <- P_C(Z - zeta grad_Z),      grad_Z = -2 sum_k g_k phi'(x_k) (A_k + A_k') Z + lambda D Z Z'DZ
    w   <- (1 - eta alpha) w + 2 eta G^+ sum_k g_k K(c, x_k),      G_jl = K(c_j, c_l)

The last line is the functional step projected onto the span of the centres: the exact one would add a centre for each
entry at each iteration. The kernel is Gaussian, the loss is the sum of squares, and P_H is left out on both sides.

    python paper_numpy.py TRAIN.npz RESULT.json SCATTER SETTINGS_AS_JSON

SCATTER is how the factor gradient is added up: `add-at` (numpy.add.at) or `sparse` (products with a sparse matrix).
"""

from __future__ import annotations

import json
import sys
import time
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from scipy.sparse import csr_matrix
from scipy.sparse.linalg import svds

import entries
from entries import Entries

CHUNK = 8192  # entries whose kernel values are held at a time: a few megabytes, which stay in the cache
CENTRES_PER_BANDWIDTH = 2
MARGIN = 2  # centres beyond each end of the domain, where a span is weakest
SMALLEST_EIGENVALUE = 1e-13  # of G, relative to its largest: below, round-off decides


@dataclass(frozen=True)
class Settings:
    rank: int
    radius: float
    bandwidth: float
    factor_step: float
    link_step: float
    link_penalty: float
    balance_penalty: float
    iterations: int


class Link:
    """phi on fixed centres. Kernel values are made anew for each use: kept, they would fill the memory."""

    def __init__(self, half_width: float, bandwidth: float) -> None:
        spacing = bandwidth / CENTRES_PER_BANDWIDTH
        each_side = int(np.ceil(half_width / spacing)) + MARGIN
        self.centres = spacing * np.arange(-each_side, each_side + 1)
        self.bandwidth = bandwidth
        self.gram = self.kernel(self.centres)[1]
        eigenvalues, vectors = np.linalg.eigh(self.gram)
        kept = eigenvalues > SMALLEST_EIGENVALUE * eigenvalues[-1]
        self.gram_inverse = (vectors[:, kept] / eigenvalues[kept]) @ vectors[:, kept].T
        self.weights = np.zeros(len(self.centres))

    def kernel(self, x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """x - c_j, and K(c_j, x) = exp(-(x - c_j)^2 / (2 h^2))."""
        apart = x[:, None] - self.centres
        return apart, np.exp(apart**2 * (-0.5 / self.bandwidth**2))

    def value_and_slope(self, x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        value, slope = np.empty_like(x), np.empty_like(x)
        for start in range(0, len(x), CHUNK):
            part = slice(start, start + CHUNK)
            apart, kernel = self.kernel(x[part])
            value[part] = kernel @ self.weights
            slope[part] = (apart * kernel) @ self.weights / -(self.bandwidth**2)
        return value, slope

    def step(self, x: np.ndarray, y: np.ndarray, length: float, penalty: float) -> None:
        """One pass: residuals at this phi, and their sum against the kernel at the centres."""
        total = np.zeros_like(self.weights)
        for start in range(0, len(x), CHUNK):
            part = slice(start, start + CHUNK)
            _, kernel = self.kernel(x[part])
            total += (y[part] - kernel @ self.weights) @ kernel
        self.weights = (1 - length * penalty) * self.weights + 2 * length * (self.gram_inverse @ total)

    def squared_norm(self) -> float:
        return float(self.weights @ self.gram @ self.weights)


def spectral_start(train: Entries, rank: int) -> tuple[np.ndarray, np.ndarray]:
    """Rank-r SVD U S V' of the zero-filled matrix: factors U sqrt(S) and V sqrt(S)."""
    matrix = csr_matrix((train.values, (train.rows, train.columns)), shape=train.shape)
    left, size, right = svds(matrix, k=rank, random_state=0)
    return left * np.sqrt(size), right.T * np.sqrt(size)


def clipped(factors: np.ndarray, radius: float) -> np.ndarray:
    """P_C: rows longer than the radius are scaled to it."""
    length = np.linalg.norm(factors, axis=1, keepdims=True)
    return factors * np.minimum(1.0, radius / np.maximum(length, 1e-300))


class AddAt:
    """sum_k a_k v_t into row i and sum_k a_k u_i into column t, with numpy.add.at."""

    def __init__(self, train: Entries) -> None:
        self.train = train

    def __call__(self, a: np.ndarray, u: np.ndarray, v: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        into_rows, into_columns = np.zeros_like(u), np.zeros_like(v)
        np.add.at(into_rows, self.train.rows, a[:, None] * v[self.train.columns])
        np.add.at(into_columns, self.train.columns, a[:, None] * u[self.train.rows])
        return into_rows, into_columns


class Sparse:
    """The same sums as the products A V and A'U, where A holds a_k at (i, t); its pattern is made once."""

    def __init__(self, train: Entries) -> None:
        positions = np.arange(1, len(train) + 1)
        pattern = csr_matrix((positions, (train.rows, train.columns)), shape=train.shape)
        self.order = pattern.data - 1
        self.matrix = csr_matrix((np.zeros(len(train)), pattern.indices, pattern.indptr), shape=train.shape)

    def __call__(self, a: np.ndarray, u: np.ndarray, v: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        self.matrix.data[:] = a[self.order]
        return self.matrix @ v, self.matrix.T @ u


SCATTERS: dict[str, type[AddAt] | type[Sparse]] = {"add-at": AddAt, "sparse": Sparse}


def run(train: Entries, scatter: str, settings: Settings) -> tuple[list[float], list[float]]:
    """The objective from iteration 0 on, and the seconds of each iteration; start and set-up are not counted."""
    s = settings
    add_up = SCATTERS[scatter](train)
    u, v = (clipped(factors, s.radius) for factors in spectral_start(train, s.rank))
    link = Link(s.radius**2, s.bandwidth)

    def scores() -> np.ndarray:
        return np.einsum("kr,kr->k", u[train.rows], v[train.columns])

    def objective(residual: np.ndarray) -> float:
        imbalance = u.T @ u - v.T @ v
        penalties = s.balance_penalty / 4 * np.sum(imbalance**2) + s.link_penalty / 2 * link.squared_norm()
        return float(residual @ residual + penalties)

    x = scores()
    value, slope = link.value_and_slope(x)
    found = [objective(train.values - value)]
    seconds = []
    for _ in range(s.iterations):
        began = time.perf_counter()
        rows, columns = add_up(-2 * (train.values - value) * slope, u, v)
        imbalance = u.T @ u - v.T @ v
        u, v = (
            clipped(u - s.factor_step * (rows + s.balance_penalty * u @ imbalance), s.radius),
            clipped(v - s.factor_step * (columns - s.balance_penalty * v @ imbalance), s.radius),
        )
        x = scores()
        link.step(x, train.values, s.link_step, s.link_penalty)
        # One evaluation serves the objective now and the next factor step.
        value, slope = link.value_and_slope(x)
        found.append(objective(train.values - value))
        seconds.append(time.perf_counter() - began)
    return found, seconds


def main(source: str, result: str, scatter: str, settings: str) -> None:
    chosen = Settings(**json.loads(settings))
    found, seconds = run(entries.load(Path(source)), scatter, chosen)
    Path(result).write_text(json.dumps({"objective": found, "seconds": seconds}))


if __name__ == "__main__":
    main(*sys.argv[1:])
