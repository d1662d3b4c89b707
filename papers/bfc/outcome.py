"""What a run says: slowdown by the paper's size classes, memory of switches, pauses, flows that compete."""

from __future__ import annotations

import itertools

import numpy as np

from thalweg.study import NotCheckable, Recorded, floored_percentile, once

from .settings import HEADER, MTU

RATE, DELAY = 100e9, 1e-6
# Upper edges, B (the authors' artifact).
EDGES = {
    "google": [1e3, 2e3, 4e3, 8e3, 16e3, 64e3, 256e3, 1024e3],
    "fb": [3e3, 12e3, 48e3, 192e3, 768e3, 3072e3, 12288e3],
}
ENOUGH = 150  # flows of a class before its 99th percentile decides


class Flows:
    """Flows that ended, of the named groups: sizes (B) and slowdown, from start to the last ACK over what it
    takes alone."""

    def __init__(self, results):
        topology = results.scenario.to_dict()["topology"]
        rack = topology.get("hosts_per_leaf", 1)
        f = results.flows
        src, dst, size = (f[c].to_numpy().astype(np.int64) for c in ("src", "dst", "size"))
        self.fct = results.seconds("acked") - results.seconds("start")
        hops = np.where(src // rack == dst // rack, 2, 4)
        wire = size + HEADER * -(-size // MTU)
        first = np.minimum(size, MTU) + HEADER
        # Propagation there and back, the flow on one link and its first packet on all others (Traps 9).
        ideal = 2 * hops * DELAY + 8 * (wire + (hops - 1) * first) / RATE
        self.size, self.dst = size, dst
        self.slowdown = self.fct / ideal
        self.done = np.isfinite(self.fct)
        self.group = f["group"].to_numpy()
        self.cls = f["class"].to_numpy()
        kinds = {n: t["kind"] for n, t in enumerate(results.scenario.to_dict()["traffic"])}
        self.incast = np.array([kinds[g] == "incast" for g in self.group])
        self.packets = f["packets"].to_numpy().sum()
        self.again = f["retransmissions"].to_numpy().sum()

    def of(self, low: float, high: float, cls: int | None = None, incast: bool = False) -> np.ndarray:
        """Slowdown of those with low < size <= high."""
        chosen = self.done & (self.incast == incast) & (self.size > low) & (self.size <= high)
        if cls is not None:
            chosen &= self.cls == cls
        return self.slowdown[chosen]


@once
def flows(results) -> Flows:
    return Flows(results)


def p(values: np.ndarray, level: float = 0.99) -> float:
    """As the artifact."""
    if len(values) < ENOUGH:
        raise NotCheckable(f"{len(values)} flows of that size are too few")
    return floored_percentile(values, 100 * level)


def mean(values: np.ndarray) -> float:
    if len(values) == 0:
        raise NotCheckable("no flow of that size has ended")
    return float(values.mean())


def bins(
    results, workload: str, level: float | None = 0.99, cls: int | None = None, least: int = ENOUGH
) -> dict[float, float]:
    """Upper edge → percentile (None: mean), where there are enough flows."""
    edges = [0, *EDGES[workload], np.inf]
    found = {}
    for low, high in itertools.pairwise(edges):
        values = flows(results).of(low, high, cls)
        if len(values) >= least:
            found[high] = mean(values) if level is None else floored_percentile(values, 100 * level)
    return found


SHORT = {"google": (0, 2e3), "fb": (0, 3e3)}
LONG = {"google": (256e3, np.inf), "fb": (3e6, np.inf)}


def short(results, workload: str, level: float | None = 0.99, cls: int | None = None) -> float:
    """A percentile, or (None) the mean."""
    values = flows(results).of(*SHORT[workload], cls)
    return mean(values) if level is None else p(values, level)


def long(results, workload: str, cls: int | None = None) -> float:
    """Mean."""
    return mean(flows(results).of(*LONG[workload], cls))


def long99(results, workload: str, cls: int | None = None) -> float:
    values = flows(results).of(*LONG[workload], cls)
    if len(values) < 15:
        raise NotCheckable(f"{len(values)} long flows are too few")
    return floored_percentile(values, 99)


def unfinished(results) -> int:
    return int((~flows(results).done).sum())


def network(results) -> tuple[int, int, int]:
    """Hosts, leaves, spines."""
    t = results.scenario.to_dict()["topology"]
    return t["leaves"] * t["hosts_per_leaf"], t["leaves"], t["spines"]


def owner(results) -> np.ndarray:
    """Port → the switch whose output it is, -1 of hosts."""
    hosts, leaves, spines = network(results)
    links = [(h, h // (hosts // leaves)) for h in range(hosts)]
    ports = [x for _, leaf in links for x in (-1, leaf)]
    ports += [x for leaf in range(leaves) for spine in range(spines) for x in (leaf, leaves + spine)]
    return np.array(ports)


@once
def memory(results) -> np.ndarray:
    """What every switch held at every sample, B."""
    return Recorded(results).held(owner(results))


@once
def busy(results) -> np.ndarray:
    """The samples up to the last arrival: while there is traffic to speak of."""
    until = max(results.seconds("start"))
    q = results.tables["queues"]
    at = np.unique(q["time_ps"].to_numpy())
    return memory(results)[at * 1e-12 <= until]


def buffer(results, level: float = 0.99) -> float:
    """MB: of all switches at all samples."""
    return float(np.quantile(busy(results), level)) / 1e6


def peak(results) -> float:
    return float(memory(results).max()) / 1e6


def drops(results) -> int:
    return int(results.summary["drops"])


def drop_rate(results) -> float:
    return drops(results) / max(1, flows(results).packets)


def paused(results) -> dict[str, float]:
    """Share of the time that link directions were paused, spine to leaf and leaf to spine."""
    hosts, leaves, spines = network(results)
    ports = results.tables["ports"].sort("port")
    share = ports["paused_ps"].to_numpy().astype(float) / (float(results.summary["simulated_seconds"]) * 1e12)
    up = [2 * hosts + 2 * link for link in range(leaves * spines)]
    return {"leaf to spine": float(share[up].mean()), "spine to leaf": float(share[[p + 1 for p in up]].mean())}


@once
def competing(results) -> tuple[np.ndarray, np.ndarray]:
    """At every sample and port until the last arrival: flows that wait, queues that hold them."""
    q = results.tables["queues"]
    until = max(results.seconds("start")) * 1e12
    q = q.filter(q["time_ps"] <= until)
    return q["flows"].to_numpy().astype(int), q["occupied"].to_numpy().astype(int)


def collisions(results) -> float:
    """Mean over samples with any flow: (flows − queues)/flows."""
    waiting, held = competing(results)
    some = waiting > 0
    return float(((waiting - held)[some] / waiting[some]).mean())


def ratio(a: dict[float, float], b: dict[float, float]) -> dict[float, float]:
    shared = [k for k in a if k in b]
    if not shared:
        raise NotCheckable("no size class has enough flows in both")
    return {k: a[k] / b[k] for k in shared}
