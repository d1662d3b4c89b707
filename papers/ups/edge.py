"""Queue management at the edge (§4, Figure 6, Tables 3 and 4): the slack used is the queueing delay of the
whole path."""

from __future__ import annotations

from thalweg.study import mean, measure, measure_each, places, schemes, seeds, spread, steps

from . import fct as sizes
from . import shares
from .outcome import average, average_rtt, bytes_fct, bytes_rtt, cut, flows, losses
from .settings import CONSTANT, NAMES, ONE, SCHEMES, SEEDS, edge, fair, point

FIVE = ("fifo", "fq", "fq-codel", "fq+edge", "lstf+edge")
CODELS, EDGES = FIVE[2:], FIVE[3:]
# Figure 6, s: FCT and RTT across bytes of the five schemes, complete only in the dissertation; and r_est of LSTF, Mb/s.
PUBLISHED = {
    "i2-70": ((0.811, 0.622, 0.642, 0.633, 0.641), (0.0756, 0.0733, 0.0642, 0.0646, 0.0661), 100),
    "1g-1g-70": ((0.766, 0.630, 0.642, 0.637, 0.658), (0.0716, 0.0702, 0.0639, 0.0643, 0.0666), 100),
    "tenth-30": ((0.918, 0.836, 0.897, 0.887, 0.907), (0.0998, 0.1085, 0.0792, 0.0798, 0.0826), 40),
    "tenth-50": ((1.706, 1.214, 1.430, 1.369, 1.427), (0.1384, 0.1752, 0.0901, 0.0918, 0.1001), 30),
    "tenth-70": ((4.837, 2.295, 3.687, 3.738, 3.739), (0.2779, 0.3752, 0.1182, 0.1281, 0.1388), 10),
    "tenth-half-rtt-70": ((4.569, 2.023, 3.196, 3.245, 3.405), (0.2555, 0.3607, 0.0995, 0.1131, 0.1165), 10),
    "tenth-double-rtt-70": ((5.098, 2.769, 4.243, 4.125, 4.389), (0.325, 0.4172, 0.1591, 0.1640, 0.1843), 10),
    "rocketfuel-70": ((0.964, 0.796, 0.840, 0.813, 0.835), (0.0922, 0.0991, 0.0794, 0.0788, 0.0836), 100),
}
QUICK = ("tenth-70",)
# Table 4: R (ms) -> FCT and RTT across bytes, s.
REFRESH = {10: (3.578, 0.143), 20: (3.739, 0.139), 30: (3.954, 0.135), 40: (4.079, 0.132)}
# Table 3: utilisation -> FCT (s) and RTT (ms) of the three schemes.
THREE = ("no-ecn", "in-switch", "edge-ecn")
MARKING = {
    30: ((0.0020, 0.0011, 0.0011), (0.2069, 0.1123, 0.1077)),
    50: ((0.0219, 0.0086, 0.0079), (0.3425, 0.1601, 0.1477)),
    70: ((0.0501, 0.0241, 0.0240), (0.4497, 0.2616, 0.2494)),
}
QUICK_MARKING = (70,)


def codels(place: str) -> dict[str, dict]:
    """The schemes with CoDel. With FQ the slack is there for the edge's book-keeping only."""
    estimate = PUBLISHED[place][2]
    return {
        "fq-codel": SCHEMES["fq-codel"],
        "fq+edge": SCHEMES["fq"] | {"slack": CONSTANT} | edge(),
        "lstf+edge": fair(estimate) | edge(),
    }


def refreshed(ms: int) -> str:
    """The name of LSTF + Edge-CoDel with this R; 20 ms is the default."""
    return "lstf+edge" if ms == 20 else f"lstf+edge-{ms}ms"


def dctcp() -> dict[str, dict]:
    """g = 1/16; α starts at 0 as in the artifact. Switches mark what meets more than 15 packets, Edge-ECN
    what has queued for longer than 15 packet times at 10 Gb/s."""
    sender = {"transport.congestion": {"kind": "dctcp", "initial_alpha": 0.0}}
    return {
        "no-ecn": SCHEMES["fifo"],  # DCTCP without marks is TCP
        "in-switch": SCHEMES["fifo"] | sender | {"switch.marking": {"kind": "step", "threshold": "16pkts"}},
        "edge-ecn": SCHEMES["fifo+"] | sender | {"edge": {"kind": "ecn", "threshold": "17.52us"}},
    }


def runs(scale: str) -> list:
    made = []
    known = shares.PUBLISHED if scale == "full" else shares.QUICK  # whose FIFO and FQ are there
    for place in PUBLISHED if scale == "full" else QUICK:
        kinds = {} if place in known else {s: SCHEMES[s] for s in ("fifo", "fq")}
        made += [
            shares.at(place, s, set, seed) for seed in SEEDS[scale][:ONE] for s, set in (kinds | codels(place)).items()
        ]
    for ms in REFRESH if scale == "full" else ():
        if ms != 20:
            kind = fair(PUBLISHED["tenth-70"][2]) | edge(ms)
            made += [shares.at("tenth-70", refreshed(ms), kind, seed) for seed in SEEDS[scale][:ONE]]
    return made + marking(scale)


def marking(scale: str) -> list:
    """Table 3. CHOICE: 500 KB and the window of Figure 2, as the other runs in the datacenter."""
    made = []
    for percent in MARKING if scale == "full" else QUICK_MARKING:
        for s, set in dctcp().items():
            key = marked_key(percent, s)
            if key.startswith("ecn-"):
                made += [sizes.at(key, point("datacenter", percent), set, scale, seed) for seed in SEEDS[scale][:ONE]]
    return made


# --- Figure 6 -----------------------------------------------------------------------------------------------


def needs(*there: str) -> list[str]:
    return [f"fair-{p}:{s}@*" for p in there for s in FIVE]


def both(runs, place: str, names=FIVE) -> tuple[dict[str, float], dict[str, float]]:
    """FCT and RTT across bytes of these schemes, s."""
    keys = {s: f"fair-{place}:{s}" for s in names}
    return tuple({s: mean(runs, k, value) for s, k in keys.items()} for value in (bytes_fct, bytes_rtt))


def beside_published(fct, rtt, place: str) -> dict[str, float]:
    """Every value over the published one: the extremes are judged, each is reported."""
    out = {}
    for what, values, published in (("fct", fct, PUBLISHED[place][0]), ("rtt", rtt, PUBLISHED[place][1])):
        out |= {f"{what} {NAMES[s]} / published": values[s] / p for s, p in zip(FIVE, published, strict=True)}
    return {"smallest value / published": min(out.values()), "largest value / published": max(out.values())} | out


def row(runs, place: str) -> dict[str, float]:
    fct, rtt = both(runs, place)
    out = beside_published(fct, rtt, place)
    for what, values in (("fct", fct), ("rtt", rtt)):
        off = {s: abs(values[s] / values["fq-codel"] - 1) for s in EDGES}
        out[f"largest |Edge/FQ-CoDel - 1|, {what}"] = max(off.values())
        out |= {
            f"|{name}/FQ-CoDel - 1|, {what}": off[s]
            for name, s in zip(("FQ + Edge", "LSTF + Edge"), EDGES, strict=True)
        }
    for s in FIVE:
        out |= spread(runs, f"fair-{place}:{s}", bytes_fct, f"{NAMES[s]} fct (s)")
    return out | cut(runs)


measure_each({f"UPS-F6{letter}": p for letter, p in zip("abcdefg", PUBLISHED, strict=False)}, needs=needs)(row)


@measure("UPS-F6h", needs=needs("rocketfuel-70"))
def rocketfuel(runs):
    fct, rtt = both(runs, "rocketfuel-70")
    return {
        "largest of the others / FIFO, fct": max(fct[s] for s in FIVE if s != "fifo") / fct["fifo"],
        "FQ / smallest of the others, fct": fct["fq"] / min(fct[s] for s in FIVE if s != "fq"),
        "largest CoDel / smaller of FIFO and FQ, rtt": max(rtt[s] for s in CODELS) / min(rtt["fifo"], rtt["fq"]),
    } | cut(runs)


def rows(runs, names=FIVE) -> dict[str, tuple[dict, dict]]:
    return {p.removeprefix("fair-"): both(runs, p.removeprefix("fair-"), names) for p in complete(runs, names)}


def complete(runs, names=FIVE) -> list[str]:
    """The places where all these schemes were run."""
    return [p for p in places(runs) if {*names} <= {*schemes(runs, p)}]


ALL = [f"fair-*:{s}@*" for s in FIVE]


@measure("UPS-F6i", needs=[f"fair-tenth-*:{s}@*" for s in FIVE])
def fq_and_fifo(runs):
    found = rows(runs).values()
    return {
        "largest fctB FQ/FIFO": max(fct["fq"] / fct["fifo"] for fct, _ in found),
        "smallest rttB FQ/FIFO": min(rtt["fq"] / rtt["fifo"] for _, rtt in found),
        "rows": len(found),
    }


def short_rtt(results) -> float:
    """Mean round trip of flows of one to seven packets."""
    import numpy as np

    return float(np.concatenate([flows(results).rtt_of(b) for b in ("1", "2-7")]).mean())


@measure("UPS-F6j", needs=ALL)
def fq_codel(runs):
    found = rows(runs)
    brief = [{s: mean(runs, f"fair-{p}:{s}", short_rtt) for s in ("fifo", "fq", "fq-codel")} for p in found]
    return {
        "largest rttB FQ-CoDel / min(FIFO, FQ)": max(
            r["fq-codel"] / min(r["fifo"], r["fq"]) for _, r in found.values()
        ),
        "largest short flows' RTT FQ-CoDel / FIFO": max(r["fq-codel"] / r["fifo"] for r in brief),
        "largest short flows' RTT FQ-CoDel / FQ": max(r["fq-codel"] / r["fq"] for r in brief),
        "rows": len(found),
    }


MOVED = ("fq-codel", "fq+edge")


@measure("UPS-F6k", needs=[f"fair-*:{s}@*" for s in MOVED])
def codel_at_the_edge(runs):
    found = rows(runs, MOVED).values()
    fct = [f["fq+edge"] / f["fq-codel"] for f, _ in found]
    rtt = [r["fq+edge"] / r["fq-codel"] for _, r in found]
    return {
        "smallest fctB ratio": min(fct),
        "largest fctB ratio": max(fct),
        "smallest rttB ratio": min(rtt),
        "largest rttB ratio": max(rtt),
        "rows": len(found),
    }


@measure("UPS-F6l", needs=ALL)
def lstf_with_edge_codel(runs):
    found = rows(runs).values()
    return {
        "largest fctB / FIFO": max(f["lstf+edge"] / f["fifo"] for f, _ in found),
        "largest rttB / min(FIFO, FQ)": max(r["lstf+edge"] / min(r["fifo"], r["fq"]) for _, r in found),
        "rows": len(found),
    }


# --- Table 4: the refresh threshold -------------------------------------------------------------------------

THRESHOLDS = [f"fair-tenth-70:{refreshed(ms)}@*" for ms in REFRESH]


def by_threshold(runs, value) -> dict[int, float]:
    there = schemes(runs, "fair-tenth-70")
    return {ms: mean(runs, f"fair-tenth-70:{refreshed(ms)}", value) for ms in REFRESH if refreshed(ms) in there}


@measure("UPS-T4a", needs=THRESHOLDS)
def refresh_thresholds(runs):
    fct, rtt = by_threshold(runs, bytes_fct), by_threshold(runs, bytes_rtt)
    off = [x for ms, (f, r) in REFRESH.items() for x in (fct[ms] / f, rtt[ms] / r)]
    out = {
        "smallest step of fctB (s)": min(steps(list(fct.values()))),
        "largest step of rttB (s)": max(steps(list(rtt.values()))),
        "fctB(40)/fctB(10)": fct[40] / fct[10],
        "smallest value / published": min(off),
        "largest value / published": max(off),
    }
    out |= {f"fctB({ms}) (s)": x for ms, x in fct.items()}
    return out | {f"rttB({ms}) (s)": x for ms, x in rtt.items()} | cut(runs)


def refreshes(results, *, delay_first: bool = False) -> float:
    """Refreshes because the delay was below the target, over those because the sender had paused; who has
    both counts as the latter, or as the former."""
    seen = results.summary["edge"]
    both = seen["refreshes_by_gap_at_low_delay"] if delay_first else 0
    return (seen["refreshes_by_delay"] + both) / max(seen["refreshes_by_gap"] - both, 1)


@measure("UPS-T4b", needs=THRESHOLDS)
def causes_of_refreshes(runs):
    rtt = by_threshold(runs, bytes_rtt)
    every = [r for ms in REFRESH for r in seeds(runs, f"fair-tenth-70:{refreshed(ms)}")]
    return {
        "rttB(10)/rttB(40)": rtt[10] / rtt[40],
        "smallest refreshes by delay / by gap": min(map(refreshes, every)),
        "smallest, delay first": min(refreshes(r, delay_first=True) for r in every),
    }


# --- Table 3: marking at the edge ---------------------------------------------------------------------------


def marked_key(percent: int, scheme: str) -> str:
    """Without ECN at 70 % is FIFO of Figure 2."""
    return "fct-datacenter-70:fifo" if (percent, scheme) == (70, "no-ecn") else f"ecn-{percent}:{scheme}"


def marked(runs, percent: int) -> tuple[dict[str, float], dict[str, float]]:
    """Mean FCT (s) and mean RTT (s) of the three schemes."""
    keys = {s: marked_key(percent, s) for s in THREE}
    return tuple({s: mean(runs, k, value) for s, k in keys.items()} for value in (average, average_rtt))


@measure_each({"UPS-T3a": 30, "UPS-T3b": 50, "UPS-T3c": 70}, lambda u: [f"{marked_key(u, s)}@*" for s in THREE])
def marking_at(runs, percent: int):
    """Besides the orders, which are judged: values over the published ones, which are not, and what losses did."""
    out = {}
    for what, unit, v, p in zip(("fct", "rtt"), (1, 1e3), marked(runs, percent), MARKING[percent], strict=True):
        out[f"{what} edge/in-switch"] = v["edge-ecn"] / v["in-switch"]
        out[f"larger {what} / no ECN"] = max(v["edge-ecn"], v["in-switch"]) / v["no-ecn"]
        out |= {f"{what} {NAMES[s]} (ms)": 1e3 * v[s] for s in THREE}
        out |= {f"{what} {NAMES[s]} / published": unit * v[s] / x for s, x in zip(THREE, p, strict=True)}
    for s in THREE:
        key = marked_key(percent, s)
        for what in losses(seeds(runs, key)[0]):
            out[f"{what}, {NAMES[s]}"] = mean(runs, key, lambda r, what=what: losses(r)[what])
    return out | cut(runs)
