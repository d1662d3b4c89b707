"""Congestion on the way back (§3.1, Figure 3.3): ACKs wait with the data of another incast, unless they have
priority."""

from __future__ import annotations

from thalweg.study import mean, measure, needs, percentile, run, seconds, seeds

from .outcome import Samples, throughput
from .settings import SEEDS, connections, transport

ALONE, WITH, PRIORITY = "reverse:alone", "reverse:with", "reverse:priority"
# The second incast as it is, but in segments of 64 KB, with which TIMELY leaves its ports idle now and then;
# and from fewer senders.
LARGE, FEWER = "reverse:with-64KB", "reverse:with-5-senders"
A, B = range(1, 6), range(6, 16)
TOWARDS_A = 3  # the switch's port to the first client
# As in the incast test-bed a sender has four connections to a receiver, and the primary's share is 500 Mb/s.
PRIMARY = [(a, 0) for a in A for _ in range(4)]
SECONDARY = [(b, a) for b in B for a in A for _ in range(4)]


def secondary(segment: str = "16KB") -> dict:
    """The other incast's transport: its first rate is the share of twenty connections on a NIC."""
    usual = transport("reverse")
    congestion = usual["congestion"] | {"initial_share": 0.05}
    return {"secondary": usual | {"congestion": congestion, "segments": usual["segments"] | {"bytes": segment}}}


def runs(scale: str) -> list:
    made = []
    for seed in SEEDS[scale]:
        alone = connections(PRIMARY, seed)
        both = alone + connections(SECONDARY, seed + 1000, transport="secondary")
        few = alone + connections(SECONDARY[: len(SECONDARY) // 2], seed + 1000, transport="secondary")
        kinds = {
            ALONE: {"traffic": alone},
            WITH: {"traffic": both, "transports": secondary()},
            LARGE: {"traffic": both, "transports": secondary("64KB")},
            FEWER: {"traffic": few, "transports": secondary()},
            PRIORITY: {"traffic": both, "transports": secondary(), "switch.control_first": True},
        }
        looks = {"measure.queues": {"every": "10us", "ports": [1, TOWARDS_A]}}
        made += [run(key, "reverse", looks | set, seed) for key, set in kinds.items()]
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
def reverse_congestion(runs):
    return (
        {
            "p99 RTT, with / without": mean(runs, WITH, p(99)) / mean(runs, ALONE, p(99)),
            "throughput, with / without": mean(runs, WITH, throughput) / mean(runs, ALONE, throughput),
        }
        | row(runs, ALONE, "without")
        | row(runs, WITH, "with")
    )


@measure("TIM-F3-b", needs=needs(ALONE, PRIORITY))
def priority_for_acks(runs):
    out = {f"|p{n} ratio - 1|": abs(mean(runs, PRIORITY, p(n)) / mean(runs, ALONE, p(n)) - 1) for n in (50, 99)}
    return out | row(runs, PRIORITY, "with priority")


def idle(port: int):
    """Fraction of looks at which nothing is in a port's queue."""

    def value(results) -> float:
        begin = round(seconds(results.scenario.to_dict()["measure"]["from"]) * 1e12)
        rows = results.tables["queues"]
        rows = rows.filter((rows["port"] == port) & (rows["time_ps"] >= begin))
        return float((rows["bytes"] == 0).mean())

    return value


@measure("TIM-F3-c", needs=needs(ALONE, WITH, LARGE, FEWER))
def low_percentiles(runs):
    """The second incast in segments of 64 KB, as NICs take them (§3.2.1); next to it those of 16 KB, and fewer
    senders."""
    out = {"p10 RTT, with / without": mean(runs, LARGE, p(10)) / mean(runs, ALONE, p(10))}
    out |= {"the same, 16 KB": mean(runs, WITH, p(10)) / mean(runs, ALONE, p(10))}
    for name, key in {"without": ALONE, "with": WITH, "with, 64 KB": LARGE, "with, half the senders": FEWER}.items():
        out |= {f"{name}: p{n} (us)": mean(runs, key, p(n)) for n in (10, 99)}
        out |= {f"{name}: throughput (Gb/s)": mean(runs, key, throughput)}
        out |= {f"{name}: looks at an empty queue, there": mean(runs, key, idle(1))}
        out |= {f"{name}: looks at an empty queue, back": mean(runs, key, idle(TOWARDS_A))}
    return out


def curves(runs) -> dict:
    """Round trips of the primary incast in the three cases."""
    names = {ALONE: "no reverse congestion", WITH: "reverse congestion", PRIORITY: "the same, ACKs first"}
    return {name: primary(seeds(runs, key)[0]).rtt for key, name in names.items()}
