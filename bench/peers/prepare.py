"""Child process: reads a data set, holds back a tenth of each row, writes both parts as arrays and as CSV.

    python prepare.py long|jester SOURCE FOLDER SEED

Everybody gets the same split: `train.npz` and `valid.npz` for the peers, `train.csv` and `valid.csv` for the program.
Rows and columns are numbers in both. Shape and counts are printed as JSON.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

import numpy as np
import pandas as pd

import entries
from entries import Entries

HELD_OUT = 0.1
NOT_RATED = 99.0


def read_long(path: Path) -> Entries:
    """CSV with a header; the first three columns are row, column and value."""
    table = pd.read_csv(path, usecols=[0, 1, 2])
    (rows, row_names), (columns, column_names) = (pd.factorize(table.iloc[:, i]) for i in (0, 1))
    values = table.iloc[:, 2].to_numpy(dtype=float)
    return Entries(rows, columns, values, (len(row_names), len(column_names)))


def read_jester(path: Path) -> Entries:
    """One line a row, no header; the first number counts the row's ratings and is not one of them."""
    matrix = pd.read_csv(path, header=None).to_numpy(dtype=float)[:, 1:]
    rows, columns = np.nonzero(matrix != NOT_RATED)
    return Entries(rows, columns, matrix[rows, columns], matrix.shape)


READERS = {"long": read_long, "jester": read_jester}


def held_out(rows: np.ndarray, seed: int) -> np.ndarray:
    """Marks a tenth of each row's entries, rounded, drawn at random: entries are ranked within their row."""
    order = np.lexsort((np.random.default_rng(seed).random(len(rows)), rows))
    counts = np.bincount(rows)
    first = np.concatenate([[0], np.cumsum(counts)[:-1]])
    place = np.arange(len(rows)) - first[rows[order]]
    marked = np.zeros(len(rows), dtype=bool)
    marked[order] = place < np.round(HELD_OUT * counts)[rows[order]]
    return marked


def write_csv(path: Path, part: Entries) -> None:
    frame = pd.DataFrame({"row": part.rows, "column": part.columns, "value": part.values})
    frame.to_csv(path, index=False)


def main(kind: str, source: str, folder: str, seed: str) -> None:
    everything = READERS[kind](Path(source))
    marked = held_out(everything.rows, int(seed))
    rows, columns = everything.shape
    print(json.dumps({"rows": rows, "columns": columns, "train": int((~marked).sum()), "held_out": int(marked.sum())}))
    for name, chosen in (("train", ~marked), ("valid", marked)):
        part = everything.where(chosen)
        entries.save(Path(folder) / f"{name}.npz", part)
        write_csv(Path(folder) / f"{name}.csv", part)


if __name__ == "__main__":
    main(*sys.argv[1:])
