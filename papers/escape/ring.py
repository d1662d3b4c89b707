"""RING3 (Figure 4.6): three switches, each host sends two switches on; deadlock, fluctuation, pools,
thresholds, HPCC."""

from __future__ import annotations

import itertools

import numpy as np

from thalweg.study import measure

from .numbers import TOLD, Seen
from .settings import XOFF, backlogged, hpcc, run, sampled, scheme

PAIRS = ((0, 2), (1, 0), (2, 1))
# s1 -> s2, s2 -> s3, s3 -> s1: l1 to l3.
LINKS = (6, 8, 10)
MS = 20
TENFOLD = 10
POOLS = (1, 4, 8, 32)
PERIODS = (1, 2, 4, 8)
SEEDS = range(1, 9)  # of the switches' clocks
RING = {"topology.file": "ring.csv", "measure.pauses": True}
GAPS = {"XON 10 %": XOFF // 10, "XON XOFF - 2 MTU": XOFF - 2 * 1048}


def way(src: int) -> list[int]:
    return [3 + (src + hop) % 3 for hop in range(3)]


def ring(flows: int, ms: float = MS, start_us: float = 0, until_us: float | None = None):
    """So many backlogged flows of each host: what is set, and their paths."""
    pairs = [pair for pair in PAIRS for _ in range(flows)]
    return backlogged(pairs, start_us, until_us), [way(a) for a, _ in pairs]


def greedy(name: str, flows: int, set: dict, ms: float = MS, seed: int = 1):
    traffic, paths = ring(flows)
    more = RING | sampled(len(paths), ms) | {"traffic": traffic}
    if "switch.pfc" not in set:
        more.pop("measure.pauses")
    return run(name, more | set, seed, paths=paths)


def joined(name: str, set: dict, ms: float = 100):
    """Two flows of each host with HPCC; at 50 ms 14 more (§4.6.1)."""
    first, a = ring(2)
    second, b = ring(14, start_us=50_000)
    set = RING | sampled(len(a + b), ms) | {"traffic": first + second} | hpcc(32) | set
    set |= {"measure.queues": {"every": "100us"}}
    return run(name, set, paths=a + b)


TESTBED = {"xoff": 125_000, "xon": 10_000}
SLOW = {"topology.file": "ring-10.csv"}
CC_XOFF = sorted({25_000, 50_000, 100_000, 250_000, XOFF})
# HPCC keeps an input below 92 KB. Escape is looked at with the largest of these at which PFC alone stands still.
JOINED_XOFF = 50_000


def runs(scale: str) -> list:
    made = [greedy(f"greedy-{n}:{s}", n, scheme(s)) for n in (1, TENFOLD) for s in ("pfc", "escape", "ideal")]
    made += [greedy(f"pool-{p}:escape", TENFOLD, scheme("escape", xoff=100_000, pool=p)) for p in POOLS]
    made += [greedy(f"pool-{p}-{n}:escape", n, scheme("escape", xoff=100_000, pool=p)) for p in POOLS for n in (1, 5)]
    made += [
        greedy(f"period-{p}:escape", TENFOLD, scheme("escape", period=f"{p}us"), seed=n) for p in PERIODS for n in SEEDS
    ]
    made += [greedy(f"gap-{n}:escape", TENFOLD, scheme("escape", xon=xon)) for n, xon in enumerate(GAPS.values())]
    made.append(greedy("paper:escape", TENFOLD, scheme("escape", order="paper", reclaim="paper")))
    made.append(
        greedy("published:escape", TENFOLD, scheme("escape", order="paper", reclaim="paper", arithmetic="literal"))
    )
    made += [joined(f"joined-{x // 1000}:pfc", scheme("pfc", xoff=x)) for x in CC_XOFF]
    made.append(joined("joined:escape", scheme("escape", xoff=JOINED_XOFF)))
    for seed in range(1, 4):
        for s in ("pfc", "escape"):
            traffic, paths = ring(TENFOLD)
            # Other instants in every repetition; flows are numbered by their starts.
            starts = [(n * 7919 * seed) % 50_000 for n in range(len(traffic))]
            order = sorted(range(len(traffic)), key=starts.__getitem__)
            traffic = [traffic[n] | {"start": f"{starts[n]}ns"} for n in order]
            paths = [paths[n] for n in order]
            set = RING | SLOW | sampled(len(paths), 60) | {"traffic": traffic} | scheme(s, 10, **TESTBED)
            made.append(run(f"testbed-{s}:{s}", set, seed=seed, paths=paths))
    # Nothing is ever held back: all that there is stays below XOFF.
    few = [{"kind": "flow", "src": a, "dst": b, "size": "400KB"} for a, b in PAIRS for _ in range(2)]
    for s in ("pfc", "escape"):
        set = RING | {"traffic": few, "run.until": "5ms"} | scheme(s, xoff=4_000_000)
        made.append(run(f"calm:{s}", set, paths=[way(a) for a, _ in PAIRS for _ in range(2)]))
    # Everything ends: every token has to.
    ends = [{"kind": "flow", "src": a, "dst": b, "size": "2MB"} for a, b in PAIRS for _ in range(TENFOLD)]
    set = RING | {"traffic": ends, "run.until": "40ms"} | scheme("escape", xoff=100_000)
    made.append(run("ends:escape", set, paths=[way(a) for a, _ in PAIRS for _ in range(TENFOLD)]))
    return made


def of(runs, name: str, seed: int = 1) -> Seen:
    return Seen(runs[f"{name}@{seed}"])


def k(*names: str) -> list[str]:
    return [name if "@" in name else f"{name}@1" for name in names]


def utilisation(runs, name: str, begin: float = 0.25, ms: float = MS, seed: int = 1) -> list[float]:
    seen = of(runs, name, seed)
    end = ms * 1e-3
    return [seen.used(port, begin * end, end) for port in LINKS]


SAFE = k("greedy-1:escape", "greedy-10:escape", "joined:escape", "ends:escape")


@measure("ESC-A2", needs=k("greedy-10:escape"))
def mean_utilisation(runs):
    return float(np.mean(utilisation(runs, "greedy-10:escape")))


@measure("ESC-TH2", needs=SAFE)
def never_drops(runs):
    found = [Seen(runs[key]) for key in SAFE]
    return {
        "dropped": sum(s.dropped() for s in found),
        "fullest input, of its limit": max(s.fullest() for s in found if s.summary.get("memory")),
    }


@measure("ESC-TH3", needs=[*SAFE, *k("paper:escape")])
def never_reorders(runs):
    safe = sum(Seen(runs[key]).relief["reordered"] for key in SAFE)
    return {"reordered": safe, "as published": of(runs, "paper:escape").relief["reordered"]}


@measure("ESC-TH4", needs=k("ends:escape"))
def every_token_ends(runs):
    found = of(runs, "ends:escape").relief
    ended = found["lifted"] + found["ended_pool"] + found["ended_source"]
    return {
        "created - ended": found["tokens"] - ended,
        "furthest (hops)": found["furthest"],
        "tokens": found["tokens"],
        "flows unfinished": int(runs["ends:escape@1"].flows["received_ps"].null_count()),
    }


@measure("ESC-EFC", needs=k("calm:pfc", "calm:escape"))
def idle_without_blocking(runs):
    with_, without = of(runs, "calm:escape"), of(runs, "calm:pfc")
    return {
        "pauses": with_.summary["pauses"]["frames"],
        "signals": with_.relief["signals"],
        "same digest": int(with_.results.digest == without.results.digest),
    }


@measure("ESC-DEF", needs=SAFE)
def frames_per_token(runs):
    found = [Seen(runs[key]).relief for key in SAFE]
    return {
        "most lifted per token": max(f["lifted"] / max(f["tokens"], 1) for f in found),
        "lifted": sum(f["lifted"] for f in found),
    }


@measure("ESC-PAR", needs=[f"period-{p}:escape@{n}" for p in PERIODS for n in SEEDS])
def periods(runs):
    seen = [of(runs, f"period-{p}:escape", n) for p in PERIODS for n in SEEDS]
    used = {p: [float(np.mean(utilisation(runs, f"period-{p}:escape", seed=n))) for n in SEEDS] for p in PERIODS}
    late = [np.mean(used[b]) / np.mean(used[a]) for a, b in itertools.pairwise(PERIODS[1:])]
    out = {
        "cycles that stand": sum(s.stands() is not None for s in seen),
        "dropped or reordered": sum(s.dropped() + s.relief["reordered"] for s in seen),
        "largest rise beyond 2x": max(late),
    }
    for p, values in used.items():
        out |= {f"utilisation, {p} us": np.mean(values), f"least, {p} us": min(values), f"most, {p} us": max(values)}
    return out


@measure(
    "ESC-POOL", needs=k(*(f"pool-{p}:escape" for p in POOLS), *(f"pool-{p}-{n}:escape" for p in POOLS for n in (1, 5)))
)
def pools(runs):
    used = {p: float(np.mean(utilisation(runs, f"pool-{p}:escape"))) for p in POOLS}
    rises = [used[b] / used[a] for a, b in itertools.pairwise(POOLS)]
    out = {"smallest rise": min(rises)} | {f"utilisation, T_cap {p}, 10 flows": u for p, u in used.items()}
    return out | {
        f"utilisation, T_cap {p}, {n} flows": float(np.mean(utilisation(runs, f"pool-{p}-{n}:escape")))
        for p in POOLS
        for n in (1, 5)
    }


@measure("ESC-OVH", needs=k("gap-0:escape", "gap-1:escape"))
def overhead(runs):
    each, share = [], []
    for n in range(2):
        seen = of(runs, f"gap-{n}:escape")
        each.append(seen.relief["tokens"] / max(1, seen.summary["pauses"]["frames"]))
        data = sum(u * 40e9 / 8 * MS * 0.75e-3 for u in utilisation(runs, f"gap-{n}:escape"))
        share.append(seen.relief["signals"] * 64 * 0.75 / data)
    return {
        "tokens per pause, wide gap / narrow": each[0] / each[1],
        "largest share of signals": max(share),
        "wide": each[0],
        "narrow": each[1],
    }


def standing(runs, name: str, seed: int = 1, ms: float = MS):
    """ms of the cycle that stands (-1: none), and Gb/s in the last quarter."""
    seen = of(runs, name, seed)
    at = seen.stands()
    return -1.0 if at is None else at * 1e3, seen.goodput(0.75e-3 * ms, ms * 1e-3)


@measure("ESC-F4.8a", needs=k("greedy-1:pfc", "greedy-10:pfc"))
def deadlock_of_the_ring(runs):
    out = {}
    for n in (1, TENFOLD):
        at, rate = standing(runs, f"greedy-{n}:pfc")
        out |= {f"deadlock after (ms), {n} per host": at, f"goodput then, {n} per host": rate}
    return out


@measure("ESC-F4.8b", needs=k("greedy-1:escape", "greedy-10:escape"))
def fluctuation_of_the_ring(runs):
    out = {}
    for n in (1, TENFOLD):
        seen = of(runs, f"greedy-{n}:escape")
        out[f"fewest pauses of a ring link, {n} per host"] = min(seen.pauses(p) for p in LINKS)
        out[f"smallest goodput in 1 ms, {n} per host"] = float(seen.windows(1e-3, 1e-3, MS * 1e-3)[1].min())
    out["cycles that stand"] = sum(of(runs, f"greedy-{n}:escape").stands() is not None for n in (1, TENFOLD))
    return out


@measure("ESC-F4.7a", needs=k("greedy-10:ideal"))
def least_utilisation_of_ideal(runs):
    return min(utilisation(runs, "greedy-10:ideal"))


@measure("ESC-F4.7b", needs=k("greedy-10:escape"))
def fullest_input(runs):
    """An input that drops what is beyond its limit holds no more either: hence both."""
    seen = of(runs, "greedy-10:escape")
    return {"fullest input, of its limit": seen.fullest(), "dropped": seen.dropped()}


@measure("ESC-F4.7c1", needs=k("greedy-10:escape", "greedy-10:ideal"))
def utilisation_over_ideal(runs):
    with_, ideal = (float(np.mean(utilisation(runs, f"greedy-10:{s}"))) for s in ("escape", "ideal"))
    return {"utilisation": with_, "over ideal": with_ / ideal}


@measure("ESC-F4.7c2", needs=k("greedy-10:escape"))
def fewest_pauses(runs):
    return min(of(runs, "greedy-10:escape").pauses(p) for p in LINKS)


@measure("ESC-CC1", needs=k(*(f"joined-{x // 1000}:pfc" for x in CC_XOFF)))
def deadlock_with_hpcc(runs):
    found = {x: of(runs, f"joined-{x // 1000}:pfc").stands() for x in CC_XOFF}
    within = [x for x, at in found.items() if at is not None and 0.05 < at <= 0.06]
    return {"XOFF at which it deadlocks within 10 ms": len(within)} | {
        f"after (ms), XOFF {x // 1000} KB": -1 if at is None else at * 1e3 for x, at in found.items()
    }


@measure("ESC-F4.9a", needs=k("joined:escape"))
def queues_drain(runs):
    seen = of(runs, "joined:escape")
    return {
        "cycles that stand": int(seen.stands() is not None),
        "longest queue in the last 20 ms / XON": seen.fullest_switch(0.08, 0.1) / (JOINED_XOFF / 2),
        "pauses": seen.pauses(),
    }


@measure("ESC-F4.9b1", needs=k("joined:escape"))
def rates_before(runs):
    seen = of(runs, "joined:escape")
    rates = [seen.goodput(0.03, 0.05, [f]) * TOLD for f in range(6)]
    return {"smallest": min(rates), "largest": max(rates), "mean": float(np.mean(rates))}


@measure("ESC-F4.9b2", needs=k("joined:escape"))
def rates_after(runs):
    seen = of(runs, "joined:escape")
    rates = np.array([seen.goodput(0.08, 0.1, [f]) * TOLD for f in range(48)])
    over = [seen.windows(1e-3, 0.08, 0.1, [f])[1] for f in range(0, 48, 7)]
    return {
        "mean": float(rates.mean()),
        "largest CoV over time": float(max(r.std() / r.mean() for r in over if r.mean() > 0)),
        "CoV among flows": float(rates.std() / rates.mean()),
    }


REPEATS = [f"testbed-{s}:{s}@{n}" for n in range(1, 4) for s in ("pfc", "escape")]


@measure("ESC-F4.10a", needs=REPEATS[::2])
def testbed_without(runs):
    found = [standing(runs, "testbed-pfc:pfc", n, 60) for n in range(1, 4)]
    return {
        "of 3 that deadlock": sum(at >= 0 for at, _ in found),
        "largest goodput then": max(r for _, r in found),
        "latest (ms)": max(at for at, _ in found),
    }


@measure("ESC-F4.10b", needs=REPEATS[1::2])
def testbed_with(runs):
    seen = [of(runs, "testbed-escape:escape", n) for n in range(1, 4)]
    return {
        "cycles that stand": sum(s.stands() is not None for s in seen),
        "smallest goodput in 2 ms": min(float(s.windows(2e-3, 2e-3, 0.06)[1].min()) for s in seen),
        "fewest pauses": min(min(s.pauses(p) for p in LINKS) for s in seen),
    }


@measure("ESC-Q1", needs=k(*(f"joined-{x // 1000}:pfc" for x in CC_XOFF)))
def pauses_with_hpcc(runs):
    frames = {x: of(runs, f"joined-{x // 1000}:pfc").summary["pauses"]["frames"] for x in CC_XOFF}
    # Judged at the XOFF of the other runs at 40 Gb/s, not at one that was looked for.
    return {"pauses": frames[max(CC_XOFF)]} | {f"pauses, XOFF {x // 1000} KB": n for x, n in frames.items()}
