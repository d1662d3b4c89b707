"""What arguments of environments are, checked when they are given: at the first step it would be late."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from thalweg.errors import refuse


def function(what: Any, key: str, of: str) -> Callable[..., Any]:
    """A function, as it is."""
    if not callable(what):
        raise refuse(f"`{what!r}` is not a function {of}", key=key)
    return what
