"""Means over seeds, and how far they can be trusted."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from statistics import fmean, stdev


@dataclass(frozen=True)
class Spread:
    """The mean of one number over repetitions, and half the width of its 95 % confidence interval (NaN for a
    single one)."""

    mean: float
    half: float
    runs: int


def spread(values: Sequence[float]) -> Spread:
    """Repetitions with different seeds are independent; their means are taken as normal (Student's t)."""
    n = len(values)
    if n == 0:
        return Spread(math.nan, math.nan, 0)
    if n == 1:
        return Spread(float(values[0]), math.nan, 1)
    return Spread(fmean(values), student(n - 1) * stdev(values) / math.sqrt(n), n)


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
