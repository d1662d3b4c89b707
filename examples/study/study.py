"""Slowdown by flow size under DCQCN, TIMELY and HPCC (Li et al., SIGCOMM 2019): a study of one figure."""

import numpy as np

from thalweg import plots
from thalweg.study import Grid, equal_buckets, figure, flows, mean, measure, once, percentile, places, presets, seeds

NAMES = {"dcqcn": "DCQCN", "timely": "TIMELY", "hpcc": "HPCC"}
SCHEMES = {
    "dcqcn": {"transport.congestion": presets.DCQCN, "switch.marking": presets.dcqcn_marking(25 / 40)},
    # CHOICE: the round trip of this rack, and the weight of the analyses that followed the paper.
    "timely": {"transport.congestion": presets.TIMELY | {"min_rtt": "6us", "alpha": 0.875}},
    "hpcc": {"transport.congestion": presets.hpcc(flows=100, gbps=25, rtt_us=6)},
}
GRID = Grid("rack", {"rack-50": {"traffic.0.load": 0.5}}, SCHEMES)
BUCKETS = 10
runs = GRID.runs


@once
def tails(results) -> np.ndarray:
    """The 95th percentile of the slowdown, by tenths of the flows from the smallest to the largest."""
    found = flows(results)
    inside = [(found.size > low) & (found.size <= high) for low, high in equal_buckets(found.size, BUCKETS)]
    return np.array([percentile(found.slowdown[which], 95) for which in inside])


def of_smallest(results) -> float:
    return tails(results)[0]


def longest_queue(results) -> float:
    """KB, over all ports."""
    return float(results.tables["ports"]["max_queue"].max()) / 1e3


def against_others(runs, value, name: str, unit: str) -> dict[str, float]:
    """HPCC's over the others', means over the seeds, and each."""
    found = {s: mean(runs, f"rack-50:{s}", value) for s in SCHEMES}
    ratios = {f"{name}, HPCC / {NAMES[s]}": found["hpcc"] / found[s] for s in ("dcqcn", "timely")}
    return ratios | {f"{name}, {NAMES[s]}{unit}": x for s, x in found.items()}


@measure("HPCC-S-a", needs=GRID.needs())
def tails_of_the_smallest(runs):
    censored = {"most censored flows of a run": max(flows(r).censored for r in runs.values())}
    return against_others(runs, of_smallest, "p95", "") | censored


@measure("HPCC-S-b", needs=GRID.needs())
def longest_queues(runs):
    return against_others(runs, longest_queue, "longest queue", " (KB)")


@figure("slowdown", "Slowdown by flow size, 95th percentile", needs=GRID.needs(), claims=["HPCC-S-*"])
def slowdown_by_size(runs):
    (place,) = places(runs)
    series = {NAMES[s]: np.mean([tails(r) for r in seeds(runs, f"{place}:{s}")], axis=0) for s in SCHEMES}
    return plots.lines(range(1, BUCKETS + 1), series, "tenth of the flows, by size", "slowdown, p95", log_y=True)
