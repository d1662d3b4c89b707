"""Runs of the incast test-bed as points.

A run's key is `KIND:WHAT@SEED`. All schemes of one seed see the same starts of connections.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from thalweg.study import Key, RunSpec, run, section_of

SEEDS = {"quick": (1,), "full": (1, 2, 3)}  # the paper: three runs
CLIENTS, JITTER_NS = 10, 100_000  # connections start within 100 us
LINE, SHARED = 10e9, 20e9  # b/s


def connections(pairs, seed: int, **more) -> list[dict]:
    """An endless connection for each (source, destination), started at random within the jitter."""
    start = np.random.default_rng(seed).integers(0, JITTER_NS, len(pairs))
    return [
        {"kind": "backlogged", "src": a, "dst": b, "start": f"{ns}ns"} | more
        for (a, b), ns in zip(pairs, start, strict=True)
    ]


@dataclass(frozen=True)
class Incast:
    """A point of the incast test-bed: what differs from the default in the paper's own terms. Times in us,
    rates in Mb/s."""

    scheme: str = "timely"
    segment: int = 16  # KB
    low: int = 50
    high: int = 500
    each: int = 4  # connections per client
    pace: int = 0  # of the NIC; 0: none
    noise: int = 0
    cap: int = 2  # segments outstanding
    start: str = "fair"  # first rate: the NIC's share, or the line's
    ports: int = 1  # of the server: one of 20 Gb/s or two of 10

    @property
    def key(self) -> Key:
        """The scheme, and what is not as in the default, in words."""
        words = {"segment": "KB", "each": "each", "pace": "Mbps", "noise": "us-noise", "cap": "cap"}
        default = Incast()
        parts = [f"{getattr(self, k)}{w}" for k, w in words.items() if getattr(self, k) != getattr(default, k)]
        if (self.low, self.high) != (default.low, default.high):
            parts.append(f"{self.low}-{self.high}us")
        if self.start != default.start:
            parts.append("line-rate-start")
        if self.ports != default.ports:
            parts.append("two-ports")
        return Key(self.scheme, "+".join(parts) or "default")

    def at(self, seed: int) -> RunSpec:
        dctcp = self.scheme == "dctcp"
        return run(self.key, "incast-dctcp" if dctcp else "incast", self.set(seed), seed)

    def set(self, seed: int) -> dict:
        servers = range(self.ports)
        clients = [n for n in range(self.ports, self.ports + CLIENTS) for _ in range(self.each)]
        pairs = [(a, servers[n % self.ports]) for n, a in enumerate(clients)]
        out: dict = {"traffic": connections(pairs, seed)}
        if self.ports == 2:
            out |= {"topology.hosts": CLIENTS + 2, "topology.sink_rate": "10Gbps", "measure.links.ports": [1, 3]}
        flows = {"every": "50ms" if self.scheme == "dctcp" else "500ms", "flows": list(range(len(pairs)))}
        out["measure.controllers"] = flows
        if self.scheme == "dctcp":
            return out
        out |= {"transport.segments.bytes": f"{self.segment}KB", "transport.segments.outstanding": self.cap}
        if self.pace:
            out["transport.segments.nic_pace"] = f"{self.pace}Mbps"
        if self.scheme == "pfc":
            return out | {"transport.congestion": "fixed"}
        if self.noise:
            out["transport.rtt.noise"] = f"{self.noise}us"
        share = 1.0 if self.start == "line" else 1 / self.each
        thresholds = {"t_low": f"{self.low}us", "t_high": f"{self.high}us"}
        return out | {f"transport.congestion.{k}": v for k, v in ({"initial_share": share} | thresholds).items()}


TIMELY = Incast()
PFC, PFC3 = Incast("pfc"), Incast("pfc", cap=3)
DCTCP = Incast("dctcp")
NAMES = {"timely": "TIMELY", "pfc": "PFC", "dctcp": "DCTCP"}


def but(**different) -> Incast:
    """TIMELY's default but for this."""
    return replace(TIMELY, **different)


def target(us: int) -> Incast:
    """The queue-size approach (§3.3.4)."""
    return but(low=us, high=us)


def every(points, scale: str) -> list[RunSpec]:
    return [p.at(seed) for p in dict.fromkeys(points) for seed in SEEDS[scale]]


def transport(scenario: str) -> dict:
    return section_of(__file__, scenario, "transport")
