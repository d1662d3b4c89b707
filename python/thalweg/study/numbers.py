"""Arithmetic of studies. NumPy in, numbers out; no runs."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise

import numpy as np
from numpy.typing import ArrayLike

from thalweg.spread import student


def jain(x: ArrayLike) -> float:
    """Jain's index (Σx)² / (n Σx²) over all n, those that get nothing included; 0 if no flow gets anything.

    Jain, Chiu and Hawe: A quantitative measure of fairness, DEC-TR-301, 1984. There the index of zero rates is not
    defined."""
    x = np.asarray(x, dtype=float)
    square = len(x) * (x**2).sum()
    return float(x.sum() ** 2 / square) if square else 0.0


def percentile(x: ArrayLike, p: float) -> float:
    """By nearest rank: the smallest value that p % of the values do not exceed, so one that occurred."""
    ordered = np.sort(np.asarray(x, dtype=float))
    # 0.07 · 100 is 7.000000000000001: what rounding added is not a rank.
    return float(ordered[max(math.ceil(round(p / 100 * len(ordered), 9)), 1) - 1])


def floored_percentile(x: ArrayLike, p: float) -> float:
    """The element at ⌊p n / 100⌋ of the sorted ones, counted from 0, as several authors' scripts have it: one further
    up than `percentile` wherever p n / 100 is whole."""
    ordered = np.sort(x)
    return float(ordered[int(p / 100 * len(ordered))])


def across_bytes(size: ArrayLike, x: ArrayLike) -> float:
    """Σ size·x / Σ size: what an average byte sees."""
    size, x = np.asarray(size, dtype=float), np.asarray(x, dtype=float)
    return float((size * x).sum() / size.sum())


def variation(flow: ArrayLike, x: ArrayLike) -> float:
    """Mean over flows of the coefficient of variation of x."""
    flow, x = np.asarray(flow), np.asarray(x, dtype=float)
    each = (x[flow == f] for f in np.unique(flow))
    return float(np.mean([v.std() / v.mean() for v in each]))


def steps(values: Sequence[float]) -> list[float]:
    """Differences of neighbours."""
    return [float(b - a) for a, b in pairwise(values)]


def slope(x: ArrayLike, y: ArrayLike) -> float:
    """Of the straight line of least squares."""
    xs, ys = np.asarray(x, dtype=float), np.asarray(y, dtype=float)
    xs = xs - xs.mean()
    return float((xs * (ys - ys.mean())).sum() / (xs**2).sum())


def rank_correlation(x: ArrayLike, y: ArrayLike) -> float:
    """Spearman's, of values without ties."""
    of_x, of_y = (np.argsort(np.argsort(v)).astype(float) for v in (x, y))
    return float(np.corrcoef(of_x, of_y)[0, 1])


def thinned_cdf(x: ArrayLike, points: int = 400) -> tuple[np.ndarray, np.ndarray]:
    """Distribution function at evenly spaced ranks: (x, fraction up to x)."""
    x = np.sort(np.asarray(x, dtype=float))
    rank = np.unique(np.linspace(1, len(x), min(points, len(x))).astype(int))
    return x[rank - 1], rank / len(x)


# --- Intervals over seeds -----------------------------------------------------------------------------------


def half_interval(samples: Sequence[float]) -> float:
    """Half the width of the 95 % confidence interval of the mean."""
    if len(samples) < 2:
        raise ValueError("one sample has no confidence interval: run two seeds or more")
    return student(len(samples) - 1) * float(np.std(samples, ddof=1) / np.sqrt(len(samples)))
