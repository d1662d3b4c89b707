"""The study's own arithmetic (§4.3.1, §4.5.1): what follows from the paper's parameters alone. No runs."""

from __future__ import annotations

import math
from itertools import pairwise

import numpy as np

# CHOICE §4.2.2: Ethernet 14 + 802.1Q 4 + FCS 4 + IPv4 20 + UDP 8 + BTH 12 + ICRC 4. "MTU 1 KB, BDP 120 KB ≈
# 110 MTU packets" fits.
MTU, HEADER = 1024, 66
WIRE = MTU + HEADER
FRAME = 64  # B: a pause frame
HEAVY_TAILED = ((32, 0.0), (1024, 0.5), (200_000, 0.85), (3_000_000, 1.0))
UNIFORM = ((500_000, 0.0), (5_000_000, 1.0))


def fat_tree(k: int) -> tuple[int, int, int]:
    """Hosts, switches and pods of a fat-tree of k-port switches."""
    return k**3 // 4, 5 * k**2 // 4, k


def bdp(rate: float, links: int = 6, delay: float = 2e-6) -> int:
    """Bytes: b/s times the propagation round trip over so many links."""
    return round(rate * 2 * links * delay / 8)


def cap(rate: float) -> int:
    """BDP-FC: full packets on the wire in the bandwidth-delay product of the longest path."""
    return bdp(rate) // WIRE


def threshold(memory: int, rate: float) -> int:
    """The PFC threshold: the input's memory less the bandwidth-delay product of the link upstream."""
    return memory - bdp(rate, links=1)


def headroom(rate: float) -> int:
    """What may still come in once the threshold is crossed: in flight either way, an overshoot, the packet
    before the pause frame, the frame, the packet that upstream was sending. Three full packets and a frame
    more than the paper has."""
    return bdp(rate, links=1) + 3 * WIRE + FRAME


def rto_high(k: int, memory: int, rate: float) -> float:
    """µs: propagation round trip of the longest path, and all k inputs of one switch full and bound for one output."""
    return 24 + k * memory * 8 / rate * 1e6


def chosen_rto_high(k: int, memory: int, rate: float) -> int:
    """µs. CHOICE §4.3.1: 320 where the memory is twice the bandwidth-delay product and k = 6, as published;
    else the formula, rounded up to 10 µs."""
    if k == 6 and memory == 2 * bdp(rate):
        return 320
    return math.ceil(round(rto_high(k, memory, rate), 6) / 10) * 10


# --- Traffic ------------------------------------------------------------------------------------------------


def mean_size(cdf) -> float:
    """Mean of a distribution with straight lines between its points."""
    return sum((p1 - p0) * (s0 + s1) / 2 for (s0, p0), (s1, p1) in pairwise(cdf))


def mean_packets(cdf) -> float:
    """Mean number of packets of a flow: 1 + Σ P(X > k·MTU)."""
    size, probability = (np.array(c, dtype=float) for c in zip(*cdf, strict=True))
    k = np.arange(1, math.ceil(size[-1] / MTU) + 1)
    return float(1 + (1 - np.interp(k * MTU, size, probability)).sum())


def flow_rate(cdf, load: float, rate: float, hosts: int) -> float:
    """Flows per second of the whole network whose data fill this fraction of the host links, headers included."""
    return hosts * load * rate / (8 * (mean_size(cdf) + HEADER * mean_packets(cdf)))


def window(flows: int, cdf, load: float, rate: float, hosts: int) -> float:
    """Seconds in which so many flows arrive."""
    return flows / flow_rate(cdf, load, rate, hosts)


# --- What packets say ---------------------------------------------------------------------------------------


def out_of_order(psn) -> tuple[np.ndarray, np.ndarray]:
    """For packets in the order of their arrival: how far ahead of the expected one each is (below zero: a
    copy of what lies behind it), and whether that very packet had come before."""
    expected, seen = 0, set()
    ahead, again = np.empty(len(psn), dtype=np.int64), np.zeros(len(psn), dtype=bool)
    for n, p in enumerate(psn):
        ahead[n], again[n] = p - expected, p in seen
        seen.add(p)
        while expected in seen:
            expected += 1
    return ahead, again


def outstanding(sent, acked) -> int:
    """The largest distance between the next new packet and the lowest unacknowledged one: `sent` are (time,
    PSN), `acked` (time, cumulative PSN). What happens at one time: the acknowledgement first."""
    events = sorted([(t, 0, p) for t, p in acked] + [(t, 1, p) for t, p in sent])
    next_, lowest, most = 0, 0, 0
    for _, what, p in events:
        if what == 0:
            lowest = max(lowest, p)
        else:
            next_ = max(next_, p + 1)
            most = max(most, next_ - lowest)
    return most
