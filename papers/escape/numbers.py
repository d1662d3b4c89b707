"""What the study reads of a run."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from thalweg.study import Recorded, seconds

from .settings import HEADER, MTU, SCENARIOS, TELEMETRY

# Bytes on the wire per byte of payload, without and with HPCC.
ON_WIRE = (MTU + HEADER) / MTU
TOLD = (MTU + HEADER + TELEMETRY) / MTU


def ends_at(results) -> float:
    """s."""
    return seconds(results.scenario.to_dict()["run"]["until"])


def links(file: str) -> list[tuple[int, int]]:
    """The two nodes of every link: its port 2l is the first one's."""
    rows = (SCENARIOS / Path(file).name).read_text(encoding="utf-8").splitlines()[1:]
    return [(int(a), int(b)) for a, b, *_ in (row.split(",") for row in rows)]


def port(file: str, a: int, b: int) -> int:
    """From a node to a neighbour."""
    made = links(file)
    return 2 * made.index((a, b)) if (a, b) in made else 2 * made.index((b, a)) + 1


class Seen(Recorded):
    """Progress of flows, links, pauses and memory, in seconds, bytes and Gb/s."""

    @property
    def relief(self) -> dict:
        return self.summary["pauses"]["relief"] or {}

    def progress(self, flows=None):
        """When, and bytes delivered of all these flows together."""
        table = self.tables["controllers"]
        at, flow, got = (table[c].to_numpy() for c in ("time_ps", "flow", "delivered"))
        keep = np.ones(len(at), bool) if flows is None else np.isin(flow, list(flows))
        when = np.unique(at)
        total = np.zeros(len(when))
        # A flow that is over has delivered what it had.
        for f in np.unique(flow[keep]):
            mine = keep & (flow == f)
            total += np.interp(when, at[mine], got[mine].astype(float), left=0.0)
        return when * 1e-12, total

    def goodput(self, begin: float, end: float, flows=None, on_wire: float = 1.0) -> float:
        """Gb/s between two instants (s)."""
        at, got = self.progress(flows)
        return float(np.interp(end, at, got) - np.interp(begin, at, got)) * 8e-9 / (end - begin) * on_wire

    def windows(self, width: float, begin: float, end: float, flows=None, on_wire: float = 1.0):
        """Gb/s in windows of this width: their beginnings, and the rates."""
        at, got = self.progress(flows)
        edges = np.arange(begin, end + width / 2, width)
        return edges[:-1], np.diff(np.interp(edges, at, got)) * 8e-9 / width * on_wire

    def used(self, port: int, begin: float, end: float, gbps: float = 40) -> float:
        """Share of the link."""
        at, sent = self.sent(port)
        return float(np.interp(end, at, sent) - np.interp(begin, at, sent)) * 8e-9 / (end - begin) / gbps

    def fullest_switch(self, begin: float, end: float) -> float:
        """The most bytes that the queues of a switch held together, at the samples between two instants (s)."""
        node = [n for link in links(self.results.scenario.to_dict()["topology"]["file"]) for n in link]
        return float(self.held(np.array(node), begin, end).max())

    def pauses(self, port: int | None = None, after: float = 0.0) -> int:
        """Pauses of a port that began after an instant."""
        table = self.tables["pauses"]
        began, ports = table["began_ps"].to_numpy(), table["port"].to_numpy()
        keep = began >= after * 1e12
        return int((keep if port is None else keep & (ports == port)).sum())

    def fullest(self) -> float:
        """Bytes that an input has held at most, over what it may."""
        return float(self.summary["memory"]["of_limit"])

    def dropped(self) -> int:
        return int(self.summary["drops"])

    def stands(self) -> float | None:
        """s: when the first cycle of pauses closed that still stands, and has for 5 ms."""
        until = ends_at(self.results)
        open_ = [d["at_us"] * 1e-6 for d in self.summary["pauses"]["deadlocks"] if d["ended_us"] is None]
        found = [at for at in open_ if at < until - 5e-3]
        return min(found, default=None)


def settled(at, values, target: float, within: float, begin: float) -> float:
    """Seconds from `begin` to the end of the last window that is off the target by more than this share of it."""
    off = (at >= begin) & (np.abs(values - target) > within * target)
    width = at[1] - at[0]
    return float(at[off].max() + width - begin) if off.any() else 0.0
