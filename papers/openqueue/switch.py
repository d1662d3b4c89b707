"""Figure 2.19: algorithms A, B, C in a switch of software (§2.5.4). DPDK at 10 Gb/s there; here packets that come out
of memory and go back to it on one core, in real time, and the same in virtual time with costs that were measured."""

from __future__ import annotations

from functools import cache

import numpy as np

from thalweg.policies import Core, Lap
from thalweg.study import measure

from .measured import cost
from .settings import PRELUDE, written

HIGH, LOW = 63, 1
QUEUES = (2, 4, 8)
ALGORITHMS = ("A", "B", "C")
ROOM = 512
# CHOICE §2.5.4: two sources, whose packets come as fast as the core takes them: two for each that it sends.
PACE, ROUNDS = (2, 1), 500
PAIRS = {"quick": 100, "full": 1000}
# CHOICE Figure 2.19a,b: loads as multiples of what the core can do under A; the published ones are not in the text.
LOADS = (1.2, 1.4, 1.6, 1.8, 2.0)
OFFERED = {"quick": 40_000, "full": 400_000}
# By type of service, of 256 values, orders are lists here (M7). The published runtime keeps all of them in trees: a key
# of 64 bits that holds the same, which is reported as well.
LISTS, TREES = "TOS", "value"


def switch(algorithm: str, queues: int, by: str = LISTS):
    """A, B or C over queues that share the room equally, served in turn (Experiment 2); of one, Experiment 1."""
    uses = f"high(p1, p2) = (p1.{by} > p2.{by})\n" if algorithm != "A" else ""
    admission = "q[1..k].admPrio = high;\n" if algorithm != "A" else ""
    processing = "q[1..k].procPrio = high;\n" if algorithm == "C" else ""
    in_turn = (
        "out.schedPrio = crr;\nout.postSchedAct = (true, modify(schedState := schedState + 1));\n"
        "out.returning = catchUp;\n"
    )
    return written(
        f"{PRELUDE}const k = {queues};\n{uses}q[1..k] = Queue({ROOM // queues} pkts);\nout = Port(q[1..k]);\n"
        f"{admission}{processing}q[1..k].congestion = tailDrop;\n{in_turn if queues > 1 else ''}"
    )


def mixed(policy, count: int = 65_536, **more) -> dict:
    """As many of one class as of the other."""
    packets = dict(policy.traffic(count, sizes=(64, 64), tos=(HIGH, LOW), flows=2, seed=1, **more))
    return packets | {"value": packets["tos"].astype("i8")}


# --- In real time: several queues in turn (Experiment 2) ----------------------------------------------------------


@cache
def real(scale: str, queues: int, by: str = LISTS) -> dict[str, dict[str, float]]:
    """By algorithm: Mpps, worth per packet that left, share that was given up, and how much longer than A's a lap of it
    takes. Laps of a fraction of a millisecond take turns, and neighbours are compared: whatever else the machine does
    is done to all of them. The median of the ratios counts."""
    policies = {name: switch(name, queues, by) for name in ALGORITHMS}
    given = {name: mixed(policy) for name, policy in policies.items()}
    laps: dict[str, list[Lap]] = {name: [] for name in ALGORITHMS}
    for _ in range(PAIRS[scale]):
        for name, policy in policies.items():
            found = policy.bench(given[name], resident=ROOM, pace=PACE, rounds=ROUNDS, laps=3)
            laps[name].append(min(found[1], key=lambda lap: lap.ns))
    times = {name: np.array([lap.ns for lap in timed]) for name, timed in laps.items()}
    return {
        name: {
            "mpps": ROUNDS / times[name].min() * 1e3,
            "longer": float(np.median(times[name] / times["A"])),
            "worth": sum(lap.worth for lap in timed) / sum(lap.sent for lap in timed),
            "dropped": min(lap.dropped / lap.arrived for lap in timed),
        }
        for name, timed in laps.items()
    }


@measure("OQ-F2.19c", needs=[])
def throughput(runs):
    lists = {f"A / C, k = {k}": real(runs.scale, k)["C"]["longer"] for k in QUEUES}
    trees = {f"A / C in trees, k = {k}": real(runs.scale, k, TREES)["C"]["longer"] for k in QUEUES}
    return lists | trees | {f"A, k = {k} (Mpps)": real(runs.scale, k)["A"]["mpps"] for k in QUEUES}


def worth(scale: str, queues: int, by: str = LISTS) -> float:
    found = real(scale, queues, by)
    return found["C"]["worth"] / found["A"]["worth"] / found["C"]["longer"]


@measure("OQ-F2.19d", needs=[])
def weighted(runs):
    lists = {f"C / A, k = {k}": worth(runs.scale, k) for k in QUEUES}
    return lists | {f"C / A in trees, k = {k}": worth(runs.scale, k, TREES) for k in QUEUES}


# --- In virtual time: one queue, more and more load (Experiment 1) ------------------------------------------------


@cache
def modelled(scale: str) -> dict[tuple[str, float], dict[str, float]]:
    """By algorithm and load: Mpps, worth per µs, packets given up."""
    policies = {name: switch(name, 1) for name in ALGORITHMS}
    costs = {name: cost(policy, ROOM, scale) for name, policy in policies.items()}
    found = {}
    for load in LOADS:
        gap = max(round(costs["A"] / load * 1000), 1)  # ps
        for name, policy in policies.items():
            packets = mixed(policy, OFFERED[scale], gap=gap)
            half = round(costs[name] * 1000 / 2)
            # The link is never the bottleneck: what is looked at is the core.
            core = Core(half, half, inputs=2, ring=512)
            ran = policy.run(packets, link="1000Gbps", core=core, until=int(packets["at_ps"][-1]))
            found[name, load] = {
                "mpps": ran.throughput(np.ones(len(ran.fate))) / 1e6,
                "worth": ran.throughput(packets["tos"]) / 1e6,
                "dropped": ran.count("dropped") / len(ran.fate),
            }
    return found


@measure("OQ-LOAD", needs=[])
def congestion(runs):
    real_ones = min(row["dropped"] for k in QUEUES for row in real(runs.scale, k).values())
    models = min(row["dropped"] for row in modelled(runs.scale).values())
    return {"share given up, real time, least": real_ones, "share given up, virtual time, least": models}
