"""What is measured of a run, in numbers and as curves."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, fields
from itertools import pairwise
from typing import Any

import numpy as np

from thalweg.exams.situations import Situation
from thalweg.results import Results

NONE = math.nan
# Shares of time-outs, sawteeth and PROBE_RTT leave this much of a link idle for a while: it still counts as used.
USED, FAIR = 0.8, 0.9
# The delay has settled within a quarter of where it stays, or this many milliseconds.
NEAR, NEAR_MS = 1.25, 5.0
# It has settled if this holds for three windows, and in nine tenths of all that follow: a rate that probes
# for more, or a cut now and then, does not undo it.
HOLD, MOST = 3, 0.9


@dataclass
class Marks:
    """One controller in one situation. Not a number: there is none (nothing was sent, or no other flow to share
    with)."""

    utilisation: float = NONE
    delay_ms: float = NONE
    loss: float = NONE
    fairness: float = NONE
    share: float = NONE
    settled_s: float = NONE
    failed: str | None = None
    curves: dict[str, np.ndarray] = field(default_factory=dict, repr=False)

    def row(self) -> dict[str, Any]:
        """The numbers by name; what there is not is `None`."""
        every = {f.name: getattr(self, f.name) for f in fields(self) if f.name != "curves"}
        return {k: None if isinstance(v, float) and math.isnan(v) else v for k, v in every.items()}


def measure(situation: Situation, results: Results) -> Marks:
    """The marks of a run of this situation."""
    marks = Marks()
    flows = results.flows
    ours = flows.filter(flows["group"].is_in(_examined(results)))
    link = _link(situation, results)
    seconds, carried, capacity = link
    late = seconds >= situation.from_
    marks.utilisation = _ratio(carried[-1] - carried[late][0], capacity[-1] - capacity[late][0])
    times, delays = _delays(situation, results, ours["id"].to_list())
    measured = delays[times >= situation.from_]
    if len(measured):
        marks.delay_ms = float(np.percentile(measured, 95, method="inverted_cdf"))
    marks.loss = _ratio(float(ours["data_drops"].sum()), float(ours["packets"].sum()))
    progress = _progress(results)
    _sharing(situation, marks, progress, set(ours["id"].to_list()))
    marks.settled_s = _settled(situation, results, link, progress, (times, delays))
    marks.curves = _curves(link, progress, set(ours["id"].to_list()), (times, delays))
    return marks


def _ratio(part: float, whole: float) -> float:
    return float(part / whole) if whole > 0 else NONE


def _examined(results: Results) -> list[int]:
    """The traffic sections of the controller examined."""
    traffic = results.scenario.to_dict()["traffic"]
    return [n for n, section in enumerate(traffic) if section.get("transport", "default") == "default"]


def _link(situation: Situation, results: Results) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Of the bottleneck: seconds, bytes carried so far, bytes that could have been."""
    ports = results.named("ports")
    near, far = situation.bottleneck
    (port,) = ports.filter((ports["from"] == near) & (ports["to"] == far))["port"].to_list()
    links = results.tables["links"]
    of = links.filter(links["port"] == port)
    return (
        of["time_ps"].to_numpy() * 1e-12,
        of["bytes"].to_numpy().astype(float),
        of["capacity"].to_numpy().astype(float),
    )


def _delays(situation: Situation, results: Results, flows: list[int]) -> tuple[np.ndarray, np.ndarray]:
    """Of every round trip of these flows: when, and by how many milliseconds it was longer than that of the
    empty path."""
    trips = results.tables["round_trips"]
    of = trips.filter(trips["flow"].is_in(flows))
    base = np.full(int(max(flows, default=0)) + 1, results.summary["base_rtt_us"] * 1e-3)
    for n, ms in enumerate(situation.base_rtt):
        base[n : n + 1] = ms
    excess = of["rtt_ps"].to_numpy() * 1e-9 - base[of["flow"].to_numpy()]
    # Both are whole picoseconds: what is below one is the float's.
    return of["time_ps"].to_numpy() * 1e-12, np.maximum(np.round(excess, 9), 0.0)


def _progress(results: Results) -> dict[int, tuple[np.ndarray, np.ndarray]]:
    """Of every flow that was sampled: seconds, and payload delivered so far."""
    table = results.tables["controllers"]
    out = {}
    for (flow,), part in sorted(table.partition_by("flow", as_dict=True).items()):
        out[int(flow)] = (part["time_ps"].to_numpy() * 1e-12, part["delivered"].to_numpy().astype(float))
    return out


def _sharing(situation: Situation, marks: Marks, progress: dict, ours: set[int]) -> None:
    if len(progress) < 2 or situation.settles != "share":
        return
    got = np.array([_since(one, situation.from_) for one in progress.values()])
    mine = np.array([flow in ours for flow in progress])
    marks.fairness = _jain(got)
    if not mine.all():
        marks.share = _ratio(float(got[mine].mean()), float(got.mean()))


def _since(progress: tuple[np.ndarray, np.ndarray], begin: float) -> float:
    seconds, delivered = progress
    return float(np.interp(seconds[-1], seconds, delivered) - np.interp(begin, seconds, delivered, left=0.0))


def _jain(x: np.ndarray) -> float:
    return _ratio(float(x.sum()) ** 2, len(x) * float((x * x).sum()))


def _settled(situation: Situation, results: Results, link, progress: dict, trips) -> float:
    """Seconds after the event; infinite: it never did."""
    match situation.settles:
        case "":
            return NONE
        case "done":
            flows = results.flows
            ends = flows["start_ps"] + flows["fct_ps"]
            if flows["fct_ps"].has_nulls() or not len(flows):
                return math.inf
            return float(ends.max()) * 1e-12 - situation.event
        case "link":
            seconds, carried, capacity = link
            good = _windows(
                seconds, situation.window, lambda a, b: carried[b] - carried[a] >= USED * (capacity[b] - capacity[a])
            )
        case "share":
            seconds = link[0]
            got = np.array([np.interp(seconds, t, y, left=0.0) for t, y in progress.values()])
            good = _windows(seconds, situation.window, lambda a, b: _jain(got[:, b] - got[:, a]) >= FAIR)
        case "delay":
            seconds, times, delays = link[0], *trips
            last = delays[times >= seconds[-1] - (seconds[-1] - situation.event) / 4]
            if not len(last):
                return math.inf
            limit = NEAR * float(np.median(last)) + NEAR_MS
            places = np.searchsorted(times, seconds)
            good = _windows(
                seconds,
                situation.window / 2,
                lambda a, b: places[b] > places[a] and float(np.median(delays[places[a] : places[b]])) <= limit,
            )
    return _first_lasting(seconds, good, situation)


def _windows(seconds: np.ndarray, width: float, holds) -> np.ndarray:
    """Of each instant whether it holds in the window that begins there; windows that the run cuts off are left out."""
    ends = np.searchsorted(seconds, seconds + width - 1e-9)
    return np.array([bool(holds(a, b)) for a, b in enumerate(ends) if b < len(seconds)], dtype=bool)


def _first_lasting(seconds: np.ndarray, good: np.ndarray, situation: Situation) -> float:
    step = seconds[1] - seconds[0] if len(seconds) > 1 else 1.0
    hold = max(round(HOLD * situation.window / step), 1)
    for n in range(int(np.searchsorted(seconds, situation.event - 1e-9)), len(good)):
        if good[n : n + hold].all() and good[n:].mean() >= MOST:
            return float(seconds[n] - situation.event)
    return math.inf


def _curves(link, progress: dict, ours: set[int], trips) -> dict[str, np.ndarray]:
    """For the pictures: what could have been and what was carried (Mb/s), what the flows examined got, their
    delays (ms)."""
    seconds, carried, capacity = link
    few = max(1, len(seconds) // 100)  # about a hundred points: what a picture shows
    at = seconds[::few]
    rate = lambda y: np.diff(y[::few]) / np.maximum(np.diff(at), 1e-12) * 8e-6  # noqa: E731
    mine = [np.interp(at, t, y, left=0.0) for flow, (t, y) in progress.items() if flow in ours]
    got = np.diff(sum(mine)) / np.maximum(np.diff(at), 1e-12) * 8e-6 if mine else np.zeros(len(at) - 1)
    times, delays = trips
    places = np.searchsorted(times, at)
    middle = [float(np.median(delays[a:b])) if b > a else NONE for a, b in pairwise(places)]
    return {
        "seconds": at[1:],
        "capacity": rate(capacity),
        "carried": rate(carried),
        "got": got,
        "delay": np.array(middle),
    }
