"""In place of 25 paths through the Internet (§4.7.5; Figures 4-17, 4-18): as many drawn ones, whose rates, round trips,
buffers, policers and cross traffic differ. The link's rate is not known to the flow."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from thalweg.study import mean, measure

from .outcome import goodput, waits
from .settings import RATE, Cross, Point, specs
from .workload import Crowd

COUNT, SECONDS = 25, 60.0
SCHEMES = {"ncc": {"kind": "nimbus"}, "cubic": "cubic", "bbr": "bbr", "vegas": "vegas"}
CROSS = ("none", "poisson", "video", "wan")


@dataclass(frozen=True)
class Path:
    number: int
    mbps: int
    ms: int
    buffer: float  # bandwidth-delay products
    policed: bool
    cross: str

    @property
    def deep(self) -> bool:
        return self.buffer >= 1 and not self.policed

    def point(self, scheme: str) -> Point:
        bytes = self.buffer * self.mbps * 1e3 * self.ms / 8
        set = {
            "transport.congestion": SCHEMES[scheme],
            "topology.bottleneck_rate": f"{self.mbps}Mbps",
            "topology.delay": f"{self.ms / 2}ms",
            "switch.buffer": f"{max(round(bytes), 15_000)}B",
        }
        if self.policed:
            # Queues before the link stay short: what exceeds the rate is dropped.
            set["switch.marking"] = {"kind": "policer", "rate": f"{0.6 * self.mbps:g}Mbps", "burst": "60KB"}
        key, most = f"f4.17:{self.number}", 0.3 * self.mbps
        if self.cross == "wan":
            return Crowd(key, scheme, (), SECONDS, set, load=most)
        cross = {
            "none": (),
            "poisson": (Cross("poisson", round(most, 1)),),
            "video": (Cross("cubic", keys={"video": {}, "restart": "keep"}),),
        }[self.cross]
        return Point(key, scheme, cross, SECONDS, set)


def paths() -> list[Path]:
    draw = np.random.default_rng(417)
    out = []
    for number in range(1, COUNT + 1):
        mbps, ms = round(draw.uniform(20, 200)), round(draw.uniform(20, 150))
        buffer = round(0.1 * 40 ** draw.uniform(), 2)
        out.append(Path(number, mbps, ms, buffer, number % 5 == 0, CROSS[draw.integers(0, len(CROSS))]))
    return out


PATHS = paths()
POINTS = {(p.number, s): p.point(s) for p in PATHS for s in SCHEMES}


def runs(scale: str) -> list:
    return specs(POINTS.values(), scale)


def rates(runs, scheme: str, among) -> np.ndarray:
    """Mb/s, path by path."""
    return np.array([mean(runs, POINTS[p.number, scheme], goodput) for p in among])


def queued(runs, scheme: str, among) -> np.ndarray:
    """Mean queueing delays, ms."""
    return np.array([mean(runs, POINTS[p.number, scheme], waits) * RATE / p.mbps for p in among])


DEEP = [p for p in PATHS if p.deep]
EVERY = ["f4.17:*"]


@measure("NIM-F4.17a", needs=EVERY)
def deep_paths(runs):
    part = rates(runs, "ncc", DEEP) / rates(runs, "cubic", DEEP)
    shallow = [p for p in PATHS if not p.deep]
    return {
        "deep buffers: throughput / Cubic's": float(np.mean(part)),
        "deep buffers: delay / Cubic's": float(
            np.mean(queued(runs, "ncc", DEEP)) / np.mean(queued(runs, "cubic", DEEP))
        ),
        "others: throughput / Cubic's": float(np.mean(rates(runs, "ncc", shallow) / rates(runs, "cubic", shallow))),
    }


@measure("NIM-F4.17b", needs=EVERY)
def paths_with_lower_delay(runs):
    ours, cubic = (queued(runs, s, PATHS) for s in ("ncc", "cubic"))
    return {"lower delay": float(np.mean(ours < 0.9 * cubic)), "higher": float(np.mean(ours > 1.1 * cubic))}


@measure("NIM-F4.17c", needs=EVERY)
def vegas_on_deep_paths(runs):
    return float(np.mean(rates(runs, "vegas", DEEP)) / np.mean(rates(runs, "ncc", DEEP)))


@measure("NIM-F4.18a", needs=EVERY)
def over_all_paths(runs):
    of = {s: float(np.mean(rates(runs, s, PATHS))) for s in SCHEMES}
    ms = {s: float(np.mean(queued(runs, s, PATHS))) for s in SCHEMES}
    return {
        "throughput / Cubic's": of["ncc"] / of["cubic"],
        "throughput / BBR's": of["ncc"] / of["bbr"],
        "BBR's delay less (ms)": ms["bbr"] - ms["ncc"],
    } | {f"{s} (ms)": v for s, v in ms.items()}
