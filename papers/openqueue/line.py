"""Figure 2.17: what prioritisation costs a FIFO queue (§2.5.3). Hardware there; here a queue in software behind on-off
sources, whose per-packet cost is measured: once as a list, once as the tree that keeps the same order by a key."""

from __future__ import annotations

from functools import cache

import numpy as np

from thalweg.policies import Core
from thalweg.study import measure

from .measured import cost
from .settings import PRELUDE, SEEDS, written

MTU = 1500
CLIENTS = (1, 2, 4, 8, 16)
PARTS = (1, 2, 4, 8, 16)  # the MTU is divided by
# CHOICE §2.5.3: links of 1 Gb/s, and pfifo's 1000 packets. The published text has neither.
LINK, ROOM = 10**9, 1000
# CHOICE §2.5.3: a client sends bursts of 96 KB in the mean at its link's rate, and is quiet between them so that its
# mean rate is 55 Mb/s of 16 clients (88 % of the link), 200 Mb/s of four.
BURST = 96_000
SHARE = {"clients": 55e6, "mtu": 200e6}
SECONDS = {"quick": 0.4, "full": 2.0}
PUBLISHED = {"clients": (559.333, 571.0), "mtu": (584.3, 610.7)}
KINDS = {"FIFO": "a list", "FIFO with priorities": "a tree"}


def fifo(kind: str, room: int = ROOM):
    """The same order: of a list, or of a tree whose key is the number of the packet."""
    orders = "" if kind == "FIFO" else "q.admPrio = first; q.procPrio = first;\n"
    defined = "" if kind == "FIFO" else "first(p1, p2) = (p1.value < p2.value)\n"
    return written(f"{PRELUDE}{defined}q = Queue({room} pkts); out = Port(q);\n{orders}q.congestion = tailDrop;\n")


def on_off(clients: int, mtu: int, mean_bps: float, seconds: float, seed: int) -> dict[str, np.ndarray]:
    """Bursts and pauses are exponential, each client's from a generator of its own."""
    begin, flow, count = [], [], []
    for client in range(clients):
        rng = np.random.default_rng((seed, client))
        pause = BURST * 8 * (1 / mean_bps - 1 / LINK)
        now = float(rng.exponential(pause))
        while now < seconds:
            size = max(int(rng.exponential(BURST)) // mtu, 1)
            begin.append(now)
            flow.append(client)
            count.append(size)
            now += size * mtu * 8 / LINK + float(rng.exponential(pause))
    count = np.array(count)
    inside = np.arange(count.sum()) - np.repeat(np.cumsum(count) - count, count)
    at = np.repeat(np.array(begin) * 1e12, count) + inside * (mtu * 8e12 / LINK)
    order = np.argsort(at, kind="stable")
    packets = {"at_ps": at[order].astype("u8"), "flow": np.repeat(np.array(flow), count)[order]}
    rows = len(order)
    return packets | {"queue": np.zeros(rows, "u4"), "size": np.full(rows, mtu), "value": np.arange(rows)}


def core(kind: str, scale: str) -> Core:
    """Half of a packet's cost as it comes, half as it leaves; the roomiest queue is measured."""
    half = round(cost(fifo(kind, 100_000), 1024, scale) * 1000 / 2)
    return Core(half, half, inputs=1, ring=4096)


@cache
def mean_queue(scale: str, kind: str, clients: int, part: int, which: str) -> float:
    """Packets, averaged over time and seeds."""
    found = []
    for seed in range(1, SEEDS[scale] + 1):
        packets = on_off(clients, MTU // part, SHARE[which], SECONDS[scale], seed)
        ran = fifo(kind).run(packets, link=LINK, core=core(kind, scale), until=round(SECONDS[scale] * 1e12))
        found.append(ran.counters[0].mean)
    return float(np.mean(found))


def by_clients(scale: str) -> dict[str, list[float]]:
    return {kind: [mean_queue(scale, kind, n, 1, "clients") for n in CLIENTS] for kind in KINDS}


def by_mtu(scale: str) -> dict[str, list[float]]:
    return {kind: [mean_queue(scale, kind, 4, part, "mtu") for part in PARTS] for kind in KINDS}


@measure("OQ-F2.17L1", needs=[])
def more_clients(runs):
    found = by_clients(runs.scale)
    steps = {f"{kind}: smallest step (packets)": min(np.diff(values)) for kind, values in found.items()}
    return steps | {f"{kind}, 16 clients (packets)": values[-1] for kind, values in found.items()}


@measure("OQ-F2.17R1", needs=[])
def smaller_packets(runs):
    found = by_mtu(runs.scale)
    steps = {f"{kind}: smallest step (packets)": min(np.diff(values)) for kind, values in found.items()}
    return steps | {f"{kind}, MTU / 16 (packets)": values[-1] for kind, values in found.items()}


def longer(found: dict[str, list[float]], which: str) -> dict[str, float]:
    plain, ordered = (values[-1] for values in found.values())
    was = PUBLISHED[which]
    return {"published ratio": was[1] / was[0], "ratio": ordered / plain}


@measure("OQ-F2.17L2", needs=[])
def cost_with_clients(runs):
    return longer(by_clients(runs.scale), "clients")


@measure("OQ-F2.17R2", needs=[])
def cost_with_small_packets(runs):
    return longer(by_mtu(runs.scale), "mtu")


@measure("OQ-F2.17", needs=[])
def overhead(runs):
    """At 10 Gb/s and an MTU of 1500 B, with 1024 packets waiting."""
    packet = MTU * 8 / 10  # ns
    needs = {kind: cost(fifo(kind, 100_000), 1024, runs.scale) for kind in KINDS}
    reach = {kind: min(1.0, packet / x) for kind, x in needs.items()}
    plain, ordered = reach.values()
    return {
        "throughput lost": 1 - ordered / plain,
        "share of a packet's time, a tree": needs["FIFO with priorities"] / packet,
        **{f"{KINDS[kind]} (ns)": x for kind, x in needs.items()},
    }
