"""Directories that appear complete or not at all."""

from __future__ import annotations

import hashlib
import os
import platform
import shutil
import sys
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path

from thalweg import _core
from thalweg.errors import refuse

META = "meta.json"


def check_free(path: Path) -> None:
    """Refuses a place that holds something which is not a run of ours."""
    if path.is_file():
        raise refuse("a file of this name is in the way", file=path, hint="choose another --out")
    if path.is_dir() and any(path.iterdir()) and not (path / META).exists():
        raise refuse("this folder holds other things", file=path, hint="choose an empty or new --out")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as e:
        raise refuse(f"cannot be made: {e.strerror}", file=path.parent) from None


@contextmanager
def appearing(path: Path) -> Iterator[Path]:
    """A temporary folder beside `path` that takes its name at the end, replacing an older run."""
    check_free(path)
    token = f"{os.getpid()}-{uuid.uuid4().hex[:8]}"
    temporary = path.with_name(f".{path.name}.{token}")
    try:
        temporary.mkdir()
    except OSError as e:
        raise refuse(f"cannot be made: {e.strerror}", file=path) from None
    try:
        yield temporary
        if path.exists():
            old = path.with_name(f".{path.name}.old-{token}")
            path.rename(old)
            temporary.rename(path)
            shutil.rmtree(old, ignore_errors=True)
        else:
            temporary.rename(path)
    except BaseException:
        shutil.rmtree(temporary, ignore_errors=True)
        raise


@cache
def core_fingerprint() -> str:
    """Names the engine's build: results of another build are not reused."""
    return hashlib.sha256(Path(_core.__file__).read_bytes()).hexdigest()[:16]


@cache
def machine() -> dict:
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


def provenance() -> dict:
    """What made a result: written into `meta.json` and the reports."""
    return {
        "thalweg": _core.VERSION,
        "core": core_fingerprint(),
        "debug_build": _core.DEBUG_BUILD,
        "argv": sys.argv[:1] + sys.argv[1:],
        "machine": machine(),
    }
