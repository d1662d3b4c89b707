"""Networks, ways of choosing paths, and what is set on top of the scenario files.

A run's key is `EXPERIMENT:SCHEME@SEED`. All schemes of one experiment and seed have the same flows, and the same cables
fail."""

from __future__ import annotations

import random
from collections.abc import Iterable, Mapping
from typing import Any

from thalweg.study import Key, RunSpec, run

from . import choices

TRIMMING, VICTIM, FAST = choices["trimming"], choices["victim"], choices["fast_increase"]
HOP, EXIT_AFTER = choices["hop_delay"], choices["exit_after"]
THREE_TIER_WINDOW, FAILING_SIZE = choices["three_tier_window"], choices["failing_size"]
PLB_ROUNDS, DEAD_WAYS, FREEZE_BELOW = choices["plb_rounds"], choices["dead_ways"], choices["freeze_below"]

RATE = 400e9  # b/s
PACKET, PAYLOAD = 4160, 4096  # B
KMIN, KMAX, QUEUE = 20 * PACKET, 80 * PACKET, 100 * PACKET  # B
MIB = 1 << 20


def reps(trimming: bool = False, **more: Any) -> dict:
    """Where switches trim every timeout freezes."""
    rule = {} if trimming or FREEZE_BELOW == 1.65 or more.get("freeze") is False else {"freeze_below": FREEZE_BELOW}
    return {"transport.path_selection": {"kind": "reps"} | rule | more}


def select(kind: str, **more: Any) -> dict:
    return {"transport.path_selection": {"kind": kind} | more}


SCHEMES: dict[str, dict] = {
    "reps": reps(exit_after=EXIT_AFTER),
    "ops": select("random"),
    "ecmp": select("ecmp"),
    "plb": select("plb", rounds=PLB_ROUNDS),
    "subflows": select("subflows"),
    "mprdma": select("mprdma"),
    "bitmap": select("bitmap", values=256),
    "adaptive": {"routing.kind": "adaptive"} | select("oblivious"),
}
NAMES = {
    "reps": "REPS",
    "ops": "OPS",
    "ecmp": "ECMP",
    "plb": "PLB",
    "subflows": "MPTCP-like",
    "mprdma": "MPRDMA",
    "bitmap": "BitMap",
    "adaptive": "adaptive switch",
}
# Those that spray and need no help of switches.
OTHERS = tuple(s for s in SCHEMES if s != "reps")


def switch(trimming: bool = False) -> dict:
    """What a full queue does, and the window."""
    out: dict = {"switch.scheduler.victim": VICTIM, "switch.scheduler.trim": trimming}
    out["topology.delay"] = HOP
    if FAST:
        out["transport.window"] = {"kind": "dctcp"}
    return out


def marks(low: int, high: int) -> dict:
    """Marking between so many packets."""
    return {"switch.marking.min": f"{low * PACKET}B", "switch.marking.max": f"{high * PACKET}B"}


def hosts(leaves: int, each: int, spines: int | None = None) -> dict:
    """So many leaves with so many hosts each, and as many spines as hosts of a leaf, if not given."""
    return {"topology.leaves": leaves, "topology.hosts_per_leaf": each, "topology.spines": spines or each}


SMALL, MEDIUM, LARGE = hosts(8, 4), hosts(16, 8), hosts(32, 32)  # 32, 128, 1024 hosts


def uplink_ports(count: int, leaf: int, spines: int) -> list[int]:
    """Ports of a leaf's uplinks among `count` hosts: links are numbered hosts first, then leaf by leaf."""
    return [2 * (count + leaf * spines + s) for s in range(spines)]


def flows(pairs: Iterable[tuple[int, int]], size: str, **more: Any) -> list[dict]:
    return [{"kind": "flow", "src": a, "dst": b, "size": size} | more for a, b in pairs]


def permutation(size: str) -> list[dict]:
    return [{"kind": "permutation", "size": size}]


def tornado(size: str, count: int) -> list[dict]:
    """Every host to the one half of the network away."""
    return [{"kind": "permutation", "size": size, "stride": count // 2}]


Cable = tuple[str, str]


def cables(leaves: int, spines: int) -> list[Cable]:
    return [(f"leaf{a}", f"spine{b}") for a in range(leaves) for b in range(spines)]


def drawn(found: list, share: float, seed: int) -> list:
    """That share of them, at least one."""
    return random.Random(seed).sample(found, max(1, round(share * len(found))))


def apart(found: list[Cable], share: float, seed: int) -> list[Cable]:
    """That share of all cables, in a drawn order, but for those without which two racks would have no spine in common:
    the artifact, too, lets no failure cut the network."""
    order = random.Random(seed).sample(found, len(found))
    alive: dict[str, set[str]] = {}
    for leaf, spine in found:
        alive.setdefault(leaf, set()).add(spine)
    gone: list[Cable] = []
    for leaf, spine in order:
        if len(gone) == round(share * len(found)):
            break
        left = alive[leaf] - {spine}
        if all(left & others for name, others in alive.items() if name != leaf):
            alive[leaf] = left
            gone.append((leaf, spine))
    return gone


def dead(found: Iterable[Cable], at: str = "0s", until: str | None = None) -> dict:
    """Cables that swallow what they should carry; no switch reroutes."""
    ends = {} if until is None else {"until": until}
    broken = [{"kind": "link-failure", "link": list(c), "at": at} | ends for c in found]
    return {"incident": broken, "routing.convergence": "10s"}


def broken(found: Iterable[Cable], seed: int = 1) -> dict:
    """Cables that are dead from the start, both ways or one way each."""
    if DEAD_WAYS == "both":
        return dead(found)
    draw = random.Random(seed)
    loss = {"loss": {"kind": "independent", "probability": 1.0}}
    ends = [{"which": {"kind": "between", "ends": list(c)}} for c in found]
    return {"link": [e | loss | {"direction": draw.choice(("forward", "backward"))} for e in ends]}


def slow(found: Iterable[Cable], share: float = 0.5) -> dict:
    """Cables at that share of the rate, with that share of queue and thresholds."""
    marking = {"kind": "red-ecn", "max_probability": 1.0, "at": "departure"}
    marking |= {"min": f"{round(KMIN * share)}B", "max": f"{round(KMAX * share)}B"}
    made = {
        "transmitter": {"kind": "fixed", "rate": f"{RATE * share / 1e9:g}Gbps"},
        "buffer": f"{round(QUEUE * share)}B",
        "marking": marking,
    }
    return {"link": [{"which": {"kind": "between", "ends": list(c)}} | made for c in found]}


def point(
    place: str, scheme: str, set: Mapping, seed: int, *, scenario: str = "fabric", trimming: bool = False, **more
) -> RunSpec:
    """`set` is laid over the scheme: it may narrow a scheme down."""
    ways = reps(trimming, exit_after=EXIT_AFTER) if scheme == "reps" else SCHEMES.get(scheme, {})
    given = switch(trimming) | ways | dict(set)
    return run(Key(place, scheme), scenario, given, seed, **more)
