"""The WAN workload (§4.7.1): flows of a heavy-tailed size that arrive at random, half of the link in the mean. Their
sizes are reconstructed from what the thesis says of them (see README.md)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from thalweg.study import RunSpec, flow_list

from .settings import PAIRS, RATE, Point

LOAD = 48.0  # Mb/s of payload, in the mean
INITIAL_WINDOW = 15_000  # bytes: what is not larger does not wait for the network
SMALL, SMALLEST, LARGE, LARGEST, SHAPE = 0.9651, 10e3, 15e3, 100e6, 0.8


def sizes(unit: np.ndarray) -> np.ndarray:
    """Bytes at these quantiles: evenly in the logarithm from 10 to 15 KB, else a bounded Pareto distribution."""
    below = SMALLEST * (LARGE / SMALLEST) ** (unit / SMALL)
    rest = np.clip((unit - SMALL) / (1 - SMALL), 0, 1)
    above = LARGE * (1 - rest * (1 - (LARGE / LARGEST) ** SHAPE)) ** (-1 / SHAPE)
    return np.where(unit < SMALL, below, above)


def mean_size() -> float:
    """Of that distribution, bytes."""
    small = (LARGE - SMALLEST) / np.log(LARGE / SMALLEST)
    part = LARGE / LARGEST
    large = LARGE * SHAPE / (1 - SHAPE) * (part ** (SHAPE - 1) - 1) / (1 - part**SHAPE)
    return float(SMALL * small + (1 - SMALL) * large)


def flows(seed: int, seconds: float, load: float = LOAD) -> tuple[np.ndarray, np.ndarray]:
    """When they start (s), and their sizes (bytes); so many Mb/s in the mean."""
    draw = np.random.default_rng([22, seed])
    count = round(load * 1e6 / 8 / mean_size() * seconds * 1.2) + 100
    starts = np.cumsum(draw.exponential(mean_size() * 8 / (load * 1e6), count))
    bytes = np.maximum(np.rint(sizes(draw.random(count))), 1)
    return starts[starts < seconds], bytes[starts < seconds].astype(int)


def offered(seed: int, seconds: float) -> float:
    """Mb/s."""
    return float(flows(seed, seconds)[1].sum() * 8e-6 / seconds)


@dataclass(frozen=True)
class Crowd(Point):
    """A run next to that workload; each of its flows has one of these controllers, drawn alike."""

    controllers: Sequence[str] = ("cubic",)
    load: float = LOAD  # Mb/s

    def spec(self, seed: int) -> RunSpec:
        plain = super().spec(seed)

        def prepare(_, folder) -> Mapping:
            starts, bytes = flows(seed, self.seconds - 1, self.load)
            own = np.random.default_rng([23, seed]).integers(0, len(self.controllers), len(starts))
            sections = list(plain.set["traffic"])
            for n, controller in enumerate(self.controllers):
                places = np.flatnonzero(own == n)
                hosts = 1 + places % (PAIRS - 1)
                starts_ns = [round(at * 1e9) for at in starts[places]]
                file = folder / f"{controller}-of-{len(self.controllers)}-{self.load:g}-{seed}.csv"
                flow_list(file, zip(starts_ns, hosts, hosts + PAIRS, bytes[places], strict=True), places)
                transport = {"congestion": controller}
                sections.append({"kind": "list", "file": str(file.resolve()), "transport": transport})
            return {"traffic": sections}

        return RunSpec(plain.key, plain.scenario, plain.set, prepare=prepare)


def own_share(elastic: np.ndarray, inelastic: np.ndarray) -> np.ndarray:
    """The tested flow's share, Mb/s: of what inelastic flows leave, with so many elastic ones next to it."""
    return np.maximum(RATE - inelastic, 0) / (elastic + 1)
