"""What a sweep sets: its points, and how they are called in tables, legends and folder names."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from thalweg import _toml
from thalweg.errors import brief, refuse

SEED = "seed"


@dataclass
class Point:
    """One point of a sweep: `set` goes into the scenario, `labels` into the tables (a variant is its name there)."""

    set: dict[str, Any] = field(default_factory=dict)
    labels: dict[str, Any] = field(default_factory=dict)

    def __or__(self, other: Point) -> Point:
        twice = self.set.keys() & other.set.keys()
        if twice:
            raise refuse("two parts of the sweep set it at the same point", key=min(twice))
        return Point(self.set | other.set, self.labels | other.labels)


def points(
    vary: Mapping[str, Sequence[Any] | Mapping[str, Mapping[str, Any]]] | Sequence[Mapping[str, Any]],
) -> list[Point]:
    """All combinations of a mapping's entries, or a list of settings as it is.

    An entry is a dotted key with a list of values, or a name of your own with named variants, each with its settings:
    `{"variant": {"dctcp": {…}, "mine": {…}}, "seed": range(5)}`.
    """
    if not isinstance(vary, Mapping | Iterable) or isinstance(vary, str):
        hint = 'for example {"seed": range(5)}'
        raise refuse(f"`{brief(vary)}` is not a table of keys and their values", key="vary", hint=hint)
    if not isinstance(vary, Mapping):
        listed = [_plain(point) for point in vary]
        if not listed:
            raise refuse(
                "the list of settings is empty: nothing would run", key="vary", hint="{} is the scenario as it is"
            )
        return listed
    parts = [list(_part(str(key), values)) for key, values in vary.items()]
    return [_joined(combination) for combination in itertools.product(*parts)]


def _plain(point: Mapping[str, Any]) -> Point:
    if not isinstance(point, Mapping):
        raise refuse(f"a point of a sweep is a table of settings, not {point!r}"[:200])
    return Point(dict(point), dict(point))


def _part(key: str, values: object) -> Iterator[Point]:
    if isinstance(values, Mapping):
        if not values:
            raise refuse("the table of variants is empty: nothing would run", key=key)
        before: dict[str, Mapping[str, str]] = {}
        for name, settings in values.items():
            if not isinstance(settings, Mapping):
                hint = f'write {{"{name}": {{"{key}": {_toml.inline(settings, f"{key}.{name}")}}}}}'
                raise refuse("a variant has a name and a table of settings", key=f"{key}.{name}", hint=hint)
            before[name] = {k: _toml.override(v, str(k)) for k, v in settings.items()}
            if twin := next((other for other in before if other != name and before[other] == before[name]), None):
                raise refuse(f"it sets the same as `{twin}`", key=f"{key}.{name}", hint="remove one of them")
            yield Point(dict(settings), {key: str(name)})
        return
    for value in _values(key, values):
        yield Point({key: value}, {key: value})


def _values(key: str, values: object) -> Sequence[Any]:
    """The values of a key: a list, or any other row of them; a text is one value."""
    if isinstance(values, str):
        return [values]
    if not isinstance(values, Iterable):
        hint = f"write {{{key!r}: [{values!r}]}}"[:200]
        raise refuse("a key of a sweep has a list of values", key=key, hint=hint)
    found = list(values)
    if not found:
        raise refuse("the list of values is empty: nothing would run", key=key)
    return found


def _joined(parts: Sequence[Point]) -> Point:
    whole = Point()
    for part in parts:
        whole |= part
    return whole


def text(value: Any) -> str:
    """A setting as the user would write it."""
    return "–" if value is None else _toml.override(value)


def columns(labels: Sequence[Mapping[str, Any]]) -> dict[str, list[Any]]:
    """The settings of all points by key. A key that a point does not have is `None` there; where values are
    of several kinds, or tables, all of them become text."""
    keys = dict.fromkeys(key for point in labels for key in point)
    return {key: _one_kind([_scalar(point.get(key)) for point in labels]) for key in keys}


def _scalar(value: Any) -> Any:
    return value.item() if hasattr(value, "item") and getattr(value, "ndim", 0) == 0 else value


def _one_kind(values: list[Any]) -> list[Any]:
    there = [v for v in values if v is not None]
    for kind in (bool, str):
        if all(isinstance(v, kind) for v in there):
            return values
    if all(isinstance(v, int | float) and not isinstance(v, bool) for v in there):
        return values
    return [None if v is None else text(v) for v in values]


def typed(values: Sequence[str]) -> list[Any]:
    """Values that were typed on a command line: numbers if all of them are, so that axes and tables sort."""
    for kind in (int, float):
        try:
            return [kind(v) for v in values]
        except ValueError:
            continue
    return list(values)


def split(listed: str) -> list[str]:
    """`a,b,{ kind = "x", y = [1, 2] }` at its outer commas."""
    parts, depth, quote, begun = [], 0, "", 0
    for at, c in enumerate(listed):
        if quote:
            quote = "" if c == quote else quote
        elif c in "\"'":
            quote = c
        elif c in "{[":
            depth += 1
        elif c in "}]":
            depth -= 1
        elif c == "," and depth == 0:
            parts.append(listed[begun:at])
            begun = at + 1
    return [part.strip() for part in (*parts, listed[begun:])]
