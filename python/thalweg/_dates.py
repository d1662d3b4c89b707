"""Dates in scenarios: TOML has them, parameters of controllers (JSON) do not, and a value must not vanish."""

from __future__ import annotations

import datetime
import re
import tomllib
from collections.abc import Iterator, Mapping
from typing import Any

from thalweg.errors import Diagnostic, ScenarioError

_LIKE = re.compile(
    r"\d{4}-\d\d-\d\d(?:[Tt ]\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:[Zz]|[+-]\d\d:\d\d)?)?|\d\d:\d\d(?::\d\d(?:\.\d+)?)?"
)
_QUOTED = re.compile(r'"""(?:\\.|[^\\])*?"""|\'\'\'.*?\'\'\'|"(?:\\.|[^"\\\n])*"|\'[^\'\n]*\'|#[^\n]*', flags=re.DOTALL)


def check(text: str, file: str, set: Mapping[str, str | None]) -> None:
    """Refuses dates by key, and by their line in the text; `set` changes keys of it."""
    found = [
        _wrong(key, f"--set {key}", 0)
        for key, value in set.items()
        if value is not None and any(_dates(_table(f"v = {value}"), ""))
    ]
    for key, date in _dates(_table(text), ""):
        if not any(key == other or key.startswith(f"{other}.") for other in set):
            found.append(_wrong(key, file, _line(text, date)))
    if found:
        raise ScenarioError(found)


def _wrong(key: str, file: str, line: int) -> Diagnostic:
    return Diagnostic("dates have no meaning here", file, line, key=key, hint="in quotes it is a text")


def _table(text: str) -> dict[str, Any]:
    if not _LIKE.search(text):
        return {}
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError:  # a text, of an override; of a file it is reported where it is read
        return {}


def _dates(value: Any, key: str) -> Iterator[tuple[str, Any]]:
    if isinstance(value, datetime.date | datetime.time):
        yield key, value
    elif isinstance(value, dict | list):
        for k, v in value.items() if isinstance(value, dict) else enumerate(value):
            yield from _dates(v, f"{key}.{k}" if key else str(k))


def _line(text: str, date: Any) -> int:
    """The line of the first date that is this one."""
    plain = _QUOTED.sub(lambda quoted: re.sub(r"[^\n]", "_", quoted[0]), text)
    for found in _LIKE.finditer(plain):
        if date in _table(f"v = {found[0]}").values():
            return plain.count("\n", 0, found.start()) + 1
    return 0
