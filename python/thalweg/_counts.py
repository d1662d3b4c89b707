"""How many of something: numbers that callers give, checked where they come in."""

from __future__ import annotations

import os
from numbers import Integral, Real
from typing import TypeGuard

from thalweg.errors import brief, refuse

# What 32 bits count, and what 64 do.
MOST, SEEDS = (1 << 32) - 1, (1 << 64) - 1


def is_whole(number: object) -> TypeGuard[int]:
    """A whole number, Python's or NumPy's; `True` is none."""
    return isinstance(number, Integral) and not isinstance(number, bool)


def is_number(number: object) -> TypeGuard[float]:
    """A real number, Python's or NumPy's."""
    return isinstance(number, Real)


def count(number: object, key: str, hint: str | None = None, *, most: int = MOST) -> int:
    """At least one of something."""
    if not is_whole(number) or number < 1:
        raise refuse(f"`{brief(number)}` is not a whole number above zero", key=key, hint=hint)
    if number > most:
        raise refuse(f"`{number}` is too large; at most {most}", key=key)
    return int(number)


def cores() -> int:
    """Those that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def jobs(number: object) -> int | None:
    """How many runs are made at a time; `None`: one per core."""
    return None if number is None else count(number, "jobs", "leave it out for one per core")


def threads(number: object) -> int | None:
    """How many threads one run has; `None`: as many as are worth their while."""
    return None if number is None else count(number, "threads", "leave it out, and the run has what suits it")


def seed(number: object, key: str = "seed") -> int:
    """A number that chance starts from."""
    if not is_whole(number) or not 0 <= number <= SEEDS:
        raise refuse(f"`{brief(number)}` is not a seed", key=key, hint="a whole number of 64 bits, from 0")
    return int(number)
