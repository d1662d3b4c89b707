"""Means over seeds, and how far they can be trusted."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cache
from statistics import fmean, stdev


@dataclass(frozen=True)
class Spread:
    """The mean of one number over repetitions, and half the width of its 95 % confidence interval (NaN for a
    single one). `runs`: the repetitions that have the number; `of`: all of them."""

    mean: float
    half: float
    runs: int
    of: int

    @property
    def partial(self) -> bool:
        """Some repetitions have the number, and some do not: the mean is of the former."""
        return 0 < self.runs < self.of

    def scaled(self, scale: float) -> Spread:
        """In a unit so many times as large."""
        return replace(self, mean=self.mean / scale, half=self.half / scale)


def spread(values: Sequence[float], of: int | None = None) -> Spread:
    """Repetitions with different seeds are independent; their means are taken as normal (Student's t). `of`: how many
    repetitions there were, if some have no value."""
    n = len(values)
    of = n if of is None else of
    if n == 0:
        return Spread(math.nan, math.nan, 0, of)
    if n == 1:
        return Spread(float(values[0]), math.nan, 1, of)
    return Spread(fmean(values), student(n - 1) * stdev(values) / math.sqrt(n), n, of)


def repetitions(spreads: Iterable[Spread]) -> str:
    """Of how many repetitions means are: `6`, or `3 to 6`."""
    counts = [s.runs for s in spreads if s.runs]
    least, most = min(counts, default=0), max(counts, default=0)
    return str(most) if least == most else f"{least} to {most}"


@cache
def student(freedom: int, level: float = 0.95) -> float:
    """What Student's `|t|` exceeds with probability 1 - level, by bisection."""
    low, high = 0.0, math.pi / 2
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if _within(middle, freedom) < level else (low, middle)
    return math.sqrt(freedom) * math.tan((low + high) / 2)


def _within(angle: float, freedom: int) -> float:
    """Probability that Student's `|t|` is at most √freedom · tan(angle): Abramowitz & Stegun, 26.7.3 and 26.7.4."""
    odd, square = freedom % 2, math.cos(angle) ** 2
    term, total = (math.cos(angle) if odd else 1.0), 0.0
    for k in range(2 + odd, freedom + 1, 2):
        total += term
        term *= square * (k - 1) / k
    within = math.sin(angle) * total
    return 2 / math.pi * (angle + within) if odd else within
