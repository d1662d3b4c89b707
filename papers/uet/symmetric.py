"""Symmetric networks (Figure 3): incasts, a permutation, a tornado, web search, collective operations."""

from __future__ import annotations

from thalweg.study import mean, measure

from .loads import all_to_all, butterfly, ring, web_search
from .outcome import average, finish, last, ratio, unfinished
from .settings import LARGE, MEDIUM, NAMES, OTHERS, SCHEMES, SMALL, marks, permutation, point, tornado

# The artifact of this figure marks from a quarter of a product on to three quarters.
MARKS = marks(25, 76)
INCASTS, WINDOWS, LOADS = (8, 32), (1, 2, 4, 8, 16), (0.4, 0.6, 0.8, 1.0)
SPRAYING = ("reps", "ops", "bitmap", "adaptive")
LOADED = ("reps", "ops", "ecmp", "plb", "bitmap", "adaptive")
SIZES = {"quick": ("8MiB",), "full": ("8MiB", "16MiB")}
JOBS = ("ring", "butterfly")
# Bytes of each flow of a job, as in the artifact.
RING, BUTTERFLY, EXCHANGED = 4_000_000, 20_000_000, 2_000_000


def named(what: str, size: str) -> str:
    """A run's place; the smaller size is the one that is meant where none is named."""
    return what if size == "8MiB" else f"{what}-{size}"


def runs(scale: str) -> list:
    full = scale == "full"
    where, count = (LARGE, 1024) if full else (MEDIUM, 128)
    made = []
    for scheme in SCHEMES:
        for size in SIZES[scale]:
            made.append(point(named("permutation", size), scheme, where | MARKS | {"traffic": permutation(size)}, 1))
            made.append(point(named("tornado", size), scheme, where | MARKS | {"traffic": tornado(size, count)}, 1))
        for n in INCASTS:
            traffic = [{"kind": "incast", "fan_in": n, "size": "8MiB", "receiver": 0}]
            made.append(point(f"incast-{n}", scheme, where | MARKS | {"traffic": traffic}, 1))
    loaded, us = (MEDIUM, 5000) if full else (SMALL, 1000)
    for load in LOADS:
        made += [point(f"web-{load:g}", s, loaded | MARKS | web_search(load, us), 1) for s in LOADED]
    hosts, there = (128, MEDIUM) if full else (32, SMALL)
    for s in (*SPRAYING, "ecmp"):
        made.append(point("ring", s, there | MARKS | ring(hosts, RING), 1))
        made.append(point("butterfly", s, there | MARKS, 1, prepare=butterfly(hosts, BUTTERFLY)))
    for w in WINDOWS:
        for s in ("reps", "ops", "ecmp"):
            made.append(point(f"exchange-{w}", s, there | MARKS, 1, prepare=all_to_all(hosts, w, EXCHANGED)))
    return made


def every(place: str) -> list[str]:
    return [f"{place}:*"]


def times(runs, place: str, schemes=tuple(SCHEMES), value=last) -> dict[str, float]:
    return {s: mean(runs, f"{place}:{s}", value) for s in schemes}


def shown(found: dict[str, float], what: str = "us") -> dict[str, float]:
    return {f"{NAMES[s]} ({what})": x for s, x in found.items()}


@measure("REPS-F3-a", needs=[f"incast-{n}:*" for n in INCASTS])
def incasts(runs):
    out, rest = {}, {}
    for n in INCASTS:
        found = times(runs, f"incast-{n}")
        out[f"{n}:1, slowest / fastest scheme"] = max(found.values()) / min(found.values())
        rest |= {f"{n}:1, {k}": x for k, x in shown(found).items()}
    return out | rest


@measure("REPS-F3-b", needs=["permutation:*", "tornado:*"])
def gains(runs):
    """Over the two patterns."""
    both = ("permutation", "tornado")
    out = {f"largest {NAMES[s]} / REPS": max(ratio(runs, p, s) for p in both) for s in OTHERS}
    return out | {f"{p}, {k}": x for p in both for k, x in shown(times(runs, p)).items()}


@measure("REPS-F3-c", needs=["permutation:*", "tornado:*"])
def against_an_adaptive_switch(runs):
    return {f"{p}, adaptive switch / REPS": ratio(runs, p, "adaptive") for p in ("permutation", "tornado")}


@measure("REPS-F3-d", needs=[f"web-{load:g}:*" for load in LOADS])
def web_search_by_load(runs):
    out = {}
    for load in LOADS:
        found = times(runs, f"web-{load:g}", LOADED, average)
        out[f"load {load:g}, OPS / REPS, mean"] = found["ops"] / found["reps"]
        out[f"load {load:g}, ECMP / REPS, mean"] = found["ecmp"] / found["reps"]
        out[f"load {load:g}, best of the others / REPS, mean"] = min(found[s] for s in LOADED[1:]) / found["reps"]
    out["smallest OPS / REPS"] = min(x for k, x in out.items() if "OPS" in k)
    out["largest ECMP / REPS"] = max(x for k, x in out.items() if "ECMP" in k)
    return out | {"censored": max(mean(runs, f"web-{load:g}:{s}", unfinished) for load in LOADS for s in LOADED)}


@measure("REPS-F3-e", needs=[f"{job}:*" for job in JOBS])
def all_reduce(runs):
    out = {}
    for job in JOBS:
        found = times(runs, job, (*SPRAYING, "ecmp"), finish)
        sprayed = [found[s] for s in SPRAYING]
        out[f"{job}, slowest / fastest that sprays"] = max(sprayed) / min(sprayed)
        out |= {f"{job}, {k}": x for k, x in shown(found).items()}
    return out


@measure("REPS-F3-f", needs=[f"exchange-{w}:*" for w in WINDOWS])
def all_to_all_by_window(runs):
    found = {w: times(runs, f"exchange-{w}", ("reps", "ops", "ecmp"), finish) for w in WINDOWS}
    out = {"largest OPS / REPS": max(x["ops"] / x["reps"] for x in found.values())}
    out["smallest OPS / REPS"] = min(x["ops"] / x["reps"] for x in found.values())
    for w, x in found.items():
        out |= {f"{w} at a time, {k}": v for k, v in shown(x).items()}
    return out
