"""The study's own arithmetic, and what it reads of a run: series, convergence, fairness."""

from __future__ import annotations

import numpy as np

from .settings import ON_WIRE


def jain(x) -> float:
    x = np.asarray(x, dtype=float)
    return float(x.sum() ** 2 / (len(x) * (x**2).sum()))


def settled(at, values, target: float, within: float, begin: float = 0.0, end: float = np.inf) -> float:
    """Seconds from `begin` to the last sample before `end` that is off the target by more than this share of it."""
    inside = (at >= begin) & (at < end)
    off = inside & (np.abs(values - target) > within * target)
    return float(at[off].max() - begin) if off.any() else 0.0


class Series:
    """What a run recorded over time, in seconds, bytes and Gb/s."""

    def __init__(self, results):
        self.tables = results.tables

    def queue(self, port: int = 1):
        table = self.tables["queues"]
        table = table.filter(table["port"] == port)
        return table["time_ps"].to_numpy() * 1e-12, table["bytes"].to_numpy().astype(float)

    def rate(self, flow: int = 0):
        """The pace of a flow."""
        table = self.tables["controllers"]
        table = table.filter(table["flow"] == flow)
        return table["time_ps"].to_numpy() * 1e-12, table["pace"].to_numpy() / 1e9

    def flows(self) -> np.ndarray:
        return np.unique(self.tables["controllers"]["flow"].to_numpy())

    def throughput(self, begin: float, end: float, on_wire: float = ON_WIRE) -> np.ndarray:
        """Gb/s on the wire of every flow between two instants."""
        table = self.tables["controllers"]
        table = table.filter((table["time_ps"] >= round(begin * 1e12)) & (table["time_ps"] <= round(end * 1e12)))
        out = []
        for flow in self.flows():
            mine = table.filter(table["flow"] == flow)
            delivered, at = mine["delivered"].to_numpy(), mine["time_ps"].to_numpy() * 1e-12
            out.append(float(delivered[-1] - delivered[0]) * 8 / (at[-1] - at[0]) / 1e9 * on_wire)
        return np.array(out)

    def utilisation(self, gbps: float, port: int = 1):
        """When, and the share of the link that was used since the sample before."""
        table = self.tables["links"]
        table = table.filter(table["port"] == port)
        at, sent = table["time_ps"].to_numpy() * 1e-12, table["bytes"].to_numpy().astype(float)
        return at[1:], np.diff(sent) * 8 / np.diff(at) / (gbps * 1e9)


def window(series, begin: float, end: float = np.inf) -> np.ndarray:
    at, values = series
    return values[(at >= begin) & (at <= end)]


def ranks(x) -> np.ndarray:
    return np.argsort(np.argsort(x)).astype(float)


def rank_correlation(x, y) -> float:
    return float(np.corrcoef(ranks(x), ranks(y))[0, 1])
