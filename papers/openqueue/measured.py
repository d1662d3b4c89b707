"""What packets cost on this machine: measured, so that no two machines agree. Orderings are judged."""

from __future__ import annotations

from functools import cache

from thalweg import policies
from thalweg.study import measure

from .settings import own

RESIDENT = (64, 1024, 16_384)
# Classes of comparators, and the policies that were compiled with room for all (`crates/policy/compiled/policies`).
CLASSES = {
    "arrival: a list": "roomy-fifo",
    "few values: lists": "roomy-levels",
    "many values: a tree": "roomy-tree",
    "no key: a tree": "roomy-density",
}
# Laps are so short that some fall between two interruptions, and so many that the fastest is one of these.
LAPS = {"quick": 1000, "full": 10_000}
ROUNDS = 500


def packets(policy) -> dict:
    return policy.traffic(65_536, tos=range(256), processing=1_000_000, values=(0, 1_000_000), seed=1)


@cache
def drawn(name: str):
    return packets(own(name))


def ns(policy, given, engine: str, resident: int, rounds: int, laps: int) -> float:
    """For a packet that comes and one that leaves: of the fastest lap."""
    found = policy.bench(given, engine=engine, resident=resident, rounds=rounds, laps=laps)
    if found is None:
        raise ValueError(f"{policy.name}: no {engine} engine is built in")
    waiting, times = found
    if waiting != resident:
        raise ValueError(f"{policy.name} holds {waiting} packets, not {resident}")
    return min(lap.ns / lap.arrived for lap in times)


@cache
def table(scale: str) -> dict[tuple[str, int, str], float]:
    """ns by class, packets that wait, and engine."""
    found = {}
    for kind, name in CLASSES.items():
        policy = own(name)
        for resident in RESIDENT:
            for engine in policies.ENGINES:
                # The oracle searches its lists, ten thousand times as long.
                rounds, laps = (20, 3) if engine == "interpreter" else (ROUNDS, LAPS[scale])
                found[kind, resident, engine] = ns(policy, drawn(name), engine, resident, rounds, laps)
    return found


@measure("OQ-D2", needs=[])
def engines(runs):
    found = table(runs.scale)
    kinds = list(CLASSES)
    ratios = [found[k, n, "interpreter"] / found[k, n, "bytecode"] for k in kinds for n in RESIDENT[1:]]
    numbers = {f"{k}, {n}, {e} (ns)": x for (k, n, e), x in found.items() if e != "interpreter"}
    return {
        "interpreter / bytecode, from 1024 on, least": min(ratios),
        "bytecode / generated, 64, mean": sum(found[k, 64, "bytecode"] / found[k, 64, "generated"] for k in kinds)
        / len(kinds),
        "generated: a list of 16384 / of 64": found[kinds[0], 16_384, "generated"] / found[kinds[0], 64, "generated"],
        **numbers,
    }


# --- Costs of whole policies, for models (§2.5.3, §2.5.4) ---------------------------------------------------------


@cache
def cost(policy, resident: int, scale: str) -> float:
    """ns for a packet that comes and one that leaves, by the bytecode."""
    return ns(policy, packets(policy), "bytecode", resident, ROUNDS, LAPS[scale])
