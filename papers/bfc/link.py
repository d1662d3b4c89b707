"""One link: a lone flow (App. C), a few, one long flow next to many (Table 3.1), how many flows wait (Figure 3-4)."""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from thalweg.study import RunSpec, measure, once, run

from .settings import FULL, HRTT, PACKET, listed, order, scheme, unbounded
from .workloads import MEAN, arrivals, sizes, write

# --- App. C: a lone flow that could come at x times the rate at which it leaves -----------------------------

DRAIN = 50  # Gb/s
KS, XS = (1.0, 2.0, 4.0), (1.1, 1.5, 2.0, 3.0, 5.0)  # k = .5 is less than 8 packets: the model is not for it
MB = 4


def lone(k: float, x: float) -> str:
    return f"lone-k{k:g}-x{x:g}:bfc@1"


def lone_runs() -> list[RunSpec]:
    out = []
    for k in KS:
        for x in XS:
            set = scheme("bfc") | {
                "switch": scheme("bfc")["switch"] | {"scheduler": order(threshold=k)},
                "topology.pairs": 1,
                "topology.host_rate": f"{x * DRAIN:g}Gbps",
                "topology.bottleneck_rate": f"{DRAIN}Gbps",
                "traffic": [{"kind": "flow", "src": 0, "dst": 1, "size": f"{MB}MB"}],
                "measure.packets": {"hops": True},
                "run.stop_when_done": True,
            }
            out.append(run(lone(k, x), "link", set, keep=True))
    return out


@once
def served(results) -> tuple[np.ndarray, np.ndarray]:
    """When data came to the first switch's output and when it began to leave, s."""
    data = results.packets.collect()
    data = data.filter(data["forward"] == 1)
    came = data["arrivals_ps"].list.first().to_numpy().astype(float)
    left = data["starts_ps"].list.first().to_numpy().astype(float)
    return np.sort(came) * 1e-12, np.sort(left) * 1e-12


def held(results) -> float:
    """B: the most that waited at the first switch's output towards the second."""
    came, left = served(results)
    waiting = np.arange(1, len(came) + 1) - np.searchsorted(left, came, side="right")
    return float(waiting.max()) * FULL


def empty(results, rate: float) -> tuple[float, np.ndarray]:
    """The share of the time that nothing was there to send, and how long each time, s."""
    _, left = served(results)
    idle = np.diff(left) - FULL * 8 / rate
    spells = idle[idle > 1e-9]
    return float(spells.sum() / (left[-1] - left[0])), spells


def model(k: float, x: float) -> float:
    return (x - 1) / (k * x + x * x - 1)


ALL_LONE = [lone(k, x) for k in KS for x in XS]


@measure("BFC-C1-a", needs=ALL_LONE)
def efficiency_of_a_lone_flow(runs):
    worst, at = 0.0, 0.0
    for k in KS:
        for x in XS:
            found, _ = empty(runs[lone(k, x)], DRAIN * 1e9)
            packet = FULL * 8 / (DRAIN * 1e9)
            cycle = (k / (x - 1) + k + x + 1) * HRTT
            tolerance = 1.2 * packet * (1 + 1 / x) / cycle + 0.005
            worst = max(worst, abs(found - model(k, x)) / tolerance)
            if (k, x) == (1.0, 2.0):
                at = found
    return {"largest |simulated - model| / tolerance": worst, "empty at k = 1, x = 2": at}


@measure("BFC-C1-c", needs=[lone(1.0, 1.1)])
def published_example(runs):
    found, _ = empty(runs[lone(1.0, 1.1)], DRAIN * 1e9)
    return {"simulated": found, "formula": model(1.0, 1.1)}


def peak_over(results, k: float, x: float) -> float:
    """Packets by which the largest queue exceeds Th + HRTT μ (x - 1)."""
    product = HRTT * DRAIN * 1e9 / 8
    # Th is of the port's rate.
    return (held(results) - k * product - product * (x - 1)) / FULL


@measure("BFC-C1-d", needs=ALL_LONE)
def peak_and_threshold(runs):
    worst = max(peak_over(runs[lone(k, x)], k, x) for k in KS for x in XS)
    peaks = [held(runs[lone(k, 2.0)]) for k in KS]
    shares = [max(empty(runs[lone(k, x)], DRAIN * 1e9)[0] for x in XS) for k in KS]
    rise = np.diff(peaks) / np.diff(KS)
    gain = -np.diff(shares) / np.diff(KS)
    return {
        "largest excess (packets)": worst,
        "peak per k, later / first": float(rise[-1] / rise[0]),
        "gain per k, later / first": float(gain[-1] / gain[0]),
    }


@measure("BFC-M-i", needs=[lone(1.0, 2.0), lone(4.0, 3.0)])
def reaction_within_a_hop(runs):
    out = {}
    over = max(peak_over(runs[lone(k, x)], k, x) for k, x in ((1.0, 2.0), (4.0, 3.0)))
    dry = max(empty(runs[lone(k, x)], DRAIN * 1e9)[1].max() for k, x in ((1.0, 2.0), (4.0, 3.0)))
    # What comes after a pause: HRTT at the rate of arrival; what leaves meanwhile is not in the queue.
    out["came after a pause, beyond HRTT (packets)"] = over
    out["first packet after a resume, beyond HRTT (packets)"] = (dry - HRTT) / (FULL * 8 / (DRAIN * 1e9))
    return out


@measure("BFC-M-e", needs=[lone(k, 2.0) for k in KS])
def pauses_by_threshold(runs):
    found = [runs[lone(k, 2.0)] for k in KS]
    pauses = [int(r.tables["ports"]["pauses"].sum()) for r in found]
    mean = []
    for r in found:
        came, left = served(r)
        at = np.linspace(came[0], left[-1], 20_000)
        mean.append((np.searchsorted(came, at) - np.searchsorted(left, at)).mean() * FULL / 1e3)
    return {
        "pauses, largest step": max(b - a for a, b in itertools.pairwise(pauses)),
        "mean queue, smallest step (KB)": min(b - a for a, b in itertools.pairwise(mean)),
    }


# --- Several flows at one egress ----------------------------------------------------------------------------


def few_runs() -> list[RunSpec]:
    out = []
    for n in (2, 4, 8):
        # CHOICE: the sources start half a hop's round trip apart, not in step.
        traffic = [
            {"kind": "flow", "src": i, "dst": 17, "size": f"{16 // n}MB", "start": f"{round(431 * i)}ns"}
            for i in range(n)
        ]
        set = scheme("bfc") | {"traffic": traffic, "measure.packets": {"hops": True}, "run.stop_when_done": True}
        out.append(run(f"few-{n}:bfc", "link", set, keep=True))
    return out


def used(results) -> float:
    """Of the link between the switches, from its first packet on until some flow has ended."""
    _, left = served(results)
    until = min(results.seconds("received")) - 3e-6
    inside = left[left <= until]
    return float((len(inside) - 1) * PACKET / (inside[-1] - inside[0]))


@measure("BFC-C1-e", needs=["few-*:bfc@1"])
def several_flows(runs):
    return {f"{n} flows": used(runs[f"few-{n}:bfc@1"]) for n in (2, 4, 8)}


# --- Table 3.1, Figure 3-4 ----------------------------------------------------------------------------------

T1 = {"quick": 20, "full": 50}  # ms
SPEEDS = (10, 40, 100)


def cross(workload: str, load: float, gbps: float, until: float, folder: Path, first: int = 1, seed: int = 1) -> Path:
    """Flows from hosts `first`.. of the left to those of the right, until `until` (s): log-normal gaps in all."""
    draw = np.random.default_rng([seed, round(load * 100), ["google", "fb", "web"].index(workload)])
    gap = MEAN[workload] * 8 / (load * gbps * 1e9)
    at = arrivals(gap, until, draw)
    size = sizes(workload, len(at), draw)
    src = draw.integers(first, 17, len(at))
    dst = 17 + draw.integers(first, 17, len(at))
    rows = zip(at * 1e9, src.tolist(), dst.tolist(), size.tolist(), strict=True)
    return write(list(rows), folder / f"cross-{workload}-{round(load * 100)}-{gbps:g}-{first}-{until * 1e6:g}us.csv")


@dataclass(frozen=True)
class Long:
    scheme: str
    gbps: int = 100

    @property
    def key(self) -> str:
        return f"long-{self.gbps}:{self.scheme}@1"

    def at(self, scale: str) -> RunSpec:
        until = T1[scale] * 100 / self.gbps

        def prepare(_, folder: Path) -> dict:
            file = cross("fb", 0.6, self.gbps, until * 1e-3, folder)
            return {"traffic": [{"kind": "backlogged", "src": 0, "dst": 17}, listed(file)]}

        set = scheme(self.scheme) | {
            "topology.host_rate": f"{self.gbps}Gbps",
            "topology.bottleneck_rate": f"{self.gbps}Gbps",
            "run.until": f"{until:g}ms",
        }
        if self.gbps == 100:
            set |= {"measure.packets": {"hops": True}}
        return run(self.key, "link", set, prepare=prepare, keep=True)


LONGS = [Long(s, g) for s in ("hpcc", "dcqcn") for g in SPEEDS] + [Long("bfc")]


def throughput(results, gbps: float) -> float:
    """% of the link, payload with its headers, of the flow without end."""
    f = results.flows.sort("id")
    first = f.filter(f["group"] == 0)
    seconds = float(results.summary["simulated_seconds"])
    return float(first["delivered"][0]) * 8 * FULL / 1000 / (gbps * 1e9 * seconds) * 100


@once
def delay(results) -> tuple[float, float]:
    """us: p99 of what data waits at the link, of all flows and of those that end."""
    data = results.packets.collect()
    data = data.filter(data["forward"] == 1)
    came, left = (data[c].list.first().to_numpy().astype(float) for c in ("arrivals_ps", "starts_ps"))
    sent = left > 0
    waited = (left - came)[sent] * 1e-6
    short = data["flow"].to_numpy()[sent] > 0
    return float(np.quantile(waited, 0.99)), float(np.quantile(waited[short], 0.99))


@measure("BFC-T1-a", needs=[Long(s).key for s in ("bfc", "hpcc", "dcqcn")])
def throughput_of_long_flows(runs):
    v = {s: throughput(runs[Long(s).key], 100) for s in ("bfc", "hpcc", "dcqcn")}
    out = {"BFC (%)": v["bfc"], "HPCC (%)": v["hpcc"], "DCQCN (%)": v["dcqcn"]}
    return out | {"HPCC / BFC": v["hpcc"] / v["bfc"], "DCQCN / HPCC": v["dcqcn"] / v["hpcc"]}


@measure("BFC-T1-b", needs=[Long(s).key for s in ("bfc", "hpcc", "dcqcn")])
def queueing_delay(runs):
    both = {s: delay(runs[Long(s).key]) for s in ("bfc", "hpcc", "dcqcn")}
    v = {s: x[1] for s, x in both.items()}
    out = {"BFC (us)": v["bfc"], "BFC / HPCC": v["bfc"] / v["hpcc"], "HPCC / DCQCN": v["hpcc"] / v["dcqcn"]}
    out |= {"HPCC (us)": v["hpcc"], "DCQCN (us)": v["dcqcn"]}
    return out | {f"{s.upper()}, the long flow's too (us)": x[0] for s, x in both.items()}


@measure("BFC-T1-c", needs=[Long(s, g).key for s in ("hpcc", "dcqcn") for g in SPEEDS])
def by_link_speed(runs):
    out = {}
    for s in ("hpcc", "dcqcn"):
        v = [throughput(runs[Long(s, g).key], g) for g in SPEEDS]
        out[f"{s.upper()}, largest step (points)"] = max(b - a for a, b in itertools.pairwise(v))
        out |= {f"{s.upper()}, {g}G (%)": x for g, x in zip(SPEEDS, v, strict=True)}
    return out


ACTIVE_LOADS = (60, 80, 85, 95)
ORDERS = {"fq": order(queues=256, table=400), "fifo": "fifo", "srf": order(queues=256, table=400, service="shortest")}
ACTIVE = {"quick": 4.0, "full": 20.0}  # ms at 100 Gb/s


@dataclass(frozen=True)
class Active:
    """Flows of Google's sizes that wait at one link: open loop, memory without end."""

    order: str
    load: int
    gbps: int = 100

    @property
    def key(self) -> str:
        return f"active-{self.gbps}-{self.load}:{self.order}@1"

    def at(self, scale: str) -> RunSpec:
        until = ACTIVE[scale] * 1e-3 * 100 / self.gbps

        def prepare(_, folder: Path) -> dict:
            # The same draws at every speed: gaps in proportion.
            return {"traffic": [listed(cross("google", self.load / 100, self.gbps, until, folder, 0))]}

        kind = ORDERS[self.order]
        if isinstance(kind, dict) and "service" in kind:
            kind = {k: v for k, v in kind.items() if k != "quantum"}
        nic = {"nic.order": "shortest"} if self.order == "srf" else {}
        set = scheme("bfc") | {"switch": unbounded(kind)} | nic
        set |= {
            # Sources are no bottleneck.
            "topology.host_rate": f"{self.gbps}Gbps",
            "topology.bottleneck_rate": f"{self.gbps}Gbps",
            "measure.queues": {"every": f"{round(100e3 / self.gbps)}ns", "ports": [68], "flows": True},
            "run.until": f"{until * 1e6:g}us",
        }
        return run(self.key, "link", set, prepare=prepare)


ACTIVES = [Active("fq", load) for load in ACTIVE_LOADS] + [Active("fq", 80, 10), Active("fifo", 80), Active("srf", 80)]


@once
def waiting(results) -> np.ndarray:
    return results.tables["queues"]["flows"].to_numpy().astype(int)


@measure("BFC-F4-a", needs=[Active("fq", load).key for load in ACTIVE_LOADS])
def active_flows_by_load(runs):
    over = {load: float((waiting(runs[Active("fq", load).key]) > 32).mean()) for load in ACTIVE_LOADS}
    out = {"P(N > 32), load 0.8 or less": max(v for load, v in over.items() if load <= 80)}
    return out | {"P(N > 32), 0.95 - 0.85": over[95] - over[85]} | {f"P(N > 32), {k} %": v for k, v in over.items()}


@measure("BFC-F4-b", needs=[Active("fq", 80, g).key for g in (10, 100)])
def active_flows_by_speed(runs):
    slow, fast = (np.sort(waiting(runs[Active("fq", 80, g).key])) for g in (10, 100))
    at = np.arange(0, max(slow[-1], fast[-1]) + 1)
    share = [np.searchsorted(x, at, side="right") / len(x) for x in (slow, fast)]
    return {"largest distance": float(np.abs(share[0] - share[1]).max())}


@measure("BFC-F4-c", needs=[Active(o, 80).key for o in ORDERS])
def active_flows_by_order(runs):
    v = {o: waiting(runs[Active(o, 80).key]) for o in ORDERS}
    tail = {o: np.quantile(x, 0.99) for o, x in v.items()}
    out = {"p99, SRF - FQ": tail["srf"] - tail["fq"], "p99, FIFO - FQ": tail["fifo"] - tail["fq"]}
    return out | {"mean, FIFO / FQ": v["fifo"].mean() / v["fq"].mean()}


def runs(scale: str) -> list[RunSpec]:
    return lone_runs() + few_runs() + [one.at(scale) for one in LONGS] + [one.at(scale) for one in ACTIVES]
