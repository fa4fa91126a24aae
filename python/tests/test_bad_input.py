"""Bad input is a ValueError with a sentence, never a panic."""

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from scipy import sparse

from isofactor import InputError, MonotoneFactorImputer, MonotoneFactorModel, NotFittedError

GOOD = np.add.outer(np.arange(6.0), np.arange(5.0) ** 2)


def holed(rows=(), columns=()):
    X = GOOD.copy()
    X[list(rows)] = np.nan
    X[:, list(columns)] = np.nan
    return X


def with_value(value):
    X = GOOD.copy()
    X[2, 3] = value
    return X


@pytest.mark.parametrize(
    "X, words",
    [
        (GOOD[0], "1D|1-D|2D array"),
        (np.zeros((2, 3, 4)), "dim 3|3D|<= 2"),
        (np.zeros((0, 5)), "0 sample"),
        (np.zeros((5, 0)), "0 feature"),
        (GOOD[:1], "1 sample"),
        (GOOD[:, :1], "1 feature"),
        (pd.DataFrame(), "0 sample|0 feature|at least one array"),
        (holed(rows=[3]), r"1 row\(s\) have no observed value: '3'"),
        (holed(columns=[1, 2]), r"2 column\(s\) have no observed value: '1', '2'"),
        (holed(rows=range(6)), "no observed value"),
        (with_value(np.inf), "row '2', column '3' is infinite"),
        (with_value(-np.inf), "infinite"),
        (np.ones((4, 3)), "no variation"),
        (GOOD.astype(complex), "[Cc]omplex"),
        (np.array([["a", 1], [2, 3]], dtype=object), "could not convert"),
        (np.array([["a", "b"], ["c", "d"]]), "could not convert"),
        (np.array([[{}, 1], [2, 3]], dtype=object), "must hold numbers"),
        (np.array([[10**400, 1], [2, 3]], dtype=object), "must hold numbers"),
        (pd.DataFrame(GOOD, columns=list("abcda")), "column label 'a' occurs twice"),
        (pd.DataFrame(GOOD, index=list("uvwxyu")), "row label 'u' occurs twice"),
        (pd.DataFrame(GOOD, index=[1, "1", 2, 3, 4, 5]), "row label '1' occurs twice"),
        (pd.DataFrame(GOOD, index=[None, *"abcde"]), "label is missing"),
        (sparse.csr_matrix((6, 5)), "no observed entries"),
        (sparse.csr_matrix(with_value(np.inf)), "finite"),
        (sparse.csr_matrix(with_value(np.nan)), "finite"),
        (None, "."),
        ("text", "."),
    ],
)
def test_a_bad_matrix_is_refused_with_a_sentence(X, words):
    with pytest.raises(ValueError, match=words):
        MonotoneFactorModel(rank=1).fit(X)


def test_objects_that_are_no_numbers_are_type_errors_too():
    with pytest.raises(InputError) as refused:
        MonotoneFactorModel().fit(np.array([[{}, 1], [2, 3]], dtype=object))
    assert isinstance(refused.value, TypeError)


@pytest.mark.parametrize(
    "parameters, words",
    [
        ({"rank": -1}, "rank must be a whole number from 1 on, got -1"),
        ({"rank": 0}, "rank must be a whole number from 1 on"),
        ({"rank": 2.5}, "rank"),
        ({"rank": 2**70}, "rank"),
        ({"rank": "many"}, "rank"),
        ({"rank": 99}, "rank 99 is above what a 6 x 5 matrix can hold: use at most 5"),
        ({"seed": -1}, "seed"),
        ({"seed": 2**64}, "seed"),
        ({"iterations": -5}, "iterations"),
        ({"threads": -1}, "threads"),
        ({"threads": 10**6}, "threads must be between"),
        ({"threads": 2**80}, "threads"),
        ({"holdout": 1.5}, "holdout must be between 0 and 1, got 1.5"),
        ({"holdout": float("nan")}, "holdout"),
        ({"holdout": "much"}, "holdout must be a number"),
        ({"link": "wiggly"}, "link cannot be 'wiggly'"),
        ({"link": [(0, 1), (1, 0)]}, "does not increase"),
        ({"link": 3}, "link|variant"),
        ({"solver": "magic"}, "solver cannot be 'magic'"),
        ({"shrinkage": -1.0}, "shrinkage must be positive"),
        ({"shrinkage": float("nan")}, "shrinkage"),
        ({"effects": "some"}, "effects cannot be 'some'"),
        ({"loss": "mean"}, "loss needs the solver 'bcd'"),
        ({"solver": "bcd", "monotone": (2, 1)}, "slope bounds"),
        ({"solver": "bcd", "link_penalty": 0}, "link-penalty must be positive, got 0"),
        ({"solver": "bcd", "link_penalty": None, "rank": []}, "rank"),
    ],
)
def test_a_bad_setting_is_refused_with_the_cores_sentence(parameters, words):
    with pytest.raises(ValueError, match=words):
        MonotoneFactorModel(**parameters).fit(GOOD)


@pytest.mark.parametrize(
    "entries, words",
    [
        (([0, 1], [0, 1], [1.0]), "equally long, got 2, 2 and 1"),
        (([], [], []), "no observed entries"),
        (([0, 1], [0, 1], [1.0, np.nan]), "entry 1 has the value NaN"),
        (([0, 1], [0, 1], [1.0, np.inf]), "finite"),
        (([0, 0], [0, 1], [1.0, 2.0]), "at least two of each"),
        (([0, 1], [0, 1], ["a", "b"]), "could not convert|number"),
        (([0, 1], [0, 1], [1j, 2j]), "complex"),
        (([0, 1], [0, 1], [{}, 1]), "must be numbers"),
        (([0, None], [0, 1], [1.0, 2.0]), "label is missing"),
        (([0.5, np.nan], [0, 1], [1.0, 2.0]), "label is missing"),
        (([[0, 1]], [0, 1], [1.0, 2.0]), "one-dimensional"),
        (([0, 1], [0, 1], [[1.0, 2.0]]), "one-dimensional"),
    ],
)
def test_bad_entries_are_refused(entries, words):
    with pytest.raises(ValueError, match=words):
        MonotoneFactorModel(rank=1).fit_entries(*entries)


@pytest.mark.parametrize(
    "frame, names, words",
    [
        (pd.DataFrame({"a": [1], "b": [2]}), {}, r"2 column\(s\) found"),
        (pa.table({"a": [1], "b": [2]}), {}, r"2 column\(s\) found"),
        (pd.DataFrame({"a": [1], "b": [2], "c": [3]}), {"row": "z"}, "no column 'z'"),
        (pa.table({"a": [1], "b": [2], "c": [3]}), {"row": "z"}, "no column 'z'; there are: a, b, c"),
        (pa.table({"a": [1, None], "b": [2, 3], "c": [3, 4]}), {}, "the row of 1 entries is missing"),
        (pa.table({"a": [1, 2], "b": [2, 3], "c": [3, None]}), {}, "the value of 1 entries"),
        (pa.table({"a": [1, 2], "b": [2, 3], "c": [[3], [4]]}), {}, "value column has the type"),
        (pd.DataFrame({"a": [], "b": [], "c": []}), {}, "no observed entries"),
        (42, {}, "a long frame"),
    ],
)
def test_a_bad_long_frame_is_refused(frame, names, words):
    with pytest.raises(ValueError, match=words):
        MonotoneFactorModel(rank=1).fit_frame(frame, **names)


def test_what_does_not_fit_a_fitted_model_is_refused(tmp_path):
    model = MonotoneFactorModel(rank=1).fit(GOOD)
    for call, words in [
        (lambda: model.transform(GOOD[:, :3]), "3 features"),
        (lambda: model.inverse_transform(np.zeros((2, 5))), "2 are needed"),
        (lambda: model.inverse_transform(np.zeros(2)), "matrix"),
        (lambda: model.predict(sparse.csr_matrix(GOOD)), "for a sparse X use"),
        (lambda: model.predict([1, 2], [1, 2, 3]), "equally long"),
        (lambda: model.recommend("nobody"), "knows no row 'nobody'"),
        (lambda: model.similar(column="nothing"), "knows no column"),
        (lambda: model.similar(), "either row or column"),
        (lambda: model.recommend(1, top=-1), "top"),
        (lambda: model.evaluate([], [], []), "no entries"),
        (lambda: model.update_entries(["x", "y"], ["x", "y"], [1, 2]), "no row or column"),
        (lambda: model.fit(GOOD, validation=GOOD[:3]), "validation matrix"),
    ]:
        with pytest.raises(ValueError, match=words):
            call()
    with pytest.raises(OSError, match="cannot be written"):
        model.save(tmp_path / "no" / "folder.isofactor")
    with pytest.raises(FileNotFoundError, match="no such file"):
        MonotoneFactorModel.load(tmp_path / "missing.isofactor")
    (tmp_path / "bad.isofactor").write_bytes(b"something else")
    with pytest.raises(ValueError, match="not a usable isofactor model"):
        MonotoneFactorModel.load(tmp_path / "bad.isofactor")


def test_a_model_from_a_file_says_what_it_cannot_do(tmp_path):
    MonotoneFactorModel(rank=1).fit(GOOD).save(tmp_path / "a.isofactor")
    model = MonotoneFactorModel.load(tmp_path / "a.isofactor")
    for call in (model.complete, lambda: model.recommend(1), lambda: model.report(tmp_path / "p.html")):
        with pytest.raises(ValueError, match="does not hold the entries"):
            call()
    assert len(model.recommend(1, top=2, unseen=False).labels) == 2


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_the_papers_solver_cannot_place_new_rows():
    model = MonotoneFactorModel(rank=1, solver="bcd").fit(GOOD)
    with pytest.raises(ValueError, match="solver='fast'"):
        model.transform(GOOD)


def test_values_that_overflow_do_no_harm():
    random = np.random.default_rng(0)
    for scale in (1e308, 1e-320):
        X = random.random((8, 6)) * scale
        try:
            assert np.isfinite(MonotoneFactorModel(rank=1).fit(X).complete()).all()
        except (ValueError, ArithmeticError) as error:
            assert str(error)


@pytest.mark.parametrize(
    "name", ["link_", "row_factors_", "chosen_", "trace_", "stop_reason_", "level_", "n_iter_"]
)
def test_nothing_is_known_before_a_fit(name):
    with pytest.raises(NotFittedError):
        getattr(MonotoneFactorModel(), name)
    assert not hasattr(MonotoneFactorModel(), name)


def test_an_imputer_needs_dense_values():
    with pytest.raises(ValueError, match="sparse"):
        MonotoneFactorImputer().fit(sparse.csr_matrix(GOOD))
    with pytest.raises(NotFittedError):
        MonotoneFactorImputer().transform(GOOD)
