"""Cross traffic that changes: nothing elastic, then one to four Cubic flows, then nothing again (§4.5; Figure 4-7,
Table 4.1), and other pairs of controllers (Figure G-7)."""

from __future__ import annotations

import numpy as np

from thalweg.study import mean, measure, measure_each, needs, seeds

from .outcome import competes, delays, goodput, series, within
from .settings import NAMES, RATE, Cross, Point, specs

# Begin (s), Mb/s of Poisson traffic, Cubic flows: reconstructed (see README.md), 20 s each.
SEGMENTS = (
    (0, 16, 0),
    (20, 16, 1),
    (40, 32, 2),
    (60, 0, 4),
    (80, 0, 3),
    (100, 0, 1),
    (120, 16, 0),
    (140, 32, 0),
    (160, 48, 0),
)
ELASTIC, INELASTIC = (20, 120), ((0, 20), (120, 180))
COMPARED = ("ncc", "ncc-copa", "cubic", "bbr", "vegas", "copa", "vivace")


def schedule() -> tuple[Cross, ...]:
    out = [Cross("poisson", rate, begin=at, end=at + 20) for at, rate, _ in SEGMENTS if rate]
    for flow in range(4):
        # Of every flow the stretches in which that many run.
        on = [at for at, _, count in SEGMENTS if count > flow]
        while on:
            begin = end = on.pop(0)
            while on and on[0] == end + 20:
                end = on.pop(0)
            out.append(Cross("cubic", begin=begin, end=end + 20))
    return tuple(out)


POINTS = {s: Point("f4.7", s, schedule(), 180) for s in (*COMPARED, "ncc-newreno", "compound")}


def runs(scale: str) -> list:
    return specs(POINTS.values(), scale)


def fair(begin: float, end: float) -> float:
    """The tested flow's share of what datagrams leave, Mb/s."""
    shares = [(RATE - rate) / (flows + 1) for at, rate, flows in SEGMENTS if begin <= at < end]
    return float(np.mean(shares))


def delta(results, *stretches) -> float:
    got = sum(goodput(results, a, b) * (b - a) for a, b in stretches)
    due = sum(fair(a, b) * (b - a) for a, b in stretches)
    return got / due - 1


def calm(results) -> float:
    """Mean queueing delay without elastic traffic, ms."""
    return float(np.concatenate([delays(results, a, b) for a, b in INELASTIC]).mean())


def row(runs, scheme: str) -> dict[str, float]:
    point = POINTS[scheme]
    return {
        "throughput, elastic": mean(runs, point, lambda r: delta(r, ELASTIC)),
        "throughput, inelastic": mean(runs, point, lambda r: delta(r, *INELASTIC)),
        "delay, inelastic (ms)": mean(runs, point, calm),
    }


ROWS = {f"NIM-T4.1{letter}": scheme for letter, scheme in zip("abcdefg", COMPARED, strict=True)}


@measure_each(ROWS, needs=lambda scheme: needs(POINTS[scheme], POINTS["ncc"]))
def against_nimbus(runs, scheme: str):
    found, ours = row(runs, scheme), row(runs, "ncc")
    against = {
        "delay / NimbusCC's": found["delay, inelastic (ms)"] / ours["delay, inelastic (ms)"],
        "elastic, less NimbusCC's": found["throughput, elastic"] - ours["throughput, elastic"],
    }
    return found | (against if scheme not in ("ncc", "ncc-copa") else {})


@measure("NIM-T4.1h", needs=needs(*(POINTS[s] for s in COMPARED)))
def both_fair_and_calm(runs):
    others = {s: row(runs, s) for s in COMPARED if not s.startswith("ncc")}
    both = [s for s, r in others.items() if r["throughput, elastic"] >= -0.25 and r["delay, inelastic (ms)"] <= 25]
    return len(both)


@measure("NIM-F4.7a", needs=needs(POINTS["ncc"]))
def calm_delay(runs):
    later = [(at + 5, at + 20) for at, _, flows in SEGMENTS if not flows]
    return mean(runs, POINTS["ncc"], lambda r: np.median(np.concatenate([delays(r, a, b) for a, b in later])))


def until(results, column: str, begin: float, wanted) -> float:
    """Seconds from `begin` until it is as wanted for the first time."""
    at, values = series(results, column)
    found = at[(at >= begin) & wanted(values)]
    return float(found[0] - begin) if len(found) else float("inf")


def calm_again(results) -> float:
    """Seconds from the last elastic flow's end until a second's mean delay is 20 ms at most."""
    means = [(t, delays(results, 120 + t, 121 + t).mean()) for t in np.arange(0, 19, 0.25)]
    return next((float(t) for t, ms in means if ms <= 20), float("inf"))


@measure("NIM-F4.7b", needs=needs(POINTS["ncc"]))
def times_to_switch(runs):
    point = POINTS["ncc"]
    return {
        "to compete (s)": max(until(r, "competes", 20, lambda v: v == 1) for r in seeds(runs, point)),
        "to low delay (s)": max(calm_again(r) for r in seeds(runs, point)),
    }


def mistakes(results) -> int:
    """Entries into the mode that keeps delays low while elastic traffic is there, after 5 s of it."""
    changes = np.diff(within(*series(results, "competes"), 25, 120))
    return int((changes < 0).sum())


@measure("NIM-F4.7c", needs=needs(POINTS["ncc"], POINTS["copa"]))
def wrong_modes(runs):
    ours, copa = (mean(runs, POINTS[s], mistakes) for s in ("ncc", "copa"))
    return {"NimbusCC": ours, "Copa": copa, "Copa - 3 NimbusCC": copa - 3 * ours}


@measure("NIM-F4.7d", needs=needs(POINTS["ncc"], POINTS["copa"]))
def elastic_throughput(runs):
    ours, copa = (mean(runs, POINTS[s], lambda r: goodput(r, *ELASTIC)) for s in ("ncc", "copa"))
    return {"NimbusCC / Copa": ours / copa, "NimbusCC (Mb/s)": ours, "Copa (Mb/s)": copa}


@measure("NIM-K2", needs=needs(POINTS["ncc"], POINTS["cubic"]))
def delay_below_cubic(runs):
    return mean(runs, POINTS["cubic"], calm) - mean(runs, POINTS["ncc"], calm)


@measure("NIM-FG7a", needs=needs(POINTS["ncc-newreno"], POINTS["ncc-copa"]))
def other_pairs(runs):
    out = {}
    for s in ("ncc-newreno", "ncc-copa"):
        found = row(runs, s)
        out[f"{NAMES[s]}: throughput / fair"] = 1 + found["throughput, elastic"]
        out[f"{NAMES[s]}: delay (ms)"] = found["delay, inelastic (ms)"]
    return out


def modes(results) -> tuple[float, float]:
    """Parts of the time in which it competes: with elastic traffic, without."""
    return competes(results, *ELASTIC), competes(results, 125, 180)


@measure("NIM-C1", needs=needs(POINTS["compound"], POINTS["ncc"]))
def compound(runs):
    found, ours = row(runs, "compound"), row(runs, "ncc")
    return {"delay / NimbusCC's": found["delay, inelastic (ms)"] / ours["delay, inelastic (ms)"]} | found
