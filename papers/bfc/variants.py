"""What the paper says of variants in the Clos network: Figures 3-15 to 3-22, E-1, F-4."""

from __future__ import annotations

import itertools

import numpy as np

from thalweg.study import NotCheckable, measure

from .evaluation import BOTH, grid, of
from .fabric import ETAS, GHOSTS, KMINS, TABLES, Point, burst, keys, plain
from .outcome import (
    bins,
    buffer,
    collisions,
    competing,
    drop_rate,
    drops,
    flows,
    long,
    long99,
    peak,
    ratio,
    short,
)

# --- Figures 3-15 to 3-19, 3-21, 3-22, E-1 ------------------------------------------------------------------


@measure("BFC-F15-a", needs=grid(("bfc", "bfc-cc"), ("fb",)))
def control_and_long_flows(runs):
    found = [long99(of(runs, make("fb", "bfc-cc")), "fb") / long99(of(runs, make("fb", "bfc")), "fb") for make in BOTH]
    return {"smallest p99, with / without": min(found), "largest p99, with / without": max(found)}


@measure("BFC-F15-b", needs=grid(("bfc", "bfc-cc"), ("fb",), (burst,)))
def control_and_incasts(runs):
    ours, pure = (of(runs, burst("fb", s)) for s in ("bfc-cc", "bfc"))
    return {
        "p99, with / without": short(ours, "fb") / short(pure, "fb"),
        "peak, with / without": peak(ours) / peak(pure),
    }


@measure("BFC-F16-a", needs=grid(("hpcc-pfc", "hpcc-sfq", "hpcc-dqa"), ("fb",), (burst,)))
def hpcc_with_queues(runs):
    v = {s: short(of(runs, burst("fb", s)), "fb") for s in ("hpcc-pfc", "hpcc-sfq", "hpcc-dqa")}
    return {"SFQ / plain": v["hpcc-sfq"] / v["hpcc-pfc"], "DQA / SFQ": v["hpcc-dqa"] / v["hpcc-sfq"]}


@measure("BFC-F16-c", needs=grid(("bfc", "hpcc-pfc", "hpcc-sfq", "hpcc-dqa"), ("fb",), (burst,)))
def drops_and_memory_with_queues(runs):
    lost = {s: drop_rate(of(runs, burst("fb", s))) for s in ("hpcc-pfc", "hpcc-sfq", "hpcc-dqa")}
    held = {s: buffer(of(runs, burst("fb", s))) for s in ("bfc", "hpcc-sfq", "hpcc-dqa")}
    if max(lost.values()) == 0:
        raise NotCheckable("none of them drops anything in this network")
    found = [lost[s] / max(lost["hpcc-pfc"], 1e-12) for s in ("hpcc-sfq", "hpcc-dqa")]
    out = {"smallest drop rate / plain": min(found), "largest drop rate / plain": max(found)}
    return out | {"smaller buffer / BFC": min(held["hpcc-sfq"], held["hpcc-dqa"]) / held["bfc"]}


@measure("BFC-F16-d", needs=grid(("bfc", "ideal-fq", "hpcc-dqa"), ("fb",), (burst,)))
def dqa_and_bfc(runs):
    v = {s: short(of(runs, burst("fb", s)), "fb") for s in ("bfc", "ideal-fq", "hpcc-dqa")}
    return {"DQA / BFC": v["hpcc-dqa"] / v["bfc"], "DQA / Ideal-FQ": v["hpcc-dqa"] / v["ideal-fq"]}


def classed(s: str) -> Point:
    return plain("fb", s, kind="classes")


@measure("BFC-F17-a", needs=keys(classed("bfc"), classed("dctcp")))
def four_classes(runs):
    ours, other = of(runs, classed("bfc")), of(runs, classed("dctcp"))
    ratios = {c: short(other, "fb", cls=c) / short(ours, "fb", cls=c) for c in range(4)}
    return {"DCTCP / BFC, class 0": ratios[0], "DCTCP / BFC, class 3": ratios[3]} | {
        f"class {c}": ratios[c] for c in (1, 2)
    }


@measure("BFC-F17-b", needs=keys(classed("hpcc")))
def inversion_of_hpcc(runs):
    found = of(runs, classed("hpcc"))
    return {"long of class 0 / short of class 3": long99(found, "fb", 0) / short(found, "fb", cls=3)}


@measure("BFC-F17-c", needs=keys(classed("bfc"), classed("bfc128")))
def queues_per_class(runs):
    few, many = of(runs, classed("bfc")), of(runs, classed("bfc128"))
    found = [v for c in range(3) for v in ratio(bins(many, "fb", cls=c), bins(few, "fb", cls=c)).values()]
    return {"smallest ratio": min(found), "largest ratio": max(found), "mean ratio": float(np.mean(found))}


LOCAL = ("bfc", "ideal-fq", "hpcc", "dctcp")


@measure("BFC-F18-a", needs=keys(*(make("fb", s, kind="local") for make in BOTH for s in LOCAL)))
def spatial_locality(runs):
    tail = {m: {s: short(of(runs, m("fb", s, kind="local")), "fb") for s in LOCAL} for m in BOTH}
    far = {s: long(of(runs, plain("fb", s, kind="local")), "fb") for s in LOCAL}
    return {
        "short, BFC / best end-to-end": max(v["bfc"] / min(v["hpcc"], v["dctcp"]) for v in tail.values()),
        "short without incasts, BFC / Ideal-FQ": tail[plain]["bfc"] / tail[plain]["ideal-fq"],
        "long, HPCC / BFC": far["hpcc"] / far["bfc"],
    }


@measure("BFC-F19-a", needs=grid(("dctcp", "dctcp-ss"), ("fb",), (burst,)))
def slow_start(runs):
    slow, fast = (of(runs, burst("fb", s)) for s in ("dctcp-ss", "dctcp"))
    medians = ratio(bins(slow, "fb", 0.5), bins(fast, "fb", 0.5))
    out = {
        "p99, SS / DCTCP": short(slow, "fb") / short(fast, "fb"),
        "largest median, SS / DCTCP": max(medians.values()),
    }
    return out | {"p99 of the buffer, SS / DCTCP": buffer(slow) / buffer(fast)}


@measure("BFC-F19-c", needs=grid(("bfc", "dctcp-ss"), ("fb",)))
def slow_start_and_bfc(runs):
    found = [short(of(runs, m("fb", "dctcp-ss")), "fb") / short(of(runs, m("fb", "bfc")), "fb") for m in BOTH]
    return {"smallest p99, SS / BFC": min(found)}


@measure("BFC-F21-a", needs=grid(("bfc", "hashed", *GHOSTS), ("fb",), (burst,)))
def stochastic_assignment(runs):
    ours, hashed = (of(runs, burst("fb", s)) for s in ("bfc", "hashed"))
    worse = ratio(bins(hashed, "fb"), bins(ours, "fb"))
    met = {"stochastic": collisions(hashed), "dynamic": collisions(ours)}
    # What Traps 5 is worth: a queue that a flow keeps is no empty one.
    met |= {s: collisions(of(runs, burst("fb", s))) for s in GHOSTS}
    out = {"share of sizes with a worse p99": float(np.mean([v > 1 for v in worse.values()]))}
    out["collisions, stochastic / dynamic"] = met["stochastic"] / max(met["dynamic"], 1e-9)
    out["samples with fewer flows than queues, dynamic"] = float((competing(ours)[0] < 32).mean())
    return out | {f"mean collisions, {k}": v for k, v in met.items()} | {"short": worse.get(3e3, np.nan)}


@measure("BFC-M-f", needs=grid(("bfc", "flow-id"), ("fb",)))
def pausing_by_flow(runs):
    both = {m: [of(runs, m("fb", s)) for s in ("bfc", "flow-id")] for m in BOTH}
    tails = {m: list(ratio(bins(sticky, "fb"), bins(ideal, "fb")).values()) for m, (sticky, ideal) in both.items()}
    means = [long(sticky, "fb") / long(ideal, "fb") for sticky, ideal in both.values()]
    found = [v for of_all in tails.values() for v in of_all]
    out = {"smallest p99, sticky / by flow": min(found), "largest p99, sticky / by flow": max(found)}
    out |= {"largest without incasts": max(tails[plain]), "smallest without incasts": min(tails[plain])}
    return out | {"long, smallest": min(means), "long, largest": max(means)}


def table(n: int) -> Point:
    return burst("fb", "bfc" if n == 100 else f"bfc=table,{n}")


@measure("BFC-F22-a", needs=keys(*(table(n) for n in (*TABLES, 100))))
def flow_tables(runs):
    sizes = sorted((*TABLES, 100))
    tail = [short(of(runs, table(n)), "fb") for n in sizes]
    far = [long(of(runs, table(n)), "fb") for n in sizes]
    rises = max(b / a for a, b in itertools.pairwise(tail))
    out = {"largest p99, next larger / table": rises, "p99, smallest / largest table": tail[0] / tail[-1]}
    return (
        out
        | {"long, largest / smallest": max(far) / min(far)}
        | {f"p99, {n}": v for n, v in zip(sizes, tail, strict=True)}
    )


@measure("BFC-E1-a", needs=grid(("bfc", "no-nic"), ("fb",), (burst,)))
def without_nics(runs):
    ours, without = (of(runs, burst("fb", s)) for s in ("bfc", "no-nic"))
    tails = ratio(bins(without, "fb"), bins(ours, "fb")).values()
    out = {"p99 of the buffer (MB)": buffer(without), "buffer, without / with": buffer(without) / buffer(ours)}
    return out | {
        "drops": drops(without),
        "smallest p99, without / with": min(tails),
        "largest p99, without / with": max(tails),
    }


@measure("BFC-E1-b", needs=grid(("bfc", "bfc=sampling,0.5"), ("fb",), (burst,)))
def sampled_packets(runs):
    ours, half = (of(runs, burst("fb", s)) for s in ("bfc", "bfc=sampling,0.5"))
    tails = ratio(bins(half, "fb"), bins(ours, "fb")).values()
    again = flows(half).again / flows(half).packets
    out = {"share sent again": again, "smallest p99, half / all": min(tails), "largest p99, half / all": max(tails)}
    return out | {"p99 of the buffer, half / all": buffer(half) / buffer(ours)}


# --- App. F -------------------------------------------------------------------------------------------------


@measure("BFC-FF1-c", needs=keys(plain("fb", "bfc", kind="whole")))
def load_of_the_last_hop(runs):
    results = of(runs, plain("fb", "bfc", kind="whole"))
    load = results.tables["ports"].sort("port")["bytes"].to_numpy().astype(float)
    t = results.scenario.to_dict()["topology"]
    hosts = t["leaves"] * t["hosts_per_leaf"]
    last, core = load[1 : 2 * hosts : 2].mean(), load[2 * hosts :].mean()
    return {"last hops / core": last / core}


@measure("BFC-FF4-a", needs=keys(plain("fb", "hpcc"), *(plain("fb", f"hpcc={eta}") for eta in ETAS)))
def etas(runs):
    low, high = (of(runs, plain("fb", f"hpcc={eta}")) for eta in ETAS)
    return {
        "short p99, 0.98 / 0.90": short(high, "fb") / short(low, "fb"),
        "long, 0.98 / 0.90": long(high, "fb") / long(low, "fb"),
    }


@measure("BFC-FF4-b", needs=keys(*(plain("fb", f"dctcp={k}") for k in KMINS)))
def thresholds_of_dctcp(runs):
    low, high = (of(runs, plain("fb", f"dctcp={k}")) for k in KMINS)
    return {
        "short p99, large / small K": short(high, "fb") / short(low, "fb"),
        "long, large / small K": long(high, "fb") / long(low, "fb"),
    }
