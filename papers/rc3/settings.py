"""Networks, schemes and windows: what is set on top of the scenario files.

A run's key is `PLACE:SCHEME@SEED`. All schemes of one place and seed get the same flows: random ones draw
from streams of their own, lists are made from the flows of the TCP run (`lists.py`).
"""

from __future__ import annotations

import random
from collections.abc import Mapping
from dataclasses import dataclass, field

from thalweg.study import Key, RunSpec, run, section_of

from . import choices

# Half of the routers without priorities: which, by the draw, and what hosts then have.
DRAWN, PARTIAL_HOSTS = choices["partial_routers"], choices["partial_hosts"]
TCP = section_of(__file__, "i2", "transport")
SEEDS = {"quick": (1,), "full": (1, 2, 3)}  # published: 10
SPREAD = {"quick": (1, 2), "full": tuple(range(1, 11))}  # of the default, for its error bars

# Classes share a port's buffer; the tail of the worst gives way. ACKs are of the class of their data.
PRIORITY = {"switch.scheduler": {"kind": "priority", "classes": 5, "control": "by-class"}}


def rc3(**more) -> dict:
    return PRIORITY | {"transport.rc3": more}


# The RCP of the authors' simulator: at every queue, hosts' included, what §2.4.1 compares with.
ROUTER = {
    "kind": "rcp",
    "alpha": 0.4,
    "beta": 0.4,
    "utilisation": 1.0,
    "period": "10ms",
    "rtt": "200ms",
    "average": "moving",
    "least": "128kbps",
}
RCP = {
    "transport.congestion": {"kind": "rcp", "in_flight": "round-trip", "at_once": True},
    "transport.initial_window": "10pkts",  # a rate has no initial window: the default, which says nothing
    "switch.marking": ROUTER,
    "nic.marking": ROUTER,
}

SCHEMES = {
    "tcp": {},
    "rc3": rc3(),
    "rc3-1": rc3(levels=1),
    "rc3-3": rc3(levels=3),
    "rc3-10": rc3(first=10),
    "rc3-linux": rc3(borders="distances"),
    "iw10": {"transport.initial_window": "10pkts"},
    "iw50": {"transport.initial_window": "50pkts"},
    "rcp": RCP,
    "cubic": {"transport.congestion": {"kind": "cubic", "hystart": False}},
    "rc3-cubic": rc3() | {"transport.congestion": {"kind": "cubic", "hystart": False}},
    "no-sack": {"transport.sack": "off"},
    "rc3-no-sack": rc3() | {"transport.sack": "off"},
}
NAMES = {
    "tcp": "TCP",
    "rc3": "RC3",
    "rc3-1": "RC3, 1 level",
    "rc3-3": "RC3, 3 levels",
    "rc3-10": "RC3, 10, 100, ..",
    "iw10": "TCP, IW 10",
    "iw50": "TCP, IW 50",
    "rcp": "RCP",
}


@dataclass(frozen=True)
class Place:
    """A network with its load, and which flows count: those that start in [first, last) s; arrivals and the
    run end later."""

    title: str
    different: Mapping = field(default_factory=dict)
    quick: tuple[float, float, float, float] = (0.3, 0.6, 0.8, 1.4)
    full: tuple[float, float, float, float] = (2, 5, 5, 5)  # artifact: those that end by 5 s in both runs
    scenario: str = "i2"


def graph(name: str) -> dict:
    return {"topology": {"kind": "file", "file": f"{name}.csv", "format": "links-csv"}}


def scaled(rate: int, rtt: int) -> dict:
    """Links `rate` times slower, delays `rtt` times longer; ports of rate × RTT."""
    slower = {"topology.slower": rate, "traffic.0.of.rate": f"{1000 // rate}Mbps"} if rate > 1 else {}
    longer = {"topology.core_delay": f"{10 * rtt}ms", "topology.access_delay": f"{rtt}ms"} if rtt > 1 else {}
    buffer = 5_000_000 * rtt // rate - 1
    return slower | longer | {"switch.buffer": f"{buffer}B"}


def lossy(percent: float) -> dict:
    """Every packet of every output queue, data and ACKs of all priorities."""
    return {"link": [{"which": "all", "loss": {"independent": {"probability": percent / 100}}}]}


def partial(routers: int) -> dict:
    """So many of the ten routers serve one FIFO; which is drawn. The hosts keep priorities, or do not."""
    nodes = sorted(random.Random(DRAWN).sample(range(100, 110), routers))
    hosts = {"nic.scheduler": "fifo"} if PARTIAL_HOSTS == "fifo" else {}
    return {"switch.mix": {"scheduler": "fifo", "nodes": {"listed": {"nodes": nodes}}}} | hosts


# CHOICE: the distribution "2000" is not published; the file's gives TCP's published means by the model.
WORKLOAD_2000 = {
    "traffic.0.sizes": {"kind": "file", "file": "workload-2000.txt", "unit": "1460B", "interpolation": "atoms"}
}
LOSSES = (0.02, 0.04, 0.06, 0.08, 0.1)
HALF = {"which": "host-links", "direction": "backward", "transmitter": {"kind": "fixed", "rate": "500Mbps"}}
DOWN = {"link": [HALF], "traffic.0.of.rate": "500Mbps"}
FAR = {"topology.delay": "20us", "switch.buffer": "3099999B"}  # a pipe of the size that the published gains need
PLACES = {
    "i2-30": Place("Internet2, 30 %"),
    # Routers' rates begin with a twentieth of the link: the published beginning, by which they have risen.
    "i2-30-settled": Place("Internet2, 30 %, from 2 s", {}, (2.0, 2.3, 2.5, 3.1)),
    "i2-10": Place("Internet2, 10 %", {"traffic.0.load": 0.1}, (0.3, 2.1, 2.3, 3.0)),
    "i2-50": Place("Internet2, 50 %", {"traffic.0.load": 0.5}, (0.5, 0.9, 1.1, 1.8)),
    "100m-40ms": Place("100 Mb/s, 40 ms", scaled(10, 1), (2, 5, 5, 5)),
    "100m-400ms": Place("100 Mb/s, 400 ms", scaled(10, 10), (1.0, 3.0, 3.5, 12), (2, 15, 15, 25)),
    "1g-400ms": Place("1 Gb/s, 400 ms", scaled(1, 10), (0.5, 0.8, 0.9, 8), (2, 5, 5, 12)),
    "telstra": Place("Telstra", graph("telstra"), (0.2, 0.3, 0.35, 1.2), (2, 4, 4, 5)),
    "redclara": Place("RedClara", graph("redclara"), (0.3, 0.5, 0.6, 1.3)),
    "esnet": Place("ESNet", graph("esnet"), (0.2, 0.4, 0.45, 1.3), (2, 4, 4, 5)),
    "workload-2000": Place("2000 workload", WORKLOAD_2000, (0.2, 0.24, 0.3, 0.9), (1, 2, 2, 3)),
    "heterogeneous": Place("Heterogeneous core", graph("heterogeneous")),
    **{f"loss-{p:g}": Place(f"{p:g} % loss", lossy(p), (0.3, 0.6, 0.7, 3.0), (2, 5, 5, 8)) for p in LOSSES},
    "down": Place("Downlink-limited", DOWN, (0.3, 0.8, 1.0, 2.0)),
    "part-50": Place("50 % of routers without priorities", partial(5)),
    "part-20": Place("20 % of routers without priorities", partial(2)),
    "datacenter": Place("Fat-tree, 100 Gb/s", {}, (5e-4, 2e-3, 2.2e-3, 0.02), (1e-3, 0.01, 0.01, 0.05), "fat-tree"),
    "datacenter-20us": Place(
        "Fat-tree, 20 us per link", FAR, (0.002, 0.005, 0.005, 0.03), (0.002, 0.02, 0.02, 0.1), "fat-tree"
    ),
}


def window(place: Place, scale: str) -> dict:
    first, last, arrivals, end = place.full if scale == "full" else place.quick
    return {
        "measure.from": f"{first:g}s",
        "measure.until": f"{last:g}s",
        "traffic.0.until": f"{arrivals:g}s",
        "run.until": f"{end:g}s",
    }


def ends(place: str, scale: str) -> dict:
    """The same for runs whose traffic is a list."""
    return {k: v for k, v in window(PLACES[place], scale).items() if not k.startswith("traffic")}


def at(place: str, scheme: str, scale: str, seed: int) -> RunSpec:
    where = PLACES[place]
    given = window(where, scale) | dict(where.different) | SCHEMES[scheme]
    return run(Key(place, scheme), where.scenario, given, seed)


def seeds_of(place: str, scale: str) -> tuple[int, ...]:
    return SPREAD[scale] if place == "i2-30" else SEEDS[scale]
