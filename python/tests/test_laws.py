"""What the core promises holds through Python too."""

import os
import pickle
import signal
import subprocess
import sys
import textwrap
import threading

import numpy as np
import pandas as pd
import pytest
from conftest import entries_of, made

from isofactor import ConvergenceWarning, MonotoneFactorModel, NotFittedError


def saved(model, folder, name="python.isofactor"):
    model.save(folder / name)
    return (folder / name).read_bytes()


def write(folder, X, name="data.csv"):
    rows, columns, values = entries_of(X)
    frame = pd.DataFrame({"row": rows, "column": columns, "value": values})
    frame.to_csv(folder / name, index=False, float_format="%.17g")
    return frame


@pytest.mark.parametrize(
    "options, parameters",
    [
        ([], {}),
        (["--rank", 3, "--link", "learned"], {"rank": 3, "link": "learned"}),
        (["--holdout", 0.2, "--seed", 7], {"holdout": 0.2, "seed": 7}),
        (["--effects", "off", "--shrinkage", 1.5], {"effects": "off", "shrinkage": 1.5}),
        (
            ["--solver", "bcd", "--rank", 2, "--iterations", 20, "--monotone", "0,inf"],
            {"solver": "bcd", "rank": 2, "iterations": 20, "monotone": (0, np.inf)},
        ),
        (
            ["--solver", "lbfgs", "--rank", 2, "--iterations", 30, "--project-factors", "auto"],
            {"solver": "lbfgs", "rank": 2, "iterations": 30, "project_factors": "auto"},
        ),
        (
            ["--solver", "bcd", "--rank", 2, "--iterations", 9, "--link-step", 1e-4]
            + ["--factor-step", 1e-5, "--bandwidth", 0.5, "--start", "random"],
            {"solver": "bcd", "rank": 2, "iterations": 9, "link_step": 1e-4}
            | {"factor_step": 1e-5, "bandwidth": 0.5, "start": "random"},
        ),
    ],
    ids=["plain", "learned", "holdout", "no effects", "bcd", "lbfgs", "paper"],
)
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_the_saved_bytes_are_the_programs(program, tmp_path, options, parameters):
    X, _ = made(80, 50, seed=3)
    frame = write(tmp_path, X)
    program(tmp_path, "fit", "data.csv", "--out", "program.isofactor", *options)
    model = MonotoneFactorModel(**parameters).fit_frame(frame)
    assert saved(model, tmp_path) == (tmp_path / "program.isofactor").read_bytes()


def test_a_wide_file_and_a_frame_give_the_same_bytes(program, tmp_path, panel):
    names = [f"c{i}" for i in range(panel.shape[1])]
    frame = pd.DataFrame(panel, index=range(1, len(panel) + 1), columns=names)
    frame.to_csv(tmp_path / "wide.csv", index=False, float_format="%.17g")
    program(tmp_path, "fit", "wide.csv", "--wide", "--out", "program.isofactor")
    bytes_of_python = saved(MonotoneFactorModel().fit(frame), tmp_path)
    assert bytes_of_python == (tmp_path / "program.isofactor").read_bytes()


def test_validation_entries_and_going_on_give_the_programs_bytes(program, tmp_path):
    X, full = made(80, 50, seed=4)
    train, valid = write(tmp_path, X), write(tmp_path, np.where(np.isnan(X), full, np.nan)[:20], "valid.csv")
    more = ["--valid", "valid.csv", "--out", "a.isofactor"]
    program(tmp_path, "fit", "data.csv", *more)
    model = MonotoneFactorModel().fit_frame(train, validation=valid)
    assert saved(model, tmp_path) == (tmp_path / "a.isofactor").read_bytes()
    both = pd.concat([train, valid])
    both.to_csv(tmp_path / "both.csv", index=False, float_format="%.17g")
    program(tmp_path, "fit", "both.csv", "--start", "a.isofactor", "--out", "b.isofactor")
    model.update_entries(both["row"], both["column"], both["value"])
    assert saved(model, tmp_path) == (tmp_path / "b.isofactor").read_bytes()


def test_models_go_from_python_to_the_program_and_back(program, tmp_path, panel):
    frame = write(tmp_path, panel)
    model = MonotoneFactorModel(rank=2).fit_frame(frame)
    model.save(tmp_path / "python.isofactor")
    frame[["row", "column"]].head(50).to_csv(tmp_path / "pairs.csv", index=False)
    program(tmp_path, "predict", "python.isofactor", "pairs.csv", "--out", "predicted.csv")
    predicted = pd.read_csv(tmp_path / "predicted.csv")["prediction"]
    here = model.predict(frame["row"].head(50), frame["column"].head(50))
    assert np.allclose(predicted, here, rtol=1e-14)
    program(tmp_path, "fit", "data.csv", "--rank", 2, "--out", "program.isofactor")
    loaded = MonotoneFactorModel.load(tmp_path / "program.isofactor")
    assert np.array_equal(loaded.predict(frame["row"], frame["column"]), model.predict(frame["row"], frame["column"]))
    assert loaded.row_labels_.tolist() == model.row_labels_.tolist()
    assert loaded.get_params()["rank"] == 2


def test_threads_and_repetition_do_not_change_a_byte(tmp_path):
    X, _ = made(250, 160, share=0.9, seed=5)
    one, two, again = (
        saved(MonotoneFactorModel(rank=3, threads=threads).fit(X), tmp_path) for threads in (1, 2, 2)
    )
    assert one == two == again
    placed = [MonotoneFactorModel(rank=3, threads=t).fit(X).transform(X) for t in (1, 2)]
    assert np.array_equal(*placed)


def test_another_seed_gives_another_model(tmp_path, panel):
    one, two = (saved(MonotoneFactorModel(rank=3, seed=seed).fit(panel), tmp_path) for seed in (1, 2))
    assert one != two


def test_a_pickle_holds_everything(panel):
    model = MonotoneFactorModel(rank=2, holdout=0.2).fit(panel)
    copy = pickle.loads(pickle.dumps(model))
    assert np.array_equal(copy.predict(panel), model.predict(panel))
    assert np.array_equal(copy.complete(), model.complete())
    assert np.array_equal(copy.trace_["train_rmse"], model.trace_["train_rmse"])
    assert copy.validation_error_ == model.validation_error_
    assert copy.recommend(0).labels.tolist() == model.recommend(0).labels.tolist()


def test_the_steep_link_is_recovered_and_increases():
    X, full = made(120, 80, share=0.5, steep=4.0, seed=6)
    model = MonotoneFactorModel().fit(X)
    assert model.chosen_["link"] == model.link_.kind == "learned"
    low, high = model.link_.domain
    scores = np.linspace(low, high, 400)
    assert (np.diff(model.link_(scores)) >= 0).all() and (model.link_.slope(scores) >= 0).all()
    linear = MonotoneFactorModel(link="identity").fit(X)
    hidden = np.isnan(X)

    def error(filled):
        return np.sqrt(np.mean((filled[hidden] - full[hidden]) ** 2))

    assert error(model.complete()) < 0.5 * error(linear.complete())


def test_completed_values_are_those_of_the_model(panel):
    model = MonotoneFactorModel(rank=2).fit(panel)
    scores = model.level_ + np.add.outer(model.row_effects_, model.column_effects_)
    scores = scores + model.row_factors_ @ model.column_factors_.T
    predicted = np.clip(model.link_(scores), np.nanmin(panel), np.nanmax(panel))
    expected = np.where(np.isnan(panel), predicted, panel)
    assert np.allclose(model.complete(), expected, atol=1e-12)


def test_rows_placed_anew_are_near_where_they_were_fitted(panel):
    model = MonotoneFactorModel(rank=2).fit(panel)
    fitted = np.column_stack([model.row_factors_, model.row_effects_])
    assert np.allclose(model.inverse_transform(model.transform(panel)), model.inverse_transform(fitted), atol=0.05)


def test_recommended_columns_are_the_best_unseen_ones(panel):
    model = MonotoneFactorModel(rank=2).fit(panel)
    ranked = model.recommend(4, top=5)
    unseen = np.flatnonzero(np.isnan(panel[4]))
    predictions = model.predict(np.full(len(unseen), 4), unseen)
    assert set(ranked.labels) <= set(unseen)
    assert np.allclose(ranked.values, np.sort(predictions)[::-1][:5])
    everything = model.recommend(4, top=1000, unseen=False)
    assert len(everything.labels) == panel.shape[1]


def test_similar_rows_have_scores_with_the_largest_cosines(panel):
    model = MonotoneFactorModel(rank=2).fit(panel)
    scores = model.row_factors_ @ model.column_factors_.T
    centred = scores - scores.mean(0) - scores.mean(1, keepdims=True) + scores.mean()
    for name, places in (("row", centred), ("column", centred.T)):
        unit = places / np.linalg.norm(places, axis=1, keepdims=True)
        cosines = unit @ unit[3]
        cosines[3] = -2
        ranked = model.similar(**{name: 3}, top=4)
        assert np.allclose(ranked.values, np.sort(cosines)[::-1][:4])
        assert ranked.labels[0] == np.argmax(cosines)


def test_updating_with_more_values_helps_and_keeps_what_was_chosen():
    X, full = made(120, 80, share=0.3, seed=8)
    model = MonotoneFactorModel().fit(X)
    chosen = model.chosen_["link"]
    random = np.random.default_rng(1)
    more = np.where(random.random(X.shape) < 0.5, full, X)
    hidden = np.isnan(more)
    before = np.sqrt(np.mean((model.complete()[hidden] - full[hidden]) ** 2))
    model.update(more)
    assert model.chosen_["link"] == chosen and model.chosen_["trials"] == []
    assert np.sqrt(np.mean((model.complete()[hidden] - full[hidden]) ** 2)) < before
    warm = MonotoneFactorModel(warm_start=True).fit(X).fit(more)
    assert np.array_equal(warm.complete(), model.complete())


def test_the_callback_sees_the_trace_and_can_end_the_fit(panel):
    seen = []
    model = MonotoneFactorModel(rank=2, callback=seen.append).fit(panel)
    assert [row["iteration"] for row in seen] == model.trace_["iteration"].tolist()
    model = MonotoneFactorModel(rank=2, callback=lambda row: row["iteration"] == 2).fit(panel)
    assert model.stop_reason_ == "cancelled" and model.n_iter_ == 2


def test_an_error_in_the_callback_comes_through(panel):
    def fail(row):
        raise LookupError("mine")

    model = MonotoneFactorModel(rank=2, callback=fail)
    with pytest.raises(LookupError, match="mine"):
        model.fit(panel)
    with pytest.raises(NotFittedError):
        model.predict(panel)


def test_a_bar_is_shown_when_asked(panel, capsys):
    MonotoneFactorModel(rank=2, verbose=1).fit(panel)
    assert "RMSE" in capsys.readouterr().err
    MonotoneFactorModel(rank=2).fit(panel)
    assert capsys.readouterr().err == ""


def test_a_fit_that_runs_out_of_iterations_warns(panel):
    with pytest.warns(ConvergenceWarning, match="limit of 2"):
        MonotoneFactorModel(rank=2, iterations=2).fit(panel)


def test_two_fits_in_two_threads_do_not_wait_for_each_other(panel):
    """Each waits, in its callback, for the other to have begun: one after the other would hang."""
    barrier = threading.Barrier(2, timeout=60)
    models = [
        MonotoneFactorModel(rank=2, callback=lambda row: row["iteration"] == 1 and barrier.wait() < 0)
        for _ in range(2)
    ]
    threads = [threading.Thread(target=model.fit, args=(panel,)) for model in models]
    [thread.start() for thread in threads]
    [thread.join(90) for thread in threads]
    assert not barrier.broken
    assert np.array_equal(models[0].row_factors_, models[1].row_factors_)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork here")
@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")
def test_a_fork_after_a_fit_can_fit(panel):
    MonotoneFactorModel(rank=2).fit(panel).transform(panel)
    child = os.fork()
    if child == 0:
        signal.alarm(60)
        try:
            model = MonotoneFactorModel(rank=2).fit(panel)
            os._exit(0 if np.isfinite(model.transform(panel)).all() else 1)
        finally:
            os._exit(2)
    assert os.waitpid(child, 0)[1] == 0


INTERRUPTED = """
    import os, signal, threading, time
    import numpy as np
    from isofactor import MonotoneFactorModel
    X = np.random.default_rng(0).normal(size=(8000, 1000))
    pressed = []
    def press():
        pressed.append(time.monotonic())
        os.kill(os.getpid(), signal.SIGINT)
    threading.Timer({delay}, press).start()
    model = MonotoneFactorModel(**{parameters})
    try:
        model.fit(X)
    except KeyboardInterrupt:
        took = time.monotonic() - pressed[0]
        def name(task):
            try:
                with open(f"/proc/self/task/{{task}}/comm") as file:
                    return file.read()
            except OSError:  # It ended after it was listed.
                return ""
        def working():
            tasks = os.listdir("/proc/self/task") if os.path.isdir("/proc/self/task") else []
            return any(name(task).startswith("isofactor") for task in tasks)
        until = time.monotonic() + 20
        while working() and time.monotonic() < until:
            time.sleep(0.05)
        print("interrupted", took < 1, "left alone" if working() else "ended", end=" ")
        model = MonotoneFactorModel(rank=1).fit(X[:30, :20])
        print(np.isfinite(model.complete()).all())
    else:
        print("too soon")
"""


@pytest.mark.parametrize("parameters", [{}, {"solver": "bcd", "iterations": 10**6, "tolerance": 0}])
def test_ctrl_c_ends_a_fit_and_leaves_python_sound(parameters):
    """Within a second on a machine that is not overloaded; what is asserted is that it ends.

    The worker of the default solver ends too; that of Algorithm 1 may be left in its spectral start.
    """
    script = textwrap.dedent(INTERRUPTED).format(delay=0.5, parameters=parameters)
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("interrupted") and done.stdout.endswith("True\n"), done
    assert "ended" in done.stdout or parameters, done
