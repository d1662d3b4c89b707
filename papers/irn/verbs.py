"""The semantics of verbs and the size of headers (§4.4, §4.5.3): queue pairs on hostile paths, no runs of the
simulator."""

from __future__ import annotations

from collections import Counter
from functools import cache
from itertools import permutations

from thalweg import verbs
from thalweg.study import measure

from .messages import CONDITIONS, END, Watched

CASES = {"quick": 1000, "full": 10_000}
CASES_SAID = ("random cases", "random cases that end wrong")
MTU = 4  # of the constructed cases
SMALL = {"mtu": MTU, "cap": 8, "credits": 100}
LOST = ["lost"]


def lose(*numbers: int) -> dict:
    """The first copies of these request packets are lost."""
    return {("request", n): LOST for n in numbers}


class Small:
    """A pair with 64 bytes at each end: 0, 1, 2, ... at the requester, zeros at the responder."""

    def __init__(self, **settings):
        self.pair = verbs.Pair(**SMALL | settings)
        self.here, self.there = self.pair.local(bytes(range(64))), self.pair.remote(64)


@cache
def cases(scale: str) -> Counter:
    """What was found in all random cases together."""
    found = Counter()
    for seed in range(CASES[scale]):
        w = Watched(seed)
        found.update({"out of turn": w.out_of_turn, "missing": w.missing, "random cases": 1})
        found.update({"random cases that end wrong": not w.ends_well(), "early": w.early.total()})
        found.update({f"{k}: came early": w.early[k] for k in CONDITIONS})
        found.update({f"{k}: seen": w.seen[k] for k in CONDITIONS})
    return found


# --- V2b: what arrives out of order has no visible effect ---------------------------------------------------


def effects_out_of_turn(order: tuple[int, ...]) -> int:
    """Packets 0 to 5 of a Write, a Send and a Write with immediate data arrive in this order; looks that
    found too much or too little."""
    late = {("request", n): [f"{20 + 2 * order.index(n)}us"] for n in order}
    s = Small(schedule=late, packet_time="1ns")
    for _ in range(2):
        s.pair.receive(s.there[16:32])
    s.pair.write(s.here[:8], s.there)
    s.pair.send(s.here[8:16])
    s.pair.write(s.here[16:23], s.there[48:], immediate=1)
    arrived, wrong = [], 0
    while len(arrived) < len(order):
        packet = s.pair.step()
        if packet.is_request:
            arrived.append(packet.psn)
            gap = next(n for n in range(7) if n not in arrived)
            wrong += (s.pair.expected, s.pair.msn, len(s.pair.received)) != (gap, gap // 2, max(0, gap // 2 - 1))
    if tuple(arrived) != order:
        raise ValueError(f"{arrived} is not the order {order}")
    return wrong


@measure("IRN-V2b", needs=[])
def progress_in_order(runs):
    orders = list(permutations(range(6)))
    random = cases(runs.scale)
    return {
        "orders of six packets": len(orders),
        "effects out of turn in them": sum(map(effects_out_of_turn, orders)),
        "last packets that came early at random": random["early"],
        "effects out of turn at random": random["out of turn"],
        **{k: random[k] for k in CASES_SAID},
    }


# --- V2c: o9-20 ---------------------------------------------------------------------------------------------


@measure("IRN-V2c", needs=[])
def conditions_imply_writes(runs):
    random = cases(runs.scale)
    found = {"Writes missing when a condition was seen": random["missing"]}
    found |= {f"{k}: {what}": random[f"{k}: {what}"] for k in CONDITIONS for what in ("came early", "seen")}
    return found | {k: random[k] for k in CASES_SAID}


# --- V2d: overwriting ---------------------------------------------------------------------------------------


def last_one(fence: str) -> str:
    """Write A is lost, Write B goes to the same place, A is sent again: which is there in the end?"""
    s = Small(schedule=lose(0))
    a, b = s.here[:MTU], s.here[32 : 32 + MTU]
    s.pair.write(a, s.there)
    s.pair.write(b, s.there, fence=fence)
    s.pair.run()
    return {a.data: "A", b.data: "B"}.get(s.there[:MTU].data, "neither")


@measure("IRN-V2d", needs=[])
def older_messages_and_fences(runs):
    return {
        "A is last without a fence": last_one("none") == "A",
        "B is last with a fence": last_one("all") == "B",
        "A is last with InfiniBand's fence": last_one("reads") == "A",
    }


# --- V2e, V2f: Receive WQEs ---------------------------------------------------------------------------------


@measure("IRN-V2e", needs=[])
def dropped_send(runs):
    """One Receive WQE is promised, so the second Send is a probe. RTO_low repairs the first."""
    s = Small(schedule=lose(0), credits=1)
    sinks = s.there[32:36], s.there[40:44]
    s.pair.receive(sinks[0])
    sends = s.here[:4], s.here[10:14]
    for data in sends:
        s.pair.send(data)
    s.pair.wait("50us")
    answers = sum(p.to == "requester" for p in s.pair.sent)
    s.pair.wait("80us")
    before = [c.id for c in s.pair.received], [c.id for c in s.pair.completions]
    s.pair.receive(sinks[1])
    s.pair.run()
    after = [c.id for c in s.pair.received], [c.id for c in s.pair.completions]
    return {
        "not-ready NACKs": sum(p.syndrome == "not-ready" for p in s.pair.sent),
        "answers to the second before the repair": answers,
        "Sends in their own buffers": sum(a.data == b.data for a, b in zip(sinks, sends, strict=True)),
        "the first ends, then with a new WQE the second": (before, after) == (([0], [0]), ([0, 1], [0, 1])),
    }


@measure("IRN-V2f", needs=[])
def shared_receive_queue(runs):
    """Sends 1 to 3 are lost at first, so that 4 arrives after 0."""
    s = Small(schedule=lose(1, 2, 3), shared_receives=True)
    elements = [s.there[4 * n : 4 * n + 4] for n in range(5)]
    sends = [s.here[4 * n + 1 : 4 * n + 5] for n in range(5)]
    for element, data in zip(elements, sends, strict=True):
        s.pair.receive(element)
        s.pair.send(data)
    taken, holder, empty = {}, -1, -1
    while s.pair.now_ps < END and (packet := s.pair.step()):
        if packet.is_request and packet.recv_wqe not in taken:
            taken[packet.recv_wqe] = s.pair.shared_taken - sum(taken.values())
            if packet.recv_wqe == 4:
                holder = next((n for n, e in enumerate(elements) if e.data == sends[4].data), -1)
                empty = sum(not any(e.data) for e in elements)
    return {
        "taken by Send 0": taken.get(0, 0),
        "taken by Send 4": taken.get(4, 0),
        "element with Send 4, from 0": holder,
        "elements still empty then": empty,
        "CQEs in order": [c.id for c in s.pair.received] == list(range(5)),
    }


# --- S1e: headers -------------------------------------------------------------------------------------------


def transfer(dialect: str) -> list[verbs.Packet]:
    """Every kind of message, of one and of three packets, over a faithful path."""
    s = Small(dialect=dialect)
    spare = s.pair.remote(8)
    for length in (MTU, 3 * MTU):
        data = s.here[:length]
        for _ in range(4):
            s.pair.receive(s.there[:16])
        s.pair.write(data, s.there)
        s.pair.write(data, s.there, immediate=1)
        s.pair.read(data, s.there)
        s.pair.send(data)
        s.pair.send(data, immediate=1)
        s.pair.send(data, invalidate=spare if length == MTU else s.pair.remote(8))
        s.pair.fetch_add(s.there, 1, s.here[:8])
        s.pair.compare_swap(s.there, 0, 1, s.here[:8])
    if not s.pair.run():
        raise ValueError("the messages did not come to their end")
    return s.pair.sent


@measure("IRN-S1e", needs=[])
def longer_headers(runs):
    table = {d: verbs.header_bytes(d) for d in ("roce", "irn")}
    sent = {d: transfer(d) for d in table}
    more = {k: table["irn"][k] - n for k, n in table["roce"].items()}

    def most_and_least(what: str, *opcodes: str) -> dict[str, int]:
        found = [more[k] for k in opcodes]
        return {f"{what}, least": min(found), f"{what}, most": max(found)}

    sends = [k for k in more if k.startswith("send-")]
    answers = [k for k in more if k.startswith("read-response-")]
    # A NACK names a packet in four more bytes; there is none on a faithful path.
    other = [p for d in sent for p in sent[d] if p.size - p.payload != table[d][p.opcode]]
    return {
        **most_and_least("first packet of a Write", "write-first", "write-only"),
        **most_and_least("other packets", "write-middle", "write-last"),
        **most_and_least("Sends", *sends),
        **most_and_least("Read responses", *answers),
        "opcodes on the path": len({p.opcode for p in sent["irn"]}),
        "packets on the path with other headers": len(other),
        "last packet of a Write with immediate data": more["write-last-immediate"],
    }
