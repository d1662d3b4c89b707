"""What needs no network: the sizes' byte shares (Figure 3-2), fluid processor sharing (Figures 3-3, 3-4),
tables, hashes."""

from __future__ import annotations

import itertools
from pathlib import Path

import numpy as np

from thalweg import Scenario
from thalweg.study import checked, measure, measure_each

from .fabric import SIZES
from .workloads import GOOGLE, MEAN, arrivals, sizes

SCENARIOS = Path(__file__).parent / "scenarios"
PUBLISHED = {  # byte shares below 15, 60, 150 KB, of the published tables
    "google": (0.251, 0.344, 0.487),
    "fb": (0.005, 0.044, 0.113),
}


def drawn(workload: str, n: int) -> np.ndarray:
    """Sizes as scenarios draw them: the flow list of the Clos network."""
    set = {
        "traffic.0.sizes": SIZES[workload],
        "traffic.0.until": f"{n * MEAN[workload] * 8 / (0.6 * 1.6e12) * 1e3:.3f}ms",
        "run.until": "1s",
    }
    text = Scenario.load(SCENARIOS / "clos.toml", set).flows_csv()
    rows = text.splitlines()[1:]
    return np.array([int(r.split(",")[3]) for r in rows], dtype=float)


def shares(workload: str, edges) -> list[float]:
    """Of the bytes, those of flows below: the integral of the quantile, as the sampler has it."""
    found = np.sort(drawn(workload, 400_000))
    return [float(found[found < e].sum() / found.sum()) for e in edges]


@measure("BFC-F2-a", needs=[])
def bytes_below_100_kb(runs):
    return {"share below 100 KB": tail_free(100e3)}


def tail_free(edge: float) -> float:
    """Google's, with the last segment's mean instead of its few samples: one flow in 2000 has a third of the bytes."""
    found = drawn("google", 400_000)
    low, high = GOOGLE[-2, 0], GOOGLE[-1, 0]
    top = (1 - GOOGLE[-2, 1]) * np.log(high / low) / (1 / low - 1 / high)
    rest = found[found <= low]
    body = rest.sum() / len(found)
    return float(found[found < edge].sum() / len(found) / (body + top))


@measure("BFC-F2-b", needs=[])
def bytes_by_size(runs):
    edges = (15e3, 60e3, 150e3)
    google = [tail_free(e) for e in edges]
    fb = shares("fb", edges)
    found = {"google": google, "fb": fb}
    off = {w: max(abs(a - b) for a, b in zip(found[w], PUBLISHED[w], strict=True)) for w in found}
    return {"largest distance": max(off.values())} | off


class Sharing:
    """Fluid processor sharing of one link: N(t), a step function."""

    def __init__(self, at: np.ndarray, size: np.ndarray, rate: float):
        """`at` in s, `size` in B, `rate` in bit/s."""
        from heapq import heappop, heappush

        leaves: list[float] = []
        now = shown = 0.0
        times, counts = [0.0], [0]
        i = 0
        while i < len(at) or leaves:
            end = now + (leaves[0] - shown) * 8 * len(leaves) / rate if leaves else np.inf
            if i < len(at) and at[i] <= end:
                if leaves:
                    shown += (at[i] - now) * rate / 8 / len(leaves)
                now = at[i]
                heappush(leaves, shown + size[i])
                i += 1
            else:
                now, shown = end, leaves[0]
                heappop(leaves)
            times.append(now)
            counts.append(len(leaves))
        self.times, self.counts = np.array(times), np.array(counts)

    def at(self, t: np.ndarray) -> np.ndarray:
        return self.counts[np.searchsorted(self.times, t, side="right") - 1]


FLOWS = {"quick": 20_000, "full": 200_000}


def change(workload: str, gbps: float, interval: float, flows: int) -> float:
    """Mean relative change of a long flow's fair share over `interval` (s), next to a load of 60 %."""
    draw = np.random.default_rng([3, ["google", "fb", "web"].index(workload)])
    gap = MEAN[workload] * 8 / (0.6 * gbps * 1e9)
    at = arrivals(gap, gap * flows, draw)
    size = sizes(workload, len(at), draw)
    fluid = Sharing(at, size, gbps * 1e9)
    t = np.linspace(at[len(at) // 10], at[-1] - interval, 40_000)
    before, after = 1 / (1 + fluid.at(t)), 1 / (1 + fluid.at(t + interval))
    return float(np.mean(np.abs(after - before) / before))


@measure("BFC-F3-a", needs=[])
def changes_of_the_fair_share(runs):
    n = FLOWS[runs.scale]
    speeds = [change("fb", g, 8e-6, n) for g in (10, 40, 100)]
    works = [change(w, 100, 8e-6, n) for w in ("google", "fb", "web")]
    spans = [change("fb", 100, i * 1e-6, n) for i in (1, 2, 4, 8, 12, 16, 20, 30)]
    return {
        "speed, smallest ratio": min(b / a for a, b in itertools.pairwise(speeds)),
        "workload, smallest ratio": min(a / b for a, b in itertools.pairwise(works)),
        "interval, smallest step": min(b - a for a, b in itertools.pairwise(spans)),
    }


REPORTED = {"instances": "cases", "packets": "packets", "violations": "violations"}


EXACT = ("BFC-P1-a", "BFC-P3-a", "BFC-M-a", "BFC-M-b", "BFC-M-c", "BFC-D1-b", "BFC-C1-b")


@measure_each({claim: claim for claim in EXACT})
def packet_by_packet(runs, claim: str):
    """By the engine's own order and tables (`crates/theory/src/bfc.rs`)."""
    return checked(runs, claim, REPORTED)
