"""How many values (Figures 14 and 15), and under which control of congestion (Figure 16)."""

from __future__ import annotations

import numpy as np

from thalweg.study import mean, measure

from .outcome import last
from .settings import LARGE, MEDIUM, PACKET, TRIMMING, hosts, marks, permutation, point, select, uplink_ports

# --- Figure 14: how evenly values fall on ports -------------------------------------------------------------

PORTS = 32
# Powers of two: each of 32 flows of a rack sends one packet with each of its values.
POWERS = {"quick": (5, 6, 7, 8, 10, 12, 14, 16), "full": tuple(range(5, 17))}


def spread(power: int, seed: int):
    values = 1 << power
    unlimited = {"switch.buffer": "1GB", "switch.marking": "none"}
    window = {"transport.window": {"kind": "fixed", "size": f"{151 * PACKET}B"}}
    traffic = [{"kind": "flow", "src": i, "dst": PORTS + i, "size": f"{values * 4096}B"} for i in range(PORTS)]
    set = hosts(2, PORTS) | window | unlimited | select("oblivious", values=values) | {"traffic": traffic}
    return point(f"values-{power}", "oblivious", set | {"run.until": "1s"}, seed)


def imbalance(results) -> float:
    """The busiest uplink's packets over the mean, less 1."""
    ports = results.tables["ports"]
    mine = ports.filter(ports["port"].is_in(uplink_ports(2 * PORTS, 0, PORTS)))["packets"].to_numpy().astype(float)
    assert len(mine) == PORTS
    return float(mine.max() / mine.mean() - 1)


@measure("REPS-F14-a", needs=["values-*"])
def evenness(runs):
    found = {p: mean(runs, f"values-{p}:oblivious", imbalance) for p in POWERS[runs.scale]}
    out = {f"{1 << p} values": x for p, x in found.items()}
    return {"smallest below 256 values": min(x for p, x in found.items() if p < 8)} | out


# --- Figure 15: completion ----------------------------------------------------------------------------------

COUNTS = (16, 32, 256, 65536)
BOTH = ("reps", "ops")
SEEDS = {"quick": (1, 2, 3), "full": (1,)}
WINDOWS = {
    "dctcp": {},
    "eqds": {"transport.window": "none", "transport.credits": {}},
    "nscc": {"transport.window": "nscc"},
}
QUIET = {"link": [{"which": "host-links", "direction": "backward", "marking": "none"}]}


def runs(scale: str) -> list:
    made = [spread(p, 1) for p in POWERS[scale]]
    where = LARGE if scale == "full" else MEDIUM
    there = where | marks(25, 76) | {"traffic": permutation("8MiB"), "run.until": "1s"}
    for s, kind in (("reps", "reps"), ("ops", "random")):
        for n in COUNTS:
            set = there | select(kind, values=n)
            made += [point(f"of-{n}", s, set, seed, trimming=TRIMMING) for seed in SEEDS[scale]]
        for name, window in WINDOWS.items():
            quiet = QUIET if name == "eqds" else {}
            made.append(point(f"under-{name}", s, there | window | quiet, 1, trimming=True))
    return made


@measure("REPS-F15-a", needs=[f"of-{n}:*" for n in COUNTS])
def fewer_values(runs):
    found = {(s, n): mean(runs, f"of-{n}:{s}", last) for s in BOTH for n in COUNTS}
    out = {}
    for s, name in (("reps", "REPS"), ("ops", "OPS")):
        out |= {f"{name}, {n} / 65536 values": found[s, n] / found[s, 65536] for n in COUNTS[:-1]}
    return out | {f"{s}, {n} values (us)": x for (s, n), x in found.items()}


measure("REPS-F15-b", needs=[f"of-{n}:*" for n in COUNTS])(fewer_values)
measure("REPS-F15-c", needs=[f"of-{n}:*" for n in COUNTS])(fewer_values)


@measure("REPS-F16-a", needs=[f"under-{name}:*" for name in WINDOWS])
def under_other_control(runs):
    found = {name: {s: mean(runs, f"under-{name}:{s}", last) for s in BOTH} for name in WINDOWS}
    out = {f"{name}, OPS / REPS": x["ops"] / x["reps"] for name, x in found.items()}
    out = {"smallest OPS / REPS": float(np.min(list(out.values())))} | out
    return out | {f"{name}, {s} (us)": v for name, x in found.items() for s, v in x.items()}
