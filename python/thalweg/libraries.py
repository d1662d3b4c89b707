"""Congestion controllers in libraries of their own, written in Rust, C or whatever else has functions of C.

    thalweg run scenario.toml --import ./libauthor_cc.so --set transport.congestion=author-cc

`thalweg new controller --rust author-cc` writes such a project; the crate `thalweg-plugin` makes the library of the
same contract that the built-in controllers implement, and `thalweg_plugin.h` says the interface in C. Names,
parameters, errors, exams and snapshots are as those of controllers in Python. A library is code: opening one runs it.
"""

from __future__ import annotations

import hashlib
import os
from pathlib import Path

from thalweg import _core, _registered
from thalweg._format import simulated
from thalweg.errors import ControllerError, refuse

ENDINGS = (".so", ".dylib", ".dll")
# Where each controller is from.
# What was in each file when it was opened.
_OPENED: dict[str, str] = {}


def is_library(where: str | Path) -> bool:
    """Whether a name is that of a library's file."""
    return Path(where).suffix in ENDINGS


def load(path: str | Path) -> str:
    """Opens a library and makes its controller available to scenarios; answers with the controller's name.

    >>> thalweg.libraries.load("target/release/libauthor_cc.so")
    'author-cc'

    Raises `ScenarioError`: there is no such file, it is not a library of this version of thalweg, or a controller
    of thalweg's or of this process has the name.
    """
    file = Path(os.path.abspath(path))  # noqa: PTH100 (the loader looks elsewhere for names without a folder)
    if not file.is_file():
        raise refuse("no such file", file=path, hint="build it: `cargo build --release` writes target/release/")
    registered = _registered.names()
    known = {name for name, *_ in _core.catalogue("controllers") or ()}
    taken = {name: f"`{name}` is a controller of thalweg's; give it another name" for name in known - {*registered}}
    for name in registered:
        other = _registered.file_of(name)
        if other is None or other.resolve() != file.resolve():
            taken[name] = f"`{name}` is registered by {other or 'this process'}; rename one of them"
    try:
        name = _core.open_library(file, taken)
    except ValueError as e:
        raise refuse(" ".join(str(e).split()), file=path) from None
    _registered.LIBRARIES[name] = file
    _OPENED[str(file)] = hashlib.sha256(file.read_bytes()).hexdigest()
    return name


def names() -> list[str]:
    """The controllers from libraries, in the order in which they were opened."""
    return list(_registered.LIBRARIES)


def opened() -> dict[str, str]:
    """The libraries that this process has opened, and a hash of what was in them."""
    return dict(_OPENED)


def file_of(name: str) -> Path | None:
    """The library of a controller; `None` if it is from none."""
    return _registered.LIBRARIES.get(name)


def failure(name: str, flow: int | None, now_ps: int | None, doing: str, why: str) -> ControllerError:
    """The error that ends a run (called by the engine)."""
    who = f"controller `{name}`" + ("" if flow is None else f", flow {flow}")
    who += f", at {simulated(now_ps)}" if now_ps is not None else ""
    return ControllerError(f"{who}: {doing}: {why}", name, flow, now_ps)
