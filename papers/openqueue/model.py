"""Figure 2.3: packets that need cycles of work, in one priority queue or in three queues (§2.2.4)."""

from __future__ import annotations

from functools import cache

import numpy as np

from thalweg.study import measure

from .settings import CYCLE, PRELUDE, written

# CHOICE §2.2.4: works of 1 to 3, one class of them to each of three queues; a packet comes in every cycle, of which
# ports can finish half.
WORKS = 3
SLOTS = {"quick": 4000, "full": 20_000}
TRACES = {"quick": 5, "full": 30}
SINGLE = {
    "fifo, tail drop": ("fifo", "fifo"),
    "srpt, tail drop": ("fifo", "srpt"),
    "fifo, push-out": ("srpt", "fifo"),
    "srpt, push-out": ("srpt", "srpt"),
}
SEVERAL = ("lqf", "sqf", "maxqf", "minqf", "crr")


def single(adm: str, process: str):
    return written(
        f"{PRELUDE}q = Queue(6 pkts); out = Port(q);\nq.admPrio = {adm}; q.procPrio = {process};\n"
        "q.congestion = tailDrop;\n"
    )


def several(schedule: str):
    counts = "out.postSchedAct = (true, modify(schedState := schedState + 1));\nout.returning = catchUp;\n"
    work = "q[1].schedState = 1; q[2].schedState = 2; q[3].schedState = 3;\n"
    more = {"crr": counts, "maxqf": work, "minqf": work}.get(schedule, "")
    return written(
        f"{PRELUDE}q[1..3] = Queue(2 pkts); out = Port(q[1..3]);\nq[1..3].congestion = tailDrop;\n"
        f"out.schedPrio = {schedule};\n{more}"
    )


@cache
def transmitted(scale: str) -> dict[str, list[int]]:
    """Packets that left, by scheme and trace."""
    schemes = {name: single(*orders) for name, orders in SINGLE.items()} | {name: several(name) for name in SEVERAL}
    found: dict[str, list[int]] = {name: [] for name in schemes}
    for seed in range(TRACES[scale]):
        rng = np.random.default_rng(seed)
        kind = rng.integers(0, WORKS, SLOTS[scale])
        packets = {"at_ps": np.arange(SLOTS[scale]) * CYCLE, "processing": kind + 1}
        for name, policy in schemes.items():
            queue = kind if name in SEVERAL else np.zeros_like(kind)
            ran = policy.run(packets | {"queue": queue}, cycle=CYCLE, until=SLOTS[scale] * CYCLE)
            found[name].append(ran.count("sent"))
    return found


@measure("OQ-F2.3b", needs=[])
def schedules_differ(runs):
    found = {name: float(np.mean(sent)) for name, sent in transmitted(runs.scale).items()}
    best = max(found[name] for name in SEVERAL if name != "minqf")
    return {
        "minqf / maxqf": found["minqf"] / found["maxqf"],
        "minqf / best other schedule": found["minqf"] / best,
        **{f"{name} / minqf": found[name] / found["minqf"] for name in SEVERAL if name != "minqf"},
        **{f"one queue, {name}": found[name] for name in SINGLE},
    }
