"""Is this installation complete? Each check says what it found and the command that mends it."""

from __future__ import annotations

import importlib.metadata
import platform
import sys
import tempfile
import time
from pathlib import Path

from thalweg.errors import ScenarioError

WHEELS = ("numpy", "pyarrow", "polars", "matplotlib", "rich", "tomli_w")


def checks() -> list[tuple[str, bool, str, str]]:
    """`(name, good, what was found, how to mend it)`."""
    found = [
        (
            "Python",
            sys.version_info >= (3, 11),
            f"{platform.python_version()} at {sys.executable}",
            "install Python 3.11 or newer",
        )
    ]
    for name in WHEELS:
        try:
            begun = time.perf_counter()
            __import__(name)
            took = 1000 * (time.perf_counter() - begun)
            found.append((name, True, f"{importlib.metadata.version(name)} (imported in {took:.0f} ms)", ""))
        except Exception as e:
            found.append((name, False, f"{type(e).__name__}: {e}", f"pip install --force-reinstall {name}"))
    found.append(_engine())
    from thalweg import _format, _rundir

    here = _rundir.machine()
    memory = _format.memory(here["memory_bytes"]) if here["memory_bytes"] else "unknown memory"
    found.append(("machine", True, f"{here['cpu']}, {here['cores']} cores, {memory}, {here['system']}", ""))
    try:
        with tempfile.TemporaryDirectory(dir=Path.cwd()):
            pass
        found.append(("this folder", True, f"{Path.cwd()} can be written", ""))
    except OSError as e:
        found.append(
            (
                "this folder",
                False,
                f"{Path.cwd()}: {e.strerror}",
                "run from a folder of your own, or use --out",
            )
        )
    from thalweg.papers import discover

    papers = discover()
    listed = ", ".join(papers) or "none"
    found.append(
        (
            "papers",
            bool(papers),
            listed,
            "run from the source checkout, or set THALWEG_PAPERS to a folder of papers",
        )
    )
    return [*found, *_plugins()]


def _plugins() -> list[tuple[str, bool, str, str]]:
    """What installed packages declare, if any does."""
    from thalweg import installed

    failed = installed.load_all()
    names = [*installed.declared(installed.CONTROLLERS), *installed.declared(installed.STUDIES)]
    if not names:
        return []
    for name in installed.declared(installed.STUDIES):
        try:
            installed.study(name)
        except ScenarioError as e:
            failed[name] = e
    wrong = "; ".join(str(e) for e in failed.values())
    return [("plug-ins", not failed, wrong or ", ".join(names), "reinstall or uninstall the package")]


def _engine() -> tuple[str, bool, str, str]:
    fix = "make build (or: maturin develop --release)"
    try:
        from thalweg import _core
    except ImportError as e:
        return "engine", False, f"{e}", fix
    if _core.DEBUG_BUILD:
        return "engine", False, f"{_core.VERSION}, a debug build: many times slower", fix
    return "engine", True, f"{_core.VERSION}, release build", ""
