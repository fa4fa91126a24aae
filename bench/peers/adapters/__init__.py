"""One file a peer, all with the same interface:

    fit(train: Entries, *, threads: int, seed: int, **options) -> Predict | None

`Predict` takes row numbers and column numbers and returns predictions, NaN where the peer has none. `None` stands for
a peer that does not predict values. A file imports its package at the top, so that importing is not counted as fitting.
"""

from collections.abc import Callable

import numpy as np

Predict = Callable[[np.ndarray, np.ndarray], np.ndarray]
