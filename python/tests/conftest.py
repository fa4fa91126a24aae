"""A made panel, and the program to compare with."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import numpy as np
import pytest

ROOT = Path(__file__).resolve().parents[2]


def made(rows=60, columns=40, rank=2, share=0.5, steep=2.0, seed=0):
    """A panel seen through a sigmoid, with gaps."""
    random = np.random.default_rng(seed)
    scores = random.normal(size=(rows, rank)) @ random.normal(size=(rank, columns))
    full = 1 / (1 + np.exp(-steep * scores)) + 0.02 * random.normal(size=(rows, columns))
    seen = random.random(full.shape) < share
    # No row and no column is left without a value.
    seen[np.arange(rows), np.arange(rows) % columns] = True
    seen[np.arange(columns) % rows, np.arange(columns)] = True
    return np.where(seen, full, np.nan), full


def entries_of(X):
    rows, columns = np.nonzero(~np.isnan(X))
    return rows, columns, X[rows, columns]


@pytest.fixture(scope="session")
def panel():
    return made()[0]


@pytest.fixture(scope="session")
def program():
    """Runs the program with arguments in a folder."""
    path = os.environ.get("ISOFACTOR_PROGRAM")
    if not path:
        pytest.skip("ISOFACTOR_PROGRAM does not say where the program is; make python-test does")

    def run(folder, *args):
        done = subprocess.run(
            [path, *map(str, args)], cwd=folder, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    return run
