"""The controllers that this process has registered: by name the file of each in Python, and others' libraries."""

from __future__ import annotations

from pathlib import Path

from thalweg import _core

PYTHON: dict[str, str] = {}
LIBRARIES: dict[str, Path] = {}


def names() -> list[str]:
    """Those in Python, and those of libraries."""
    classes = [name for name, _, _ in _core.controller_costs()]
    return [*classes, *(name for name in LIBRARIES if name not in classes)]


def file_of(name: str) -> Path | None:
    """The file that registered a controller, or its library; `None` for a built-in one."""
    return Path(PYTHON[name]) if name in PYTHON else LIBRARIES.get(name)
