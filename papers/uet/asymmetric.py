"""Networks in which 3 % of the racks' uplinks have half of the speed (Figure 5)."""

from __future__ import annotations

from thalweg.study import measure

from .loads import butterfly, ring, web_search
from .outcome import average, finish, last
from .settings import LARGE, MEDIUM, OTHERS, SCHEMES, SMALL, cables, drawn, marks, permutation, point, slow, tornado
from .symmetric import BUTTERFLY, RING, shown, times

MARKS = marks(25, 76)
SHARE = 0.03


def runs(scale: str) -> list:
    full = scale == "full"
    where, count, sides = (LARGE, 1024, (32, 32)) if full else (MEDIUM, 128, (16, 8))
    there = where | MARKS | slow(drawn(cables(*sides), SHARE, 1))
    loaded, us, few = (MEDIUM, 5000, (16, 8)) if full else (SMALL, 3000, (8, 4))
    busy = loaded | MARKS | slow(drawn(cables(*few), SHARE, 1))
    hosts = 128 if full else 32
    made = []
    for s in SCHEMES:
        made.append(point("slow-permutation", s, there | {"traffic": permutation("8MiB")}, 1))
        made.append(point("slow-tornado", s, there | {"traffic": tornado("8MiB", count)}, 1))
        made.append(point("slow-web-1", s, busy | web_search(1.0, us), 1))
        made.append(point("slow-ring", s, busy | ring(hosts, RING), 1))
        made.append(point("slow-butterfly", s, busy, 1, prepare=butterfly(hosts, BUTTERFLY)))
    return made


def compared(runs, places, value) -> dict[str, float]:
    """The largest ratios over some places, and all times."""
    found = {p: times(runs, p, tuple(SCHEMES), value) for p in places}
    out = {
        "largest ECMP / REPS": max(x["ecmp"] / x["reps"] for x in found.values()),
        "largest OPS / REPS": max(x["ops"] / x["reps"] for x in found.values()),
        "largest best of the others / REPS": max(min(x[s] for s in OTHERS) / x["reps"] for x in found.values()),
    }
    return out | {f"{p}, {k}": v for p, x in found.items() for k, v in shown(x).items()}


@measure("REPS-F5-a", needs=["slow-permutation:*", "slow-tornado:*"])
def patterns(runs):
    return compared(runs, ("slow-permutation", "slow-tornado"), last)


@measure("REPS-F5-b", needs=["slow-web-1:*"])
def web_search_at_full_load(runs):
    return compared(runs, ("slow-web-1",), average)


@measure("REPS-F5-c", needs=["slow-ring:*", "slow-butterfly:*"])
def all_reduce(runs):
    return compared(runs, ("slow-ring", "slow-butterfly"), finish)
