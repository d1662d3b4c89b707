"""What made a result: engine, machine, command."""

from __future__ import annotations

import os
import platform
import sys
from functools import cache
from pathlib import Path
from typing import Any

from thalweg import _core


def core_fingerprint() -> str:
    """Names the sources of the engine: results of others are not reused, those of another build of the same are."""
    return _core.SOURCES


@cache
def machine() -> dict[str, Any]:
    """Where a run was made."""
    cpu = platform.processor() or platform.machine()
    try:
        with Path("/proc/cpuinfo").open() as f:
            cpu = next((line.split(":", 1)[1].strip() for line in f if line.startswith("model name")), cpu)
    except OSError:
        pass
    return {
        "cpu": cpu,
        "cores": os.cpu_count(),
        "memory_bytes": total_memory(),
        "system": f"{platform.system()} {platform.release()} {platform.machine()}",
        "python": platform.python_version(),
    }


def total_memory() -> int | None:
    """Bytes of memory, if the system says."""
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (ValueError, OSError, AttributeError):
        return None


def provenance() -> dict[str, Any]:
    """What made a result: written into `meta.json` and the reports."""
    return {
        "thalweg": _core.VERSION,
        "core": core_fingerprint(),
        "debug_build": _core.DEBUG_BUILD,
        "argv": sys.argv[:1] + sys.argv[1:],
        "machine": machine(),
    }
