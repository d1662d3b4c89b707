"""Completion times of RC3 and TCP (§2.4.1, Figures 2.7 to 2.12, Table 2.1)."""

from __future__ import annotations

import numpy as np

from thalweg.study import measure, measure_each, seeds

from . import model
from .outcome import S1, S3, S5, S72, S1187, S2107, SIZES, Pair, averages, flows, pair
from .settings import LOSSES, PLACES, at, seeds_of

# Over flows and bytes: TCP's and RC3's mean completion time, s.
LOADS = {
    "i2-10": (0.125, 0.068, 0.423, 0.091),
    "i2-30": (0.135, 0.076, 0.443, 0.114),
    "i2-50": (0.15, 0.088, 0.498, 0.176),
}
LINKS = {
    "100m-40ms": (0.167, 0.11, 0.691, 0.442),
    "100m-400ms": (0.948, 0.567, 3.501, 0.783),
    "i2-30": LOADS["i2-30"],
    "1g-400ms": (0.971, 0.558, 3.59, 0.569),
}
TABLE = {
    "i2-30": LOADS["i2-30"],
    "telstra": (0.159, 0.084, 0.510, 0.111),
    "redclara": (0.17, 0.097, 0.429, 0.098),
    "esnet": (0.207, 0.137, 0.478, 0.0976),
    "workload-2000": (0.0871, 0.0704, 0.238, 0.079),
    "heterogeneous": (0.159, 0.087, 0.541, 0.141),
}
# Where the completion times of TCP's flows of 5 packets stand: 2.5 round trips, s.
STEPS = np.array([2.5 * rtt / 1000 for rtt in (24, 44, 64, 84)])
MEDIUM = SIZES[3:]  # more than the initial window
SMALL = SIZES[:3]


def lost(scale: str) -> tuple[str, ...]:
    return tuple(f"loss-{p:g}" for p in (LOSSES if scale == "full" else LOSSES[-1:]))


def runs(scale: str) -> list:
    places = dict.fromkeys((*LOADS, *LINKS, *TABLE, *lost(scale)))
    both = [at(p, s, scale, seed) for p in places for seed in seeds_of(p, scale) for s in ("tcp", "rc3")]
    levels = [at("100m-40ms", s, scale, 1) for s in ("rc3-1", "rc3-3", "rc3-10")]
    other = [at("i2-30", s, scale, 1) for s in ("rc3-linux", "no-sack", "rc3-no-sack", "cubic", "rc3-cubic")]
    return both + levels + other


AVERAGES = {
    "RC3-F8a-a": "i2-10",
    "RC3-F8a-b": "i2-30",
    "RC3-F8a-c": "i2-50",
    "RC3-F8b-a": "100m-40ms",
    "RC3-F8b-b": "100m-400ms",
    "RC3-F8b-c": "i2-30",
    "RC3-F8b-d": "1g-400ms",
    "RC3-T1b-a": "telstra",
    "RC3-T1c-a": "redclara",
    "RC3-T1d-a": "esnet",
}


@measure_each(AVERAGES, needs=lambda place: [f"{place}:tcp@*", f"{place}:rc3@*"])
def averages_at(runs, place: str):
    return averages(pair(runs, place))


DEFAULT = ["i2-30:tcp@*", "i2-30:rc3@*"]


@measure("RC3-F7-a", needs=DEFAULT)
def gain_and_model(runs):
    p = pair(runs, "i2-30")
    found = p.by_size(MEDIUM)
    off = {s: abs(x - model.gain(s // model.PAYLOAD)) for s, x in found.items()}
    return {
        "smallest %": min(found.values()),
        "largest %": max(found.values()),
        "largest difference from the model": max(off.values()),
        "sizes": len(found),
        "flows of the rarest size": min(p.number(s) for s in MEDIUM),
    } | {f"{s} B (%)": x for s, x in found.items()}


@measure("RC3-F7-b", needs=DEFAULT)
def large_flows_and_model(runs):
    p = pair(runs, "i2-30")
    return {
        "model - measured": model.gain(2107) - p.sized(S2107),
        "model - measured, 1187": model.gain(1187) - p.sized(S1187),
        "flows that decide": p.number(S2107),
    }


@measure("RC3-F7-c", needs=DEFAULT)
def small_flows(runs):
    p = pair(runs, "i2-30")
    found = p.by_size(SMALL)
    return {"smallest %": min(found.values()), "flows that decide": sum(p.number(s) for s in SMALL)} | {
        f"{s} B (%)": x for s, x in found.items()
    }


@measure("RC3-F7-d", needs=DEFAULT)
def error_bars(runs):
    both = zip(seeds(runs, "i2-30:tcp"), seeds(runs, "i2-30:rc3"), strict=True)
    rows = [[p.sized(s) for s in MEDIUM] for p in (Pair(one) for one in both)]
    return {"largest standard deviation": float(np.std(rows, axis=0, ddof=1).max()), "runs": len(rows)}


@measure("RC3-F8a-d", needs=[f"{p}:{s}@*" for p in LOADS for s in ("tcp", "rc3")])
def gain_by_load(runs):
    there = [pair(runs, p) for p in LOADS]
    over = {"flows": [p.flows() for p in there], "bytes": [p.bytes() for p in there]}
    return {f"largest rise, {k}": max(np.diff(x)) for k, x in over.items()} | {
        f"{k}, {p}": x[n] for k, x in over.items() for n, p in enumerate(LOADS)
    }


@measure("RC3-F8a-e", needs=[f"{p}:{s}@*" for p in ("i2-10", "i2-50") for s in ("tcp", "rc3")])
def smallest_by_load(runs):
    low, high = pair(runs, "i2-10"), pair(runs, "i2-50")
    small = {load: p.of(p.size <= S3) for load, p in (("10 %", low), ("50 %", high))}
    return {"50 % - 10 %": small["50 %"] - small["10 %"], "flows that decide": int((low.size <= S3).sum())} | small


@measure("RC3-F8b-e", needs=[f"{p}:{s}@*" for p in ("100m-40ms", "i2-30", "1g-400ms") for s in ("tcp", "rc3")])
def gain_by_pipe(runs):
    small, middle, large = (pair(runs, p) for p in ("100m-40ms", "i2-30", "1g-400ms"))
    return {
        "smallest step of bytes %": min(middle.bytes() - small.bytes(), large.bytes() - middle.bytes()),
        "1 packet: 500 KB - 50 MB": small.sized(S1) - large.sized(S1),
        "flows that decide": min(p.count for p in (small, middle, large)),
    }


@measure("RC3-T1e-a", needs=["workload-2000:*", *DEFAULT])
def other_workload(runs):
    p, usual = pair(runs, "workload-2000"), pair(runs, "i2-30")
    return averages(p) | {"default - 2000 (points)": usual.flows() - p.flows()}


@measure("RC3-T1f-a", needs=["heterogeneous:*"])
def heterogeneous_core(runs):
    return averages(pair(runs, "heterogeneous"))


@measure("RC3-T1f-b", needs=["heterogeneous:*", *DEFAULT])
def heterogeneous_over_uniform(runs):
    p, usual = pair(runs, "heterogeneous"), pair(runs, "i2-30", like="heterogeneous")
    one, other = p.means(), usual.means()
    return {
        "TCP / uniform": one["before"] / other["before"],
        "RC3 / uniform": one["after"] / other["after"],
        "gain - uniform's": p.flows() - usual.flows(),
        "flows that decide": p.count,
    }


@measure("RC3-F9-a", needs=["loss-0.1:*", *DEFAULT])
def slopes_of_loss(runs):
    lossy, usual = pair(runs, "loss-0.1").means(), pair(runs, "i2-30", like="loss-0.1").means()
    slope = {s: lossy[s] - usual[s] for s in ("before", "after")}
    return {
        "RC3's loss / TCP's": slope["after"] / slope["before"],
        "TCP (s)": lossy["before"],
        "RC3 (s)": lossy["after"],
    } | {"flows that decide": pair(runs, "loss-0.1").count}


@measure("RC3-F9-b", needs=["loss-0.1:*", *DEFAULT])
def gain_under_loss(runs):
    p, usual = pair(runs, "loss-0.1"), pair(runs, "i2-30", like="loss-0.1")
    return {"gain - without loss": p.flows() - usual.flows(), "flows that decide": p.count}


@measure("RC3-F10-b", needs=["100m-40ms:tcp@1", "100m-40ms:rc3-3@1", "100m-40ms:rc3-10@1"])
def tens_and_forties(runs):
    tens, forties = (pair(runs, "100m-40ms", s) for s in ("rc3-10", "rc3-3"))
    off = {s: abs(tens.sized(s) - forties.sized(s)) for s in SIZES}
    return {
        "largest difference (points)": max(off.values()),
        "flows of the rarest size": min(tens.number(s) for s in SIZES),
    }


@measure("RC3-P-d", needs=["i2-30:tcp@1", "i2-30:rc3@1", "i2-30:rc3-linux@1"])
def quotas_as_distances(runs):
    linux = pair(runs, "i2-30", "rc3-linux")
    one = Pair((runs["i2-30:tcp@1"], runs["i2-30:rc3@1"]))
    return {"difference (points)": abs(linux.flows() - one.flows()), "flows that decide": linux.count}


@measure("RC3-P-c", needs=["i2-30:tcp@1", "i2-30:rc3@1", "i2-30:no-sack@1", "i2-30:rc3-no-sack@1"])
def without_sack(runs):
    without = Pair((runs["i2-30:no-sack@1"], runs["i2-30:rc3-no-sack@1"]))
    one = Pair((runs["i2-30:tcp@1"], runs["i2-30:rc3@1"]))
    return {
        "gain / that with SACK": without.flows() / one.flows(),
        "flows %": without.flows(),
        "flows that decide": without.count,
    }


@measure("RC3-P-b", needs=["i2-30:cubic@1", "i2-30:rc3-cubic@1"])
def with_cubic(runs):
    return averages(Pair((runs["i2-30:cubic@1"], runs["i2-30:rc3-cubic@1"])))


@measure("RC3-F11-a", needs=DEFAULT)
def every_percentile(runs):
    p = pair(runs, "i2-30")
    worst = -100.0
    for size in (S5, S1187):
        chosen = p.size == size
        for q in (1, 10, 50, 90, 99):
            before, after = (np.percentile(x[chosen], q) for x in (p.before, p.after))
            worst = max(worst, 100 * (after / before - 1))
    return {"largest worsening %": worst, "flows of 7300 B": p.number(S5), "flows of 1.7 MB": p.number(S1187)}


@measure("RC3-F11-b", needs=["i2-30:tcp@*"])
def steps_of_round_trips(runs):
    times = np.concatenate([f.fct[f.done & (f.size == S5)] for f in map(flows, seeds(runs, "i2-30:tcp"))])
    near = (np.abs(times[:, None] / STEPS - 1) <= 0.1).any(axis=1)
    return {"share of flows within 10 % of a step": float(near.mean()), "flows that decide": len(times)}


@measure("RC3-R-a", needs=[f"{p}:{s}@*" for p in dict.fromkeys((*LOADS, *LINKS, *TABLE)) for s in ("tcp", "rc3")])
def gains_everywhere(runs):
    found = {p: pair(runs, p).flows() for p in dict.fromkeys((*LOADS, *LINKS, *TABLE))}
    return {"smallest %": min(found.values()), "largest %": max(found.values())} | {
        f"{PLACES[p].title} %": x for p, x in found.items()
    }


@measure("RC3-SUM-a", needs=DEFAULT)
def common_case(runs):
    p = pair(runs, "i2-30")
    return {
        "flows %": p.flows(),
        "smallest %, 72 to 2107 packets": min(p.by_size([s for s in SIZES if s >= S72]).values()),
    }
