"""LensKit's BiasedMF (its class is BiasedMFScorer): alternating least squares on the residuals of a bias model."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from lenskit.als import BiasedMFConfig, BiasedMFScorer
from lenskit.data import Vocabulary, from_interactions_df
from lenskit.training import TrainingOptions

from adapters import Predict
from entries import Entries


def fit(train: Entries, *, threads: int, seed: int, **options: Any) -> Predict:
    del threads  # it follows the environment, which the caller has set
    frame = pd.DataFrame({"user_id": train.rows, "item_id": train.columns, "rating": train.values})
    model = BiasedMFScorer(BiasedMFConfig(**options))
    model.train(from_interactions_df(frame), TrainingOptions(rng=seed))

    def predict(rows: np.ndarray, columns: np.ndarray) -> np.ndarray:
        row_factors, row_effects = of_known(model.users, rows, model.user_embeddings, model.bias.user_biases)
        column_factors, column_effects = of_known(model.items, columns, model.item_embeddings, model.bias.item_biases)
        products = np.einsum("kr,kr->k", row_factors, column_factors)
        return model.bias.global_bias + row_effects + column_effects + products

    return predict


def of_known(
    known: Vocabulary, wanted: np.ndarray, factors: np.ndarray, effects: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Factors and effects of the wanted labels, zero for new ones: LensKit's pipelines fall back to the biases too."""
    number = known.numbers(wanted, missing="negative")
    new = number < 0
    return np.where(new[:, None], 0.0, np.asarray(factors)[number]), np.where(new, 0.0, effects[number])
