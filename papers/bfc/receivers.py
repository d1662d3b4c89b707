"""What the paper says of ExpressPass, Homa and SRF: Figures 3-9 to 3-11, App. F.1 and F.2."""

from __future__ import annotations

import itertools

import numpy as np
import polars as pl

from thalweg.study import measure, once

from .evaluation import BOTH, grid, of, schemes, values
from .fabric import ALL, ALPHAS, CREDITS, SHORTEST, burst, keys, plain
from .outcome import bins, flows, long, mean, p, ratio, short
from .settings import BDP, MTU, NAMES

SIZES = ("google", "fb")


def over(runs, point, a: str, b: str, what, w: str):
    """What is measured of one scheme over that of another, at the same place."""
    return what(of(runs, point(w, a)), w) / what(of(runs, point(w, b)), w)


# --- ExpressPass --------------------------------------------------------------------------------------------


@measure("BFC-H-c", needs=grid(("bfc", "expresspass"), ("google",)))
def expresspass_short_and_long(runs):
    far = [over(runs, make, "expresspass", "bfc", long, "google") for make in BOTH]
    near = {make: over(runs, make, "expresspass", "bfc", short, "google") for make in BOTH}
    return {
        "long, smallest ratio": min(far),
        "long, largest ratio": max(far),
        "short p99 with incasts": near[burst],
        "short p99 without": near[plain],
    }


def wasted(results) -> float:
    """Credits that came when a flow had nothing left to send, per packet of data."""
    return float(results.flows["wasted_credits"].sum()) / flows(results).packets


@measure("BFC-F9-g", needs=grid(ALL, ("google",)))
def expresspass_waste(runs):
    worse, lost = [], []
    for make in BOTH:
        found = values(runs, schemes(make, "google", ALL), long, "google")
        worse.append(found.pop("expresspass") / max(found.values()))
        lost.append(wasted(of(runs, make("google", "expresspass"))))
    return {"long, ExpressPass / largest of the others": min(worse), "wasted credits per packet": min(lost)}


@measure("BFC-F11-a", needs=grid(("bfc", "expresspass")))
def expresspass_by_workload(runs):
    far = {w: [over(runs, make, "expresspass", "bfc", long, w) for make in BOTH] for w in SIZES}
    found = [a / b for a, b in zip(far["fb"], far["google"], strict=True)]
    return {"long over BFC's, Facebook / Google": max(found)} | {
        f"long, ExpressPass / BFC, {w}": max(v) for w, v in far.items()
    }


def credits(n: int) -> str:
    return "expresspass" if n == 16 else f"expresspass=credits,{n}"


def alpha(x: float) -> str:
    return "expresspass" if x == 0.5 else f"expresspass=alpha,{x}"


@measure("BFC-FF4-c", needs=keys(*(plain("fb", credits(n)) for n in CREDITS)))
def credits_that_wait(runs):
    out = {}
    for name, level in (("mean", None), ("p95", 0.95), ("p99", 0.99)):
        found = [bins(of(runs, plain("fb", credits(n))), "fb", level) for n in CREDITS]
        changes = [v for other in (found[0], found[2]) for v in ratio(other, found[1]).values()]
        out[name] = (min(changes), max(changes))
    all_of = [v for pair in out.values() for v in pair]
    return {"smallest ratio to 16 credits": min(all_of), "largest ratio to 16 credits": max(all_of)} | {
        f"largest ratio, {name}": v[1] for name, v in out.items()
    }


@measure("BFC-FF4-d", needs=keys(*(plain("fb", alpha(x)) for x in ALPHAS)))
def alphas(runs):
    found = [of(runs, plain("fb", alpha(x))) for x in ALPHAS]
    tail, far = [short(r, "fb") for r in found], [long(r, "fb") for r in found]
    return {
        "long, smallest step to a larger α": min(b / a for a, b in itertools.pairwise(far)),
        "short p99, largest step to a larger α": max(b / a for a, b in itertools.pairwise(tail)),
        "long, 1/2 over 1/16": far[-1] / far[0],
        "short p99, 1/2 over 1/16": tail[-1] / tail[0],
    }


# --- Homa and SRF -------------------------------------------------------------------------------------------


def sprayed(runs) -> dict[str, float]:
    """Long flows, without incasts."""
    best = [over(runs, plain, "homa", "ideal-srf", long, w) for w in SIZES]
    ours = [over(runs, plain, "bfc-srf", "homa", long, w) for w in SIZES]
    return {
        "long, largest Homa / IdealSRF": max(best),
        "long, smallest BFC-SRF / Homa": min(ours),
        "long, largest BFC-SRF / Homa": max(ours),
    }


@measure("BFC-FF1-a", needs=grid(SHORTEST, makes=(plain,)))
def sprayed_homa(runs):
    return sprayed(runs)


def by_size(runs, point, a: str, b: str, level: float | None = 0.99) -> dict[tuple[str, float], float]:
    """(Workload, size class) → one scheme over another."""
    found = {w: [bins(of(runs, point(w, s)), w, level) for s in (a, b)] for w in SIZES}
    return {(w, edge): v for w, pair in found.items() for edge, v in ratio(*pair).items()}


def one_path(runs) -> dict[str, float]:
    """Schemes that send a flow along one path: p99 by size."""
    ideal, worse = by_size(runs, plain, "bfc-srf", "ideal-srf"), by_size(runs, plain, "homa-ecmp", "bfc-srf")
    beyond = [v for (_, edge), v in worse.items() if edge > 1.5 * BDP * MTU]
    return {
        "largest p99, BFC-SRF / IdealSRF": max(ideal.values()),
        "smallest p99, Homa ECMP / BFC-SRF": min(worse.values()),
        "smallest p99 of sizes beyond 1 BDP, Homa ECMP / BFC-SRF": min(beyond),
        "largest p99, Homa ECMP / BFC-SRF": max(worse.values()),
    }


@measure("BFC-FF1-b", needs=grid(("homa-ecmp", "bfc-srf", "ideal-srf"), makes=(plain,)))
def homa_on_one_path(runs):
    return one_path(runs)


def rack(w: str, s: str):
    return plain(w, s, kind="rack")


RACK = ("homa", "bfc-srf", "ideal-srf")


def one_receiver(runs) -> dict[str, float]:
    def whole(results, _):
        return mean(flows(results).of(0, np.inf))

    tails = by_size(runs, rack, "bfc-srf", "homa")
    means = by_size(runs, rack, "bfc-srf", "ideal-srf", None)
    return {
        "largest p99, BFC-SRF / Homa": max(tails.values()),
        "largest mean, BFC-SRF / IdealSRF": max(over(runs, rack, "bfc-srf", "ideal-srf", whole, w) for w in SIZES),
        "smallest p99, BFC-SRF / Homa": min(tails.values()),
        "share of sizes with a lower p99": float(np.mean([v <= 1 for v in tails.values()])),
        "largest mean of a size, BFC-SRF / IdealSRF": max(means.values()),
    }


@measure("BFC-FF2-a", needs=keys(*(rack(w, s) for w in SIZES for s in RACK)))
def one_rack(runs):
    return one_receiver(runs)


@measure("BFC-H-e", needs=[*grid(SHORTEST, makes=(plain,)), *keys(*(rack(w, s) for w in SIZES for s in RACK))])
def homa_with_and_without_spraying(runs):
    """All that Figures F-1 and F-2 are to show."""
    return sprayed(runs) | one_path(runs) | one_receiver(runs)


@measure("BFC-FF3-a", needs=grid(("homa", "bfc-srf"), makes=(burst,)))
def short_flows_with_incasts(runs):
    def small(results, w):
        return short(results, w, None)

    found = {w: over(runs, burst, "bfc-srf", "homa", small, w) for w in SIZES}
    return {"short mean, smallest BFC-SRF / Homa": min(found.values())} | {
        f"short mean, {w}": v for w, v in found.items()
    }


@measure("BFC-FF3-b", needs=grid(("homa",), makes=(burst,)))
def homa_beyond_one_bdp(runs):
    found = {}
    for w in SIZES:
        f = flows(of(runs, burst(w, "homa")))
        found[w] = p(f.of(100e3, 200e3)) / p(f.of(50e3, 100e3))
    return {"smallest p99, 100–200 KB / 50–100 KB": min(found.values())} | found


WAITS = ("homa", "homa-ecmp")


@once
def waits(results) -> dict[str, np.ndarray]:
    """How long scheduled packets between racks waited for the first two of their three links between switches
    and hosts, us."""
    granted = (pl.col("forward") == 1) & (pl.col("seq") >= BDP * MTU) & (pl.col("hops") == 3)
    found = results.packets.filter(granted).select("arrivals_ps", "starts_ps").collect()
    out = {}
    for n, layer in enumerate(("ToR-Agg", "Agg-ToR")):
        came, left = (found[c].list.get(n).to_numpy().astype(float) for c in ("arrivals_ps", "starts_ps"))
        out[layer] = (left - came)[left > 0] * 1e-6
    return out


def recorded(s: str):
    return plain("fb", s, kind="waits")


@measure("BFC-TF1-a", needs=keys(*(recorded(s) for s in WAITS)))
def waits_of_scheduled_packets(runs):
    found, out = {s: waits(of(runs, recorded(s))) for s in WAITS}, {}
    times = {}
    for level in (0.95, 0.99):
        for layer in ("Agg-ToR", "ToR-Agg"):
            spray, ecmp = (p(found[s][layer], level) for s in WAITS)
            times[f"{layer}, p{100 * level:g}"] = ecmp / spray
            out |= {f"{NAMES[s]}, {layer}, p{100 * level:g} (us)": v for s, v in zip(WAITS, (spray, ecmp), strict=True)}
    return {"smallest ratio, ECMP / spraying": min(times.values())} | out
