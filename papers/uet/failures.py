"""Cables and switches that die (Figures 8 and 9), and what freezing is worth (appendices)."""

from __future__ import annotations

import numpy as np

from thalweg.study import mean, measure

from .loads import ring, web_search
from .outcome import average, finish, last, lost, ratio, uplinks
from .settings import (
    EXIT_AFTER,
    LARGE,
    MEDIUM,
    RATE,
    SMALL,
    THREE_TIER_WINDOW,
    TRIMMING,
    apart,
    broken,
    cables,
    dead,
    drawn,
    flows,
    hosts,
    marks,
    permutation,
    point,
    reps,
    uplink_ports,
)
from .symmetric import RING, times

MARKS = marks(25, 76)
SURVIVORS = ("reps", "ops", "plb", "mprdma", "bitmap")
CABLES = cables(8, 4)


def of_switch(number: int, leaves: int = 8) -> list:
    return [(f"leaf{a}", f"spine{number}") for a in range(leaves)]


# What dies, and from when on; single ones while packets are under way, shares before.
DYING = {
    "cable": dead(CABLES[:1], "50us"),
    "switch": dead(of_switch(0), "50us"),
    "both": dead([*of_switch(0), ("leaf0", "spine1")], "50us"),
    "cables-5": broken(drawn(CABLES, 0.05, 1)),
    "cables-10": broken(drawn(CABLES, 0.1, 1)),
    "switch-and-cables": dead(dict.fromkeys([*of_switch(3), *drawn(CABLES, 0.05, 1)])),
}
# What crosses a spine goes one link up.
LOSS = {"kind": "independent", "probability": 0.01}
ERRORS = {"link": [{"which": "core-links", "direction": "forward", "loss": LOSS}]}
WORK = {"permutation": last, "web": average, "ring": finish}

# % of the cables, Figure 9
SHARES = {"quick": (0, 10, 30, 50), "full": (0, 10, 20, 30, 40, 50)}
SWEPT = ("reps", "plb", "ops")


def work(name: str, full: bool) -> dict:
    made = {"permutation": {"traffic": permutation("8MiB")}, "web": web_search(1.0, 3500 if full else 500)}
    return made[name] if name in made else ring(32, RING if full else RING // 4)


def watched(ports: list[int]) -> dict:
    return {f"measure.{table}": {"every": "1us", "ports": ports} for table in ("queues", "links")}


def runs(scale: str) -> list:
    full = scale == "full"
    made = []
    there = SMALL | MARKS | {"run.until": "1s"}
    for name in WORK:
        for mode, fault in (DYING | {"errors": ERRORS, "whole": {}}).items():
            look = watched(uplink_ports(32, 0, 4)) if (name, mode) == ("permutation", "cable") else {}
            made += [point(f"{mode}:{name}", s, there | work(name, full) | fault | look, 1) for s in SURVIVORS]
    return made + extreme(full) + freezing(full)


def extreme(full: bool) -> list:
    """Figure 9. As many racks as uplinks, so that few flows have their two racks in common."""
    where, sides, size = (LARGE, (32, 32), "32MiB") if full else (hosts(16, 16), (16, 16), "8MiB")
    made = []
    for share in SHARES["full" if full else "quick"]:
        fault = broken(apart(cables(*sides), share / 100, 1)) if share else {}
        set = where | {"traffic": permutation(size), "run.until": "1s"} | fault
        made += [point(f"dead-{share}", s, set, 1, trimming=TRIMMING) for s in SWEPT]
    return made


RACK4 = {"scenario": "three-tiers"}
PLAIN = {"exit_after": EXIT_AFTER}
OUTAGE = "10ms"


def freezing(full: bool) -> list:
    """Three of four uplinks die one after the other; a cable in a hundred, and none; one for 10 ms; all at once for
    an instant, so that every flow freezes."""
    made = []
    tiers = {"transport.window.products": THREE_TIER_WINDOW}
    rack = tiers | {"traffic": flows(((i, 64 + i) for i in range(4)), "32MiB"), "run.until": "2s"}
    gone = [dead([("edge0", f"agg{n}")], f"{100 + 200 * n}us")["incident"][0] for n in range(3)]
    for s in ("reps", "ops"):
        made.append(point("one-left", s, rack | {"incident": gone, "routing.convergence": "10s"}, 1, **RACK4))
    kinds = {"reps": reps(**PLAIN), "no-freeze": reps(freeze=False)}
    for s, kind in kinds.items():
        set = MEDIUM | MARKS | {"traffic": permutation("8MiB")} | kind
        made.append(point("no-failure", s, set, 1))
        made.append(point("dead-1", s, set | broken(drawn(cables(16, 8), 0.01, 1)) | {"run.until": "1s"}, 1))
    out = tiers | {"traffic": flows(((i, 64 + i) for i in range(4)), "640MiB"), "run.until": "10500us"}
    out |= dead([("edge0", "agg1")], "200us", "10200us") | {"run.stop_when_done": False}
    for s, kind in (kinds | {"ops": {}}).items():
        made.append(point("outage", s, out | kind, 1, **RACK4))
    blink = [c["incident"] for c in (dead([c], "20us", "20200ns") for c in cables(16, 8))]
    forced = {"incident": [c[0] for c in blink], "routing.convergence": "10s"}
    kept = MEDIUM | {"traffic": permutation("16MiB")} | reps(exit_after="10ms")
    made.append(point("frozen", "reps", kept | forced, 1))
    made.append(point("frozen", "thawed", kept | forced | reps(freeze=False), 1))
    return made


# --- Figure 8 -----------------------------------------------------------------------------------------------

PLACES = [f"{mode}:{name}" for mode in DYING for name in WORK]


def value_of(place: str):
    return WORK[place.rpartition(":")[2]]


@measure("REPS-F8-a", needs=[f"{p}:*" for p in PLACES])
def best_where_something_dies(runs):
    out = {}
    for place in PLACES:
        found = times(runs, place, SURVIVORS, value_of(place))
        out[f"{place}, REPS / best of the others"] = found["reps"] / min(found[s] for s in SURVIVORS[1:])
    return {"largest REPS / best of the others": max(out.values())} | out


@measure("REPS-F8-b", needs=[f"{p}:{s}@*" for p in PLACES for s in ("reps", "ops")])
def against_chance_where_something_dies(runs):
    out = {f"{p}, OPS / REPS": ratio(runs, p, "ops", value_of(p)) for p in PLACES}
    return {"largest OPS / REPS": max(out.values())} | out


@measure("REPS-F8-c", needs=[f"{p}:{s}@*" for p in PLACES for s in ("reps", "ops")])
def losses_where_something_dies(runs):
    out = {f"{p}, packets lost, OPS / REPS": ratio(runs, p, "ops", lost) for p in PLACES}
    return {"largest ratio of packets lost, OPS / REPS": max(out.values())} | out


@measure("REPS-F8-d", needs=[f"{mode}:{name}:*" for name in WORK for mode in ("errors", "whole")])
def random_loss(runs):
    out = {}
    for name, value in WORK.items():
        found = times(runs, f"errors:{name}", SURVIVORS, value)
        out[f"{name}, REPS / OPS"] = found["reps"] / found["ops"]
        out[f"{name}, REPS with / without errors"] = found["reps"] / mean(runs, f"whole:{name}:reps", value)
    return {"largest REPS / OPS": max(x for k, x in out.items() if "OPS" in k)} | out


def into_the_dead(results, begin: float, end: float) -> float:
    """Packets that went into the dead cable between two instants (us)."""
    found = uplinks(results)
    a, b = np.searchsorted(found.at, (begin, end))
    dropped = found.dropped[:, 0]
    return float(dropped[min(b, len(dropped) - 1)] - dropped[a])


@measure("REPS-F8-e", needs=["cable:permutation:reps@*", "cable:permutation:ops@*"])
def recovery(runs):
    out = {}
    for s, name in (("reps", "REPS"), ("ops", "OPS")):
        early = mean(runs, f"cable:permutation:{s}", lambda r: into_the_dead(r, 50, 150))
        late = mean(runs, f"cable:permutation:{s}", lambda r: into_the_dead(r, 150, last(r)))
        out[f"{name}, lost after 100 us / before"] = late / early
        out |= {f"{name}, before (packets)": early, f"{name}, after (packets)": late}
    return out


# --- Figure 9 -----------------------------------------------------------------------------------------------


def ideal(results, share: float) -> float:
    """As the artifact has it: the size at line rate and 20 us, over what is left of the cables, us."""
    size = float(results.flows["size"].max())
    return (size * 8 / RATE * 1e6 + 20) / (1 - share / 100)


@measure("REPS-F9-a", needs=["dead-?:reps@*", "dead-?0:reps@*"])
def near_ideal(runs):
    shares = SHARES[runs.scale]
    over = {x: mean(runs, f"dead-{x}:reps", lambda r, x=x: last(r) / ideal(r, x)) for x in shares}
    out = {"largest, last flow / ideal": max(over.values())}
    out |= {f"{x} % dead, last flow / ideal": v for x, v in over.items()}
    mean_over = {x: mean(runs, f"dead-{x}:reps", lambda r, x=x: average(r) / ideal(r, x)) for x in shares}
    return out | {f"{x} % dead, mean / ideal": v for x, v in mean_over.items()}


@measure("REPS-F9-b", needs=[f"dead-{x}:{s}@*" for x in ("?", "?0") for s in SWEPT])
def second_best(runs):
    found = {x: times(runs, f"dead-{x}", SWEPT) for x in SHARES[runs.scale]}
    out = {
        "smallest PLB / REPS": min(t["plb"] / t["reps"] for x, t in found.items() if x),
        "smallest OPS / PLB": min(t["ops"] / t["plb"] for x, t in found.items() if x),
    }
    return out | {f"{x} % dead, {s} (us)": v for x, t in found.items() for s, v in t.items()}


# --- Appendices ---------------------------------------------------------------------------------------------


@measure("REPS-AA-a", needs=["frozen:*"])
def frozen_all_along(runs):
    found = {s: mean(runs, f"frozen:{s}", last) for s in ("reps", "thawed")}
    return {"frozen / not": found["reps"] / found["thawed"]} | {f"{s} (us)": x for s, x in found.items()}


@measure("REPS-AC-a", needs=["one-left:*"])
def one_uplink_left(runs):
    found = {s: mean(runs, f"one-left:{s}", last) for s in ("reps", "ops")}
    return {"OPS / REPS": found["ops"] / found["reps"]} | {f"{s} (us)": x for s, x in found.items()}


@measure("REPS-AC-b", needs=["no-failure:*", "dead-1:reps@*", "dead-1:no-freeze@*"])
def worth_of_freezing(runs):
    out = {}
    for place, name in (("dead-1", "1 % dead"), ("no-failure", "none dead")):
        found = {s: mean(runs, f"{place}:{s}", last) for s in ("reps", "no-freeze")}
        out[f"{name}, without / with freezing"] = found["no-freeze"] / found["reps"]
        out |= {f"{name}, {s} (us)": x for s, x in found.items()}
    return out


@measure("REPS-AC-c", needs=["outage:*"])
def losses_of_an_outage(runs):
    return {f"{s} (packets)": mean(runs, f"outage:{s}", lost) for s in ("reps", "no-freeze", "ops")}
