"""The study's own arithmetic: averages, fairness, tails, expectations. NumPy in, numbers out; no runs."""

from __future__ import annotations

import numpy as np

# Size buckets of Figures 5 and 6, in packets of 1460 B; the workload's eleven sizes all fall into one.
PACKET = 1460
BUCKETS = {"1": (1, 1), "2-7": (2, 7), "40-267": (40, 267), "1187": (1187, 1187), "2107": (2107, 2107)}
NEVER = 1000.0  # ms: what "has not settled" counts as; every bound on a settling time is far below


def packets(size) -> np.ndarray:
    """Flow sizes in packets, the last one counted whole."""
    return -(-np.asarray(size).astype(np.int64) // PACKET)


def in_bucket(size, name: str) -> np.ndarray:
    """Which flows are in a size bucket."""
    low, high = BUCKETS[name]
    n = packets(size)
    return (n >= low) & (n <= high)


def binned(flow, at, size, flows: int, width: int, bins: int, begin: int = 0) -> np.ndarray:
    """Bytes per bin and flow: bin b holds begin + b·width <= at < begin + (b+1)·width; the rest is left out."""
    at = np.asarray(at).astype(np.int64) - begin
    inside = (at >= 0) & (at < bins * width)
    place = (at[inside] // width) * flows + np.asarray(flow)[inside]
    total = np.bincount(place, weights=np.asarray(size, dtype=float)[inside], minlength=bins * flows)
    return total.reshape(bins, flows)


def settles(index, level: float, width_ms: float = 1.0) -> float:
    """End (ms) of the first bin from which on all are at least `level`; NEVER if the last one is not."""
    below = np.flatnonzero(np.asarray(index) < level)
    first = int(below[-1]) + 1 if len(below) else 0
    return (first + 1) * width_ms if first < len(index) else NEVER


def weighted_shares(a: float, b: float, c: float, first: float = 5000.0, second: float = 1000.0) -> tuple:
    """Throughput of A, B, C of Figure 12: A and B share `first` by weight, then B and C share `second`.

    Not weighted max-min: B is UDP and does not back off, so A gets no more when B is cut to less downstream.
    """
    of_a = first * a / (a + b)
    of_b = min(first - of_a, second * b / (b + c))
    return of_a, of_b, second - of_b


def lead_settles(at, size, rate: float, packet: float) -> float:
    """When a flow stops gaining on its fair share: the first departure at which its lead over `rate` (bytes
    per unit of `at`) is within one packet of the largest lead it ever has."""
    at = np.asarray(at, dtype=float)
    lead = np.cumsum(np.asarray(size, dtype=float)) - rate * at
    return float(at[np.flatnonzero(lead >= lead.max() - packet)[0]])


def good_range(by_estimate: dict[float, float], within: float = 0.10) -> tuple[float, float, float]:
    """The estimate with the smallest value, and the ends of the range around it whose values are within 10 % of it."""
    order = sorted(by_estimate)
    best = min(order, key=lambda r: (by_estimate[r], r))
    good = [r for r in order if by_estimate[r] <= (1 + within) * by_estimate[best]]
    return best, good[0], good[-1]


def percentile_of_bins(low, high, counts, p: float) -> float:
    """From a histogram, evenly spread inside each bin: what a fraction p/100 lies below."""
    counts = np.asarray(counts, dtype=float)
    wanted = p / 100 * counts.sum()
    n = int(np.searchsorted(np.cumsum(counts), wanted))
    inside = (wanted - counts[:n].sum()) / counts[n]
    return float(low[n] + inside * (high[n] - low[n]))
