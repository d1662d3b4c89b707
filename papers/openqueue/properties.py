"""What holds of all policies, whatever they say: one queue for several, changes at run time, engines that agree,
accounts that balance."""

from __future__ import annotations

from itertools import combinations

import numpy as np

from thalweg import policies
from thalweg.study import measure

from . import simulated
from .differential import DEFINED, slotted
from .settings import CYCLE, PACKETS, PRELUDE, SEEDS, of_library, written


@measure("OQ-C5", needs=[])
def one_queue_for_several(runs):
    """Strict priority over three queues, and one queue by class and arrival, with the same admission (P11)."""
    several = written(
        "byClass(q1, q2) = (q1.getHOL().TOS < q2.getHOL().TOS)\nq[0..2] = Queue(900 pkts);\n"
        "b = Buffer(24 pkts, q[0..2]);\nout = Port(q[0..2]);\nout.schedPrio = byClass;\n"
        "out.queueSelect = inline { Packet.TOS % 3 };\nb.congestion = (currSize >= size, drop(1));\n"
    )
    single = written(
        "byClass(p1, p2) = (p1.TOS < p2.TOS)\nq = Queue(24 pkts);\nout = Port(q);\nq.procPrio = byClass;\n"
        "q.congestion = (currSize >= size, drop(1));\n"
    )
    apart = count = given_up = 0
    for seed in range(1, SEEDS[runs.scale] + 1):
        packets = slotted(single, PACKETS[runs.scale], 1.3, seed, tos=(0, 1, 2), processing=1)
        a, b = (policy.run(packets, cycle=CYCLE) for policy in (several, single))
        apart += int(((a.fate != b.fate) | (a.at_ps != b.at_ps)).sum())
        count, given_up = count + len(a.fate), given_up + a.count("dropped")
    return {"packets": count, "differences": apart, "packets given up": given_up}


def two_ports(order: str):
    return written(
        f"{PRELUDE}byValue(p1, p2) = (p1.value > p2.value)\na = Queue(8 pkts); b = Queue(8 pkts);\n"
        "one = Port(50%, a); other = Port(50%, b);\na.congestion = (currSize >= 0.5 * size, drop(0.5));\n"
        f"b.admPrio = {order}; b.procPrio = {order}; b.congestion = tailDrop;\n"
    )


@measure("OQ-DYN", needs=[])
def change_at_run_time(runs):
    old, new = two_ports("fifo"), two_ports("byValue")
    packets = old.traffic(PACKETS[runs.scale], gap="500ns", seed=3)
    middle = int(packets["at_ps"][len(packets["at_ps"]) // 2])
    same, changed = old.run(packets), old.run(packets, changes=[(middle, new)])
    at_one = packets["queue"] == 0
    differs = (same.fate != changed.fate) | (same.at_ps != changed.at_ps)
    versions = changed.version[changed.departures[packets["queue"][changed.departures] == 1]]
    total = sum(changed.count(fate) for fate in ("sent", "dropped"))
    return {
        "packets of the other port": int(at_one.sum()),
        "of them drawn drops": int((at_one & (same.fate == 2)).sum()),
        "differences at the other port": int((differs & at_one).sum()),
        "differences at the changed port": int((differs & ~at_one).sum()),
        "packets lost by the change": len(changed.fate) - total,
        "older behind newer": int((np.diff(versions.astype("i8")) < 0).sum()),
        "under the new policy": int((changed.version == 1).sum()),
    }


@measure("OQ-D3", needs=[])
def engines_alike(runs):
    """One trace through every engine, in two modes; and what came to a simulated port through the datapath."""
    count = apart = compiled = 0
    for name in policies.names():
        policy = of_library(name)
        packets = policy.traffic(PACKETS[runs.scale] // 10, gap="600ns", tos=range(64), seed=5)
        for mode in ({}, {"cycle": "400ns"}):
            ran = {engine: policy.run(packets, engine=engine, **mode) for engine in policies.ENGINES}
            for a, b in combinations(ran.values(), 2):
                apart += int(((a.fate != b.fate) | (a.at_ps != b.at_ps) | (a.marked != b.marked)).sum())
                apart += int((a.departures != b.departures).sum()) if len(a.departures) == len(b.departures) else 1
                count += len(a.fate)
        compiled += policy.is_built_in
    found = {"packets": count, "policies": len(policies.names()), "differences": apart, "compiled to Rust": compiled}
    return found | simulated.all_of_them(PACKETS[runs.scale] // 20)


@measure("OQ-P6", needs=[])
def accounts(runs):
    """Arrivals = dropped + sent + waiting, and no size is exceeded, whatever ends the run."""
    unbalanced = over = count = 0
    for name in policies.names():
        policy = of_library(name)
        packets = policy.traffic(PACKETS[runs.scale] // 10, gap="500ns", tos=range(64), seed=9)
        for until in (None, int(packets["at_ps"][-1]) // 2):
            ran = policy.run(packets, until=until)
            for one_queue in ran.counters:
                unbalanced += one_queue.total != one_queue.dropped + one_queue.sent + one_queue.current
                over += one_queue.in_packets and one_queue.peak > one_queue.max
            unbalanced += sum(one_queue.current for one_queue in ran.counters) != (
                ran.count("waiting") - int((packets["at_ps"] > ran.lasted_ps).sum())
            )
            count += len(ran.fate)
    return {"packets": count, "accounts that do not balance": unbalanced, "queues above their size": over}


@measure("OQ-P7", needs=[])
def work_conservation(runs):
    """A port is idle only if nothing waits for it: sent bytes take exactly the time from the first arrival of each busy
    period to its end."""
    idle = periods = 0
    for name in ("fifo", "lqf", "srpt", "algorithm-c", "wfq", "policy-file"):
        policy = of_library(name)
        packets = policy.traffic(PACKETS[runs.scale], gap="700ns", tos=range(64), seed=2)
        ran = policy.run(packets)
        order = ran.departures
        ends, sizes = ran.at_ps[order].astype("i8"), packets["size"][order].astype("i8")
        begins = ends - -(-sizes * 8_000_000_000_000 // 10_000_000_000)
        gaps = np.flatnonzero(begins[1:] > ends[:-1])
        arrived, gone = packets["at_ps"].astype("i8"), ran.at_ps.astype("i8")
        kept = ran.sent
        for nth in gaps:
            # Nothing that was sent later may have been there.
            idle += bool((kept & (arrived < begins[nth + 1]) & (gone > ends[nth + 1])).any())
            idle += bool(arrived[order[nth + 1]] < begins[nth + 1])
        periods += len(gaps) + 1
    return {"idle while packets wait": idle, "busy periods": periods}


def most(slots: list[list[int]], at: int, waiting: tuple[int, ...], room: int, known: dict) -> int:
    """The most packets that any choice of what to keep and to work on can finish in these slots."""
    if at == len(slots):
        return 0
    key = (at, tuple(sorted(waiting)))
    if key in known:
        return known[key]
    there, best = [*waiting, *slots[at]], 0
    for count in range(min(room, len(there)) + 1):
        for kept in set(combinations(sorted(there), count)):
            for nth in range(max(len(kept), 1)):
                rest = list(kept)
                finished = 0
                if rest:
                    rest[nth] -= 1
                    if rest[nth] == 0:
                        rest.pop(nth)
                        finished = 1
                best = max(best, finished + most(slots, at + 1, tuple(rest), room, known))
    known[key] = best
    return best


@measure("OQ-P4", needs=[])
def shortest_remaining_is_best(runs):
    rng = np.random.default_rng(4)
    instances = {"quick": 300, "full": 4000}[runs.scale]
    worse = finished_most = 0
    for _ in range(instances):
        room = int(rng.integers(1, 4))
        slots = [[int(w) for w in rng.integers(1, 4, rng.integers(0, 3))] for _ in range(5)]
        policy = written(
            f"{DEFINED['srpt']}\nq = Queue({room} pkts); out = Port(q);\nq.admPrio = srpt; q.procPrio = srpt;\n"
        )
        at = [n * CYCLE for n, works in enumerate(slots) for _ in works]
        work = [w for works in slots for w in works]
        if not work:
            continue
        packets = {"queue": [0] * len(at), "at_ps": at, "processing": work}
        # To the beginning of the last slot, whose cycle is the last.
        ran = policy.run(packets, cycle=CYCLE, until=(len(slots) - 1) * CYCLE)
        finished, best = ran.count("sent"), most(slots, 0, (), room, {})
        worse += finished != best
        finished_most += best
    return {"instances": instances, "not the most": worse, "finished by the best": finished_most}
