"""Drawings, pages, and what notebooks show."""

import re

import numpy as np
import pytest

from isofactor import MonotoneFactorModel

matplotlib = pytest.importorskip("matplotlib")
matplotlib.use("Agg")


@pytest.fixture(scope="module")
def fitted(panel):
    return MonotoneFactorModel(rank=2, link="learned", holdout=0.2).fit(panel)


def test_drawings_show_what_the_model_holds(fitted):
    axes = fitted.plot_link()
    assert np.allclose(axes.lines[0].get_xydata(), fitted.link_.table[:, :2])
    axes = fitted.plot_convergence()
    assert np.allclose(axes.lines[0].get_ydata(), fitted.trace_["train_rmse"])
    assert len(axes.lines) == 2
    axes = fitted.plot_calibration(bins=5)
    assert len(axes.lines[-1].get_xdata()) == 5
    assert fitted.plot_link(ax=axes) is axes


def test_the_page_is_one_whole_file(fitted, tmp_path):
    fitted.report(tmp_path / "page.html")
    page = (tmp_path / "page.html").read_text()
    assert page.lower().startswith("<!doctype html") and "</html>" in page
    assert not re.search(r"https?://(?!www\.w3\.org)", page)


def test_notebooks_see_a_summary(fitted):
    shown = fitted._repr_html_()
    assert "held-out RMSE" in shown and "<polyline" in shown and "learned" in shown
    assert "not fitted" in MonotoneFactorModel()._repr_html_()
    assert fitted._repr_mimebundle_()["text/html"] == shown


def test_the_link_is_a_function(fitted):
    link, table = fitted.link_, fitted.link_.table
    assert isinstance(link(0.5), float)
    assert link(np.zeros((2, 3))).shape == (2, 3)
    assert np.allclose(link(table[:, 0]), table[:, 1])
    assert np.allclose(link.slope(table[:, 0]), table[:, 2])
    assert "learned" in repr(link)
    assert np.isnan(link(np.nan))
