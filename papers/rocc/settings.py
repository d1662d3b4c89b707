"""Schemes, networks and runs. A run's key is `PLACE:SCHEME@SEED`."""

from __future__ import annotations

import math

from thalweg.study import presets

from . import choices

MTU, HEADER = 1000, 48
ON_WIRE = (MTU + HEADER) / MTU
APART = 0.21  # us between the starts of sources: CHOICE, so that a hundred do not send in step for ever
# What choices.toml says of them: the memory of the star, and which messages of the large network count.
STAR_MEMORY, COUNTED = choices["star_memory"], choices["messages_counted"]
NAMES = {
    "rocc": "RoCC",
    "dcqcn": "DCQCN",
    "hpcc": "HPCC",
    "timely": "TIMELY",
    "qcn": "QCN",
    "dcqcn-pi": "DCQCN+PI",
}
LARGE = ("rocc", "dcqcn", "hpcc")  # those of the large network


def hpcc(flows: int, gbps: float) -> dict:
    """CHOICE: a round trip of 5 us."""
    return presets.hpcc(flows, gbps, 5)


def scheme(name: str, gbps: int = 40, flows: int | None = None) -> dict:
    """What a scheme sets where the bottleneck has so many Gb/s; `flows` share it, if that is known."""
    share = gbps / 40
    if name == "rocc":
        # Nothing else answers: what comes back are the switches' messages.
        return {"switch.congestion_point": "rocc", "transport.congestion": "rocc", "transport.acks": "never"}
    if name == "qcn":
        congestion = {"kind": "qcn", "reaction": "15us"}
        return {"switch.congestion_point": "qcn", "transport.congestion": congestion, "transport.acks": "never"}
    if name == "dcqcn":
        # CHOICE: K_min and K_max of DCQCN's deployment at 40 Gb/s, in proportion to the link.
        marking = {"kind": "red-ecn", "min": f"{round(5 * share, 1):g}KB", "max": f"{round(200 * share)}KB"}
        return {"switch.marking": marking, "transport.congestion": "dcqcn"}
    if name == "dcqcn-pi":
        # CHOICE: not published. b is eight times the slope of DCQCN's marking, (a - b) / b an update's 10 us
        # at 500 rad/s: the least power of two with which ten flows at 40 Gb/s hold their mean queue within 20
        # % of q_ref (see README).
        marking = {"kind": "pi", "a": 4.02e-7, "b": 4e-7}
        return {"switch.marking": marking, "transport.congestion": "dcqcn"}
    if name == "timely":
        steps = {"additive": f"{gbps}Mbps", "hyper": {"step": f"{5 * gbps}Mbps"}}  # TIMELY, Algorithm 1: N = 5
        congestion = {"kind": "timely", "min_rtt": "20us", "once_per_round": True} | steps
        return {"transport.congestion": congestion}
    if name == "hpcc":
        return {"transport.congestion": hpcc(flows, 0.9 * gbps) if flows else "hpcc"}
    raise ValueError(name)


def rocc_point(**keys) -> dict:
    return {"switch.congestion_point": {"kind": "rocc"} | keys}


def backlogged(pairs, start=0, until=None) -> list[dict]:
    """Flows without end between these hosts, from `start` to `until` (us), one shortly after the other."""
    stop = {} if until is None else {"until": f"{until}us"}
    at = [f"{round((start + i * APART) * 1000)}ns" for i in range(1000)]
    return [{"kind": "backlogged", "src": a, "dst": b, "start": s} | stop for (a, b), s in zip(pairs, at, strict=False)]


def star(n: int, gbps: int = 40, ms: int = 20, flows: list | None = None, every: str = "40us") -> dict:
    """N sources, one destination; host 0 is behind port 1 of the first link, which leads from the switch."""
    slower = f"{gbps * 9 // 10}Gbps"
    out = {"topology.hosts": n + 1, "topology.rate": slower, "topology.sink_rate": f"{gbps}Gbps"}
    if gbps == 100:
        xoff = {"kind": "static", "xoff": "800KB", "xon": "797904B"}
        out |= {"switch.pfc.threshold": xoff}
    each, least = (0.9, 32) if gbps == 100 else (0.56, 12)
    if STAR_MEMORY == "dynamic":
        out["switch.inputs.shared"] = f"{least}MB"
        out["switch.pfc.threshold"] = {"kind": "dynamic", "alpha": 1}
    else:  # every port may claim its threshold and headroom
        out["switch.inputs.shared"] = f"{max(least, math.ceil(each * (n + 1)))}MB"
    sampled = {"every": every, "flows": list(range(n if flows is None else len(flows)))}
    return out | {
        "traffic": backlogged((i + 1, 0) for i in range(n)) if flows is None else flows,
        "measure.queues": {"every": every, "ports": [1]},
        "measure.links": {"every": every, "ports": [1]},
        "measure.controllers": sampled,
        "run.until": f"{ms}ms",
    }
