"""What policies mean, exactly: engines against the oracle, packet by packet (Figures 2.8 to 2.13, §2.3.2)."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from thalweg.study import measure

from . import oracle
from .oracle import Queue, Switch
from .settings import CYCLE, PACKETS, PRELUDE, of_library, written

ENGINES = ("bytecode", "interpreter")


def slotted(policy, packets: int, load: float, seed: int, **more) -> dict[str, np.ndarray]:
    """Random packets at instants that are multiples of a cycle."""
    drawn = dict(policy.traffic(packets, gap=max(round(CYCLE / load), 1), seed=seed, **more))
    drawn["at_ps"] = drawn["at_ps"] // CYCLE * CYCLE
    return drawn


def differences(policy, switch: Callable[[], Switch], packets, engine: str) -> int:
    """Packets that the engine and the oracle send, or give up, at different instants."""
    ran = policy.run(packets, cycle=CYCLE, engine=engine)
    seen = {name: column for name, column in packets.items() if name != "at_ps"} | {"at": packets["at_ps"] // CYCLE}
    sent, dropped = oracle.run(switch(), seen)
    wrong = 0
    for nth, (fate, at) in enumerate(zip(ran.fate, ran.at_ps // CYCLE, strict=True)):
        expected = (1, sent[nth]) if nth in sent else (2, dropped.get(nth))
        wrong += (int(fate), int(at)) != expected
    return wrong


def compared(cases: dict, scale: str, load: float = 1.3, **more) -> dict[str, float]:
    """All cases (a policy, and how the oracle is made) in two engines."""
    found = {"packets": 0, "differences": 0, "packets given up": 0}
    count = PACKETS[scale]
    for policy, switch in cases.values():
        packets = slotted(policy, count, load, 1, **more)
        ran = policy.run(packets, cycle=CYCLE)
        found["packets given up"] += ran.count("dropped")
        for engine in ENGINES:
            found["packets"] += count
            found["differences"] += differences(policy, switch, packets, engine)
    return found


# --- Comparators in one line (Figures 2.8, 2.9) ------------------------------------------------------------------

DEFINED = {
    "fifo": "fifo(p1, p2) = (p1.arrival < p2.arrival)",
    "rfifo": "rfifo(p1, p2) = (p1.arrival > p2.arrival)",
    "srpt": "srpt(p1, p2) = (p1.processing < p2.processing)",
    "rsrpt": "rsrpt(p1, p2) = (p1.processing > p2.processing)",
    "tailDrop": "tailDrop(q) = q.currSize >= q.size, drop(1)",
}
SCHEDULES = {
    "lqf": ("lqf(q1, q2) = (q1.currSize > q2.currSize)", lambda q: -q.held()),
    "sqf": ("sqf(q1, q2) = (q1.currSize < q2.currSize)", lambda q: q.held()),
    "maxqf": ("maxqf(q1, q2) = (q1.schedState > q2.schedState)", lambda q: -q.work),
    "minqf": ("minqf(q1, q2) = (q1.schedState < q2.schedState)", lambda q: q.work),
    "crr": ("crr(q1, q2) = (q1.schedState < q2.schedState)", lambda q: q.work),
}


@measure("OQ-F2.8", needs=[])
def orders_of_packets(runs):
    cases = {}
    for name in ("fifo", "rfifo", "srpt", "rsrpt"):
        text = f"{DEFINED[name]}\n{DEFINED['tailDrop']}\nq = Queue(6 pkts); out = Port(q);\n"
        policy = written(f"{text}q.admPrio = {name}; q.procPrio = {name}; q.congestion = tailDrop;\n")
        key = getattr(oracle, name)
        cases[name] = (policy, lambda key=key: Switch([Queue(6, key, key)], [[0]]))
    lines = {"lines of a definition, most": max(len(text.splitlines()) for text in DEFINED.values())}
    return lines | compared(cases, runs.scale, load=0.6)


@measure("OQ-F2.9", needs=[])
def orders_of_queues(runs):
    cases = {}
    for name, (defined, key) in SCHEDULES.items():
        work = (
            "" if name not in ("maxqf", "minqf") else "q[1].schedState = 1; q[2].schedState = 2; q[3].schedState = 3;\n"
        )
        counts = "out.postSchedAct = (true, modify(schedState := schedState + 1));\nout.returning = catchUp;\n"
        policy = written(
            f"{defined}\n{DEFINED['tailDrop']}\nq[1..3] = Queue(4 pkts); out = Port(q[1..3]);\n"
            f"q[1..3].congestion = tailDrop; out.schedPrio = {name};\n{work}{counts if name == 'crr' else ''}"
        )
        cases[name] = (policy, lambda key=key, name=name: _three(key, counts=name == "crr"))
    lines = {"lines of a definition, most": max(len(text.splitlines()) for text, _ in SCHEDULES.values())}
    return lines | compared(cases, runs.scale, load=0.5)


def _three(key, counts: bool) -> Switch:
    queues = [Queue(4, work=0 if counts else n + 1) for n in range(3)]
    return Switch(queues, [[0, 1, 2]], key, counts=counts)


# --- Architectures (Figures 2.10 to 2.13) ------------------------------------------------------------------------


@measure("OQ-F2.10", needs=[])
def separate_queues(runs):
    policy = of_library("a1")
    switch = lambda: Switch([Queue(32) for _ in range(4)], [[0, 1, 2, 3]], lambda q: -q.held())  # noqa: E731
    found = compared({"a1": (policy, switch)}, runs.scale, load=1.5, processing=1)
    return {"queues": len(policy.queues), "ports": len(policy.ports)} | found


@measure("OQ-F2.11", needs=[])
def shared_memory(runs):
    policy = of_library("a2")
    packets = slotted(policy, PACKETS[runs.scale], 6.0, 1, processing=1)
    # Complete sharing: the arriving packet is dropped if the memory holds 64, whichever queue has them.
    held, wrong, most = [0] * 4, 0, 0
    ran = policy.run(packets, cycle=CYCLE)
    queue, fate = ran.queue, ran.fate
    at, gone = packets["at_ps"] // CYCLE, ran.at_ps // CYCLE
    # A cycle ends an instant before the next begins: what leaves at `gone` has made room since `gone - 1`.
    leaving: dict[int, list[int]] = {}
    done = 0
    for nth in range(len(fate)):
        while done < at[nth]:
            for q in leaving.pop(done, ()):
                held[q] -= 1
            done += 1
        full = sum(held) >= 64
        wrong += full != (fate[nth] == 2)
        if fate[nth] == 1:
            held[queue[nth]] += 1
            leaving.setdefault(int(gone[nth]) - 1, []).append(int(queue[nth]))
        most = max(most, sum(held))
    return {
        "queues": len(policy.queues),
        "ports": len(policy.ports),
        "packets": len(fate),
        "differences": wrong,
        "most in memory": most,
        "packets given up": ran.count("dropped"),
    }


@measure("OQ-F2.13", needs=[])
def crossbar(runs):
    policy = of_library("a3")
    packets = policy.traffic(PACKETS[runs.scale], gap="150ns", seed=1)
    lost = turned = given_up = 0
    for engine in ENGINES:
        ran = policy.run(packets, engine=engine)
        given_up += sum(one.dropped for one in ran.counters[:9])
        lost += sum(one.dropped for one in ran.counters[9:]) + ran.count("waiting")
        pair = packets["queue"][ran.departures]
        turned += sum(int((np.diff(ran.departures[pair == n].astype("i8")) < 0).sum()) for n in range(9))
    return {
        "queues": len(policy.queues),
        "ports": len(policy.ports),
        "packets": 2 * len(packets["queue"]),
        "lost behind the first queues": lost,
        "out of the order of their pair": turned,
        "given up at the first queues": given_up,
    }


# --- Buffers, conditions ------------------------------------------------------------------------------------------


@measure("OQ-LQD", needs=[])
def longest_queue_drop(runs):
    text = (
        "lqd(q1, q2) = (q1.currSize < q2.currSize)\nq[1..4] = Queue(12000 bytes);\nb = Buffer(12000 bytes, q[1..4]);\n"
        "out[i: 1..4] = Port(q[i]);\nb.queuePrio = lqd;\n"
    )

    def switch() -> Switch:
        queues = [Queue(12_000, in_packets=False) for _ in range(4)]
        return Switch(queues, [[n] for n in range(4)], memory=12_000, refuses=False)

    found = compared({"lqd": (written(text), switch)}, runs.scale, load=6.0, processing=1)
    return {"comparators": text.count("(q1, q2)")} | found


def one(adm: str, congestion: str) -> str:
    return f"{PRELUDE}q = Queue(8 pkts); out = Port(q);\nq.admPrio = {adm};\n{congestion}"


@measure("OQ-ND", needs=[])
def push_out_and_tail_drop(runs):
    """With `fifo`, a condition that drops and the queue's size alone, where the victim is pushed out, are the same;
    with `rfifo` the same condition pushes out what waits."""
    drops, pushes = written(one("fifo", "q.congestion = tailDrop;")), written(one("fifo", ""))
    packets = slotted(drops, PACKETS[runs.scale], 1.5, 1, processing=1)
    a, b = (policy.run(packets, cycle=CYCLE) for policy in (drops, pushes))
    apart = int(((a.fate != b.fate) | (a.at_ps != b.at_ps)).sum())
    oldest = written(one("rfifo", "q.congestion = tailDrop;")).run(packets, cycle=CYCLE)
    waited = (oldest.fate == 2) & (oldest.at_ps > packets["at_ps"])
    own_victim = (a.fate == 2) & (a.at_ps > packets["at_ps"])
    return {
        "packets": len(a.fate),
        "differences": apart,
        "given up by each": a.count("dropped"),
        "residents pushed out, rfifo": int(waited.sum()),
        "residents pushed out, fifo": int(own_victim.sum()),
    }


STEPS = {(75, 90): 0.5, (90, 95): 0.9, (95, 101): 1.0, (0, 75): 0.0}
# Loads at which the queue stays in each step: drops balance them.
BALANCED = (1.05, 1.5, 4.0, 30.0)


@measure("OQ-CG1", needs=[])
def steps_of_congestion(runs):
    """How many wait as a packet comes follows from the record; the rate at which packets are dropped is counted by
    step."""
    policy = of_library("steps")
    seen, lost = dict.fromkeys(STEPS, 0), dict.fromkeys(STEPS, 0)
    for load in BALANCED:
        packets = slotted(policy, PACKETS[runs.scale], load, 7, processing=1)
        ran = policy.run(packets, cycle=CYCLE, seed=7)
        dropped = ran.fate == 2
        left = np.sort(ran.at_ps[ran.sent]) - CYCLE
        kept = np.concatenate([[0], np.cumsum(~dropped)[:-1]])
        # What left in a cycle that began before this instant has made room.
        length = kept - np.searchsorted(left, packets["at_ps"], side="left")
        for low, high in STEPS:
            inside = (length >= low) & (length < high)
            seen[low, high] += int(inside.sum())
            lost[low, high] += int((inside & dropped).sum())
    found = {}
    for (low, high), share in STEPS.items():
        n = seen[low, high]
        rate = lost[low, high] / max(n, 1)
        found[f"P from {low / 100:g}"] = rate
        sigma = (share * (1 - share) / max(n, 1)) ** 0.5
        if sigma:
            found[f"|P − {share:g}| / σ"] = abs(rate - share) / sigma
    return found | {"arrivals at a step, least": min(seen.values())}
