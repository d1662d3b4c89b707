"""What TIMELY's constants do (§3.5.1): noise, segments and T_low, NIC pacing, T_high and the number of connections."""

from __future__ import annotations

from thalweg.study import mean, measure, needs, run, steps

from .outcome import average_rtt, goodput, p99_rtt, throughput
from .settings import but, every

NOISE = (0, 50, 100, 150, 200)  # us, uniform from 0
SEGMENTS = (16, 32, 64)  # KB
LOWS = (0, 50, 100, 200, 300)  # us
PACES = (0, 5000, 2500, 1000, 700, 500, 450)  # Mb/s; 450: below the fair share
HIGHS = (50, 100, 200, 300, 500, 1000)  # us
EACH = (4, 7, 10)  # connections per client
PACED_LOWS = (0, 50)


def noisy(us: int, low: int = 50):
    return but(noise=us, low=low)


def sized(segment: int, low: int):
    return but(segment=segment, low=low)


def paced(pace: int, low: int):
    return but(segment=64, pace=pace, low=low)


def bounded(high: int, each: int):
    return but(high=high, each=each)


ALONE = {
    "traffic": [{"kind": "backlogged", "src": 1, "dst": 0}],
    "measure.controllers": {"every": "50ms", "flows": [0]},
}


def runs(scale: str) -> list:
    points = [noisy(x, low) for x in NOISE for low in PACED_LOWS]
    points += [sized(s, low) for s in SEGMENTS for low in LOWS]
    points += [paced(p, low) for p in PACES for low in PACED_LOWS]
    points += [bounded(h, c) for h in HIGHS for c in EACH]
    one = paced(700, 50).set(1) | ALONE | {"measure.from": "100ms", "run.until": "300ms"}
    return [*every(points, scale), run("alone", "incast", one, 1)]


# --- Figure 3.10: noise -------------------------------------------------------------------------------------


@measure("TIM-F10-a", needs=needs(*(noisy(x, low) for low in (50, 0) for x in NOISE)))
def noise(runs):
    tp = {x: mean(runs, noisy(x), throughput) for x in NOISE}
    out = {
        "largest step as noise grows (Gb/s)": max(steps(list(tp.values()))),
        "throughput, x = 100 / none": tp[100] / tp[0],
    }
    out |= {f"T_low 50, x = {x} (Gb/s)": v for x, v in tp.items()}
    return out | {f"T_low 0, x = {x} (Gb/s)": mean(runs, noisy(x, 0), throughput) for x in NOISE}


# --- Figure 3.13: segments and T_low ------------------------------------------------------------------------


def by_low(runs, segment: int, value) -> dict[int, float]:
    return {low: mean(runs, sized(segment, low), value) for low in LOWS}


@measure("TIM-F13-a", needs=needs(*(sized(16, low) for low in LOWS)))
def best_threshold(runs):
    tp = by_low(runs, 16, throughput)
    out = {
        "T_low 50 (Gb/s)": tp[50],
        "T_low 0 / T_low 50": tp[0] / tp[50],
        "best / T_low 50": max(tp.values()) / tp[50],
    }
    return out | {f"p99 RTT, T_low {low} (us)": mean(runs, sized(16, low), p99_rtt) for low in (0, 50)}


@measure("TIM-F13-b", needs=needs(*(sized(s, low) for s in SEGMENTS for low in LOWS)))
def larger_segments(runs):
    out = {}
    for s in (32, 64):
        p99 = [mean(runs, sized(s, low), p99_rtt) for low in (50, 100, 200)]
        out[f"smallest step of p99 RTT, {s} KB (us)"] = min(steps(p99))
    out["throughput at T_low 50, 64 KB / 16 KB"] = by_low(runs, 64, throughput)[50] / by_low(runs, 16, throughput)[50]
    for s in (32, 64):
        out |= {f"{s} KB, T_low {low} (Gb/s)": x for low, x in by_low(runs, s, throughput).items()}
    return out


@measure("TIM-F13-c", needs=needs(sized(32, 50), sized(32, 100)))
def tipping_point(runs):
    tp = {low: mean(runs, sized(32, low), throughput) for low in (50, 100)}
    out = {"T_low 100 / 19.4 Gb/s": tp[100] / 19.4, "T_low 50 / T_low 100": tp[50] / tp[100]}
    return out | {f"p99 RTT, T_low {low} (us)": mean(runs, sized(32, low), p99_rtt) for low in (50, 100)}


# --- Figure 3.14: NIC pacing --------------------------------------------------------------------------------


@measure("TIM-F14-a", needs=needs(*(paced(0, low) for low in PACED_LOWS)))
def without_pacing(runs):
    return {f"T_low {low} (Gb/s)": mean(runs, paced(0, low), throughput) for low in PACED_LOWS}


@measure("TIM-F14-b", needs=needs(*(paced(p, low) for low in PACED_LOWS for p in PACES)))
def paces(runs):
    tp = {(p, low): mean(runs, paced(p, low), throughput) for p in PACES for low in PACED_LOWS}
    rtt = {(p, low): mean(runs, paced(p, low), average_rtt) for p in PACES for low in PACED_LOWS}
    out = {
        "smallest throughput, 700 M / none": min(tp[700, low] / tp[0, low] for low in PACED_LOWS),
        "smallest throughput, 700 M (Gb/s)": min(tp[700, low] for low in PACED_LOWS),
        "largest mean RTT, 700 M / none": max(rtt[700, low] / rtt[0, low] for low in PACED_LOWS),
    }
    for low in PACED_LOWS:
        out |= {f"T_low {low}, {p or 'no'} pace (Gb/s)": tp[p, low] for p in PACES}
    return out


@measure("TIM-F14-c", needs=needs(*(paced(p, 50) for p in PACES)))
def near_the_fair_share(runs):
    tp = {p: mean(runs, paced(p, 50), throughput) for p in PACES}
    return {"450 M (Gb/s)": tp[450], "450 M / best": tp[450] / max(tp.values())}


@measure("TIM-F14-d", needs=["alone@1"])
def pace_of_one(runs):
    return {"goodput (Mb/s)": float(goodput(runs["alone@1"]).max())}


# --- Figure 3.15: T_high ------------------------------------------------------------------------------------


def by_high(runs, each: int, value) -> dict[int, float]:
    return {h: mean(runs, bounded(h, each), value) for h in HIGHS}


@measure("TIM-F15-a", needs=needs(*(bounded(h, 4) for h in HIGHS)))
def upper_threshold(runs):
    out = {}
    for name, value in (("throughput", throughput), ("p99 RTT", p99_rtt)):
        x = [v for h, v in by_high(runs, 4, value).items() if h >= 200]
        out[f"{name}, largest / smallest - 1, T_high 200 to 1000"] = max(x) / min(x) - 1
    return out


@measure("TIM-F15-b", needs=needs(*(bounded(h, c) for h in HIGHS for c in EACH)))
def tail_by_connections(runs):
    p99 = {c: by_high(runs, c, p99_rtt) for c in EACH}
    out = {"smallest step of p99 RTT, T_high 500 (us)": min(steps([p99[c][500] for c in EACH]))}
    return out | {f"p99 RTT, {c} each, T_high {h} (us)": p99[c][h] for c in EACH for h in (200, 500, 1000)}


@measure("TIM-F15-d", needs=needs(*(bounded(h, c) for h in HIGHS for c in EACH)))
def low_upper_thresholds(runs):
    tp = {c: by_high(runs, c, throughput) for c in EACH}
    out = {"smallest throughput, T_high 200 / 1000": min(tp[c][200] / tp[c][1000] for c in EACH)}
    return out | {f"{c} each, T_high {h} (Gb/s)": tp[c][h] for c in EACH for h in (50, 200, 1000)}
