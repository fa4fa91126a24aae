"""Child process: one peer on one split, timed from inside; writes what it found as JSON.

    python child.py ADAPTER FOLDER RESULT.json THREADS SEED OPTIONS_AS_JSON
    python child.py ADAPTER --import-only

The second form only imports, so that the memory of the libraries can be told from that of the fit.
"""

from __future__ import annotations

import importlib
import json
import sys
import time
from pathlib import Path

import numpy as np

import entries


def errors(predicted: np.ndarray, train_mean: float, values: np.ndarray) -> dict[str, float | int]:
    """RMSE and MAE; what a peer cannot predict (it has never seen the row or column) counts as the training mean."""
    unknown = ~np.isfinite(predicted)
    residual = np.where(unknown, train_mean, predicted) - values
    return {
        "rmse": float(np.sqrt(np.mean(residual**2))),
        "mae": float(np.mean(np.abs(residual))),
        "unpredicted": int(unknown.sum()),
    }


def main(adapter: str, *rest: str) -> None:
    began = time.perf_counter()
    peer = importlib.import_module(f"adapters.{adapter}")
    if rest == ("--import-only",):
        return
    folder, result, threads, seed, options = rest
    imported = time.perf_counter()
    train, valid = (entries.load(Path(folder) / f"{part}.npz") for part in ("train", "valid"))
    loaded = time.perf_counter()
    predict = peer.fit(train, threads=int(threads), seed=int(seed), **json.loads(options))
    fitted = time.perf_counter()
    found = {"import_seconds": imported - began, "read_seconds": loaded - imported, "fit_seconds": fitted - loaded}
    if predict is not None:
        predicted = np.asarray(predict(valid.rows, valid.columns), dtype=float)
        found["predict_seconds"] = time.perf_counter() - fitted
        found |= errors(predicted, float(train.values.mean()), valid.values)
    Path(result).write_text(json.dumps(found))


if __name__ == "__main__":
    main(*sys.argv[1:])
