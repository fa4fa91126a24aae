"""A virtual environment of the benchmark's own; each peer is installed by itself, so one failure stays one failure.

Standard library only: this runs before anything is installed.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterable
from pathlib import Path

import catalogue
from files import write_whole

BUILD_LIMIT = 1800  # seconds for one peer; some are compiled here


class EnvironmentFailed(Exception):
    """Not even the base could be installed."""


class Environment:
    """The folder, its Python, and for each list of requirements why it could not be installed, if it could not."""

    def __init__(self, folder: Path, say: Callable[[str], None]) -> None:
        self.folder = folder
        self.python = folder / "bin" / "python"
        self.say = say
        self.record = folder / "installed.json"
        self.constraints = folder / "constraints.txt"

    def prepare(self, wanted: Iterable[tuple[str, ...]]) -> dict[tuple[str, ...], str]:
        """Installs what is missing; returns the reasons of what could not be. Failures are tried again each time."""
        done = self._done()
        if done is None:
            self._create()
            done = [" ".join(catalogue.BASE)]
            self._remember(done)
        reasons: dict[tuple[str, ...], str] = {}
        for requires in dict.fromkeys(wanted):
            key = " ".join(requires)
            if not requires or key in done:
                continue
            self.say(f"installing {key}")
            reason = self._install(requires)
            if reason is None:
                done.append(key)
                self._remember(done)
            else:
                reasons[requires] = reason
                self.say(f"  not installed: {reason}")
        return reasons

    def versions(self) -> dict[str, str]:
        """Every package in it."""
        listed = subprocess.run(
            [self.python, "-m", "pip", "list", "--format", "json", "--disable-pip-version-check"],
            capture_output=True, text=True, check=True,
        )  # fmt: skip
        return {package["name"]: package["version"] for package in json.loads(listed.stdout)}

    def _done(self) -> list[str] | None:
        """What is installed, or None when the environment is missing or its base has changed."""
        try:
            done = json.loads(self.record.read_text())
        except (OSError, ValueError):
            return None
        return done if done[:1] == [" ".join(catalogue.BASE)] and self.python.exists() else None

    def _remember(self, done: list[str]) -> None:
        write_whole(self.record, json.dumps(done, indent=1))

    def _create(self) -> None:
        self.say(f"making the environment in {self.folder}")
        made = subprocess.run(
            [sys.executable, "-m", "venv", "--clear", self.folder], capture_output=True, text=True, check=False
        )
        if made.returncode != 0:
            raise EnvironmentFailed(last_line(made.stdout + made.stderr))
        self.constraints.write_text("\n".join(catalogue.BASE) + "\n")
        self.say(f"installing {' '.join(catalogue.BASE)}")
        reason = self._install(catalogue.BASE)
        if reason is not None:
            raise EnvironmentFailed(reason)

    def _install(self, requires: tuple[str, ...]) -> str | None:
        """None, or the last line of what pip said."""
        command: list[str | Path] = [self.python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
        command += ["--constraint", self.constraints, *requires]
        # No leftover setting of the caller's shell may decide which Python the packages land in.
        clean = {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "PYTHONHOME")}
        try:
            tried = subprocess.run(command, capture_output=True, text=True, timeout=BUILD_LIMIT, env=clean, check=False)
        except subprocess.TimeoutExpired:
            return f"not installed within {BUILD_LIMIT} s"
        return None if tried.returncode == 0 else last_line(tried.stderr)


def last_line(text: str) -> str:
    """The last line that says something; pip ends with hints that do not."""
    lines = [line.strip() for line in text.splitlines()]
    lines = [line for line in lines if line and not line.lower().startswith(("note:", "hint:", "╰─>"))]
    return lines[-1] if lines else "no message"
