"""The same entries give the same model, whatever they come in."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from conftest import entries_of
from scipy import sparse

from isofactor import MonotoneFactorModel

SETTINGS = {"rank": 2, "link": "identity", "shrinkage": 1.0}


def model(**more):
    return MonotoneFactorModel(**{**SETTINGS, **more})


@pytest.fixture(scope="module")
def fitted(panel):
    return model().fit(panel)


def same(a, b):
    return np.array_equal(a.row_factors_, b.row_factors_) and np.array_equal(
        a.column_factors_, b.column_factors_
    )


@pytest.mark.parametrize(
    "convert",
    [
        np.asfortranarray,
        lambda X: np.repeat(X, 2, axis=0)[::2],
        lambda X: X[::-1][::-1],
        lambda X: X.tolist(),
        lambda X: X.astype(object),
        pd.DataFrame,
        lambda X: pd.DataFrame(X).convert_dtypes(),
        pl.DataFrame,
        lambda X: pl.DataFrame(X).fill_nan(None),
    ],
    ids=["fortran", "strided", "reversed", "list", "object", "pandas", "nullable", "polars", "null"],
)
def test_matrices_of_all_kinds_give_the_same_model(fitted, panel, convert):
    assert same(fitted, model().fit(convert(panel)))


@pytest.mark.parametrize("kind", ["csr", "csc", "coo", "lil", "dok"])
def test_explicit_entries_of_a_sparse_matrix_are_the_observed_ones(fitted, panel, kind):
    rows, columns, values = entries_of(panel)
    matrix = sparse.coo_matrix((values, (rows, columns)), shape=panel.shape).asformat(kind)
    assert same(fitted, model().fit(matrix))


def test_explicit_zeros_are_observed():
    rows, columns = np.nonzero(np.ones((6, 5)))
    values = np.add.outer(np.arange(6.0), np.arange(5.0)).ravel()
    fitted = model(rank=1).fit(sparse.csr_matrix((values, (rows, columns)), shape=(6, 5)))
    assert fitted.train_error_["count"] == 30


def test_repeated_entries_of_a_sparse_matrix_are_not_added_up(panel):
    rows, columns, values = (np.concatenate([part, part]) for part in entries_of(panel))
    fitted = model().fit(sparse.coo_matrix((values, (rows, columns)), shape=panel.shape))
    assert fitted.train_error_["count"] == len(values)
    assert fitted.complete()[rows[0], columns[0]] == pytest.approx(values[0])


def long_columns(panel):
    rows, columns, values = entries_of(panel)
    return [f"r{row}" for row in rows], columns, values


@pytest.mark.parametrize(
    "frame",
    [
        pd.DataFrame,
        lambda parts: pd.DataFrame(parts).astype({"who": "category"}),
        pl.DataFrame,
        lambda parts: pl.DataFrame(parts).with_columns(pl.col("who").cast(pl.Categorical)),
        pa.table,
        lambda parts: pa.Table.from_batches(pa.table(parts).to_batches(max_chunksize=100)),
        lambda parts: pa.table(
            {**parts, "who": pa.array(parts["who"]).dictionary_encode(), "x": parts["x"]}
        ),
        lambda parts: pa.table({**parts, "who": pa.array(parts["who"], pa.large_string())}),
    ],
    ids=["pandas", "category", "polars", "categorical", "arrow", "chunks", "dictionary", "large"],
)
def test_long_frames_of_all_kinds_give_the_same_model(panel, frame):
    who, what, values = long_columns(panel)
    entries = model().fit_entries(who, what, values)
    parts = {"x": np.asarray(values), "what": what, "who": who}
    framed = model().fit_frame(frame(parts), row="who", column="what", value="x")
    assert same(entries, framed)
    assert framed.row_labels_.tolist() == list(dict.fromkeys(who))
    assert framed.column_labels_.tolist() == list(dict.fromkeys(what.tolist()))


def test_a_frame_in_gives_the_same_frame_out(panel):
    index = pd.date_range("2020-01-31", periods=len(panel), freq="D")
    frame = pd.DataFrame(panel, index=index, columns=[f"c{i}" for i in range(panel.shape[1])])
    filled = model().fit(frame).complete()
    assert filled.index.equals(frame.index) and filled.columns.equals(frame.columns)
    seen = frame.notna().to_numpy()
    assert np.array_equal(filled.to_numpy()[seen], panel[seen])
    assert filled.notna().to_numpy().all()
    polars = pl.DataFrame(panel, schema=list(frame.columns))
    assert model().fit(polars).complete().columns == polars.columns


def test_labels_are_found_by_their_text(panel):
    frame = pd.DataFrame(panel, index=pd.date_range("2020-01-31", periods=len(panel), freq="D"))
    fitted = model().fit(frame)
    by_time = fitted.predict([frame.index[3]], [4])
    assert by_time == fitted.predict(["2020-02-03T00:00:00"], ["4"])
    assert by_time == fitted.predict(frame.index.values[3:4], [4])
    assert by_time == pytest.approx(fitted.inverse_transform(coordinates(fitted))[3, 4])


def coordinates(fitted):
    return np.column_stack([fitted.row_factors_, fitted.row_effects_])


def test_a_name_never_seen_is_predicted_from_the_other_one(fitted):
    expected = fitted.level_ + fitted.column_effects_[7]
    assert fitted.predict(["nobody"], [7]) == pytest.approx(expected)
    assert np.isfinite(fitted.predict(["nobody"], ["nothing"])).all()


def test_one_row_goes_with_many_columns(fitted):
    many = fitted.predict(3, [1, 2, 5])
    assert np.array_equal(many, fitted.predict([3, 3, 3], [1, 2, 5]))


def test_columns_without_a_value_are_kept_when_asked(panel):
    holed = panel.copy()
    holed[:, 5] = np.nan
    holed[9] = np.nan
    fitted = model(keep_empty=True).fit(holed)
    assert np.isfinite(fitted.complete()).all()
    assert len(fitted.column_labels_) == holed.shape[1]


def test_whole_numbers_are_labels_like_any_other(panel):
    rows, columns, values = entries_of(panel)
    whole = model().fit_entries(rows + 2**40, columns.astype(np.uint8), values)
    texts = model().fit_entries([str(r + 2**40) for r in rows], columns.astype(str), values)
    assert same(whole, texts)
    assert whole.row_labels_[0] == 2**40
    huge = model().fit_entries(rows.astype(np.uint64) + np.uint64(2**63), columns, values)
    assert huge.row_labels_[0] == str(2**63)
