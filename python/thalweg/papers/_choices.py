"""What a paper leaves open, and what a study chose: `choices.toml`, next to its claims.

The study's settings read each from the package's `choices`, wherever a run or a measure depends on it:

    from . import choices

    STARTS = choices["long_flow_starts"]           # "1s", or what a sweep tries instead

A sweep imports the study anew under each alternative (`Paper.under`): nothing that was read is replaced afterwards."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

from thalweg import _input
from thalweg.errors import Diagnostic, ScenarioError, nearest, refuse

FILE = "choices.toml"
Value = str | int | float | bool
_TEXTS = ("name", "what", "section", "why")
_KEYS = (*_TEXTS, "value", "alternatives", "rows")


@dataclass(frozen=True)
class Choice:
    """One of them. `what`: what is left open; `section`: of the paper that leaves it open; `value`: what the study
    takes, `why`: the reason for it; `alternatives`: what a sweep tries besides; `rows`: names, or patterns, of the
    claims that it may decide."""

    name: str
    what: str
    section: str
    value: Value
    why: str
    alternatives: tuple[Value, ...]
    rows: tuple[str, ...]

    @property
    def values(self) -> tuple[Value, ...]:
        """All that a sweep runs, the study's own first."""
        return (self.value, *self.alternatives)

    def decides(self, claims: Sequence[str]) -> list[str]:
        """Those of the claims, in their order, that it may decide."""
        return [i for i in claims if any(fnmatchcase(i, pattern) for pattern in self.rows)]


def text(value: Value) -> str:
    """A value as it is shown, and as files of results have it."""
    return str(value).lower() if isinstance(value, bool) else f"{value:g}" if isinstance(value, float) else str(value)


class Choices(Mapping[str, Value]):
    """What stands in a study's place of each choice: its own value, or the one that is tried. Remembers which were
    read."""

    def __init__(self, file: Path, choices: Sequence[Choice], tried: Mapping[str, Value]):
        self._file, self._values = file, {c.name: c.value for c in choices} | dict(tried)
        self._read: set[str] = set()

    def __getitem__(self, name: str) -> Value:
        if name not in self._values:
            hint = nearest(name, self._values) or f"a [[choice]] in {self._file.name} has a name and a value"
            raise refuse(f"the study reads the choice `{name}`, which is not declared", file=self._file, hint=hint)
        self._read.add(name)
        return self._values[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._values)

    def __len__(self) -> int:
        return len(self._values)

    def check_read(self) -> None:
        """Refuses a choice that the study, now imported, has not read: no run could depend on it."""
        unread = [name for name in self._values if name not in self._read]
        if unread:
            hint = f'settings.py reads it at its top: `from . import choices`, then `choices["{unread[0]}"]`'
            raise refuse(f"the study never reads the choice `{unread[0]}`", file=self._file, key="name", hint=hint)


def load(folder: Path, claims: Sequence[str]) -> list[Choice]:
    """Those of a study, whose claims have these names; none if it declares none."""
    file = folder / FILE
    if not file.is_file():
        return []
    try:
        table = tomllib.loads(_input.text(file))
    except OSError as e:
        raise refuse(e.strerror or str(e), file=file) from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as e:
        raise refuse(str(e), file=file) from None
    wrong = [
        Diagnostic("unknown key", str(file), key=key, hint=nearest(key, ["choice"]) or "it holds [[choice]] only")
        for key in sorted(table.keys() - {"choice"})
    ]
    found, entries = [], table.get("choice", [])
    if not isinstance(entries, list) or not entries or not all(isinstance(e, dict) for e in entries):
        raise ScenarioError([*wrong, Diagnostic("holds no [[choice]]", str(file))])
    for n, entry in enumerate(entries):
        problems = list(_wrong(entry, n, file, claims))
        wrong += problems
        if not problems:
            given = {k: entry[k] for k in (*_TEXTS, "value")}
            found.append(Choice(**given, alternatives=tuple(entry["alternatives"]), rows=tuple(entry["rows"])))
    names = [c.name for c in found]
    for name in sorted({n for n in names if names.count(n) > 1}):
        wrong.append(Diagnostic(f"choice {name} is there twice", str(file)))
    if wrong:
        raise ScenarioError(wrong)
    return found


def _wrong(entry: Mapping[str, Any], n: int, file: Path, claims: Sequence[str]) -> Iterator[Diagnostic]:
    """What is wrong with one entry."""
    where = f"choice {entry.get('name', f'number {n + 1}')}"

    def bad(reason: str, key: str, hint: str | None = None) -> Diagnostic:
        return Diagnostic(f"{where}: {reason}", str(file), key=key, hint=hint)

    for key in sorted(entry.keys() - set(_KEYS)):
        yield bad("unknown key", key, nearest(key, _KEYS) or f"there are {', '.join(_KEYS)}")
    missing = [key for key in _KEYS if key not in entry]
    yield from (bad(f"`{key}` is missing", key) for key in missing)
    for key in _TEXTS:
        if key in entry and (not isinstance(entry[key], str) or not entry[key].strip()):
            yield bad("must be a text that is not empty", key)
    if isinstance(entry.get("name"), str) and entry["name"] and not entry["name"].isidentifier():
        yield bad("must be a name of letters, digits and _", "name")
    for key in ("alternatives", "rows"):
        if key in entry and (not isinstance(entry[key], list) or not entry[key]):
            yield bad("must be a list that is not empty", key)
            missing.append(key)
    if not {"value", "alternatives"} & set(missing):
        yield from (bad(reason, key) for reason, key in _values(entry["value"], entry["alternatives"]))
    if "rows" not in missing:
        for pattern in entry["rows"]:
            if not isinstance(pattern, str) or not any(fnmatchcase(i, pattern) for i in claims):
                hint = nearest(str(pattern), claims)
                yield bad(f"no claim is called `{pattern}`", "rows", hint)


def _values(value: object, alternatives: Sequence[Any]) -> Iterator[tuple[str, str]]:
    """What is wrong with a value and its alternatives: with which key."""
    if not isinstance(value, Value):
        yield "must be a text, a number or a truth value", "value"
        return
    kind = (int, float) if isinstance(value, int | float) and not isinstance(value, bool) else (type(value),)
    for other in alternatives:
        if isinstance(other, bool) != isinstance(value, bool) or not isinstance(other, kind):
            yield f"`{other}` is of another kind than the value `{text(value)}`", "alternatives"
            return
    shown = [text(v) for v in alternatives]
    if text(value) in shown:
        yield f"`{text(value)}` is the value itself", "alternatives"
    yield from ((f"`{v}` is there twice", "alternatives") for v in sorted({v for v in shown if shown.count(v) > 1}))
