"""Networks, schemes and windows: what is set on top of the scenario files.

A run's key is `KIND-POINT:SCHEME@SEED`: the kind of experiment, the network with its load, the scheme under
test. All schemes of one point and seed get the same flows on the same paths.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from thalweg.study import places, section_of

# CHOICE: the paper does not say how many. Three where percentiles or single flows decide; one where means
# over all flows of seconds do.
SEEDS = {"quick": (1,), "full": (1, 2, 3)}
ONE = 1

# A packet of 1460 B on the slowest class of links: later than this is "late by more than T".
# CHOICE: 1112 Mb/s for I2 10G-10G, whose edge is as fast as its hosts; Rocketfuel: its slowest link, which
# the run knows.
PACKET_BITS = 1460 * 8


def packet_time(bits_per_second: int) -> int:
    """ps, rounded up as the engine does."""
    return -(-PACKET_BITS * 10**12 // bits_per_second)


TCP = section_of(__file__, "i2-tcp", "transport")


@dataclass(frozen=True)
class Network:
    """One of the paper's networks: its name there, the scenario files for UDP and TCP, and what makes it
    differ from them."""

    title: str
    udp: str
    tcp: str
    different: Mapping
    late: int | None  # T, ps; None: the slowest link

    def of(self, kind: str) -> str:
        """Its scenario file."""
        return self.udp if kind == "udp" else self.tcp

    def set(self, kind: str) -> dict:
        """What is set in it: networks with one file have datagrams there, and TCP as on Internet2 otherwise."""
        return ({"transport": TCP} if kind == "tcp" and self.udp == self.tcp else {}) | dict(self.different)


GIGABIT = packet_time(10**9)
SLOWER = {"topology.host_rate": "1Gbps", "topology.slower": 10, "traffic.0.of.rate": "100Mbps"}
HALF_RTT = {"topology.core_delay": "5ms", "topology.access_delay": "500us"}
DOUBLE_RTT = {"topology.core_delay": "20ms", "topology.access_delay": "2ms"}
NETWORKS = {
    "i2": Network("I2 1G-10G", "i2", "i2-tcp", {}, GIGABIT),
    "1g-1g": Network("I2 1G-1G", "i2", "i2-tcp", {"topology.host_rate": "1Gbps"}, GIGABIT),
    "10g-10g": Network("I2 10G-10G", "i2", "i2-tcp", {"topology.edge_rate": "10Gbps"}, packet_time(1_112 * 10**6)),
    "tenth": Network("I2 / 10", "i2", "i2-tcp", SLOWER, packet_time(10**8)),
    "tenth-half-rtt": Network("I2 / 10, half RTT", "i2", "i2-tcp", SLOWER | HALF_RTT, packet_time(10**8)),
    "tenth-double-rtt": Network("I2 / 10, double RTT", "i2", "i2-tcp", SLOWER | DOUBLE_RTT, packet_time(10**8)),
    "rocketfuel": Network("Rocketfuel", "rocketfuel", "rocketfuel", {}, None),
    "datacenter": Network("Datacenter", "fat-tree", "fat-tree", {}, packet_time(10**10)),
    # The paper does not say what ECMP hashes: flows, or pairs of hosts.
    "datacenter-pairs": Network(
        "Datacenter, paths by pair", "fat-tree", "fat-tree", {"routing": {"kind": "ecmp-pairs"}}, packet_time(10**10)
    ),
}


def point(network: str, percent: int) -> str:
    return f"{network}-{percent}"


# The rows of Figures 2 and 3 that are claims: their numbers are published. (Row e, I2 / 10, is in the figures only.)
LETTERS = {
    point("i2", 30): "a",
    point("i2", 50): "b",
    point("i2", 70): "c",
    point("1g-1g", 70): "d",
    point("rocketfuel", 70): "f",
    point("datacenter", 70): "g",
}


def split(place: str) -> tuple[str, int]:
    network, percent = place.rsplit("-", 1)
    return network, int(percent)


def title(place: str) -> str:
    network, percent = split(place)
    return f"{NETWORKS[network].title}, {percent} %"


# --- Schemes ------------------------------------------------------------------------------------------------

CONSTANT = {"kind": "constant", "value": "1s"}
SCHEMES = {
    "random": {"switch.scheduler": "random"},
    "fifo": {"switch.scheduler": "fifo"},
    "lifo": {"switch.scheduler": "lifo"},
    # First come, first served among flows of one size. SYNs and ACKs: 0, as the artifact has it.
    "sjf": {"switch.scheduler": "pifo", "transport.rank": "flow-size"},
    # What remains of the flow from this packet on, as it is sent.
    "srpt": {"switch.scheduler": "srpt", "transport.rank": "from-here"},
    "fq": {"switch.scheduler": "round-robin"},
    "fq-codel": {"switch.scheduler": {"kind": "fq-codel", "count": "packets", "law": "acm2012"}},
    # CHOICE: even switches FIFO+ (= LSTF with equal slacks), odd ones FQ; FQ ports keep the slack up too.
    "fq-fifo+": {
        "switch.scheduler": "round-robin",
        "switch.mix": {"scheduler": "lstf", "nodes": "even"},
        "slack": CONSTANT,
    },
    # CHOICE: the class is the parity of the flow's number.
    "sjf-fifo": {"switch.scheduler": {"kind": "parity", "even": "sjf", "odd": "fifo"}},
    "fifo+": {"switch.scheduler": "lstf", "slack": CONSTANT},
    "lstf-size": {"switch.scheduler": "lstf", "slack": {"kind": "flow-size", "unit": "1s"}},
}
NAMES = {
    "random": "Random",
    "fifo": "FIFO",
    "lifo": "LIFO",
    "sjf": "SJF",
    "srpt": "SRPT",
    "fq": "FQ",
    "fq-codel": "FQ-CoDel",
    "fq-fifo+": "FQ/FIFO+",
    "sjf-fifo": "FQ: SJF/FIFO",
    "fifo+": "LSTF",
    "lstf-size": "LSTF",
    "fq+edge": "FQ + Edge-CoDel",
    "lstf+edge": "LSTF + Edge-CoDel",
    "no-ecn": "FIFO, no ECN",
    "in-switch": "FIFO, ECN",
    "edge-ecn": "LSTF, Edge-ECN",
}


def fair(rate: float) -> dict:
    """LSTF with virtual-clock slacks for an estimated share of `rate` Mb/s."""
    return {"switch.scheduler": "lstf", "slack": {"kind": "virtual-clock", "rate": f"{rate:g}Mbps"}}


def edge(refresh_ms: int = 20) -> dict:
    """CoDel at the egress of the network."""
    return {"edge": {"kind": "codel", "target": "5ms", "interval": "100ms", "refresh": f"{refresh_ms}ms"}}


def counted(first: str, last: str, end: str, **more) -> dict:
    """Flows that start in [first, last) count; flows arrive until `end`, and the run ends then or when those
    are done."""
    return {"measure": {"from": first, "until": last} | more, "run": {"until": end}, "traffic.0.until": end}


# --- What a measure needs of runs ----------------------------------------------------------------------------


def rows(runs, kind: str, claims: Mapping[str, str], row) -> dict[str, Mapping[str, float]]:
    """By place, what `row(runs, place)` says of it or, where its claim is taken as kept, what that measured."""
    measured = {p: row(runs, p) for p in (p.removeprefix(f"{kind}-") for p in places(runs))}
    kept = {p: runs.rows[c] for p, c in claims.items() if c in runs.rows}
    return measured | kept
