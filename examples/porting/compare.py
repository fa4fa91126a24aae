"""The three ports beside their originals: error on the same held-out values and time, in one run.

Wall is what a user waits, imports included; cpu is summed over threads and suffers least when something
else runs.

``make bench-porting`` installs the originals and runs this. ``DATA=FOLDER`` says where MovieLens
is; without it the ratings are made, and a line says so.
"""

from __future__ import annotations

import os
import time
import warnings
from pathlib import Path

import cmfrec_als
import iterative_imputer
import numpy as np
import pandas as pd
import surprise_svd


def ratings() -> pd.DataFrame:
    path = Path(os.environ.get("DATA", "data")) / "movielens-small" / "ratings.csv"
    if path.exists():
        return pd.read_csv(path)[["userId", "movieId", "rating"]]
    print("MovieLens is not here: these ratings are made")
    random = np.random.default_rng(0)
    liking = random.normal(size=(600, 3)) @ random.normal(size=(3, 800))
    users, movies = np.nonzero(random.random(liking.shape) < 0.1)
    stars = 3.3 + np.tanh(liking[users, movies]) + 0.7 * random.normal(size=len(users))
    stars = np.clip(np.round(2 * stars) / 2, 0.5, 5)
    return pd.DataFrame({"userId": users, "movieId": movies, "rating": stars})


def made_panel() -> tuple[np.ndarray, np.ndarray]:
    """300 rows and 30 columns of rank 3, seen through tanh, with gaps; and the truth."""
    random = np.random.default_rng(1)
    truth = np.tanh(random.normal(size=(300, 3)) @ random.normal(size=(3, 30)))
    noisy = truth + 0.05 * random.normal(size=truth.shape)
    return np.where(random.random(truth.shape) < 0.6, noisy, np.nan), truth


def timed(function, *arguments):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        began, worked = time.perf_counter(), time.process_time()
        found = np.asarray(function(*arguments))
        return found, (time.perf_counter() - began, time.process_time() - worked)


def line(name: str, which: str, error: float, seconds: tuple[float, float]) -> None:
    print(f"{name:<18} {which:<10} {error:>8.4f} {seconds[0]:>8.2f} {seconds[1]:>8.2f}")


def main() -> None:
    print(f"{'':<18} {'':<10} {'RMSE':>8} {'wall s':>8} {'cpu s':>8}")
    frame = ratings()
    test = frame.sample(frac=0.1, random_state=0)
    train = frame.drop(test.index)
    for name, port in (("surprise SVD", surprise_svd), ("cmfrec CMF", cmfrec_als)):
        for which in ("original", "ported"):
            predicted, seconds = timed(getattr(port, which), train, test)
            # What a program cannot predict counts as the mean.
            predicted = np.where(np.isfinite(predicted), predicted, train["rating"].mean())
            error = float(np.sqrt(np.mean((predicted - test["rating"]) ** 2)))
            line(name, which, error, seconds)
    X, truth = made_panel()
    for which in ("original", "ported"):
        filled, seconds = timed(getattr(iterative_imputer, which), X)
        error = float(np.sqrt(np.mean((filled - truth)[np.isnan(X)] ** 2)))
        line("IterativeImputer", which, error, seconds)


if __name__ == "__main__":
    main()
