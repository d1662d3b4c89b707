"""Runs as points: the tested flow's scheme, the cross traffic, and what else differs. A run's key is
`EXPERIMENT:SCHEME:WHAT@SEED`; all schemes of one seed see the same starts."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from thalweg.study import Key, RunSpec, link_list, run

from . import choices

SEEDS = {"quick": (1,), "full": (1, 2, 3, 4, 5)}
RATE, PAIRS, BOTTLENECK = 96, 6, 24  # Mb/s; pairs of hosts; the port between the switches

BASIC = {"kind": "nimbus", "link_rate": f"{RATE}Mbps", "initial": choices["begins"]}
SCHEMES: dict[str, object] = {
    "ncc": BASIC,
    "ncc-copa": BASIC | {"delay": "copa"},
    "ncc-newreno": BASIC | {"competitive": "newreno"},
    "cubic": "cubic",
    "bbr": "bbr",
    "vegas": "vegas",
    "copa": "copa",
    "vivace": "vivace",
    "compound": "compound",
}
NAMES = {
    "ncc": "Cubic+BasicDelay", "ncc-copa": "Cubic+Copa", "ncc-newreno": "NewReno+BasicDelay", "cubic": "Cubic",
    "bbr": "BBR", "vegas": "Vegas", "copa": "Copa", "vivace": "PCC Vivace", "compound": "Compound",
}  # fmt: skip


@dataclass(frozen=True)
class Cross:
    """A part of the cross traffic: `count` flows of a controller, or datagrams of `rate` Mb/s, from one host."""

    what: str  # a controller, "poisson" or "cbr"
    rate: float = 0.0
    count: int = 1
    begin: float = 0.0  # s
    end: float | None = None
    keys: Mapping = field(default_factory=dict, compare=False)  # of `transport`

    def sections(self, host: int, until: float, draw: np.random.Generator) -> list[dict]:
        ends = {"src": host, "dst": host + PAIRS}
        if self.what in ("poisson", "cbr"):
            lasts = (self.end if self.end is not None else until + 1) - self.begin
            size = {"payload": "1448B", "header": "52B", "size": f"{round(self.rate * 1e6 / 8 * lasts * 1448 / 1500)}B"}
            spacing = "poisson" if self.what == "poisson" else "constant"
            start = f"{round(self.begin * 1e9 + draw.integers(0, 250_000))}ns"
            return [{"kind": "udp", "rate": f"{self.rate}Mbps", "spacing": spacing, "start": start} | ends | size]
        out = []
        for _ in range(self.count):
            late = draw.uniform(0, 1) if self.begin == 0 and self.end is None else 0.0
            flow = {"kind": "backlogged", "start": f"{round((self.begin + late) * 1e9)}ns"} | ends
            if self.end is not None:
                flow["until"] = f"{round(self.end * 1e9)}ns"
            out.append(flow | {"transport": {"congestion": self.what} | dict(self.keys)})
        return out


@dataclass(frozen=True)
class Point:
    """A run."""

    place: str
    scheme: str = "ncc"
    cross: Sequence[Cross] = ()
    seconds: float = 120.0
    set: Mapping = field(default_factory=dict, compare=False)
    prepare: Callable | None = field(default=None, compare=False)

    @property
    def key(self) -> Key:
        return Key(self.place, self.scheme)

    def spec(self, seed: int) -> RunSpec:
        draw = np.random.default_rng(seed)
        sections = [{"kind": "backlogged", "src": 0, "dst": PAIRS}]
        for n, cross in enumerate(self.cross):
            sections += cross.sections(1 + n % (PAIRS - 1), self.seconds, draw)
        chosen = {
            "name": self.place.replace(":", "-"),
            "transport.congestion": SCHEMES[self.scheme],
            "run.until": f"{self.seconds}s",
            "traffic": sections,
        }
        return run(self.key, "shared", chosen | dict(self.set), seed, prepare=self.prepare)


def specs(points: Iterable, scale: str) -> list[RunSpec]:
    """Each with every seed of the scale."""
    return [p.spec(seed) for p in points for seed in SEEDS[scale]]


def distant(*trips: float) -> Callable:
    """What `RunSpec.prepare` calls: the tested flow has 50 ms, the cross traffic's hosts these round trips (ms; the
    rest the last one), and the link between the switches what is left of the shortest."""
    each = [50.0, *trips, *[trips[-1]] * PAIRS][:PAIRS]
    between = min(each) / 2

    def prepare(_, folder) -> dict:
        left, right = 2 * PAIRS, 2 * PAIRS + 1
        ways = [ms / 2 - between for ms in each] + [0.0] * PAIRS
        links = [(n, left if n < PAIRS else right, "1Gbps", f"{ms:g}ms") for n, ms in enumerate(ways)]
        links.append((left, right, f"{RATE}Mbps", f"{between:g}ms"))
        return {"topology": link_list(folder / f"links-{'-'.join(f'{ms:g}' for ms in trips)}.csv", links)}

    return prepare


# The three categories of §4.7.2.
POISSON = (Cross("poisson", 48),)
NEWRENO = (Cross("newreno"),)
MIX = (Cross("poisson", 32), Cross("newreno"))
