"""TOML text of Python values (the standard library only reads it). tomli-w writes documents, keys and scalars; a nested table on one
line, which `--set` and table cells need, it has no form for: the braces are ours."""

from __future__ import annotations

import os
from collections.abc import Mapping
from datetime import date, time
from typing import Any

import tomli_w

# Deeper than any scenario; what is nested further is a mistake, and recursion in it would end somewhere less clear.
DEEPEST = 64


def plain(value, depth: int = 0) -> Any:
    """A value made of what TOML has: NumPy's scalars and arrays as Python's, paths as text, `None` values of tables left out."""
    if depth > DEEPEST:
        raise TypeError(f"tables and lists nested more than {DEEPEST} deep cannot be written as TOML")
    if isinstance(value, str):
        try:
            value.encode()
        except UnicodeEncodeError:
            raise TypeError(f"this text is not valid Unicode: {value[:80]!a}") from None
        return str(value)
    if hasattr(value, "tolist"):
        value = value.tolist()
    if isinstance(value, Mapping):
        return {str(plain(str(k))): plain(v, depth + 1) for k, v in value.items() if v is not None}
    if isinstance(value, list | tuple | range):
        return [plain(v, depth + 1) for v in value]
    if isinstance(value, os.PathLike):
        return plain(os.fspath(value))
    if isinstance(value, bool | int | float | date | time):
        return value
    raise TypeError(f"{type(value).__name__} cannot be written as TOML: {repr(value)[:80]}")


def inline(value) -> str:
    """A value on one line, as TOML."""
    return _inline(plain(value))


def _inline(value) -> str:
    if isinstance(value, dict):
        return "{ " + ", ".join(_pair(k, v) for k, v in value.items()) + " }" if value else "{}"
    if isinstance(value, list):
        return "[" + ", ".join(map(_inline, value)) + "]"
    return _pair("v", value).removeprefix("v = ")


def _pair(key: str, value) -> str:
    if isinstance(value, dict | list):
        return tomli_w.dumps({key: 0}).removesuffix("0\n") + _inline(value)
    return tomli_w.dumps({key: value}).removesuffix("\n")


def override(value) -> str:
    """A value for `set`: text as the user would write it after `--set key=`."""
    return value if isinstance(value, str) else inline(value)


def dumps(table: Mapping) -> str:
    """A table as a TOML document; `None` values are left out."""
    return tomli_w.dumps(plain(table))
