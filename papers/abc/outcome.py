"""What a run says: utilisation, queueing delay of every packet, throughput of flows over time."""

from __future__ import annotations

import numpy as np

from thalweg.study import floored_percentile, once

BOTTLENECK = 4  # port of the first switch towards the second


@once
def utilisation(results) -> float:
    """Bytes delivered over bytes of opportunities."""
    ports = results.tables["ports"].sort("port")
    return float(ports["utilisation"][BOTTLENECK])


class Delays:
    """When data arrived at the bottleneck's queue and when it left, s, of the packets that did; whose they were."""

    def __init__(self, results):
        packets = results.packets.collect()
        data = (
            packets.filter((packets["forward"] == 1) & (packets["payload"] > 0))
            if "payload" in packets.columns
            else (packets.filter(packets["forward"] == 1))
        )
        came = data["arrivals_ps"].list.first().to_numpy().astype(float)
        left = data["starts_ps"].list.first().to_numpy().astype(float)
        sent = left > 0
        self.came, self.left = came[sent] * 1e-12, left[sent] * 1e-12
        self.flow = data["flow"].to_numpy()[sent]
        self.wire = data["wire"].to_numpy()[sent]
        order = np.argsort(self.left, kind="stable")
        self.came, self.left = self.came[order], self.left[order]
        self.flow, self.wire = self.flow[order], self.wire[order]
        self.ms = (self.left - self.came) * 1e3

    def p(self, level: float) -> float:
        return floored_percentile(self.ms, level)


@once
def delays(results) -> Delays:
    return Delays(results)


@once
def summary(results) -> tuple[float, float, float]:
    """Utilisation, p95 and mean of the queueing delay (ms)."""
    found = delays(results)
    return utilisation(results), found.p(95), float(found.ms.mean())


def p95(results) -> float:
    return summary(results)[1]


def mean(results) -> float:
    return summary(results)[2]


def shares(results, begin: float, end: float, flows: int) -> np.ndarray:
    """Mb/s on the wire of each flow, as its packets left the bottleneck in [begin, end)."""
    found = delays(results)
    inside = (found.left >= begin) & (found.left < end)
    return np.bincount(found.flow[inside], found.wire[inside], flows) * 8e-6 / (end - begin)


def rate(results, bin_s: float = 0.5):
    """Middle of each bin (s), Mb/s carried, Mb/s offered."""
    links = results.tables["links"]
    links = links.filter(links["port"] == BOTTLENECK).sort("time_ps")
    at = links["time_ps"].to_numpy() * 1e-12
    carried = np.diff(links["bytes"].to_numpy().astype(float)) * 8e-6 / np.diff(at)
    offered = np.diff(links["capacity"].to_numpy().astype(float)) * 8e-6 / np.diff(at)
    return (at[1:] + at[:-1]) / 2, carried, offered
