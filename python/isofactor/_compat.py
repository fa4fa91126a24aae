"""What differs between the versions of scikit-learn that are supported."""

from __future__ import annotations

from typing import Any

try:  # 1.6 and later
    from sklearn.utils.validation import validate_data as _validate_data
except ImportError:
    _validate_data = None


def validate(estimator: Any, X: Any, *, reset: bool, min_rows: int, min_columns: int) -> Any:
    """Check shape, type and names of a matrix; what is finite is checked where it is read.

    Parameters
    ----------
    estimator : object
        Whose ``n_features_in_`` and ``feature_names_in_`` are set or compared.
    X : array-like or sparse matrix
        The matrix.
    reset : bool
        Whether to set them.
    min_rows, min_columns : int
        The smallest shape that can be used.

    Returns
    -------
    ndarray of float64, or sparse matrix
        The same memory where it can be.
    """
    options: dict[str, Any] = {
        "reset": reset,
        "accept_sparse": True,
        "accept_large_sparse": True,
        "dtype": "float64",
        "ensure_min_samples": min_rows,
        "ensure_min_features": min_columns,
    }
    if _validate_data is not None:
        return _validate_data(estimator, X, ensure_all_finite=False, **options)
    return estimator._validate_data(X, force_all_finite=False, **options)
