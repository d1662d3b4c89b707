"""The study's own arithmetic: Algorithm 1, percentiles, fairness, fits. NumPy in, numbers out; no runs."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

import numpy as np

PAYLOAD, HEADER, ACK = 1442, 58, 64  # CHOICE: 1500 B on the wire, RoCEv2-like; B
US, MS, S = 10**6, 10**9, 10**12  # ps


# --- What a segment takes (§3.2.1) --------------------------------------------------------------------------


def packets(segment: int) -> list[int]:
    """Sizes on the wire of the packets of a segment, B."""
    full, rest = divmod(segment, PAYLOAD)
    return [PAYLOAD + HEADER] * full + ([rest + HEADER] if rest else [])


def on_wire(segment: int) -> int:
    """B, headers included."""
    return sum(packets(segment))


def serialization(size: int, rate: float) -> float:
    """s, of so many bytes at b/s."""
    return size * 8 / rate


def idle_rtt(segment: int, rates: tuple[float, float], delay: float) -> float:
    """Seconds from a segment's first bit to its ACK, less its serialization, through one idle switch that
    stores and forwards; `rates` of the way there (b/s), `delay` of a link (s)."""
    first, second = rates
    arrived = left = 0.0
    for size in packets(segment):
        arrived += serialization(size, first)
        left = max(arrived, left) + serialization(size, second)
    back = serialization(ACK, first) + serialization(ACK, second)
    return left - serialization(on_wire(segment), first) + back + 4 * delay


# --- Algorithm 1 (§3.3.3), written from the paper a second time to check the engine's trace -----------------


@dataclass(frozen=True)
class Algorithm1:
    """Constants: times in s, rates in b/s."""

    t_low: float
    t_high: float
    line: float = 10e9
    min_rtt: float = 30e-6
    alpha: float = 0.08
    beta: float = 0.8
    delta: float = 10e6
    after: int = 5
    times: int = 5
    least: float = 10e6
    max_decrease: float = 0.5

    def rates(self, at, rtt, first: float, seen=None) -> tuple[np.ndarray, Counter]:
        """The rate after each sample of one flow that is never limited by its application, and how often each
        branch ran.

        With `seen`, another's rates, each step starts from the other's rate before it: what it rounds does not add up.
        """
        rate, out, ran = first, np.empty(len(rtt)), Counter()
        previous, diff, negative, updated = None, 0.0, 0, 0.0
        for n, (now, new) in enumerate(zip(at, rtt, strict=True)):
            if previous is None:
                ran["first"] += 1
            else:
                diff += self.alpha * (new - previous - diff)
                gradient = diff / self.min_rtt
                f = min(1.0, (now - updated) / self.min_rtt)
                ran["scaled"] += f < 1
                negative = negative + 1 if gradient < 0 else 0
                before = rate if seen is None else seen[n - 1]
                rate, branch = self.step(before, new, gradient, f, negative)
                ran[branch] += 1
            previous, updated = new, now
            out[n] = rate
        return out, ran

    def step(self, old: float, rtt: float, gradient: float, f: float = 1.0, negative: int = 0) -> tuple[float, str]:
        """One update: the new rate, and the branch that made it."""
        if rtt < self.t_low:
            rate, branch = old + f * self.delta, "below T_low"
        elif rtt > self.t_high:
            rate, branch = old * (1 - f * self.beta * (1 - self.t_high / rtt)), "above T_high"
        elif gradient <= 0:
            hyper = negative >= self.after > 0
            rate, branch = old + f * self.delta * (self.times if hyper else 1), "hyper" if hyper else "increase"
        else:
            rate, branch = old * (1 - f * self.beta * gradient), "decrease"
        return min(max(rate, old * (1 - self.max_decrease), self.least), self.line), branch


# --- Statistics ---------------------------------------------------------------------------------------------


def decile_gaps(x, y) -> np.ndarray:
    """|x − y| at the deciles p10 to p90, over what is allowed: 5 (units of x) or 15 % of y, whichever is more."""
    levels = np.arange(10, 91, 10)
    a, b = (np.percentile(v, levels) for v in (x, y))
    return np.abs(a - b) / np.maximum(5.0, 0.15 * b)


def mean_rate(at, flow, rate, grid) -> np.ndarray:
    """Mean over flows of the rate that each has at the times of the grid: its latest sample's, or its first
    if none is earlier."""
    at, flow, rate = np.asarray(at), np.asarray(flow), np.asarray(rate, dtype=float)
    lines = []
    for f in np.unique(flow):
        mine = flow == f
        place = np.searchsorted(at[mine], grid, side="right") - 1
        lines.append(rate[mine][np.maximum(place, 0)])
    return np.mean(lines, axis=0)


NEVER = 1e4  # ms: what "has not got there" counts as; every bound is far below


def reaches(grid_ms, values, level: float) -> float:
    """The first time (ms) on the grid at which the values are at least `level`; NEVER if they are not."""
    there = np.flatnonzero(np.asarray(values) >= level)
    return float(np.asarray(grid_ms)[there[0]]) if len(there) else NEVER


def saturation(accepted: dict[float, float], fraction: float = 0.98) -> float:
    """The largest offered load of which so much is accepted; 0 if there is none."""
    return max((load for load, share in accepted.items() if share >= fraction), default=0.0)
