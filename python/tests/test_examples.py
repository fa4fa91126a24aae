"""Every example runs to its end."""

import os
import subprocess
import sys

import pytest
from conftest import ROOT

EXAMPLES = sorted((ROOT / "examples").glob("*.py"))


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_an_example_runs(path, tmp_path):
    done = subprocess.run(
        [sys.executable, path],
        cwd=tmp_path,
        env={**os.environ, "MPLBACKEND": "Agg"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout


def test_there_are_examples():
    assert len(EXAMPLES) >= 6
