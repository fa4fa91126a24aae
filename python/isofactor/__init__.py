"""Factor models seen through an unknown, increasing link.

``y = phi(u_row . v_column) + noise``: a partly observed, noisy matrix is explained by a few
factors per row and per column and by the function through which they are seen. All three are
learned.

>>> import numpy as np
>>> from isofactor import MonotoneFactorModel
>>> X = np.tanh(np.outer(np.linspace(-2, 2, 30), np.linspace(-1, 1, 20)))
>>> X[::3, ::4] = np.nan
>>> model = MonotoneFactorModel(rank=1).fit(X)
>>> bool(np.isfinite(model.complete()).all())
True
"""

from sklearn.exceptions import ConvergenceWarning, NotFittedError

from ._imputer import MonotoneFactorImputer
from ._input import InputError
from ._isofactor import __version__
from ._link import Link
from ._model import MonotoneFactorModel, Ranking

__all__ = [
    "ConvergenceWarning",
    "InputError",
    "Link",
    "MonotoneFactorImputer",
    "MonotoneFactorModel",
    "NotFittedError",
    "Ranking",
    "__version__",
]
