"""Congestion on the way back (§3.1, Figure 3.3): ACKs wait with the data of another incast, unless they have priority."""

from __future__ import annotations

from thalweg.papers import measure

from .numbers import percentile
from .outcome import Samples, throughput
from .settings import SEEDS, connections, mean, needs, run, seeds

ALONE, WITH, PRIORITY = "reverse:alone", "reverse:with", "reverse:priority"
A, B = range(1, 6), range(6, 16)
PRIMARY = [(a, 0) for a in A for _ in range(5)]
SECONDARY = [(b, a) for b in B for a in A]


def runs(scale: str) -> list:
    made = []
    for seed in SEEDS[scale]:
        alone, both = connections(PRIMARY, seed), connections(PRIMARY + SECONDARY, seed)
        kinds = {
            ALONE: {"traffic": alone},
            WITH: {"traffic": both},
            PRIORITY: {"traffic": both, "switch.control_first": True},
        }
        made += [run(key, "reverse", set, seed) for key, set in kinds.items()]
    return made


def primary(results) -> Samples:
    flows = results.flows
    return Samples(results, only=flows.filter(flows["dst"] == 0)["id"].to_list())


def p(level: float):
    return lambda results: percentile(primary(results).rtt, level)


def row(runs, key: str, name: str) -> dict[str, float]:
    out = {f"{name}: p{n} (us)": mean(runs, key, p(n)) for n in (10, 50, 99)}
    return out | {f"{name}: throughput (Gb/s)": mean(runs, key, throughput)}


@measure("TIM-F3-a", needs=needs(ALONE, WITH))
def _(runs):
    return (
        {
            "p99 RTT, with / without": mean(runs, WITH, p(99)) / mean(runs, ALONE, p(99)),
            "throughput, with / without": mean(runs, WITH, throughput) / mean(runs, ALONE, throughput),
        }
        | row(runs, ALONE, "without")
        | row(runs, WITH, "with")
    )


@measure("TIM-F3-b", needs=needs(ALONE, PRIORITY))
def _(runs):
    out = {f"|p{n} ratio - 1|": abs(mean(runs, PRIORITY, p(n)) / mean(runs, ALONE, p(n)) - 1) for n in (50, 99)}
    return out | row(runs, PRIORITY, "with priority")


@measure("TIM-F3-c", needs=needs(ALONE, WITH))
def _(runs):
    return {"p10 RTT, with / without": mean(runs, WITH, p(10)) / mean(runs, ALONE, p(10))}


def curves(runs) -> dict:
    """Round trips of the primary incast in the three cases."""
    names = {ALONE: "no reverse congestion", WITH: "reverse congestion", PRIORITY: "the same, ACKs first"}
    return {name: primary(seeds(runs, key)[0]).rtt for key, name in names.items()}
