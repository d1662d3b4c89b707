"""Several bottlenecks and unequal links (§3.5.1e), and the two testbeds by their stand-ins (§3.5.2, §3.5.3)."""

from __future__ import annotations

import numpy as np

from thalweg.study import Recorded, jain, measure, run

from .micro import CHANGES, COUNTS, HPCC_WIRE, SPEEDS, key, longest_fall, of
from .settings import ON_WIRE, backlogged, hpcc, rocc_point, scheme

LENGTH, AFTER = 0.05, 0.02  # s
SEEDS = (1, 2, 3, 4, 5)  # of DCQCN, which marks by chance: in 30 ms a flow's mean rate is anywhere within a tenth of it
# Figure 3.7: A0..A4 are hosts 0 to 4, B0..B5 hosts 5 to 10. D0, D1..D4, D5.
CORNERS = [(0, 5), (1, 6), (2, 7), (3, 8), (4, 9), (10, 5)]
UNEQUAL = [(i, 7) for i in range(7)]
# The queue before host 0 of the testbeds: three sources.
TESTBED = [(1, 0), (2, 0), (3, 0)]


def graph(file: str, pairs, ports: list[int], seconds: float) -> dict:
    return {
        "topology.file": f"{file}.csv",
        "traffic": backlogged(pairs),
        "measure.queues": {"every": "100us", "ports": ports},
        "measure.controllers": {"every": "100us", "flows": list(range(len(pairs)))},
        "run.until": f"{round(seconds * 1e3)}ms",
    }


def own_increase(traffic: list[dict]) -> dict:
    """HPCC's W_AI is a share of W_init, which is that of the host's own link: two transports."""
    base = {
        "kind": "rdma",
        "mtu": "1000B",
        "header": "48B",
        "recovery": "go-back-n",
        "acks": "per-packet",
        "timer": "off",
    }
    fast = [t | ({"transport": "fast"} if t["src"] >= 5 else {}) for t in traffic]
    return {
        "transport.congestion": hpcc(len(UNEQUAL), 36),
        "transports": {"fast": base | {"congestion": hpcc(len(UNEQUAL), 90)}},
        "traffic": fast,
    }


# DPDK: T = 100 us at 10 Gb/s. Tofino: T = 20 us, cells of 80 B, thresholds of 10 Gb/s, the hosts compute.
DPDK = rocc_point(update="100us")
TOFINO = rocc_point(update="20us", queue_step="80B", reference="75KB", growth="150KB", limit="210KB", computes="host")
BEDS = {
    "dpdk-uni": ("mix10", [10, 10, 10], DPDK),
    "dpdk-mix": ("mix10", [10, 3, 1], DPDK),
    "tofino-uni": ("mix40", [40, 40, 40], TOFINO),
    "tofino-mix": ("mix40", [40, 30, 10], TOFINO),
}


def bed(name: str) -> dict:
    file, offered, point = BEDS[name]
    set = graph(file, TESTBED, [1], LENGTH) | scheme("rocc") | point
    set["topology"] = {"kind": "star", "hosts": 4, "rate": f"{max(offered)}Gbps", "delay": "1us"}
    del set["topology.file"]
    slower = [(h, r) for h, r in enumerate(offered, 1) if r < max(offered)]
    if slower:
        set["topology"] = {"kind": "file", "file": f"{file}.csv", "format": "links-csv"}
    if max(offered) == 10:
        set["transport.congestion"] = {"kind": "rocc", "recovery": "500us"}
    else:
        set["transport.congestion"] = {"kind": "rocc", "recovery": "100us"}
    return set


def runs(scale: str) -> list:
    corners = graph("corners", CORNERS, [1], LENGTH)
    made = [run("corners:rocc", "graph", corners | scheme("rocc"))]
    made += [run("corners:dcqcn", "graph", corners | scheme("dcqcn"), seed) for seed in SEEDS]
    made.append(run("corners:hpcc", "graph", corners | {"transport.congestion": hpcc(len(CORNERS), 10)}))
    xoff = {"kind": "static", "xoff": "800KB", "xon": "797904B"}
    large = {"switch.inputs.shared": "32MB", "switch.pfc.threshold": xoff}
    unequal = graph("unequal", UNEQUAL, [1], LENGTH) | large
    made += [run(f"unequal:{s}", "graph", unequal | scheme(s, 100)) for s in ("rocc", "dcqcn")]
    made.append(run("unequal:hpcc", "graph", unequal | own_increase(unequal["traffic"])))
    return made + [run(f"{name}:rocc", "graph", bed(name)) for name in BEDS]


def rates(runs, place: str, name: str, seed: int = 1):
    wire = HPCC_WIRE if name == "hpcc" else ON_WIRE
    return Recorded(runs[f"{place}:{name}@{seed}"]).throughput(AFTER, LENGTH, wire)


def marked_corners(runs) -> np.ndarray:
    """DCQCN's rates at the two bottlenecks: a row for each seed."""
    return np.array([rates(runs, "corners", "dcqcn", seed) for seed in SEEDS])


def at(*keys: str) -> list[str]:
    return [f"{k}@1" for k in keys]


MARKED = [f"corners:dcqcn@{seed}" for seed in SEEDS]


def named(rate) -> dict[str, float]:
    return {f"D{i} (Gb/s)": float(r) for i, r in enumerate(rate)}


@measure("ROCC-F3.9a1", needs=at("corners:rocc"))
def two_bottlenecks(runs):
    rate = rates(runs, "corners", "rocc")
    ideal = [5, 8.75, 8.75, 8.75, 8.75, 5]
    return {"largest gap": max(abs(r / i - 1) for r, i in zip(rate, ideal, strict=True))} | named(rate)


@measure("ROCC-F3.9a2", needs=MARKED)
def two_bottlenecks_dcqcn(runs):
    seeds = marked_corners(runs)
    rate = seeds.mean(axis=0)
    out = {"D0 / 5 Gb/s": rate[0] / 5, "D5 (Gb/s)": rate[5], "mean D1..D4 (Gb/s)": rate[1:5].mean()}
    out |= {"D5, least (Gb/s)": seeds[:, 5].min(), "D5, most (Gb/s)": seeds[:, 5].max()}
    return {k: float(v) for k, v in out.items()}


@measure("ROCC-F3.9a3", needs=[*MARKED, *at("corners:hpcc")])
def two_bottlenecks_hpcc(runs):
    hpcc, dcqcn = rates(runs, "corners", "hpcc"), marked_corners(runs).mean(axis=0)
    return {"D0 / 5 Gb/s": float(hpcc[0] / 5), "D0, HPCC / DCQCN": float(hpcc[0] / dcqcn[0])} | named(hpcc)


@measure("ROCC-F3.9b1", needs=at("unequal:rocc"))
def unequal_access(runs):
    rate = rates(runs, "unequal", "rocc")
    return {"largest gap": max(abs(r / (100 / 7) - 1) for r in rate)} | named(rate)


@measure("ROCC-F3.9b2", needs=at("unequal:hpcc"))
def unequal_access_hpcc(runs):
    rate = rates(runs, "unequal", "hpcc")
    slow, fast = float(rate[:5].mean()), float(rate[5:].mean())
    return {"fast / slow": fast / slow, "total (Gb/s)": float(rate.sum()), "slow (Gb/s)": slow, "fast (Gb/s)": fast}


@measure("ROCC-F3.9b3", needs=at("unequal:dcqcn"))
def unequal_access_dcqcn(runs):
    rate = rates(runs, "unequal", "dcqcn")
    return {"Jain index": jain(rate)} | named(rate)


def queue(runs, name: str) -> float:
    """KB."""
    return float(of(runs, f"{name}:rocc").queue().within(AFTER).mean() / 1e3)


def fair(runs, name: str) -> float:
    """Gb/s: F as the first flow receives it."""
    return float(of(runs, f"{name}:rocc").pace().within(AFTER).mean())


@measure("ROCC-F3.10b", needs=at("dpdk-mix:rocc", "dpdk-uni:rocc"))
def dpdk_testbed(runs):
    rate = rates(runs, "dpdk-mix", "rocc")
    gap = max(abs(r / i - 1) for r, i in zip(rate, (6, 3, 1), strict=True))
    out = {"F (Gb/s)": fair(runs, "dpdk-mix"), "largest gap of a flow": gap}
    return out | {"queue (KB)": queue(runs, "dpdk-mix"), "queue, uniform (KB)": queue(runs, "dpdk-uni")}


@measure("ROCC-F3.11a", needs=at("tofino-uni:rocc"))
def p4_testbed_uniform(runs):
    return {"queue (KB)": queue(runs, "tofino-uni"), "F (Gb/s)": fair(runs, "tofino-uni")}


@measure("ROCC-F3.11b", needs=at("tofino-mix:rocc"))
def p4_testbed_mixed(runs):
    rate = rates(runs, "tofino-mix", "rocc")
    gap = max(abs(r / i - 1) for r, i in zip(rate, (15, 15, 10), strict=True))
    return {"F (Gb/s)": fair(runs, "tofino-mix"), "largest gap of a flow": gap} | named(rate)


G1 = [key(n, b) + "@1" for n in COUNTS for b in SPEEDS] + CHANGES + at("corners:rocc", "unequal:rocc")


@measure("ROCC-G1", needs=G1)
def all_goals(runs):
    held = {
        "N=100 at Q_ref": abs(of(runs, key(100, 40)).queue().within(0.015).mean() / 150e3 - 1) <= 0.05,
        "N=100 fair": jain(of(runs, key(100, 40)).throughput(0.015, 0.02, ON_WIRE)) >= 0.99,
        "settles when N falls": longest_fall(runs) <= 2,
        "two bottlenecks": max(abs(rates(runs, "corners", "rocc") / (5, 8.75, 8.75, 8.75, 8.75, 5) - 1)) <= 0.03,
        "unequal links": max(abs(rates(runs, "unequal", "rocc") / (100 / 7) - 1)) <= 0.03,
    }
    return {"claims that hold": sum(held.values())} | {k: float(v) for k, v in held.items()}
