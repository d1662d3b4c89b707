"""TOML text of Python values (the standard library only reads it). tomli-w writes documents, keys and
scalars; a nested table on one line, which `--set` and table cells need, it has no form for: the braces are
ours. What can be written, and under which key it was wrong, is `_plain`'s affair."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import tomli_w

from thalweg._plain import plain


def inline(value: object, key: str = "", file: str = "") -> str:
    """A value on one line, as TOML; `key` and `file` are for the error if it is none."""
    return _inline(plain(value, key, file))


def _inline(value: object) -> str:
    if isinstance(value, dict):
        return "{ " + ", ".join(_pair(k, v) for k, v in value.items()) + " }" if value else "{}"
    if isinstance(value, list):
        return "[" + ", ".join(map(_inline, value)) + "]"
    return _pair("v", value).removeprefix("v = ")


def _pair(key: str, value: object) -> str:
    if isinstance(value, dict | list):
        return tomli_w.dumps({key: 0}).removesuffix("0\n") + _inline(value)
    return tomli_w.dumps({key: value}).removesuffix("\n")


def override(value: object, key: str = "", file: str = "") -> str:
    """A value for `set`: text as the user would write it after `--set key=`."""
    made = plain(value, key, file)
    return made if isinstance(made, str) else _inline(made)


def dumps(table: Mapping[str, Any]) -> str:
    """A table as a TOML document."""
    return tomli_w.dumps(plain(table))
