"""Completion times under fair schedulers (§3.3, Figure 5, Table 2): LSTF with virtual-clock slacks against FIFO and FQ.

Figure 6 uses the same networks and windows; its CoDels are in edge.py.
"""

from __future__ import annotations

import numpy as np

from thalweg.study import mean, measure, measure_each, run, schemes, spread, steps

from .numbers import good_range
from .outcome import bytes_fct, cut, flows
from .settings import NETWORKS, ONE, SCHEMES, SEEDS, counted, fair, rows, split

# Table 2: FCT across bytes (s) of FIFO, FQ, LSTF with the best r_est; the best (Mb/s), and the range within 10 % of it.
PUBLISHED = {
    "i2-30": ((0.563, 0.537, 0.538), 300, (10, 900)),
    "i2-50": ((0.626, 0.549, 0.555), 200, (10, 800)),
    "i2-70": ((0.811, 0.622, 0.632), 100, (50, 200)),
    "1g-1g-70": None,
    "tenth-70": ((4.838, 2.295, 2.759), 10, (10, 20)),
    "rocketfuel-70": ((0.964, 0.796, 0.824), 100, (50, 300)),
}
# CHOICE: the paper gives the best estimate and a range; these cover both. I2 / 10 has a tenth of the capacity.
SWEEP = (10, 20, 30, 40, 50, 100, 150, 200, 300, 400, 500, 800, 900)
TENTH = {"quick": (5, 10, 20, 40), "full": (5, 10, 15, 20, 30, 40, 50, 100)}
FIGURE_5 = (500, 200, 100, 10)
QUICK = ("tenth-70",)


# Its map is not published and its row is judged as an order alone: the published best and the ends of the
# published range.
ROCKETFUEL = (50, 100, 300)


def sweep(place: str, scale: str) -> tuple:
    if place.startswith("rocketfuel"):
        return ROCKETFUEL
    return TENTH[scale] if place.startswith("tenth") else SWEEP


def base(place: str) -> dict:
    """50 MB in packets of any kind; flows that start in [1, 6) s of 10 s count."""
    network, percent = split(place)
    load = {"traffic.0.load": percent / 100, "switch.buffer": "34250pkts"}
    return NETWORKS[network].set("tcp") | load | counted("1s", "6s", "10s", fct="sender")


def at(place: str, name: str, set: dict, seed: int):
    return run(f"fair-{place}:{name}", NETWORKS[split(place)[0]].of("tcp"), base(place) | set, seed)


def runs(scale: str) -> list:
    made = []
    for place in PUBLISHED if scale == "full" else QUICK:
        kinds = {"fifo": SCHEMES["fifo"], "fq": SCHEMES["fq"]} | {f"lstf-{r}": fair(r) for r in sweep(place, scale)}
        made += [at(place, s, set, seed) for seed in SEEDS[scale][:ONE] for s, set in kinds.items()]
    return made


# --- Figure 5 -----------------------------------------------------------------------------------------------


def in_class(bucket: str, how):
    return lambda results: float(how(flows(results).fct_of(bucket)))


def short(results) -> float:
    """Mean FCT of flows of one to seven packets, ms."""
    both = np.concatenate([flows(results).fct_of(b) for b in ("1", "2-7")])
    return float(both.mean() * 1e3)


@measure("UPS-F5a", needs=["fair-i2-70:fifo@*", "fair-i2-70:fq@*"])
def fq_by_size(runs):
    def ratio(value) -> float:
        return mean(runs, "fair-i2-70:fq", value) / mean(runs, "fair-i2-70:fifo", value)

    out = {f"{b}: p50 FQ/FIFO": ratio(in_class(b, np.median)) for b in ("1", "2-7", "40-267")}
    return out | {"2107: mean FQ/FIFO": ratio(in_class("2107", np.mean))} | cut(runs)


@measure("UPS-F5b", needs=["fair-i2-70:fq@*", *(f"fair-i2-70:lstf-{r}@*" for r in FIGURE_5)])
def between_fifo_and_fq(runs):
    brief = {r: mean(runs, f"fair-i2-70:lstf-{r}", short) for r in FIGURE_5}
    out = {
        "fctB(10) / fctB(FQ)": mean(runs, "fair-i2-70:lstf-10", bytes_fct) / mean(runs, "fair-i2-70:fq", bytes_fct),
        "largest step of the short flows' mean as r_est falls (ms)": max(steps(list(brief.values()))),
    }
    return out | {f"short flows, {r} Mb/s (ms)": x for r, x in brief.items()} | cut(runs)


# --- Table 2 ------------------------------------------------------------------------------------------------


def estimates(runs, place: str) -> dict[float, float]:
    """FCT across bytes by r_est (Mb/s)."""
    names = [s for s in schemes(runs, f"fair-{place}") if s.startswith("lstf-")]
    return {float(s.removeprefix("lstf-")): mean(runs, f"fair-{place}:{s}", bytes_fct) for s in names}


def row(runs, place: str) -> dict[str, float]:
    by_estimate = estimates(runs, place)
    best, low, high = good_range(by_estimate)
    t = {s: mean(runs, f"fair-{place}:{s}", bytes_fct) for s in ("fifo", "fq")} | {"lstf": by_estimate[best]}
    out = {"LSTF/FQ": t["lstf"] / t["fq"], "FQ/LSTF": t["fq"] / t["lstf"], "LSTF/FIFO": t["lstf"] / t["fifo"]}
    out |= {"best r_est (Mb/s)": best, "good from (Mb/s)": low, "good to (Mb/s)": high}
    out |= {f"{s.upper()} (s)": x for s, x in t.items()}
    if PUBLISHED[place]:
        out |= {f"{s.upper()} / published": t[s] / p for s, p in zip(t, PUBLISHED[place][0], strict=True)}
    for s in ("fifo", "fq"):
        out |= spread(runs, f"fair-{place}:{s}", bytes_fct, f"{s.upper()} (s)")
    return out | cut(runs)


def needs(place: str) -> list[str]:
    return [f"fair-{place}:{s}@*" for s in ("fifo", "fq", "lstf-[0-9]*")]


ORDER = {
    "i2-30": "UPS-T2a",
    "i2-50": "UPS-T2b",
    "i2-70": "UPS-T2c",
    "tenth-70": "UPS-T2e",
}  # loads up, then bandwidth down
measure_each({claim: place for place, claim in ORDER.items()} | {"UPS-T2f": "rocketfuel-70"}, needs=needs)(row)
RANGE = ("best r_est (Mb/s)", "good from (Mb/s)", "good to (Mb/s)")


@measure("UPS-T2g", needs=[f"fair-{p}:lstf-[0-9]*@*" for p in ORDER], rows=ORDER.values())
def best_estimates(runs):
    def ranges(runs, place: str) -> dict[str, float]:
        return dict(zip(RANGE, good_range(estimates(runs, place)), strict=True))

    there = rows(runs, "fair", ORDER, ranges)
    found = [[there[p][name] for name in RANGE] for p in ORDER]
    best, width = [f[0] for f in found], [f[2] - f[1] for f in found]
    out = {
        "smallest step down of the best r_est (Mb/s)": -max(steps(best)),
        "smallest step down of the width (Mb/s)": -max(steps(width)),
    }
    out |= {f"{p}: best (Mb/s)": b for p, b in zip(ORDER, best, strict=True)}
    return out | {f"{p}: width (Mb/s)": w for p, w in zip(ORDER, width, strict=True)}
