"""scikit-learn's contract."""

import numpy as np
import pandas as pd
import pytest
from conftest import made
from sklearn.base import clone
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LinearRegression
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

from isofactor import MonotoneFactorImputer, MonotoneFactorModel

# Rows without a value are kept: some checks put NaN at random into a matrix of two columns.
@parametrize_with_checks([MonotoneFactorModel(keep_empty=True), MonotoneFactorImputer()])
@pytest.mark.filterwarnings("ignore")
def test_the_contract_of_scikit_learn(estimator, check):
    check(estimator)


def test_init_only_stores():
    given = {"rank": "nonsense", "link": object(), "threads": -3, "callback": 7}
    model = MonotoneFactorModel(**given)
    assert {name: model.get_params()[name] for name in given} == given
    assert vars(clone(MonotoneFactorModel(rank=3))) == vars(MonotoneFactorModel(rank=3))
    assert model.set_params(rank=2).rank == 2


def test_a_grid_search_chooses_the_rank():
    X, _ = made(120, 40, rank=2, share=0.8)
    search = GridSearchCV(MonotoneFactorModel(link="identity"), {"rank": [1, 2]}, cv=3).fit(X)
    assert search.best_params_ == {"rank": 2}
    assert 0 < search.best_score_ < 1


def test_a_search_in_other_processes_finds_the_same():
    X, _ = made(60, 30)
    results = [
        GridSearchCV(MonotoneFactorModel(), {"rank": [1, 2]}, cv=2, n_jobs=jobs).fit(X).best_score_
        for jobs in (1, 2)
    ]
    assert results[0] == results[1]


def test_in_a_pipeline_it_makes_features_and_fills_gaps():
    X, full = made(120, 20, share=0.8)
    y = full @ np.linspace(-1, 1, 20)
    for step in (MonotoneFactorImputer(rank=2), MonotoneFactorModel(rank=2)):
        pipeline = make_pipeline(StandardScaler(), step, LinearRegression())
        assert cross_val_score(pipeline, X, y, cv=3).mean() > 0.5


def test_score_is_one_for_the_truth_and_near_zero_for_noise():
    X, _ = made(100, 40, share=0.9)
    model = MonotoneFactorModel(rank=2).fit(X)
    assert 0.8 < model.score(X) <= 1
    noise = np.random.default_rng(0).normal(size=X.shape)
    assert MonotoneFactorModel(rank=2).fit(noise).score(noise) < 0.1


def test_output_can_be_set_to_pandas(panel):
    frame = pd.DataFrame(panel, columns=[f"c{i}" for i in range(panel.shape[1])])
    placed = MonotoneFactorModel(rank=2).set_output(transform="pandas").fit_transform(frame)
    assert list(placed.columns) == ["factor0", "factor1", "effect"]
    filled = MonotoneFactorImputer(rank=2).set_output(transform="pandas").fit_transform(frame)
    assert list(filled.columns) == list(frame.columns) and filled.notna().all(axis=None)


def test_the_imputer_changes_no_observed_value(panel):
    filled = MonotoneFactorImputer(rank=2).fit_transform(panel)
    seen = ~np.isnan(panel)
    assert np.array_equal(filled[seen], panel[seen]) and np.isfinite(filled).all()


@pytest.mark.parametrize("keep", [False, True])
def test_empty_columns_go_the_way_of_scikit_learns_imputers(panel, keep):
    holed = panel.copy()
    holed[:, 3] = np.nan
    imputer = MonotoneFactorImputer(rank=2, keep_empty_features=keep).fit(holed)
    filled = imputer.transform(panel)
    assert filled.shape[1] == panel.shape[1] - (not keep) == len(imputer.get_feature_names_out())
    assert ("x3" in imputer.get_feature_names_out()) is keep
    assert np.isfinite(filled).all()


@pytest.mark.filterwarnings("ignore:Skipping features without any observed values")
def test_the_indicator_says_what_was_missing_as_scikit_learns_imputers_do(panel):
    holed = panel.copy()
    holed[:, 3] = np.nan
    holed[:, 1] = np.nan_to_num(holed[:, 1])
    imputer = MonotoneFactorImputer(rank=2, add_indicator=True)
    filled = imputer.fit_transform(holed)
    usual = SimpleImputer(add_indicator=True).fit(holed)
    names = imputer.get_feature_names_out()
    assert list(names) == list(usual.get_feature_names_out()) and filled.shape[1] == len(names)
    assert "missingindicator_x1" not in names and "missingindicator_x3" in names
    kept = holed.shape[1] - 1
    assert np.array_equal(filled[:, kept:], usual.transform(holed)[:, kept:])


def test_a_row_without_values_is_filled_in_too(panel):
    holed = panel.copy()
    holed[5] = np.nan
    assert np.isfinite(MonotoneFactorImputer(rank=2).fit_transform(holed)).all()
