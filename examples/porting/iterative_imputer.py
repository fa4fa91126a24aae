"""scikit-learn's IterativeImputer, and the same with isofactor: a matrix with NaN, filled in."""


def original(X):
    from sklearn.experimental import enable_iterative_imputer  # noqa: F401
    from sklearn.impute import IterativeImputer

    return IterativeImputer(random_state=0).fit_transform(X)


def ported(X):
    from isofactor import MonotoneFactorImputer

    return MonotoneFactorImputer().fit_transform(X)
