"""Incast (§4.3.4, Figure 4.9), without and with cross traffic."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from thalweg.study import Key, flow_list, mean, measure, places, run
from thalweg.study.lists import from_scenarios

from . import numbers
from .outcome import METRICS, flows
from .settings import BASELINES, CONTROLS, NAMES, SEEDS, Point, judged, needs, scheme

TOTAL = 150_000_000  # B
SENDERS = {"quick": (10, 30, 50), "full": (10, 20, 30, 40, 50)}
EVENTS = {"quick": 3, "full": 100}  # repetitions; they follow each other in one run, far enough apart
CONNECTIONS = {"quick": (8,), "full": (2, 4, 8)}  # per sender, besides one; CHOICE: the paper does not say how many
RATES = (10, 100)  # Gb/s, besides 40
VARIED = 30  # senders where something else is varied; CHOICE


def period(rate: int) -> int:
    """ns from one event to the next: five times what the bytes take at full rate, rounded up to 1 s: TIMELY's
    rates, once they are low, rise by 10 Mb/s per update whatever the link."""
    return round(np.ceil(5 * TOTAL * 8 / (min(rate, 40) * 1e9)) * 1e9)


DRAIN = 4_000_000_000  # ns after the last event


def whole(rate: int, scale: str) -> str:
    """How long a run takes."""
    return f"{EVENTS[scale] * period(rate) + DRAIN}ns"


def events(fan_in: int, point: Point, scale: str) -> dict:
    return point.network() | {
        "traffic.0.fan_in": fan_in,
        "traffic.0.size": f"{TOTAL // fan_in}B",
        "traffic.0.repeat": EVENTS[scale],
        "traffic.0.period": f"{period(point.rate)}ns",
        "run.until": whole(point.rate, scale),
    }


def drawn(connections: int, fan_in: int, count: int, hosts: int, seed: int, every: int) -> list[tuple]:
    """Flows (start in ns, source, destination, bytes): in each event fresh senders, each with so many connections to
    host 0."""
    rng, size = np.random.default_rng([seed, connections]), TOTAL // (fan_in * connections)
    return [
        (event * every, sender, 0, size)
        for event in range(count)
        for sender in rng.choice(np.arange(1, hosts), fan_in, replace=False)
        for _ in range(connections)
    ]


def several(connections: int, scale: str, seed: int):
    """For `prepare`: writes the list of flows, and names it in the scenario."""

    def prepare(_, folder: Path) -> dict:
        rows = drawn(connections, VARIED, EVENTS[scale], numbers.fat_tree(6)[0], seed, period(40))
        file = flow_list(folder / f"incast-{connections}x{VARIED}-{seed}.csv", rows)
        return {"traffic": [{"kind": "list", "file": from_scenarios(__file__, file)}]}

    return prepare


def runs(scale: str) -> list:
    made = []
    default = Point()
    for fan_in in SENDERS[scale]:
        made += at(f"incast-{fan_in}", default, events(fan_in, default, scale), BASELINES, scale)
    for rate in RATES:
        point = Point(rate=rate)
        made += at(f"incast-{rate}G", point, events(VARIED, point, scale), BASELINES[:2], scale)
    for c in CONNECTIONS[scale]:
        set = {"run.until": whole(40, scale)}
        made += at(f"incast-x{c}", default, set, BASELINES[:2], scale, lambda seed, c=c: several(c, scale, seed))
    made += at("cross", default, cross(scale), BASELINES, scale, scenario="cross")
    return made


def at(
    place: str, point: Point, set: dict, names, scale: str, prepare=None, scenario: str = "incast", controls=CONTROLS
) -> list:
    """CHOICE: at full scale 100 events of one seed; with cross traffic, one event for each seed."""
    seeds = SEEDS[scale] if scenario == "cross" else SEEDS["quick"]
    return [
        run(
            f"{place}:{n}.{cc}",
            scenario,
            set | scheme(n, cc, point),
            seed,
            **({"prepare": prepare(seed)} if prepare else {}),
        )
        for cc in controls
        for n in names
        for seed in seeds
    ]


# --- Request completion times -------------------------------------------------------------------------------


def completion_times(results) -> np.ndarray:
    """RCT (s) of every event: until its last flow has ended. Events are distinguished by when their flows start."""
    group = int(results.flows["group"].max())  # the incast is the last section
    mine = (results.flows["group"] == group).to_numpy()
    start, fct = (results.seconds(column)[mine] for column in ("start", "fct"))
    if np.isnan(fct).any():
        raise ValueError(f"{int(np.isnan(fct).sum())} flows of an incast never ended")
    return np.array([fct[start == s].max() for s in np.unique(start)])


def rct(runs, key: str) -> float:
    return mean(runs, key, lambda r: float(completion_times(r).mean()))


def ratios(runs, other: str, controls=CONTROLS) -> dict[str, float]:
    """IRN's mean RCT over the other scheme's, at every place that was run."""
    there = [(p, cc) for p in places(runs) for cc in controls]
    found = {(p, cc): rct(runs, f"{p}:irn.{cc}") / rct(runs, f"{p}:{other}.{cc}") for p, cc in there}
    return {"largest": max(found.values())} | {f"{NAMES[cc]}, {p}": x for (p, cc), x in found.items()}


@measure("IRN-F9a", needs=[f"incast-[0-9][0-9]:{n}.*" for n in ("irn", "roce-pfc")])
def incast_over_roce(runs):
    return ratios(runs, "roce-pfc")


@measure("IRN-F9b", needs=[f"incast-[0-9][0-9]:{n}.*" for n in ("irn", "irn-pfc")])
def incast_over_irn_with_pfc(runs):
    return ratios(runs, "irn-pfc")


@judged("IRN-F9c", needs=["incast-[0-9][0-9]:*"])
def incast_bounds(runs):
    least = {k: float(completion_times(r).min()) for k, r in runs.items()}
    free = {k: rct(runs, k.point) for k in map(Key.of, runs) if k.scheme.endswith(".none")}
    on_the_wire = TOTAL * 8 / 40e9 * numbers.WIRE / numbers.MTU
    return {
        "smallest RCT (ms)": 1e3 * min(least.values()),
        "largest RCT without CC / wire time": max(free.values()) / on_the_wire,
    }


@measure("IRN-X6a", needs=["incast-*G:*", "incast-x*"])
def incast_elsewhere(runs):
    return ratios(runs, "irn-pfc")


# --- With cross traffic -------------------------------------------------------------------------------------


def cross(scale: str) -> dict:
    """CHOICE: the incast begins behind the warm-up. At quick scale it has a fifth of the bytes, for a window
    a tenth as long."""
    flows, total = (5000, TOTAL // 5) if scale == "quick" else (50_000, TOTAL)
    until = round(1e9 * numbers.window(flows, numbers.HEAVY_TAILED, 0.5, 40e9, numbers.fat_tree(6)[0]))
    return {
        "traffic.0.until": f"{until}ns",
        "traffic.1.size": f"{total // VARIED}B",
        "traffic.1.at": f"{until // 10}ns",
        "measure.from": f"{until // 10}ns",
    }


def background(results) -> dict[str, float]:
    """The three metrics of the flows that are not the incast's."""
    group = results.flows["group"].to_numpy()[results.flows["measured"].cast(bool).to_numpy()]
    return flows(results).metrics(group == 0)


def crossing(runs, other: str, controls=CONTROLS) -> dict[str, float]:
    """IRN over another scheme: RCT and the background's metrics, for every congestion control."""
    out = {}
    for cc in controls:
        keys = [f"cross:{n}.{cc}" for n in ("irn", other)]
        a, b = (rct(runs, k) for k in keys)
        out[f"{NAMES[cc]}, RCT"] = a / b
        for m in METRICS:
            a, b = (mean(runs, k, lambda r, m=m: background(r)[m]) for k in keys)
            out[f"{NAMES[cc]}, background {m}"] = a / b
    return out


@judged("IRN-X7a", needs=needs("cross", ("irn", "roce-pfc")))
def crossed_incast_over_roce(runs):
    found = crossing(runs, "roce-pfc")
    reduced = {k: 1 - x for k, x in found.items() if "RCT" in k}
    return {"smallest gain": min(reduced.values()), "largest gain": max(reduced.values())} | found


@measure("IRN-X7c", needs=needs("cross", ("irn", "irn-pfc")))
def crossed_incast_over_irn_with_pfc(runs):
    found = crossing(runs, "irn-pfc")
    return {"largest": max(found.values())} | found
