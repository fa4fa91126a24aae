"""Types and stubs are those of the code."""

import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("mypy")
CONFIG = Path(__file__).resolve().parents[1] / "pyproject.toml"
ALLOWED = Path(__file__).with_name("stubtest-allowlist.txt")


@pytest.mark.parametrize(
    "arguments",
    [
        ["-m", "mypy", "--strict", "--config-file", CONFIG, "-p", "isofactor"],
        ["-m", "mypy.stubtest", "--mypy-config-file", CONFIG, "isofactor"]
        + ["--allowlist", ALLOWED, "--ignore-unused-allowlist"],
    ],
    ids=["mypy", "stubtest"],
)
def test_types_hold(arguments, tmp_path):
    done = subprocess.run(
        [sys.executable, *map(str, arguments)], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
