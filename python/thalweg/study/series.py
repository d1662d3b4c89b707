"""What a run recorded over time."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from thalweg.rundata import SECONDS_PER, RunData


def seconds(text: str) -> float:
    """A time as a resolved scenario writes it, s."""
    unit = text.lstrip("0123456789.")
    return float(text.removesuffix(unit)) * SECONDS_PER[unit]


class Series(NamedTuple):
    """Instants (s), and what was seen at each."""

    at: np.ndarray
    values: np.ndarray

    def within(self, begin: float, end: float = np.inf) -> np.ndarray:
        """The values from `begin` to `end`, both included."""
        return self.values[(self.at >= begin) & (self.at <= end)]

    def settled(self, target: float, tolerance: float, begin: float = 0.0, end: float = np.inf) -> float:
        """Seconds from `begin` to the last sample before `end` that is off the target by more than this share of
        it; 0 if none is."""
        inside = (self.at >= begin) & (self.at < end)
        off = inside & (np.abs(self.values - target) > tolerance * target)
        return float(self.at[off].max() - begin) if off.any() else 0.0


class Recorded:
    """Queues, links and controllers of a run, in seconds, bytes and Gb/s."""

    def __init__(self, results: RunData):
        self.results, self.tables, self.summary = results, results.tables, results.summary

    def _of(self, table: str, which: str, number: int, value: str) -> Series:
        rows = self.tables[table]
        rows = rows.filter(rows[which] == number)
        return Series(rows["time_ps"].to_numpy() * 1e-12, rows[value].to_numpy().astype(float))

    def queue(self, port: int = 1) -> Series:
        """Bytes that wait at a port."""
        return self._of("queues", "port", port, "bytes")

    def pace(self, flow: int = 0) -> Series:
        """Gb/s that a controller allows."""
        at, pace = self._of("controllers", "flow", flow, "pace")
        return Series(at, pace / 1e9)

    def sent(self, port: int) -> Series:
        """Bytes that a port has sent so far."""
        return self._of("links", "port", port, "bytes")

    def utilisation(self, gbps: float, port: int = 1) -> Series:
        """The share of the link that was used since the sample before."""
        at, sent = self.sent(port)
        return Series(at[1:], np.diff(sent) * 8 / np.diff(at) / (gbps * 1e9))

    def held(self, owner: np.ndarray, begin: float = 0.0, end: float = np.inf) -> np.ndarray:
        """Bytes that all queues of a node held together: [sample between two instants (s), node]. `owner`: of each
        port that was sampled, its node."""
        table = self.tables["queues"]
        at, port, held = (table[c].to_numpy().astype(np.int64) for c in ("time_ps", "port", "bytes"))
        inside = (at >= begin * 1e12) & (at <= end * 1e12)
        _, when = np.unique(at[inside], return_inverse=True)
        sums = np.zeros((when.max() + 1, owner.max() + 1))
        np.add.at(sums, (when, owner[port[inside]]), held[inside])
        return sums

    def flows(self) -> np.ndarray:
        """Numbers of the flows whose controllers were sampled."""
        return np.unique(self.tables["controllers"]["flow"].to_numpy())

    def throughput(self, begin: float, end: float, on_wire: float = 1.0) -> np.ndarray:
        """Gb/s of every flow between two instants (s). `on_wire`: bytes on the wire for each of payload."""
        table = self.tables["controllers"]
        table = table.filter((table["time_ps"] >= round(begin * 1e12)) & (table["time_ps"] <= round(end * 1e12)))
        out = []
        for flow in self.flows():
            mine = table.filter(table["flow"] == flow)
            delivered, at = mine["delivered"].to_numpy(), mine["time_ps"].to_numpy() * 1e-12
            out.append(float(delivered[-1] - delivered[0]) * 8 / (at[-1] - at[0]) / 1e9 * on_wire)
        return np.array(out)
