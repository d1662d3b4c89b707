"""What the language says and refuses, and what its structures do, counted: no time passes."""

from __future__ import annotations

import re

import numpy as np

from thalweg import policies
from thalweg.study import measure

from .settings import PRELUDE, of_library, written

QUEUE = "q = Queue(64 pkts); out = Port(q);\n"


def classes(text: str) -> list[str]:
    """The kinds of mistakes in a text."""
    return [mistake.key for mistake in policies.mistakes(text, "test.oq")]


# --- What is refused (§2.3.1, §2.5.2) ----------------------------------------------------------------------------

CALLS = (
    "f(p1, p2) = (max(p1.value, 1) < p2.value)",
    "f(p1, p2) = (p1.value < rank(p2))",
    "f(p1, p2) = (p1.value + g(p1, p2) > p2.value)",
)
# By kind of mistake that the generator of §2.5.2 looks for: texts that have it, and no other.
WRONG = {
    "signatures: a comparator of one": ("f(p1) = (p1.value > 3)\n" + QUEUE + "q.admPrio = f;", "parameters"),
    "signatures: an order of packets for queues": (
        PRELUDE + "a = Queue(9); b = Queue(9); out = Port(a, b); out.schedPrio = fifo;",
        "field",
    ),
    "arguments: of a routine": (
        PRELUDE + QUEUE + "q.congestion = inline { length > 3 }; q.congAction = drop_tail(1, 2);",
        "arguments",
    ),
    "types: a number for a Boolean": ("f(p1, p2) = (p1.value + p2.value)\n" + QUEUE + "q.admPrio = f;", "type"),
    "types: a Boolean for a number": (QUEUE + "q.congestion = ((currSize > 3) + 1 > 2, drop(1));", "type"),
    "names: two queues": ("q = Queue(9); q = Queue(9); out = Port(q);", "duplicate"),
    "names: two definitions": (
        "f(p1, p2) = (p1.value < p2.value)\nf(p1, p2) = (p1.size < p2.size)\n" + QUEUE + "q.admPrio = f;",
        "duplicate",
    ),
    "names: declared nowhere": (QUEUE + "q.admPrio = nothing;", "unknown"),
    "a semicolon is missing: queue": ("q = Queue(9)\nout = Port(q);", "semicolon"),
    "a semicolon is missing: attribute": (PRELUDE + QUEUE + "q.admPrio = fifo\nq.procPrio = fifo;", "semicolon"),
}


@measure("OQ-C4", needs=[])
def calls(runs):
    texts = [f"{text}\n{QUEUE}q.admPrio = f;" for text in CALLS]
    return {"comparators with a call": len(texts), "refused as calls": sum("call" in classes(text) for text in texts)}


@measure("OQ-GEN", needs=[])
def mistakes_are_found(runs):
    found = {name: classes(text) for name, (text, _) in WRONG.items()}
    right = sum(kind in found[name] for name, (_, kind) in WRONG.items())
    first = [policies.mistakes(text, "test.oq")[:1] for text, _ in WRONG.values()]
    placed = sum(bool(re.match(r"test\.oq:\d+:\d+: .+: .+", str(m[0]))) for m in first if m)
    fine = sum(not classes(policies.text(name)[0]) for name in policies.names())
    return {
        "texts with a mistake": len(WRONG),
        "refused for it": right,
        "with line, column and way out": placed,
        "policies of the library": len(policies.names()),
        "accepted": fine,
    }


@measure("OQ-F2.3a", needs=[])
def parts_of_a_policy(runs):
    """A new admission policy is a comparator and a condition; a new processing policy a comparator more."""
    adm = "cheap(p1, p2) = (p1.value > p2.value)\nfull(q) = q.currSize >= q.size, drop(1)\n"
    admission = written(f"{adm}{QUEUE}q.admPrio = cheap; q.congestion = full;\n")
    both = written(
        f"{adm}short(p1, p2) = (p1.processing < p2.processing)\n{QUEUE}q.admPrio = cheap; q.congestion = full;\n"
        "q.procPrio = short;\n"
    )
    packets = both.traffic(4000, gap="500ns", seed=1)
    plain, one, two = (p.run(packets, cycle="1us") for p in (written(QUEUE), admission, both))

    def definitions(policy, parameters: int) -> int:
        commas = "," if parameters == 2 else ""
        pattern = rf"^\w+\(\w+{commas}{' *' + chr(92) + 'w+' if commas else ''}\) ="
        return len(re.findall(pattern, policy.text, flags=re.MULTILINE))

    return {
        "comparators, admission": definitions(admission, 2),
        "conditions, admission": definitions(admission, 1),
        "comparators, with processing": definitions(both, 2),
        "conditions, with processing": definitions(both, 1),
        "packets that admission changes": int((plain.fate != one.fate).sum()),
        "departures that processing changes": int((one.at_ps != two.at_ps).sum()),
    }


# --- What orders do (§2.2.2, §2.5) --------------------------------------------------------------------------------

# The order of a queue's structure, by its comparator.
ORDERS = {
    "tree": "f(p1, p2) = (p1.processing < p2.processing)",
    "tree without a key": "f(p1, p2) = (p1.value / p1.size > p2.value / p2.size)",
    "levels": "f(p1, p2) = (p1.TOS > p2.TOS)",
    "list": "f(p1, p2) = (p1.arrival < p2.arrival)",
}


def ordered(name: str, size: int, adm: str = "f", process: str = "f", more: str = ""):
    text = f"{PRELUDE}{ORDERS[name]}\n{more}q = Queue({size} pkts); out = Port(q);\n"
    return written(f"{text}q.admPrio = {adm}; q.procPrio = {process}; q.congestion = tailDrop;\n")


def drawn(policy, count: int) -> dict:
    return policy.traffic(count, processing=1 << 30, values=(0, 1 << 30), tos=range(256), seed=3)


@measure("OQ-C1", needs=[])
def comparisons(runs):
    most = dict.fromkeys(ORDERS, 0.0)
    least = 2.0
    for exponent in range(6, 17):
        n = 1 << exponent
        if runs.scale == "quick" and exponent % 2:
            continue
        for name in ORDERS:
            policy = ordered(name, 2 * n)
            counted = policy.counts(drawn(policy, n + n // 4), n)
            joined = counted["joined"]["comparisons"] / (n // 4)
            left = counted["left"]["comparisons"] / (n // 4)
            bound = 2 * exponent + 2 if name.startswith("tree") else 1
            most[name] = max(most[name], joined / bound, left / bound)
            if name.startswith("tree"):
                least = min(least, joined / (exponent - 2))
    trees = max(most["tree"], most["tree without a key"])
    return {
        "trees: most comparisons / (2 log₂ N + 2)": trees,
        "trees: least comparisons / (log₂ N − 2)": least,
        "levels and lists: most comparisons": max(most["levels"], most["list"]),
    }


# Orders of admission and of processing, and how many structures keep them.
PAIRS = {
    ("f", "srpt"): 2,
    ("fifo", "f"): 2,
    ("srpt", "fifo"): 2,
    ("f", "f"): 1,
    ("fifo", "fifo"): 1,
    ("rfifo", "fifo"): 1,
}


def operations(name: str, adm: str, process: str, count: int = 256) -> dict:
    """Of a full queue: each arrival has a victim."""
    policy = ordered(name, count, adm, process)
    return policy.counts(drawn(policy, 2 * count), count)


@measure("OQ-C2", needs=[])
def operations_are_constant(runs):
    joined, left = [], []
    for (adm, process), _ in PAIRS.items():
        for count in (64, 256, 1024):
            found = operations("levels", adm, process, count)
            joined.append({k: v / count for k, v in found["joined"].items()})
            left.append({k: v / count for k, v in found["left"].items()})
    return {
        "inserts per arrival, most": max(row["inserts"] for row in joined),
        "deletes per arrival, most": max(row["deletes"] for row in joined),
        "victims per arrival, most": max(row["victims"] for row in joined),
        "deletes per departure, most": max(row["deletes"] for row in left),
        "lookups per departure, most": max(row["lookups"] for row in left),
        "inserts per departure, most": max(row["inserts"] for row in left),
    }


@measure("OQ-C3", needs=[])
def never_rebuilt(runs):
    """What rebuilds an order inserts again what is there: nothing is inserted but what arrives, once for each
    structure, and nothing changes its place while packets are sent."""
    again = rekeys = arrivals = 0
    for (adm, process), structures in PAIRS.items():
        for count in (64, 1024):
            found = operations("levels", adm, process, count)
            again += found["joined"]["inserts"] - structures * count + found["left"]["inserts"]
            rekeys += found["joined"]["rekeys"] + found["left"]["rekeys"]
            arrivals += count
    return {"arrivals": arrivals, "inserts beyond one for each order": again, "changes of place": rekeys}


@measure("OQ-F2.2", needs=[])
def moves(runs):
    """Packets of classes 3, 2, 1 come. In one array by class each moves all that are there; queues of their own move
    none."""
    single, moved = [], 0
    for kind in (3, 2, 1):
        at = int(np.searchsorted(single, kind, side="right"))
        moved += len(single) - at
        single.insert(at, kind)
    several = written(
        "q[1..3] = Queue(9 pkts); out = Port(q[1..3]);\nfirst(q1, q2) = (false)\nout.schedPrio = first;\n"
    )
    found = several.counts({"queue": [2, 1, 0]}, 0)["joined"]
    return {
        "moves, one array": moved,
        "moves, three queues": found["rekeys"] + found["deletes"] + found["inserts"] - 3,
        "comparisons, three queues": found["comparisons"],
    }


# --- Counters (§2.5.2) ----------------------------------------------------------------------------------------


@measure("OQ-L2.1", needs=[])
def counters(runs):
    """200 packets to the published policy file, which selects a queue at random; all are served in the end."""
    policy = of_library("policy-file")
    ran = policy.run(policy.traffic(200, gap="700ns", seed=1))
    q1, q2 = ran.counters
    return {
        "max of q1": q1.max,
        "max of q2": q2.max,
        "total of both": q1.total + q2.total,
        "dropped": q1.dropped + q2.dropped,
        "current": q1.current + q2.current,
        "total of q1": q1.total,
        "total of q2": q2.total,
    }
