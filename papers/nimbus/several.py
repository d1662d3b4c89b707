"""Several NimbusCC flows on one path: who pulses, what they share, what they do together (§4.7.4; Figures 4-15, 4-16,
Table 4.5)."""

from __future__ import annotations

import numpy as np

from thalweg import study
from thalweg.study import RunSpec, jain, measure, once

from . import choices
from .outcome import queue, within
from .settings import PAIRS, SEEDS, Cross

FLOW = {"kind": "nimbus", "profile": "artifact", "delay": "vegas", "coordination": True}
FLOW |= {"initial": choices["begins"], "watcher_weight": choices["watchers"]}
STARTS, LASTS = (0, 120, 240, 360), 480
KAPPAS, TRIES = (0.5, 0.75, 1, 1.5, 2), {"quick": 6, "full": 20}
COARSE = {"measure.queues.every": "20ms", "measure.controllers.every": "20ms"}


def flow(number: int, begin: float = 0, end: float | None = None) -> dict:
    host = number % PAIRS
    out = {"kind": "backlogged", "src": host, "dst": host + PAIRS, "start": f"{begin}s"}
    return out | ({} if end is None else {"until": f"{end}s"})


def run(key: str, seed: int, flows: list[dict], seconds: float, mbps: int = 96, cross=(), **own) -> RunSpec:
    draw = np.random.default_rng(seed)
    sections = flows + [s for n, c in enumerate(cross) for s in c.sections(1 + n % (PAIRS - 1), seconds, draw)]
    chosen = {
        "name": key.replace(":", "-"),
        "topology.bottleneck_rate": f"{mbps}Mbps",
        "switch.buffer": f"{mbps * 12_500}B",
        "transport.congestion": FLOW | {"link_rate": f"{mbps}Mbps"} | own,
        "run.until": f"{seconds}s",
        "measure.controllers.flows": list(range(len(flows))),
        "traffic": sections,
    }
    return study.run(key, "shared", chosen | COARSE, seed)


CROWD = (Cross("cubic", count=3, begin=30, end=90), Cross("cbr", 96, begin=90, end=149.9))


def runs(scale: str) -> list:
    out = []
    for seed in SEEDS[scale]:
        four = [flow(n, at, at + LASTS) for n, at in enumerate(STARTS)]
        out.append(run("f4.15", seed, four, STARTS[-1] + LASTS + 1))
        out.append(run("f4.16", seed, [flow(n) for n in range(3)], 150, 192, CROWD))
    for kappa in KAPPAS:
        eight = [flow(n) for n in range(8)]
        out += [run(f"t4.5:{kappa:g}", seed, eight, 45, kappa=float(kappa)) for seed in range(1, TRIES[scale] + 1)]
    return out


def found(runs, key: str, tries: bool = False) -> list:
    return [runs[f"{key}@{n}"] for n in (range(1, TRIES[runs.scale] + 1) if tries else SEEDS[runs.scale])]


# --- What the flows do --------------------------------------------------------------------------------------


@once
def each(results) -> dict[int, dict[str, np.ndarray]]:
    """By flow: when it was sampled (s), whether it pulses and competes, bytes that have arrived."""
    table = results.tables["controllers"].sort("time_ps")
    out = {}
    for number in table["flow"].unique().sort():
        mine = table.filter(table["flow"] == number).drop_nulls("competes")
        out[int(number)] = {"at": mine["time_ps"].to_numpy() * 1e-12} | {
            name: mine[name].to_numpy().astype(float) for name in ("pulses", "competes", "arrived")
        }
    return out


@once
def pulsers(results) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """When (every 20 ms), how many flows there are, and how many of them pulse."""
    flows = each(results).values()
    at = np.unique(np.round(np.concatenate([f["at"] for f in flows]), 3))
    there, count = np.zeros(len(at)), np.zeros(len(at))
    for f in flows:
        inside = np.searchsorted(at, np.round(f["at"], 3))
        there[inside] += 1
        count[inside] += f["pulses"]
    return at, there, count


def rate(f: dict, begin: float, end: float) -> float:
    """Mb/s on the wire."""
    return float(np.diff(np.interp([begin, end], f["at"], f["arrived"]))[0] * 8e-6 / (end - begin)) * 1500 / 1448


WINDOWS = [(at + 60, at + 120) for at in range(0, 840, 120)]


def fairness(results, begin: float, end: float) -> float:
    there = (f for f in each(results).values() if f["at"][0] <= begin and f["at"][-1] >= end - 1)
    return jain([rate(f, begin, end) for f in there])


@measure("NIM-F4.15a", needs=["f4.15@*"])
def shares_of_four(runs):
    by = {f"{a}-{b} s": float(np.mean([fairness(r, a, b) for r in found(runs, "f4.15")])) for a, b in WINDOWS}
    return {"least": min(by.values())} | by


@measure("NIM-F4.15b", needs=["f4.15@*"])
def one_pulser(runs):
    several, without = [], []
    for r in found(runs, "f4.15"):
        at, there, count = pulsers(r)
        several.append((count > 1)[there > 0].mean())
        marks = np.concatenate([[0.0], at[count > 0], [at[-1]]])
        without.append(np.diff(marks).max())
    return {"several pulse": float(np.mean(several)), "longest without a pulser (s)": float(max(without))}


@measure("NIM-F4.15c", needs=["f4.15@*"])
def delays_of_four(runs):
    calm = [1 - np.concatenate([f["competes"] for f in each(r).values()]).mean() for r in found(runs, "f4.15")]
    ms = [np.median(within(*queue(r), 10, STARTS[-1] + LASTS)) for r in found(runs, "f4.15")]
    return {"low delays": float(np.mean(calm)), "median delay (ms)": float(np.mean(ms))}


def together(results, begin: float, end: float) -> float:
    return sum(rate(f, begin, end) for f in each(results).values())


@measure("NIM-F4.16a", needs=["f4.16@*"])
def shares_of_three(runs):
    def of(a, b):
        return float(np.mean([together(r, a, b) for r in found(runs, "f4.16")]))

    return {"next to Cubic / 96": of(40, 90) / 96, "next to a stream / 96": of(100, 149) / 96}


@measure("NIM-F4.16b", needs=["f4.16@*"])
def delays_of_three(runs):
    # `queue` is in ms of 96 Mb/s.
    return float(np.mean([np.median(within(*queue(r), 100, 149)) / 2 for r in found(runs, "f4.16")]))


def first(results) -> float:
    at, _, count = pulsers(results)
    some = at[count > 0]
    return float(some[0]) if len(some) else 45.0


@measure("NIM-T4.5a", needs=["t4.5:*"])
def election(runs):
    took = {k: float(np.mean([first(r) for r in found(runs, f"t4.5:{k:g}", True)])) for k in KAPPAS}
    times = list(took.values())
    return {
        "largest step (s)": float(np.diff(times).max()),
        "most, of what is allowed": max(s / (3 * (5 / k + 5)) for k, s in took.items()),
    } | {f"κ = {k:g} (s)": s for k, s in took.items()}


@measure("NIM-T4.5b", needs=["t4.5:*"])
def several_pulsers(runs):
    part = {}
    for k in KAPPAS:
        part[k] = float(np.mean([(pulsers(r)[2] > 1).mean() for r in found(runs, f"t4.5:{k:g}", True)]))
    return {"smallest step": float(np.diff(list(part.values())).min()), "at 2": part[2]} | {
        f"κ = {k:g}": v for k, v in part.items()
    }
