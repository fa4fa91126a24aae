"""What the Python package adds to the core: time on Jester-1, memory on a matrix of a gigabyte.

``make bench-python``; ``DATA=FOLDER`` says where Jester is, without it a made matrix of its size
is used. The overhead is the time of ``fit`` less that of the core's fit inside it.
"""

from __future__ import annotations

import os
import time
from pathlib import Path

import numpy as np

from isofactor import MonotoneFactorModel

ROUNDS = 3


def jester() -> np.ndarray:
    path = Path(os.environ.get("DATA", "data")) / "jester-1" / "jester-data-1.csv"
    if path.exists():
        import pandas

        # The first number of a line counts its ratings; 99 is missing.
        table = pandas.read_csv(path, header=None).to_numpy(dtype=np.float64)
        table = table[:, 1:] if table.shape[1] == 101 else table
        table = np.where(table == 99, np.nan, table)
        return np.ascontiguousarray(table[~np.isnan(table).all(axis=1)])
    print("Jester-1 is not here: this matrix is made")
    random = np.random.default_rng(0)
    X = random.normal(size=(24983, 4)) @ random.normal(size=(4, 100)) + random.normal(size=(24983, 100))
    return np.where(random.random(X.shape) < 0.72, X, np.nan)


def peak_since(mark: str = "5") -> int:
    """The largest resident size since the last call, which begins anew."""
    with open("/proc/self/status") as file:
        lines = dict(line.split(":", 1) for line in file)
    with open("/proc/self/clear_refs", "w") as file:
        file.write(mark)
    return int(lines["VmHWM"].split()[0]) * 1024


def main() -> None:
    X = jester()
    print(f"{X.shape[0]} x {X.shape[1]}, {int((~np.isnan(X)).sum())} entries")
    shares = []
    for _ in range(ROUNDS):
        began = time.perf_counter()
        model = MonotoneFactorModel().fit(X)
        whole = time.perf_counter() - began
        shares.append((whole - model.fit_seconds_) / model.fit_seconds_)
        print(f"fit {whole:.3f} s, core {model.fit_seconds_:.3f} s, overhead {100 * shares[-1]:.2f}%")
    print(f"overhead, median: {100 * sorted(shares)[ROUNDS // 2]:.2f}% of the fit")

    random = np.random.default_rng(1)
    X = random.normal(size=(125_000, 1000))
    X[random.random(X.shape) < 0.95] = np.nan
    X[:, 0] = 1.0 + np.arange(len(X)) % 3
    entries = int((~np.isnan(X)).sum())
    from isofactor._input import add_matrix, checked_matrix
    from isofactor._isofactor import Data

    peak_since()
    before = peak_since()
    data = Data()
    add_matrix(data, checked_matrix(MonotoneFactorModel(), X, reset=True), keep_empty=False)
    grown = peak_since() - before
    print(
        f"reading a matrix of {X.nbytes / 1e9:.1f} GB with {entries / 1e6:.1f} million entries: "
        f"{grown / 1e6:.0f} MB more at the peak, entries are {16 * entries / 1e6:.0f} MB"
    )


if __name__ == "__main__":
    main()
