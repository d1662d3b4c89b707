"""Networks, schemes and windows: what is set on top of the scenario files.

A run's key is `POINT:SCHEME.CONTROL@SEED`: a point of the parameter space, the transport with or without PFC,
the congestion control. All schemes of one point and seed get the same flows on the same paths: flows depend
on the seed and the traffic section alone, and loads count 66 B of header whatever the transport has.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from thalweg.study import Key, RunSpec, measure, presets, run

from . import choices, numbers
from .numbers import HEAVY_TAILED, UNIFORM

ROCE_ACKS = choices["roce_acks"]  # with PFC, where no controller needs them
# CHOICE: the paper does not say how many. Three for the basic results and Table 4.2; one for the rest of the
# parameter space and for the factor analysis, whose ratios are of schemes with the same flows (README.md says
# what one seed is good for).
SEEDS = {"quick": (1,), "full": (1, 2, 3)}
ONE = 1
FLOWS = {"quick": 5000, "full": 50_000}  # per run; CHOICE: the paper says neither how many nor how long
WARM_UP = 0.1  # of the window: flows that start in it do not count
# Go-back-N without PFC and without a window can live-lock (see README.md): such a run ends after so many
# windows at the latest.
LONGEST = {"quick": 10, "full": 20}

SIZES = {"heavy-tailed": HEAVY_TAILED, "uniform": UNIFORM}


@dataclass(frozen=True)
class Point:
    """A point of §4.3.4's parameter space: the default unless another is given."""

    title: str = "default"
    load: float = 0.7
    rate: int = 40  # Gb/s
    k: int = 6
    workload: str = "heavy-tailed"
    memory: int | None = None  # KB per input; None: twice the bandwidth-delay product
    xoff: int | None = None  # KB; None: the memory less the bandwidth-delay product of the link
    rto_high: int | None = None  # µs; None: numbers.chosen_rto_high
    few: int = 3  # N: the most packets in flight for RTO_low
    flows: Mapping[str, int] | None = None  # by scale; None: FLOWS
    seeds: int | None = None  # how many of SEEDS at most; None: all

    @property
    def bits(self) -> float:
        return self.rate * 1e9

    @property
    def bytes(self) -> int:
        """Memory of an input."""
        return 2 * numbers.bdp(self.bits) if self.memory is None else self.memory * 1000

    @property
    def rto(self) -> int:
        """RTO_high, µs."""
        return self.rto_high or numbers.chosen_rto_high(self.k, self.bytes, self.bits)

    def window(self, scale: str) -> float:
        """Seconds in which flows arrive."""
        flows = (self.flows or FLOWS)[scale]
        return numbers.window(flows, SIZES[self.workload], self.load, self.bits, numbers.fat_tree(self.k)[0])

    def network(self) -> dict:
        return {
            "topology.rate": f"{self.rate}Gbps",
            "topology.k": self.k,
            "switch.inputs.memory": f"{self.bytes}B",
        }

    def set(self, scale: str) -> dict:
        """Network, traffic and window."""
        until = round(self.window(scale) * 1e9)
        return self.network() | {
            "traffic.0.load": self.load,
            "traffic.0.sizes.file": f"{self.workload}.cdf",
            "traffic.0.until": f"{until}ns",
            "measure.from": f"{round(WARM_UP * until)}ns",
        }


UNIFORM_FLOWS = {"quick": 500, "full": 5000}  # they are ten times as large: as long a window as the others have
LARGER = {"quick": 12_000, "full": 50_000}  # of 128 and of 250 hosts
# Without congestion control queues and pauses go on growing for longer than the window of the quick scale:
# the default row is judged on as many flows as at full scale.
LONG = {"quick": 50_000, "full": 50_000}


def as_long_as(hosts: int) -> dict[str, int]:
    """Flows of 54 hosts that arrive in as long a window as those of so many more do."""
    return {scale: round(flows * 54 / hosts) for scale, flows in LARGER.items()}


POINTS = {
    "default": Point(),
    "long": Point("default, 50 000 flows", flows=LONG),
    "load-30": Point("30 % load", load=0.3),
    "load-50": Point("50 % load", load=0.5),
    "load-90": Point("90 % load", load=0.9),
    "rate-10": Point("10 Gb/s", rate=10, seeds=ONE),
    "rate-100": Point("100 Gb/s", rate=100),
    "k-8": Point("128 servers", k=8, flows=LARGER, seeds=ONE),
    "k-10": Point("250 servers", k=10, flows=LARGER, seeds=ONE),
    "as-k-8": Point("54 servers for as long as 128", flows=as_long_as(128), seeds=ONE),
    "as-k-10": Point("54 servers for as long as 250", flows=as_long_as(250), seeds=ONE),
    "uniform": Point("uniform 500 KB to 5 MB", workload="uniform", flows=UNIFORM_FLOWS, seeds=ONE),
    "memory-60": Point("60 KB per input", memory=60, seeds=ONE),
    "memory-120": Point("120 KB per input", memory=120, seeds=ONE),
    "memory-480": Point("480 KB per input", memory=480, seeds=ONE),
    "rto-640": Point("RTO_high 640 µs", rto_high=640, seeds=ONE),
    "rto-1280": Point("RTO_high 1280 µs", rto_high=1280, seeds=ONE),
    "few-10": Point("N = 10", few=10, seeds=ONE),
    "few-15": Point("N = 15", few=15, seeds=ONE),
    "xoff-160": Point("pause above 160 KB", xoff=160, seeds=ONE),
    "xoff-100": Point("pause above 100 KB", xoff=100, seeds=ONE),
    "xoff-40": Point("pause above 40 KB", xoff=40, seeds=ONE),
}


# --- Schemes ------------------------------------------------------------------------------------------------

CONTROLS = ("none", "timely", "dcqcn")
NAMES = {
    "irn": "IRN",
    "irn-pfc": "IRN + PFC",
    "roce": "RoCE",
    "roce-pfc": "RoCE + PFC",
    "gbn": "IRN with go-back-N",
    "nobdp": "IRN without BDP-FC",
    "gbn-backoff": "go-back-N, backing off",
    "nosack": "IRN without SACK",
    "dynamic": "IRN, computed timeout",
    "fetch": "IRN, 2 µs fetch",
    "longer": "IRN, 16 B longer",
    "overheads": "IRN, worst case",
    "iwarp": "iWARP (TCP)",
    "none": "no CC",
    "timely": "TIMELY",
    "dcqcn": "DCQCN",
    "dcqcn-scaled": "DCQCN, thresholds by memory",
    "timely-raw": "TIMELY, alpha 0.875",
    "timely-floor": "TIMELY, floor 100 Mb/s",
    "timely-both": "TIMELY, alpha 0.875, floor 100 Mb/s",
    "aimd": "AIMD",
    "dctcp": "DCTCP",
}
BASELINES = ("irn", "irn-pfc", "roce-pfc")

# §4.3.1: "same parameters as specified" in their papers; CHOICE where those or this one are silent, see README.md.
TIMELY = presets.TIMELY | {
    "min_rtt": "24us",
    # CHOICE M6: the weight of the newest difference is in neither chapter. What acts is its ratio to minRTT,
    # and the figures of Chapter 3, whose TIMELY this is, need 0.08 for 30 us, so 0.064 for 24. Other reading:
    # 0.875, of later analyses (`TIMELY_BAND`; README.md says what it does).
    "alpha": 0.064,
    # M6 as it stands: the gradient counts as at most 1, so one update takes at most beta off; no other bound.
    "gradient_cap": 1.0,
    "max_decrease": 1.0,
    "min_rate": "10Mbps",
    # M6, step 5: flows always have something to send, what was lost at last; no rule for idle applications.
    "idle_holds": False,
}
# What the two descriptions of TIMELY leave open besides what stands above: the weight of the newest
# difference, the least rate.
TIMELY_BAND = {
    "timely": {},
    "timely-raw": {"alpha": 0.875},
    "timely-floor": {"min_rate": "100Mbps"},
    "timely-both": {"alpha": 0.875, "min_rate": "100Mbps"},
}
STEP = {"kind": "step", "threshold": "65KB"}
DEFAULT_MEMORY = 240_000  # B, which DCQCN's thresholds go with


def control(name: str, point: Point) -> dict:
    """Congestion control, and the marking that it needs."""
    if name == "none":
        return {"transport.congestion": "fixed"}
    if name in TIMELY_BAND:
        return {"transport.congestion": TIMELY | TIMELY_BAND[name]}
    if name == "dcqcn":
        return {"transport.congestion": presets.DCQCN, "switch.marking": presets.dcqcn_marking()}
    if name == "dcqcn-scaled":
        # As large a part of an input's memory as by default; memories are twice the bandwidth-delay product
        # where only the rate differs.
        marking = presets.dcqcn_marking(point.bytes / DEFAULT_MEMORY)
        return {"transport.congestion": presets.DCQCN, "switch.marking": marking}
    if name == "aimd":
        return {"transport.congestion": "aimd"}
    # M7: window and losses as AIMD's.
    return {"transport.congestion": {"kind": "dctcp", "growth": "always", "losses": "aimd"}, "switch.marking": STEP}


GO_BACK_N = {"kind": "go-back-n"}
UNLIMITED = 4000  # packets: more than any flow of the heavy-tailed workload has, as a window must begin somewhere


def pfc(point: Point) -> dict:
    """Flow control, and no timers (§4.3.1). CHOICE §4.3.1: the published headroom is not quite lossless; the
    threshold stays as published, and the memory is larger by what is missing."""
    xoff = numbers.threshold(point.bytes, point.bits) if point.xoff is None else point.xoff * 1000
    threshold = {"kind": "static", "xoff": f"{xoff}B", "xon": f"{xoff}B"}
    room = numbers.headroom(point.bits)
    return {
        "switch.inputs.memory": f"{max(point.bytes, xoff + room)}B",
        "switch.pfc": {"threshold": threshold, "headroom": f"{room}B", "frame": "64B"},
        "transport.timer": "off",
    }


def scheme(name: str, cc: str, point: Point) -> dict:
    """A transport with its recovery and timers, on a network with or without flow control."""
    pair = {
        "kind": "pair",
        "low": "100us",
        "high": f"{point.rto}us",
        "max_in_flight": point.few,
        "max_rate_factor": 4,
    }
    out = {"transport.timer": pair} | control(cc, point)
    # Windows need acknowledgements, and begin full (§4.3.4): at IRN's cap. RoCE has no cap, with a window
    # neither: it begins with all that a flow has.
    windows = cc in ("aimd", "dctcp")
    if name.startswith("roce"):
        out |= {"transport.recovery": GO_BACK_N, "transport.cap": UNLIMITED if windows else "none"}
    if name == "roce":
        out |= {"transport.timer": {"kind": "fixed", "value": f"{point.rto}us"}, "transport.acks": "per-packet"}
    if name == "roce-pfc":
        acks = "per-packet" if windows else "per-segment" if cc in TIMELY_BAND else ROCE_ACKS
        out |= pfc(point) | {"transport.acks": acks}
    if name == "irn-pfc":
        out |= pfc(point)
    if name.startswith("gbn"):
        out |= {"transport.recovery": GO_BACK_N, "transport.cap": "auto", "transport.acks": "per-packet"}
    if name == "gbn-backoff":
        out["transport.congestion"] = out["transport.congestion"] | {"back_off": "24us"}
    if name == "nobdp":
        out["transport.cap"] = "none"
    if name == "nosack":
        out["transport.recovery"] = {"kind": "irn", "sack": False}
    if name == "dynamic":
        out["transport.timer"] = {"kind": "dynamic", "initial": f"{point.rto}us", "min": "100us"}
    if name in ("fetch", "overheads"):
        out["transport.fetch_delay"] = "2us"
    if name in ("longer", "overheads"):
        out["transport.extra_header"] = "16B"
    if name == "iwarp":
        out = {"transport": iwarp(point)}
    return out


def iwarp(point: Point) -> dict:
    """§4.3.6: a full TCP stack. CHOICE: NewReno with SACK, slow start from 4 segments, receive window 1 MB,
    RTO at least RTO_high; no handshake, an ACK per packet, 66 B of headers as RDMA has."""
    return {
        "kind": "tcp",
        "mss": f"{numbers.MTU}B",
        "header": f"{numbers.HEADER}B",
        "ack_size": f"{numbers.HEADER}B",
        "congestion": "newreno",
        "initial_window": "4pkts",
        "max_window": "1MB",
        "rto": {"kind": "rfc6298", "initial": f"{point.rto}us", "min": f"{point.rto}us", "max": "1s"},
        "loss": {"kind": "dup-ack", "threshold": 3},
        "sack": {"kind": "blocks", "blocks": 4},
    }


# --- Runs ---------------------------------------------------------------------------------------------------


def at(place: str, name: str, cc: str, scale: str, seeds: int | None = None) -> list[RunSpec]:
    """A scheme at a point, with every seed, or so many."""
    point = POINTS[place]
    set = point.set(scale) | scheme(name, cc, point)
    if name == "roce":
        set["run.until"] = f"{round(LONGEST[scale] * point.window(scale) * 1e9)}ns"
    return [run(Key(place, f"{name}.{cc}"), "fat-tree", set, seed) for seed in SEEDS[scale][: seeds or point.seeds]]


def needs(place: str, names, controls=CONTROLS, seed: int | str = "*") -> list[str]:
    """All seeds, or one: schemes that are compared have the same flows."""
    return [f"{place}:{n}.{cc}@{seed}" for n in names for cc in controls]


def judged(claim: str, needs):
    """For a claim that is judged twice: its order, and as `CLAIM.ratio` its numbers."""

    def register(call):
        measure(f"{claim}.ratio", needs)(call)
        return measure(claim, needs)(call)

    return register
