"""Names, lists of names and tables of settings that callers give, checked where they come in. (Numbers: `_counts`;
paths: `_input`.)"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from thalweg.errors import brief, refuse


def settings(what: object, key: str = "set") -> dict[Any, Any]:
    """Keys and their values; `None`: none."""
    if what is None:
        return {}
    if not isinstance(what, Mapping):
        hint = 'for example {"seed": 3}'
        raise refuse(f"`{brief(what)}` is not a table of keys and their values", key=key, hint=hint)
    return dict(what)


def name(what: object, key: str, hint: str | None = None) -> str:
    """What something is called."""
    if not isinstance(what, str):
        raise refuse(f"`{brief(what)}` is not a name", key=key, hint=hint)
    return what


def items(what: object, key: str, hint: str | None = None) -> list[Any]:
    """Several things; a text is one."""
    if isinstance(what, str):
        return [what]
    if not isinstance(what, Iterable) or isinstance(what, Mapping):
        raise refuse(f"`{brief(what)}` is not a list", key=key, hint=hint)
    return list(what)


def names(what: object, key: str, hint: str | None = None) -> list[str]:
    """What several things are called; a text is one name."""
    return [name(one, key, hint) for one in items(what, key, hint)]
