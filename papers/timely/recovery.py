"""Hyper-active increase (§3.3.3, Figure 3.16): nine of ten connections of each client stop at once."""

from __future__ import annotations

import numpy as np

from thalweg.study import mean, measure, needs, run

from .numbers import mean_rate, reaches
from .outcome import Samples
from .settings import CLIENTS, SEEDS, connections

STOP, END = 2.0, 2.4  # s
OTHERS = 9
PAIRS = [(a, 0) for a in range(1, 1 + CLIENTS)]
# CHOICE: with T_low 50 us the idle network's 30 us are below it, where Algorithm 1 has no hyper-active increase.
KINDS = {
    "recovery:low-0+hai": {"t_low": "0s"},
    "recovery:low-0": {"t_low": "0s", "hyper.after": 0},
    "recovery:low-50+hai": {},
    "recovery:low-50": {"hyper.after": 0},
    "recovery:low-50+hai-below": {"hyper.below_t_low": True},
}
NAMES = {
    "recovery:low-0+hai": "T_low 0, HAI",
    "recovery:low-0": "T_low 0, fixed step",
    "recovery:low-50+hai": "T_low 50, HAI",
    "recovery:low-50": "T_low 50, fixed step",
    "recovery:low-50+hai-below": "T_low 50, HAI below it too",
}


def traffic(seed: int) -> list[dict]:
    """A connection of each client that stays, and nine that stop."""
    made = connections(PAIRS * (1 + OTHERS), seed)
    return made[:CLIENTS] + [one | {"until": f"{STOP}s"} for one in made[CLIENTS:]]


def runs(scale: str) -> list:
    made = []
    for seed in SEEDS[scale]:
        for key, set in KINDS.items():
            constants = {f"transport.congestion.{k}": v for k, v in set.items()}
            made.append(run(key, "recovery", {"traffic": traffic(seed)} | constants, seed))
    return made


def survivors(results) -> tuple[np.ndarray, np.ndarray]:
    """Mean rate (Mb/s) of the ten connections that stay, every tenth of a millisecond (ms from the stop)."""
    flows = results.flows
    found = Samples(results, only=flows.filter(flows["end"] != "stopped")["id"].to_list())
    grid = np.arange(STOP - 0.05, END, 1e-4)
    return (grid - STOP) * 1e3, mean_rate(found.at, found.flow, found.rate, grid) / 1e6


def time_to(mbps: float):
    def measured(results) -> float:
        ms, rate = survivors(results)
        return reaches(ms[ms >= 0], rate[ms >= 0], mbps)

    return measured


@measure("TIM-F16-a", needs=needs(*KINDS))
def times_to_recover(runs):
    t = {key: mean(runs, key, time_to(1500)) for key in KINDS}
    out = {
        "1.5 Gb/s, T_low 0, HAI / fixed step": t["recovery:low-0+hai"] / t["recovery:low-0"],
        "1.5 Gb/s, T_low 0, HAI (ms)": t["recovery:low-0+hai"],
    }
    for key, name in NAMES.items():
        out[f"1.5 Gb/s, {name} (ms)"] = t[key]
        out[f"2 Gb/s, {name} (ms)"] = mean(runs, key, time_to(1950))
    return out
