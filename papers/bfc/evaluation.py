"""What the paper says of the Clos network: Figures 3-9 to 3-22, E-1, F-1 to F-6."""

from __future__ import annotations

import itertools

import numpy as np

from thalweg.study import measure

from .fabric import ALL, DEGREES, FEASIBLE, LOADS, MAIN, Point, burst, keys, plain
from .outcome import (
    SHORT,
    bins,
    buffer,
    competing,
    drop_rate,
    drops,
    flows,
    long,
    mean,
    p,
    paused,
    ratio,
    short,
    unfinished,
)
from .settings import NAMES

BOTH = (plain, burst)
END_TO_END = ("hpcc", "dctcp", "dcqcn")


def of(runs, point: Point):
    return runs[point.key]


def schemes(make, workload: str, names) -> dict[str, Point]:
    return {s: make(workload, s) for s in names}


def values(runs, points: dict, what, *more) -> dict:
    return {s: what(of(runs, pt), *more) for s, pt in points.items()}


def grid(names, workloads=("google", "fb"), makes=BOTH) -> list[str]:
    return keys(*(make(w, s) for w in workloads for make in makes for s in names))


# --- Headlines ----------------------------------------------------------------------------------------------


def over_bfc(runs, what) -> dict[str, float]:
    found = {}
    for w in ("google", "fb"):
        for make in BOTH:
            ours = what(of(runs, make(w, "bfc")), w)
            for s in END_TO_END:
                where = f"{NAMES[s]}, {w}{', incasts' if make is burst else ''}"
                found[where] = what(of(runs, make(w, s)), w) / ours
    return found


@measure("BFC-H-a", needs=grid(("bfc", *END_TO_END)))
def short_tails_over_bfc(runs):
    found = over_bfc(runs, short)
    return {"smallest ratio": min(found.values()), "largest ratio": max(found.values())} | found


@measure("BFC-H-b", needs=grid(("bfc", *END_TO_END)))
def long_means_over_bfc(runs):
    found = over_bfc(runs, long)
    return {"smallest ratio": min(found.values()), "largest ratio": max(found.values())} | found


@measure("BFC-H-d", needs=grid(("bfc", "ideal-fq"), makes=(plain,)))
def over_ideal_fq(runs):
    return {"largest ratio": max(max(like_ideal(runs, w).values()) for w in ("google", "fb"))}


def like_ideal(runs, w: str, make=plain) -> dict[float, float]:
    return ratio(bins(of(runs, make(w, "bfc")), w), bins(of(runs, make(w, "ideal-fq")), w))


# --- Figures 3-9, 3-10, F-6: Google -------------------------------------------------------------------------


@measure("BFC-F9-a", needs=grid(ALL, ("google",)))
def dcqcn_is_worst(runs):
    out = {}
    for name, level in (("p99", 0.99), ("mean", None)):
        for make, where in ((burst, ", incasts"), (plain, "")):
            found = values(runs, schemes(make, "google", ALL), short, "google", level)
            credits = found.pop("expresspass")
            dcqcn = found.pop("dcqcn")
            out[f"{name}, DCQCN / largest of the others{where}"] = dcqcn / max(*found.values(), credits)
            out[f"{name}, DCQCN / largest but ExpressPass{where}"] = dcqcn / max(found.values())
    return out


@measure("BFC-F9-b", needs=grid(("dctcp", "dcqcn", "ideal-fq"), ("google",)))
def dctcp_in_between(runs):
    out = {"DCTCP / DCQCN": 0.0, "DCTCP / Ideal-FQ": np.inf}
    for make in BOTH:
        f = values(runs, schemes(make, "google", ("dctcp", "dcqcn", "ideal-fq")), short, "google")
        out["DCTCP / DCQCN"] = max(out["DCTCP / DCQCN"], f["dctcp"] / f["dcqcn"])
        out["DCTCP / Ideal-FQ"] = min(out["DCTCP / Ideal-FQ"], f["dctcp"] / f["ideal-fq"])
    return out


@measure("BFC-F9-c", needs=grid(END_TO_END, ("google",), (burst,)))
def hpcc_among_end_to_end(runs):
    points = schemes(burst, "google", END_TO_END)
    tail, held = values(runs, points, short, "google"), values(runs, points, buffer)
    stopped = {s: sum(paused(of(runs, pt)).values()) for s, pt in points.items()}
    named = (("p99", tail), ("buffer", held), ("paused", stopped))
    return {f"{n}, HPCC / smaller of the others": v["hpcc"] / min(v["dcqcn"], v["dctcp"]) for n, v in named}


def short_bins(runs, make, s: str) -> dict[float, float]:
    return {k: v for k, v in bins(of(runs, make("google", s)), "google").items() if k <= 8e3}


@measure("BFC-F9-d", needs=grid(("hpcc", "bfc"), ("google",), (burst,)))
def hpcc_with_incasts(runs):
    found = ratio(short_bins(runs, burst, "hpcc"), short_bins(runs, burst, "bfc")).values()
    return {"smallest ratio": min(found), "largest ratio": max(found)}


@measure("BFC-F10-d", needs=grid(("hpcc", "bfc"), ("google",), (plain,)))
def hpcc_without_incasts(runs):
    found = ratio(short_bins(runs, plain, "hpcc"), short_bins(runs, plain, "bfc")).values()
    return {"smallest ratio": min(found), "largest ratio": max(found)}


@measure("BFC-F9-e", needs=grid(END_TO_END, ("google",)))
def long_flows_of_hpcc(runs):
    found = []
    for make in BOTH:
        v = values(runs, schemes(make, "google", END_TO_END), long, "google")
        found.append(v["hpcc"] / max(v["dcqcn"], v["dctcp"]))
    return {"mean, HPCC / larger of the others": min(found)}


@measure("BFC-F9-h", needs=grid(MAIN, ("google", "fb"), (burst,)))
def memory_of_ideal_fq(runs):
    out = {}
    for w in ("google", "fb"):
        held = values(runs, schemes(burst, w, MAIN), buffer)
        out[f"p99 of Ideal-FQ (MB), {w}"] = held["ideal-fq"]
        out[f"others / Ideal-FQ, {w}"] = max(v for s, v in held.items() if s != "ideal-fq") / held["ideal-fq"]
    return {
        "largest p99 (MB)": max(out["p99 of Ideal-FQ (MB), google"], out["p99 of Ideal-FQ (MB), fb"]),
        "largest of the others / Ideal-FQ": max(v for k, v in out.items() if k.startswith("others")),
    } | out


def best_of(runs, workload: str, make, level: float | None = 0.99) -> dict[float, float]:
    """By size class outside 200 KB to 1 MB: BFC over the best of the other feasible schemes, by a percentile
    or (None) the mean. (Published: but for ExpressPass at the tail of short flows.)"""
    found = {s: bins(of(runs, make(workload, s)), workload, level) for s in (*FEASIBLE, "expresspass")}
    shared = [b for b in found["bfc"] if all(b in v for v in found.values()) and not 200e3 < b <= 1.1e6]
    out = {}
    for b in shared:
        others = [s for s in found if s != "bfc" and not (s == "expresspass" and level and b <= SHORT[workload][1])]
        out[b] = found["bfc"][b] / min(found[s][b] for s in others)
    return out


@measure("BFC-F9-i", needs=grid((*FEASIBLE, "expresspass"), ("google",)))
def best_feasible(runs):
    tails = [v for make in BOTH for v in best_of(runs, "google", make).values()]
    means = [v for make in BOTH for v in best_of(runs, "google", make, None).values()]
    held = values(runs, schemes(burst, "google", FEASIBLE), buffer)
    return {
        "largest p99 / best other": max(tails),
        "largest mean / best other": max(means),
        "p99 of the buffer / best other": held["bfc"] / min(v for s, v in held.items() if s != "bfc"),
    }


@measure("BFC-F9-k", needs=grid(("bfc", "ideal-fq"), ("google",), (burst,)))
def cost_by_size(runs):
    found = like_ideal(runs, "google", burst)
    edges = sorted(found)
    out = {"largest step to the next larger size": max(found[b] - found[a] for a, b in itertools.pairwise(edges))}
    return out | {f"up to {b / 1e3:g} KB": found[b] for b in edges}


@measure("BFC-F9-l", needs=grid(END_TO_END, ("google", "fb"), (burst,)))
def paused_with_incasts(runs):
    found = {
        f"{NAMES[s]}, {w}": max(paused(of(runs, burst(w, s))).values()) for w in ("google", "fb") for s in END_TO_END
    }
    return {"smallest share": min(found.values())} | found


@measure("BFC-F10-a", needs=grid(END_TO_END, ("google",), (plain,)))
def paused_without_incasts(runs):
    found = {NAMES[s]: max(paused(of(runs, plain("google", s))).values()) for s in END_TO_END}
    return {"largest share": max(found.values())} | found


@measure("BFC-F10-b", needs=grid(("bfc", "ideal-fq"), ("google",), (plain,)))
def tracks_ideal_fq(runs):
    found = like_ideal(runs, "google").values()
    return {"smallest ratio": min(found), "largest ratio": max(found)}


@measure("BFC-F10-c", needs=grid(("bfc",), ("google",)))
def active_flows(runs):
    without, along = (competing(of(runs, make("google", "bfc")))[0] for make in BOTH)
    return {
        "share of samples below 32": float((without < 32).mean()),
        "p99, incasts - none": float(np.quantile(along, 0.99) - np.quantile(without, 0.99)),
        "p99.9, incasts": float(np.quantile(along, 0.999)),
    }


@measure("BFC-F10-f", needs=grid(("bfc", "ideal-fq"), ("google",), (plain,)))
def long_and_medium_tails(runs):
    out = {}
    for s in ("bfc", "ideal-fq"):
        found = flows(of(runs, plain("google", s)))
        tail = p(found.of(256e3, np.inf))
        out[f"{NAMES[s]}: long / medium"] = tail / p(found.of(16e3, 256e3))
    return out


@measure("BFC-FF6-a", needs=grid((*FEASIBLE, "expresspass"), ("google",), (burst,)))
def incast_flows(runs):
    names = (*FEASIBLE, "expresspass")
    found = {s: p(flows(of(runs, burst("google", s))).of(0, np.inf, incast=True)) for s in names}
    others = {s: v for s, v in found.items() if s != "bfc"}
    return {"HPCC / BFC": found["hpcc"] / found["bfc"], "BFC / best other": found["bfc"] / min(others.values())}


# --- Figures 3-12, 3-13, F-5 --------------------------------------------------------------------------------

QUICK_LOADS = [Point("fb", s, load) for load in LOADS["quick"] for s in ("bfc", "bfc128", "ideal-fq", "dctcp")]


def outstanding(results) -> tuple[float, float]:
    """MB of flows under way: mean of the second quarter of the arrivals, and of the last."""
    start, end = results.seconds("start"), results.seconds("acked")
    size = results.flows["size"].to_numpy().astype(float)
    end = np.where(np.isfinite(end), end, np.inf)
    last = start.max()
    at = np.linspace(0, last, 401)
    under = np.array([size[(start <= t) & (end > t)].sum() for t in at]) / 1e6
    return float(under[100:200].mean()), float(under[300:].mean())


def growth(results) -> float:
    before, after = outstanding(results)
    return after / max(before, 1e-9)


@measure("BFC-F12-a", needs=keys(Point("fb", "hpcc", 70), Point("fb", "hpcc", 80)))
def growth_of_hpcc(runs):
    return {f"growth at {load} %": growth(of(runs, Point("fb", "hpcc", load))) for load in (70, 80)}


@measure("BFC-F12-b", needs=keys(*QUICK_LOADS))
def stable_loads(runs):
    left = {f"{NAMES[pt.scheme]}, {pt.load} %": unfinished(of(runs, pt)) for pt in QUICK_LOADS}
    most = max(QUICK_LOADS, key=lambda pt: growth(of(runs, pt)))
    return {"flows without end": sum(left.values()), "largest growth": growth(of(runs, most))}


@measure("BFC-F12-c", needs=keys(*(Point("fb", s, load) for load in (70, 80) for s in ("bfc", "dctcp", "hpcc"))))
def loads_up_to_80(runs):
    out = {}
    for load in (70, 80):
        found = {s: short(of(runs, Point("fb", s, load)), "fb") for s in ("bfc", "dctcp", "hpcc")}
        out[f"p99 at {load} %"] = found["bfc"]
        out[f"BFC / best other at {load} %"] = found["bfc"] / min(found["dctcp"], found["hpcc"])
        tall = {s: long(of(runs, Point("fb", s, load)), "fb") for s in ("bfc", "dctcp", "hpcc")}
        out[f"long, BFC / best other at {load} %"] = tall["bfc"] / min(tall["dctcp"], tall["hpcc"])
    return out


@measure("BFC-F12-d", needs=keys(*(Point("fb", s, load) for load in (80, 95) for s in ("bfc", "ideal-fq"))))
def load_of_95(runs):
    tail = {load: short(of(runs, Point("fb", "bfc", load)), "fb") for load in (80, 95)}
    far = {s: long(of(runs, Point("fb", s, 95)), "fb") for s in ("bfc", "ideal-fq")}
    return {"p99, 95 % / 80 %": tail[95] / tail[80], "long, BFC / Ideal-FQ": far["bfc"] / far["ideal-fq"]}


@measure("BFC-F12-e", needs=keys(*(Point("fb", s, load) for load in (90, 95) for s in ("bfc", "bfc128"))))
def more_queues_at_high_load(runs):
    found = [
        short(of(runs, Point("fb", "bfc128", load)), "fb") / short(of(runs, Point("fb", "bfc", load)), "fb")
        for load in (90, 95)
    ]
    return {"largest p99, 128 / 32": max(found)}


@measure("BFC-F13-b", needs=keys(*(Point("fb", s, 55, 2000) for s in ("bfc", "hpcc"))))
def high_degree(runs):
    found = {s: short(of(runs, Point("fb", s, 55, 2000)), "fb") for s in ("bfc", "hpcc")}
    return {"p99, BFC / HPCC": found["bfc"] / found["hpcc"]}


def drop_points(most: int) -> list[Point]:
    made = [Point("fb", s, 55, d) for d in (*DEGREES["quick"], 100) for s in ("bfc", "bfc128") if d <= most]
    made += [make(w, "bfc") for w in ("google", "fb") for make in BOTH]
    return [pt for pt in dict.fromkeys(made) if not (pt.scheme == "bfc128" and pt.incast == 100)]


def dropped(runs) -> dict[str, float]:
    most = Point("fb", "bfc", 55, 2000)
    return {
        "drops up to 1000-to-1": sum(drops(of(runs, pt)) for pt in drop_points(1000)),
        "share at 2000-to-1": drop_rate(of(runs, most)),
    }


@measure("BFC-M-h", needs=keys(*drop_points(2000)))
def drops_of_bfc(runs):
    return dropped(runs)


@measure("BFC-F13-c", needs=keys(Point("fb", "bfc", 55, 1000), Point("fb", "bfc", 55, 2000)))
def drops_by_degree(runs):
    below, most = (of(runs, Point("fb", "bfc", 55, d)) for d in (1000, 2000))
    return {"drops at 1000": drops(below), "share at 2000": drop_rate(most)}


@measure("BFC-FF5-b", needs=keys(burst("fb", "bfc"), burst("fb", "label")))
def labelled_incasts(runs):
    found = {s: mean(flows(of(runs, burst("fb", s))).of(0, np.inf, incast=True)) for s in ("bfc", "label")}
    return {"mean, label / BFC": found["label"] / found["bfc"]}
