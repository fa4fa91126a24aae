"""Memory: no copy beyond the entries, nothing left behind."""

import subprocess
import sys
import textwrap

import pytest

LINUX = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads /proc")

MEASURE = """
    import threading, time
    import numpy as np
    def resident():
        with open("/proc/self/statm") as file:
            return int(file.read().split()[1]) * 4096
    class Peak:
        def __enter__(self):
            with open("/proc/self/clear_refs", "w") as file:
                file.write("5")
            self.before = resident()
            return self
        def __exit__(self, *_):
            with open("/proc/self/status") as file:
                lines = dict(line.split(":", 1) for line in file)
            self.grown = int(lines["VmHWM"].split()[0]) * 1024 - self.before
"""


def run(script):
    script = textwrap.dedent(MEASURE) + textwrap.dedent(script)
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    return done.stdout.split()


@LINUX
def test_reading_a_matrix_takes_no_room_beyond_its_entries():
    """16 bytes an entry are the entries; a copy of the matrix would be 8 bytes a cell more."""
    script = """
        from isofactor._isofactor import Data
        from isofactor import MonotoneFactorModel
        from isofactor._input import checked_matrix, add_matrix
        X = np.random.default_rng(0).normal(size=(4000, 2500))
        X[:, 100:][np.random.default_rng(1).random((4000, 2400)) < 0.9] = np.nan
        entries = int((~np.isnan(X)).sum())
        add_matrix(Data(), checked_matrix(MonotoneFactorModel(), X[:50], reset=True), keep_empty=True)
        with Peak() as peak:
            data = Data()
            add_matrix(data, checked_matrix(MonotoneFactorModel(), X, reset=True), keep_empty=False)
        print(peak.grown, 16 * entries, X.nbytes)
    """
    grown, entries, matrix = map(int, run(script))
    assert grown < entries + 0.2 * matrix


@LINUX
def test_reading_an_arrow_table_takes_no_room_beyond_its_entries():
    script = """
        import pyarrow as pa
        from isofactor._isofactor import Data
        count = 4_000_000
        random = np.random.default_rng(0)
        table = pa.table({"r": random.integers(0, 1000, count), "c": random.integers(0, 1000, count),
                          "v": random.normal(size=count)})
        Data().add_arrow(table.slice(0, 10))
        with Peak() as peak:
            data = Data()
            data.add_arrow(table)
        print(peak.grown, count)
    """
    grown, count = map(int, run(script))
    # The entries, and the number of each row and column on the way.
    assert grown < 16 * count + 16 * count + 2e7


@LINUX
def test_a_thousand_fits_leave_nothing_behind():
    script = """
        import gc
        from isofactor import MonotoneFactorModel
        X = np.add.outer(np.arange(30.0), np.arange(20.0) ** 2)
        X[::3, ::2] = np.nan
        def many(count):
            for _ in range(count):
                model = MonotoneFactorModel(rank=2, link="identity", shrinkage=1.0, threads=1).fit(X)
                model.transform(X)
                model.link_.table
            gc.collect()
            return resident()
        many(100)
        before = many(200)
        print(many(1000) - before)
    """
    (grown,) = map(int, run(script))
    assert grown < 8e6
