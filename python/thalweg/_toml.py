"""Writes TOML (the standard library only reads it)."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping

_BARE = re.compile(r"[A-Za-z0-9_-]+")


def _key(key: str) -> str:
    return key if _BARE.fullmatch(key) else json.dumps(key)


def inline(value) -> str:
    """A value on one line, as TOML. NumPy scalars count as Python's."""
    if hasattr(value, "item") and not isinstance(value, str | bytes):
        value = value.item()
    match value:
        case bool():
            return "true" if value else "false"
        case int():
            return str(value)
        case float():
            text = repr(value)
            return text if any(c in text for c in ".en") else text + ".0"
        case str():
            return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
        case Mapping():
            return "{ " + ", ".join(f"{_key(k)} = {inline(v)}" for k, v in value.items()) + " }" if value else "{}"
        case list() | tuple():
            return "[" + ", ".join(inline(v) for v in value) + "]"
    if hasattr(value, "isoformat"):
        return value.isoformat()
    raise TypeError(f"{type(value).__name__} cannot be written as TOML: {value!r}")


def override(value) -> str:
    """A value for `set`: text as the user would write it after `--set key=`."""
    return value if isinstance(value, str) else inline(value)


def dumps(table: Mapping) -> str:
    """A table as a TOML document; `None` values are left out."""
    lines: list[str] = []
    _table(lines, "", table)
    return "\n".join(lines).lstrip("\n") + "\n"


def _is_tables(value) -> bool:
    return isinstance(value, list | tuple) and bool(value) and all(isinstance(v, Mapping) for v in value)


def _table(lines: list[str], name: str, table: Mapping) -> None:
    nested = []
    for key, value in table.items():
        if value is None:
            continue
        if isinstance(value, Mapping) or _is_tables(value):
            nested.append((key, value))
        else:
            lines.append(f"{_key(key)} = {inline(value)}")
    for key, value in nested:
        path = f"{name}.{_key(key)}" if name else _key(key)
        if isinstance(value, Mapping):
            lines += ["", f"[{path}]"]
            _table(lines, path, value)
        else:
            for one in value:
                lines += ["", f"[[{path}]]"]
                _table(lines, path, one)
