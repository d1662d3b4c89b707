"""HOL (Figure 4.16): two heavy flows and two innocent ones through one switch, no cycle."""

from __future__ import annotations

import numpy as np

from thalweg.study import measure

from .messages import WORKLOADS, by_class, took, traffic
from .settings import run, scheme

# h1..h6 are 0..5: f1 h1 -> h6, f2 h2 -> h5, f3 h3 -> h6, f4 h4 -> h5. Heavy: 80 % of h6's link together,
# innocent: 40 % of h5's.
HEAVY, INNOCENT = ((0, 5), (2, 5)), ((1, 4), (3, 4))
READINGS = {"total": (16.0, 8.0), "each": (32.0, 16.0)}  # Gb/s of each flow
MS = {"quick": {"web": 60, "hadoop": 40}, "full": {"web": 200, "hadoop": 200}}
SCHEMES = ("pfc", "escape", "gfc", "dlb")


def loaded(s: str, workload: str, reading: str, ms: float):
    heavy, innocent = READINGS[reading]
    # There is one way between any two hosts.
    pairs = dict.fromkeys(HEAVY, (heavy, None)) | dict.fromkeys(INNOCENT, (innocent, None))

    def prepare(_, folder):
        return traffic(f"hol-{reading}", pairs, workload, ms, 1, folder)

    set = {"topology.file": "hol.csv", "run.until": f"{ms * 1000}us", "measure.memory": True}
    # CHOICE: XOFF of Chapter 3 at 100 Gb/s.
    return run(f"hol-{workload}-{reading}:{s}", set | scheme(s, 100, xoff=800_000), prepare=prepare)


def runs(scale: str) -> list:
    return [loaded(s, w, r, MS[scale][w]) for r in READINGS for w in WORKLOADS for s in SCHEMES]


def keys(workload: str, schemes, reading: str = "total") -> list[str]:
    return [f"hol-{workload}-{reading}:{s}@1" for s in schemes]


def means(runs, workload: str, schemes, reading: str = "total") -> dict[str, dict[float, float]]:
    """Of f2 and f4, by scheme and size class."""
    found = {s: took(runs[key]) for s, key in zip(schemes, keys(workload, schemes, reading), strict=True)}
    return by_class(found, workload, np.mean, keep=[1, 3])


def ratios(runs, workload: str, worse: str, reading: str = "total") -> list[float]:
    found = means(runs, workload, (worse, "escape"), reading)
    return [found[worse][b] / found["escape"][b] for b in found[worse]]


def short(runs, s: str, workload: str = "hadoop", reading: str = "total", most: float = 10_000) -> float:
    found = took(runs[f"hol-{workload}-{reading}:{s}@1"])
    return float(found.fct[np.isin(found.src, [1, 3]) & (found.size <= most)].mean())


BOTH = [key for r in READINGS for key in keys("hadoop", ("pfc", "escape", "gfc"), r)]


@measure("ESC-A1", needs=BOTH)
def short_innocent_messages(runs):
    out = {
        f"PFC only / Escape, {r}": short(runs, "pfc", reading=r) / short(runs, "escape", reading=r) for r in READINGS
    }
    return {"PFC only / Escape": out["PFC only / Escape, total"]} | out


@measure("ESC-F4.17a2", needs=[key for r in READINGS for key in keys("web", ("gfc", "escape"), r)])
def gfc_with_websearch(runs):
    out = {r: float(np.mean(ratios(runs, "web", "gfc", r))) for r in READINGS}
    return {"mean ratio": out["total"], "mean ratio, each": out["each"]}


@measure("ESC-F4.17b1", needs=[key for r in READINGS for key in keys("hadoop", ("pfc", "escape"), r)])
def plain_with_hadoop(runs):
    found = ratios(runs, "hadoop", "pfc")
    other = ratios(runs, "hadoop", "pfc", "each")
    return {
        "smallest": min(found),
        "mean": float(np.mean(found)),
        "smallest, each": min(other),
        "mean, each": float(np.mean(other)),
    }


@measure("ESC-F4.17b2", needs=[key for r in READINGS for key in keys("hadoop", ("gfc", "escape"), r)])
def gfc_with_hadoop(runs):
    out = {r: float(np.mean(ratios(runs, "hadoop", "gfc", r))) for r in READINGS}
    return {"mean ratio": out["total"], "mean ratio, each": out["each"]}


@measure("ESC-F4.17c", needs=BOTH)
def messages_up_to_10_kb(runs):
    a = {s: short(runs, s) for s in ("pfc", "escape", "gfc")}
    b = {s: short(runs, s, reading="each") for s in ("pfc", "escape", "gfc")}
    return {
        "PFC only / Escape": a["pfc"] / a["escape"],
        "GFC / Escape - PFC only / Escape": (a["gfc"] - a["pfc"]) / a["escape"],
        "PFC only / Escape, each": b["pfc"] / b["escape"],
        "GFC / Escape, each": b["gfc"] / b["escape"],
    }


@measure("ESC-F4.15f", needs=[key for w in WORKLOADS for key in keys(w, ("pfc", "dlb"), "each")])
def breaker_without_a_cycle(runs):
    same, paused = 0, 0
    for w in WORKLOADS:
        plain, breaker = (runs[key] for key in keys(w, ("pfc", "dlb"), "each"))
        columns = ["start_ps", "received_ps"]
        same += int(plain.flows.select(columns).equals(breaker.flows.select(columns)))
        paused += plain.summary["pauses"]["frames"]
    return {"workloads in which nothing differs": same, "pauses": paused}
