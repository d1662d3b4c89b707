"""Scenario files of earlier versions: each renamed key or choice is replaced by its new name.

The engine knows the renamed ones: it refuses an old name and says what it is called now. No name has changed since
0.1.0, the first version, so there is nothing to migrate yet. Only the word itself is replaced; comments, order and
spaces stay. A replacement is kept only if the file then reads as before but for that one name.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from thalweg.errors import Diagnostic, ScenarioError, refuse
from thalweg.scenario import Scenario

# As the engine writes it of a key, of a table's kind, and of a plain word.
_NOW = re.compile(r"^(?:it is called `(?P<one>[^`]+)` now|`[^`]+` is now called `(?P<other>[^`]+)`)")
_WORD = re.compile(r"^`(?P<old>[^`]+)` is not a choice$")
# A renamed table may hold more old names: the file is read again at most this often.
_ROUNDS = 32


@dataclass(frozen=True)
class Renamed:
    """One name that was replaced: in which line, of which key, and by what."""

    line: int
    key: str
    old: str
    new: str

    def __str__(self) -> str:
        return f"line {self.line}: `{self.key}`: `{self.old}` is now `{self.new}`"


@dataclass
class Migrated:
    """A file's text as it is written today, what was replaced in it, and what is wrong with it besides."""

    text: str
    renamed: list[Renamed] = field(default_factory=list)
    left: list[Diagnostic] = field(default_factory=list)


def migrated(text: str, file: str = "<text>", directory: Path | str = ".") -> Migrated:
    """The scenario with every renamed key and choice under its new name.

    Raises `ScenarioError` for what is not TOML, and for a name that cannot be replaced safely (it names the line).
    """
    found = Migrated(text)
    for _ in range(_ROUNDS):
        try:
            tomllib.loads(found.text)
        except tomllib.TOMLDecodeError as e:
            raise refuse(f"is not TOML: {e}", file=file) from None
        try:
            Scenario(found.text, file, directory)
        except ScenarioError as e:
            wrong = list(e.diagnostics)
        else:
            wrong = []
        # A section that is taken over by others is reported for each of them, at one place.
        places: dict[tuple[Any, ...], Diagnostic] = {}
        for d in wrong:
            if (names := _names(d)) is not None:
                places.setdefault((d.line, d.column, *names), d)
        if not places:
            found.left = wrong
            return found
        for (_, _, old, new), d in sorted(places.items(), key=lambda item: item[0][:2], reverse=True):
            found.text = _replaced(found.text, d, old, new)
        found.renamed += [Renamed(line, d.key, old, new) for (line, _, old, new), d in places.items()]
        found.renamed.sort(key=lambda r: r.line)
    raise refuse("renaming does not come to an end", file=file)


def _names(wrong: Diagnostic) -> tuple[str, str] | None:
    """What a diagnostic reports as renamed: the name that is written, and the one of today."""
    now = _NOW.match(wrong.hint or "")
    if now is None:
        return None
    word = _WORD.match(wrong.reason)
    return (word["old"] if word else wrong.key.rsplit(".", 1)[-1]), now["one"] or now["other"]


def _replaced(text: str, wrong: Diagnostic, old: str, new: str) -> str:
    """The text with the one occurrence replaced that the diagnostic is about."""
    before = tomllib.loads(text)
    is_word = _WORD.match(wrong.reason) is not None
    ends = [wrong.key.rsplit(".", 1)[-1], "kind"] if is_word else [old]
    for start, end in _occurrences(text, old, wrong.line, wrong.column):
        candidate = text[:start] + new + text[end:]
        try:
            after = tomllib.loads(candidate)
        except tomllib.TOMLDecodeError:
            continue
        differences = list(_differences(before, after))
        if len(differences) == 1 and differences[0] in {(last, is_word) for last in ends}:
            return candidate
    hint = f"write `{new}` there by hand"
    where = f"{wrong.file}:{wrong.line}" if wrong.line else wrong.file
    raise refuse(f"`{old}` cannot be replaced safely", file=where, key=wrong.key, hint=hint)


def _occurrences(text: str, word: str, line: int, column: int) -> Iterator[tuple[int, int]]:
    """Where a word stands, the nearest to a place first; what is behind it on its line before all else."""
    begins = sum(len(one) + 1 for one in text.split("\n")[: max(line - 1, 0)])
    found = [m.span() for m in re.finditer(rf"(?<![\w-]){re.escape(word)}(?![\w-])", text)]
    at = begins + max(column - 1, 0)
    # (A column counts from one.)
    behind = [s for s in found if s[0] >= at]
    return iter(behind + sorted((s for s in found if s[0] < at), key=lambda s: at - s[0]))


def _differences(before: object, after: object, last: str = "") -> Iterator[tuple[str, bool]]:
    """In what two documents differ: the last key on the way there, and whether it is the value (or the key itself)."""
    if isinstance(before, dict) and isinstance(after, dict):
        gone = [k for k in before if k not in after]
        come = [k for k in after if k not in before]
        if len(gone) != len(come) or len(gone) > 1:
            yield from (("", True) for _ in range(len(gone) + len(come)))
            return
        for key in before:
            if key in after:
                yield from _differences(before[key], after[key], key)
        for a, b in zip(gone, come, strict=True):
            yield a, False
            yield from _differences(before[a], after[b], a)
    elif isinstance(before, list) and isinstance(after, list) and len(before) == len(after):
        for a, b in zip(before, after, strict=True):
            yield from _differences(a, b, last)
    elif type(before) is not type(after) or before != after:
        yield last, True
