"""The estimate of the cross traffic, its spectrum and what η says (§4.3; Figures 4-2 to 4-5)."""

from __future__ import annotations

import numpy as np

from thalweg.study import mean, measure, needs, once, seeds

from .outcome import etas, goodput, queue, series, waits, within
from .settings import MIX, POISSON, RATE, Cross, Point, specs

# Cumulative bytes at the hosts' links, so that what entered the queue and when is known.
WATCHED = {
    "measure.links": {"every": "5ms", "ports": [0, 2, 4, 6, 8, 10]},
    "measure.round_trips": True,
}
DELAYED = {"transport.delayed_acks": {"kind": "on", "every": 2, "delay": "40ms"}}
LOSSY = {"switch.buffer": "300KB"}  # half of what the path holds: losses


def estimated(what: str, *cross: Cross, **more) -> Point:
    return Point(f"x1:{what}", cross=cross, seconds=60, set=WATCHED | more.get("set", {}))


POINTS = {
    "poisson-24": estimated("poisson-24", Cross("poisson", 24)),
    "poisson-48": estimated("poisson-48", *POISSON),
    "poisson-72": estimated("poisson-72", Cross("poisson", 72)),
    "cbr-48": estimated("cbr-48", Cross("cbr", 48)),
    "cubic-1": estimated("cubic-1", Cross("cubic")),
    "cubic-2": estimated("cubic-2", Cross("cubic", count=2)),
    "cubic-3": estimated("cubic-3", Cross("cubic", count=3)),
    "mix": estimated("mix", *MIX),
    "mix-drops": estimated("mix-drops", *MIX, set=LOSSY),
    "cubic-2-drops": estimated("cubic-2-drops", Cross("cubic", count=2), set=LOSSY),
}
LATE = {f"{k}-delayed": Point(f"x1:{k}-delayed", cross=p.cross, seconds=60, set=dict(p.set) | DELAYED)
        for k, p in POINTS.items() if k in ("poisson-48", "cubic-1", "mix")}  # fmt: skip

SHARE = Point(
    "f4.2",
    "cubic",
    (Cross("cubic", begin=30, end=90), Cross("cbr", 48, begin=90)),
    150,
    {"measure.links": WATCHED["measure.links"]},
)
ONE, CBR = (
    Point("f4.3:cubic", cross=(Cross("cubic"),), seconds=60),
    Point("f4.3:cbr", cross=(Cross("cbr", 48),), seconds=60),
)
RANDOM = Point("f4.3:poisson", cross=POISSON, seconds=60)
COMPETES = {"transport.congestion": {"kind": "nimbus", "link_rate": "96Mbps", "switching": False}}
# Elastic part of the cross traffic's bytes: with one Cubic flow the Poisson stream of rate p leaves (96 - p) / 2 each.
PARTS = {0: 48.0, 25: 57.6, 50: 32.0, 75: 13.7, 100: 0.0}
ELASTIC = {
    part: Point(
        f"f4.5:{part}",
        cross=(() if rate == 0 else (Cross("poisson", rate),)) + (() if part == 0 else (Cross("cubic"),)),
        set=COMPETES,
    )
    for part, rate in PARTS.items()
}
PULSE = Point("f4.6:pulse", cross=POISSON)
NO_PULSE = Point(
    "f4.6:none", cross=POISSON,
    set={"transport.congestion": {"kind": "nimbus", "link_rate": "96Mbps", "pulse": 1e-6, "switching": False, "initial": "delay"}},
)  # fmt: skip
ALL = (*POINTS.values(), *LATE.values(), SHARE, ONE, CBR, RANDOM, *ELASTIC.values(), PULSE, NO_PULSE)


def runs(scale: str) -> list:
    return specs(ALL, scale)


# --- The estimate -------------------------------------------------------------------------------------------


def entered(results, hosts) -> tuple[np.ndarray, np.ndarray]:
    """When, and bytes that these hosts have sent so far."""
    table = results.tables["links"].sort("time_ps")
    total = 0.0
    for host in hosts:
        mine = table.filter(table["port"] == 2 * host)
        at, total = mine["time_ps"].to_numpy() * 1e-12, total + mine["bytes"].to_numpy().astype(float)
    return at, total


@once
def errors(results) -> np.ndarray:
    """|ẑ − z| / z at every sample after 10 s: z is what the others sent while the packets that ẑ is made of left."""
    at, estimate = series(results, "cross_rate")
    trips = results.tables["round_trips"].sort("time_ps")
    trips = trips.filter(trips["flow"] == 0)
    heard, rtt = trips["time_ps"].to_numpy() * 1e-12, trips["rtt_ps"].to_numpy() * 1e-12

    def trip(when):
        """The newest round trip by then, and when its ACK came."""
        n = np.clip(np.searchsorted(heard, when, side="right") - 1, 0, None)
        return heard[n], rtt[n]

    came, last = trip(at)
    left = came - last  # the newest packet left
    earlier, before = trip(left)
    first = earlier - before  # the first of its flight did
    clock, bytes = entered(results, range(1, 6))
    z = (np.interp(left, clock, bytes) - np.interp(first, clock, bytes)) * 8 / np.maximum(left - first, 1e-9)
    use = (at >= 10) & (z > 0)
    return np.abs(estimate[use] - z[use]) / z[use]


def percentiles(runs, points) -> tuple[float, float]:
    found = np.concatenate([errors(r) for p in points for r in seeds(runs, p)])
    return float(np.median(found)), float(np.percentile(found, 95))


@measure("NIM-X1a", needs=needs(*POINTS.values(), *LATE.values()))
def median_error(runs):
    each = {f"{k}: median": percentiles(runs, [p])[0] for k, p in (POINTS | LATE).items()}
    return {"median": percentiles(runs, [*POINTS.values(), *LATE.values()])[0]} | each


@measure("NIM-X1b", needs=needs(*POINTS.values(), *LATE.values()))
def tail_of_errors(runs):
    each = {f"{k}: p95": percentiles(runs, [p])[1] for k, p in (POINTS | LATE).items()}
    return {"p95": percentiles(runs, [*POINTS.values(), *LATE.values()])[1]} | each


@measure("NIM-X1c", needs=needs(*(POINTS[k.removesuffix("-delayed")] for k in LATE), *LATE.values()))
def error_with_delayed_acks(runs):
    apart = [
        abs(percentiles(runs, [p])[0] - percentiles(runs, [POINTS[k.removesuffix("-delayed")]])[0])
        for k, p in LATE.items()
    ]
    return {"largest |median apart|": max(apart)}


# --- What does not tell (Figure 4-2) ------------------------------------------------------------------------


@once
def own_share(results) -> tuple[np.ndarray, np.ndarray]:
    """When, and the tested flow's part of what waits: of the last bytes that entered, as many as wait."""
    at, waiting = queue(results)
    clock, all_bytes = entered(results, range(6))
    _, own = entered(results, range(1))
    now = np.interp(at, clock, all_bytes)
    held = waiting * RATE / 8e-3
    since = np.interp(now - held, all_bytes, clock)
    part = (np.interp(at, clock, own) - np.interp(since, clock, own)) / np.maximum(held, 1)
    some = held > 100_000
    return at[some], np.clip(part[some], 0, 1)


PHASES = {"elastic": (40, 90), "inelastic": (100, 150)}


@measure("NIM-F4.2a", needs=needs(SHARE))
def throughput_by_phase(runs):
    return {name: mean(runs, SHARE, lambda r, a=a, b=b: goodput(r, a, b)) / RATE for name, (a, b) in PHASES.items()}


@measure("NIM-F4.2b", needs=needs(SHARE))
def own_queue_by_phase(runs):
    part = {
        n: mean(runs, SHARE, lambda r, a=a, b=b: within(*own_share(r), a, b).mean()) for n, (a, b) in PHASES.items()
    }
    return part | {"apart": abs(part["elastic"] - part["inelastic"])}


# --- What does (Figures 4-3 to 4-5) -------------------------------------------------------------------------


def filtered(values: np.ndarray) -> np.ndarray:
    """Without what is slower than two pulses."""
    width = 40
    smooth = np.convolve(
        np.pad(values, (width // 2, width // 2 - 1), mode="edge"), np.ones(width) / width, mode="valid"
    )
    return values - smooth


def correlation(results) -> float:
    """Of ẑ with the S of one round trip before, where it is most negative or, failing that, largest, from half to
    twice a round trip."""
    at, sent = series(results, "sent_rate")
    _, cross = series(results, "cross_rate")
    _, rtt = series(results, "srtt_ps")
    inside = at >= 20
    s, z = filtered(sent[inside]), filtered(cross[inside])
    trip = np.median(rtt[-len(at) :]) * 1e-12
    lags = range(round(0.5 * trip / 0.01), round(2 * trip / 0.01) + 1)
    found = [float(np.corrcoef(s[: len(s) - lag], z[lag:])[0, 1]) for lag in lags]
    return min(found)


@measure("NIM-F4.3a", needs=needs(ONE, CBR))
def correlation_with_what_was_sent(runs):
    return {"Cubic": mean(runs, ONE, correlation), "CBR": mean(runs, CBR, correlation)}


@once
def spectrum(results) -> tuple[np.ndarray, np.ndarray]:
    """Hz, and the mean magnitude of ẑ's spectrum over windows of 5 s (Mb/s), from 20 s on."""
    at, cross = series(results, "cross_rate")
    cross = cross[at >= 20] * 1e-6
    windows = [cross[n : n + 500] for n in range(0, len(cross) - 499, 250)]
    found = [np.abs(np.fft.rfft(w - w.mean())) * 2 / 500 for w in windows]
    return np.fft.rfftfreq(500, 0.01), np.mean(found, axis=0)


def peak(results) -> float:
    """At 5 Hz, over the largest from 5.6 to 9.4 Hz."""
    hz, size = spectrum(results)
    return float(size[np.argmin(abs(hz - 5))] / size[(hz > 5.5) & (hz < 9.5)].max())


@measure("NIM-F4.4a", needs=needs(ONE, CBR, RANDOM))
def line_at_five_hertz(runs):
    return {name: mean(runs, p, peak) for name, p in {"Cubic": ONE, "CBR": CBR, "Poisson": RANDOM}.items()}


def of_parts(runs, of) -> dict[int, float]:
    return {part: mean(runs, p, of) for part, p in ELASTIC.items()}


@measure("NIM-F4.5a", needs=needs(ELASTIC[0], ELASTIC[100]))
def eta_at_both_ends(runs):
    return {f"median η, {part} % elastic": mean(runs, ELASTIC[part], lambda r: np.median(etas(r))) for part in (0, 100)}


@measure("NIM-F4.5b", needs=needs(*ELASTIC.values()))
def eta_by_part(runs):
    medians = of_parts(runs, lambda r: np.median(etas(r)))
    return {"smallest step": min(np.diff(list(medians.values())))} | {f"{k} %": v for k, v in medians.items()}


@measure("NIM-F4.5c", needs=needs(ELASTIC[25]))
def a_quarter_elastic(runs):
    return mean(runs, ELASTIC[25], lambda r: np.mean(etas(r) >= 2))


@measure("NIM-F4.6e", needs=needs(PULSE, NO_PULSE))
def delay_of_pulses(runs):
    calm, without = mean(runs, PULSE, waits), mean(runs, NO_PULSE, waits)
    return {"|apart| (ms)": abs(calm - without), "with (ms)": calm, "without (ms)": without}
