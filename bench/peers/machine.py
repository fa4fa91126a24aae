"""What the figures were measured on."""

from __future__ import annotations

import os
import platform
from pathlib import Path
from typing import Any


def describe() -> dict[str, Any]:
    return {
        "cpu": cpu_model(),
        "cores": os.cpu_count(),
        "memory_bytes": os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"),
        "system": f"{platform.system()} {platform.machine()}",
        "python": platform.python_version(),
    }


def busy() -> list[str]:
    """A remark when something else was running as the measurements began: their times are then too long."""
    load = os.getloadavg()[0]
    return [f"The machine was busy when the run began (load {load:.1f}): times are too long."] if load > 0.7 else []


def cpu_model() -> str:
    """Linux names it in a file; elsewhere the standard library's word has to do."""
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        lines = []
    named = [line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")]
    return named[0] if named else platform.processor() or "unknown"
