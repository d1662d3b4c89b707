"""A wired link that drops before a wireless one with an ABC router (Figures 2-4, 2-10), and two cellular
links in tandem (Figure 2-7c)."""

from __future__ import annotations

import gzip
from functools import cache

import numpy as np

from thalweg.study import RunSpec, floored_percentile, measure, once

from .outcome import delays, shares, summary
from .settings import (
    DOWN,
    NAMES,
    NO_HYSTART,
    PUBLISHED_BASELINES,
    SCHEMES,
    TRACES,
    UP,
    Cell,
    need_traces,
    traced,
    transport,
)

SCENARIO = "scenarios/two-hops.toml"
# CHOICE §2.4.1, §2.7.4: rates and times are read off no figure.
STEP, WIRED, BUFFER = 5, 12.0, 100
RATES = (16, 8, 4, 8, 14, 9, 6, 10, 16, 9, 5, 8, 20, 8, 16, 6, 11, 16, 7, 9)
# Figure 2-10: each rate once without and once with cross traffic, which is there for 40 s and away for 40 s.
LONG, CROSSED = 20, (3, 9, 16, 5, 16, 5, 3, 9)
ON, SKIPPED = ((40, 80), (120, 160)), 5
RTT = 0.1


def wireless(rates, step: int) -> list[dict]:
    steps = [{"at": f"{step * n}s", "rate": f"{rate}Mbps"} for n, rate in enumerate(rates)]
    return [
        {"which": {"kind": "between", "ends": ["router", "station"]}, "direction": "forward"}
        | {"transmitter": {"kind": "stepped", "steps": steps}}
    ]


def switching() -> RunSpec:
    set = {"name": "switching", "link": wireless(RATES, STEP), "run.until": f"{STEP * len(RATES)}s"}
    return RunSpec("switching", SCENARIO, set | {"measure.controllers": {"every": "20ms"}}, keep=True)


def cross() -> RunSpec:
    """CUBIC's flows over the wired link to another host."""
    own = {"kind": "backlogged", "src": "sender", "dst": "receiver"}
    others = [
        {"kind": "backlogged", "src": "sender", "dst": "other", "transport": "cubic"}
        | {"start": f"{begin}s"}
        | ({"until": f"{end}s"} if end < LONG * len(CROSSED) else {})
        for begin, end in ON
    ]
    set = {
        "name": "cross",
        "link": wireless(CROSSED, LONG),
        "traffic": [own, *others],
        "transports": {"cubic": transport(NO_HYSTART)},
        "run.until": f"{LONG * len(CROSSED)}s",
    }
    return RunSpec("cross", SCENARIO, set, keep=True)


def tandem(scheme: str) -> RunSpec:
    """Up, then down: every router on the way is the scheme's."""
    controller, marking = SCHEMES[scheme]
    set = {
        "name": f"tandem:{scheme}",
        "topology.file": "tandem.csv",
        "transport.congestion": controller,
        "switch.marking": marking,
        "nic.buffer": "unlimited",
        "run.until": "140s",
    }
    prepare = traced({2: UP, 4: DOWN})
    return RunSpec(set["name"], SCENARIO, set | {"link": []}, prepare=prepare, keep=True)


def runs(scale: str) -> list:
    return [switching(), cross(), *map(tandem, ("abc", *PUBLISHED_BASELINES))]


@once
def wired_waits(results):
    """When data left the sender's link (s), how long it had waited there (ms), whose it was."""
    packets = results.packets.collect()
    data = packets.filter(packets["forward"] == 1)
    begun, handed = (data[c].to_numpy().astype(float) for c in ("ingress_ps", "handed_ps"))
    return begun * 1e-12, (begun - handed) * 1e-9, data["flow"].to_numpy()


def late(at: np.ndarray, ms: np.ndarray, begin: float, end: float) -> float:
    """The 95th percentile of what left in [begin, end)."""
    return floored_percentile(ms[(at >= begin) & (at < end)], 95)


@measure("ABC-F2.4a", needs=["switching"])
def tracks_the_bottleneck(runs):
    parts = [
        shares(runs["switching"], STEP * n + 1, STEP * (n + 1), 1)[0] / min(rate, WIRED) for n, rate in enumerate(RATES)
    ]
    return {"least of min(wireless, wired)": min(parts), "mean": float(np.mean(parts))}


@measure("ABC-F2.4b", needs=["switching"])
def delays_at_both_links(runs):
    found = delays(runs["switching"])
    at, ms, _flow = wired_waits(runs["switching"])
    low, high = [], []
    for n, rate in enumerate(RATES):
        begin, end = STEP * n + 1, STEP * (n + 1)
        if rate < WIRED:
            low.append(late(found.left, found.ms, begin, end))
        else:
            high.append(late(at, ms, begin, end))
    full = BUFFER * 1504 * 8e-3 / WIRED
    return {"wireless: largest p95 (ms)": max(low), "wired: least p95 / the full buffer's": min(high) / full}


@measure("ABC-F2.4c", needs=["switching"])
def window_after_rises(runs):
    """After each rise that leaves the wireless link the slower one: when CUBIC's window was the smaller one
    for the last time."""
    seen = runs["switching"].tables["controllers"].sort("time_ps")
    at = seen["time_ps"].to_numpy() * 1e-12
    held = seen["window"].to_numpy() >= seen["other_window"].to_numpy()
    rises = [STEP * n for n in range(1, len(RATES)) if RATES[n - 1] < RATES[n] < WIRED]
    within = []
    for rise in rises:
        last = at[(at > rise) & (at <= rise + STEP) & held]
        within.append(float(last[-1] - rise) / RTT if len(last) else 0.0)
    return {"round trips until the ABC window counts for good, at most": max(within), "rises": len(rises)}


@measure("ABC-F2.10a", needs=["cross"])
def ideal_rate_by_region(runs):
    regions = {"white": [], "yellow": [], "grey": []}
    for region, begin, end, rate in stretches():
        own = shares(runs["cross"], begin, end, 3)[0]
        ideal = min(rate, WIRED if region == "white" else WIRED / 2)
        regions[region].append(own / ideal)
    return {
        "white: least of the ideal": min(regions["white"]),
        "yellow: least of the ideal": min(regions["yellow"]),
        "grey: mean of 6 Mb/s": float(np.mean(regions["grey"])),
    }


@measure("ABC-F2.10b", needs=["cross"])
def delays_by_region(runs):
    """Of ABC's packets: at both queues together."""
    found = delays(runs["cross"])
    at, ms, flow = wired_waits(runs["cross"])
    at, ms = at[flow == 0], ms[flow == 0]

    def both(begin: float, end: float) -> float:
        # What waits at one waits hardly at the other: the larger of the two.
        return late(at, ms, begin, end) + late(found.left, found.ms, begin, end)

    alone = [both(b, e) for region, b, e, rate in stretches() if region == "white" and rate < WIRED]
    company = [both(b, e) for region, b, e, _rate in stretches() if region == "yellow"]
    return {"white, wireless-limited: largest p95 (ms)": max(alone), "yellow / that": min(company) / max(alone)}


def stretches():
    """Region, from when until when, wireless rate, of each step without its first seconds."""
    for n, rate in enumerate(CROSSED):
        begin, end = LONG * n, LONG * (n + 1)
        crossed = any(on <= begin < off for on, off in ON)
        region = ("yellow" if rate < WIRED / 2 else "grey") if crossed else "white"
        yield region, begin + SKIPPED, end, rate


@once
def tandem_summary(results) -> tuple[float, float]:
    """Mb/s that left the second link; p95 of the waits at both (ms)."""
    packets = results.packets.collect()
    data = packets.filter(packets["forward"] == 1)
    came, left = (data[c].list for c in ("arrivals_ps", "starts_ps"))
    waits = 0.0
    for hop in (0, 1):
        begun = left.get(hop, null_on_oob=True).fill_null(0).to_numpy().astype(float)
        waits = waits + np.where(begun > 0, begun - came.get(hop, null_on_oob=True).fill_null(0).to_numpy(), np.nan)
    sent = ~np.isnan(waits)
    wire = data["wire"].to_numpy()[sent]
    return float(wire.sum() * 8e-6 / 140), floored_percentile(waits[sent] * 1e-9, 95)


@cache
def saturated() -> float:
    """Mb/s through both links if the first always had something to send and the second's queue had no limit."""
    up, down = (
        np.bincount(ms[ms < 140_000], minlength=140_000)
        for ms in (np.array(gzip.decompress((TRACES / f"{t}.gz").read_bytes()).split(), int) for t in (UP, DOWN))
    )
    waits = through = 0
    for more, most in zip(up.tolist(), down.tolist(), strict=True):
        waits += more
        leaves = min(waits, most)
        waits -= leaves
        through += leaves
    return through * 1504 * 8e-6 / 140


@measure("ABC-F2.7a", needs=[f"{t}:{s}" for t in (DOWN, UP, "tandem") for s in ("abc", *PUBLISHED_BASELINES)])
def pareto_frontier(runs):
    need_traces()
    better, margins = 0, []
    for trace in (DOWN, UP, "tandem"):
        found = {s: on(runs, trace, s) for s in ("abc", *PUBLISHED_BASELINES)}
        u, late = found.pop("abc")
        better += sum(other[0] >= u and other[1] <= late for other in found.values())
        margins += [max(other[1] / late, u / other[0]) for other in found.values()]
    return {"baselines that are at least as good in both": better, "closest": min(margins), "links": 3}


def on(runs, trace: str, scheme: str) -> tuple[float, float]:
    """Utilisation, or Mb/s, and p95."""
    if trace == "tandem":
        return tandem_summary(runs[f"tandem:{scheme}"])
    return summary(runs[Cell(scheme, trace).key])[:2]


@measure("ABC-F2.7e", needs=[f"tandem:{s}" for s in ("abc", "cubic", "cubic-codel")])
def tandem_links(runs):
    need_traces()
    abc, cubic, codel = (tandem_summary(runs[f"tandem:{s}"]) for s in ("abc", "cubic", "cubic-codel"))
    return {
        "throughput / the saturated links'": abc[0] / saturated(),
        "throughput, ABC / CoDel": abc[0] / codel[0],
        "p95, ABC / CoDel": abc[1] / codel[1],
        "ABC (Mb/s)": abc[0],
        "ABC, p95 (ms)": abc[1],
        f"{NAMES['cubic']} (Mb/s)": cubic[0],
        f"{NAMES['cubic']}, p95 (ms)": cubic[1],
    }
