"""One command in a process of its own: how long it took, how much memory it held, what it said.

Linux counts the memory of the process that starts a program as the program's own until it has replaced it, so peak
memory is only right while this one is small. That is why this process imports nothing beyond the standard library
and leaves reading, splitting and fitting to children.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass

from environment import last_line

MAXRSS_UNIT = 1 if sys.platform == "darwin" else 1024  # bytes there, kibibytes elsewhere

THREAD_VARIABLES = (
    "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS", "NUMEXPR_NUM_THREADS",
    "RAYON_NUM_THREADS", "LK_NUM_THREADS", "LK_NUM_BACKEND_THREADS",
)  # fmt: skip


class Failed(Exception):
    """The command did not do its work; the text is the reason for the table."""


@dataclass(frozen=True)
class Measured:
    wall_seconds: float
    cpu_seconds: float  # of all threads; unlike the wall's, hardly disturbed by what else runs
    peak_bytes: int
    output: str


def pin_cores(threads: int) -> None:
    """Keeps this process and all it starts on as many cores as threads are allowed."""
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:threads])


def run(command: Sequence[str | os.PathLike[str]], threads: int, limit: float) -> Measured:
    """Runs the command to its end; raises `Failed` with the last line it wrote if that end is not a good one."""
    environment = {**os.environ, **dict.fromkeys(THREAD_VARIABLES, str(threads)), "PYTHONDONTWRITEBYTECODE": "1"}
    with tempfile.TemporaryFile("w+") as out, tempfile.TemporaryFile("w+") as err:
        began = time.perf_counter()
        try:
            process = subprocess.Popen(command, stdout=out, stderr=err, env=environment)
        except OSError as error:
            raise Failed(f"could not start: {error}") from None
        late = threading.Event()

        def stop() -> None:
            late.set()
            process.kill()

        alarm = threading.Timer(limit, stop)
        alarm.start()
        try:
            _, status, usage = os.wait4(process.pid, 0)
        except BaseException:
            process.kill()
            raise
        finally:
            alarm.cancel()
        wall = time.perf_counter() - began
        process.returncode = os.waitstatus_to_exitcode(status)
        out.seek(0)
        err.seek(0)
        output = out.read()
        if late.is_set():
            raise Failed(f"ran longer than {limit:g} s")
        if process.returncode != 0:
            raise Failed(f"exit code {process.returncode}: {last_line(output + err.read())}")
    return Measured(wall, usage.ru_utime + usage.ru_stime, usage.ru_maxrss * MAXRSS_UNIT, output)
