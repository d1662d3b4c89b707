"""Means over seeds, and how far they can be trusted."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean, stdev

# Student's t: the 97.5 % point for 1 to 30 degrees of freedom (any table of it); the normal distribution's beyond.
T_975 = (
    12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228,
    2.201, 2.179, 2.160, 2.145, 2.131, 2.120, 2.110, 2.101, 2.093, 2.086,
    2.080, 2.074, 2.069, 2.064, 2.060, 2.056, 2.052, 2.048, 2.045, 2.042,
)  # fmt: skip


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
    t = T_975[n - 2] if n - 2 < len(T_975) else 1.96
    return Spread(fmean(values), t * stdev(values) / math.sqrt(n), n)
