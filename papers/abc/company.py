"""A flow that always sends next to flows that send little: 200 of ABC's own (Figure 2-15), a game's messages
(§2.7.6)."""

from __future__ import annotations

import numpy as np

from thalweg.study import floored_percentile, measure

from .outcome import delays, summary, utilisation
from .settings import DOWN, SINGLE, Cell, need_traces, transport

OWN = {"kind": "backlogged", "src": 0, "dst": 1}
# 1 Mb/s in all: each writes a full packet of 1500 B every 2.4 s (5 kb/s), at a phase of its own.
LITTLE, WRITES, EVERY = 200, 58, 2400
MESSAGE = 60  # bytes every 33 ms each way, by UDP
GAME = {"kind": "udp", "rate": f"{MESSAGE * 8 / 0.033:.0f}bps", "payload": "32B", "header": "28B"}
GAMERS = ("abc", "cubic", "cubic-codel")


def limited() -> Cell:
    phases = np.random.default_rng(1).random(LITTLE) * EVERY
    flow = {"kind": "flow", "src": 0, "dst": 1, "size": f"{1448 * WRITES}B", "transport": "little"}
    little = transport(SINGLE) | {"writes": {"first": "1448B", "chunk": "1448B", "every": f"{EVERY}ms"}}
    set = {
        "traffic": [OWN, *(flow | {"start": f"{phase:.3f}ms"} for phase in phases)],
        "transports": {"little": little},
    }
    return Cell("abc", DOWN, "little", set)


def game(scheme: str) -> Cell:
    there, back = GAME | {"src": 0, "dst": 1}, GAME | {"src": 1, "dst": 0}
    return Cell(scheme, DOWN, "game", {"traffic": [OWN, there, back]})


LIMITED = limited()


def runs(scale: str) -> list:
    return [c.spec() for c in (LIMITED, *map(game, GAMERS))]


@measure("ABC-F2.15a", needs=[LIMITED.key, Cell().key])
def two_hundred_limited_flows(runs):
    need_traces()
    u, late, _ = summary(runs[LIMITED.key])
    alone = summary(runs[Cell().key])[1]
    return {"utilisation": u, "p95 / that of one flow": late / alone, "p95 (ms)": late}


def message_p95(results) -> float:
    found = delays(results)
    return floored_percentile(found.ms[found.flow == 1], 95)


@measure("ABC-SLIa", needs=[game(s).key for s in GAMERS])
def messages_of_a_game(runs):
    need_traces()
    late = {s: message_p95(runs[game(s).key]) for s in GAMERS}
    u = {s: utilisation(runs[game(s).key]) for s in GAMERS}
    return {
        "message p95, ABC / Cubic": late["abc"] / late["cubic"],
        "utilisation, ABC / Cubic+CoDel": u["abc"] / u["cubic-codel"],
        "message p95, ABC (ms)": late["abc"],
        "message p95, Cubic+CoDel (ms)": late["cubic-codel"],
    }
