"""What arguments of environments are, checked when they are given: at the first step it would be late."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from thalweg.errors import refuse


def is_whole(number: object) -> bool:
    """A whole number, Python's or NumPy's."""
    return isinstance(number, int | np.integer) and not isinstance(number, bool)


def function(what: Any, key: str, of: str) -> Callable:
    """A function, as it is."""
    if not callable(what):
        raise refuse(f"`{what!r}` is not a function {of}", key=key)
    return what


def count(number: object, key: str, what: str) -> int:
    """At least one of something, and no more than 32 bits count."""
    if not is_whole(number) or not 1 <= number < 1 << 32:
        raise refuse(f"`{number}` is no number of {what}: there is at least one", key=key)
    return int(number)
