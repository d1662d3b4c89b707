"""Flow sizes and arrivals of the paper, for traffic that scenarios cannot say: lists of flows."""

from __future__ import annotations

import tomllib
from pathlib import Path

import numpy as np

from thalweg.study import flow_list

# Google: between knots the quantile is linear in 1/size, in the first segment in the size; Facebook
# (Hadoop): in its logarithm; WebSearch: in the size.
KNOTS = {k: np.array(v) for k, v in tomllib.loads((Path(__file__).parent / "sizes.toml").read_text("utf-8")).items()}
GOOGLE, FACEBOOK, WEBSEARCH = KNOTS["google"], KNOTS["facebook"], KNOTS["web"]
MEAN = {"google": 2907.0, "fb": 121_849.0, "web": 1_711_250.0}
SIGMA = 2.0


def quantile(workload: str, u: np.ndarray) -> np.ndarray:
    """Bytes."""
    if workload == "web":
        return np.interp(u, WEBSEARCH[:, 1], WEBSEARCH[:, 0])
    if workload == "fb":
        return np.exp(np.interp(u, FACEBOOK[:, 1], np.log(FACEBOOK[:, 0])))
    inverse = 1 / np.interp(u, GOOGLE[:, 1], 1 / GOOGLE[:, 0])
    return np.where(u < GOOGLE[1, 1], np.interp(u, GOOGLE[:2, 1], GOOGLE[:2, 0]), inverse)


def sizes(workload: str, n: int, draw) -> np.ndarray:
    return np.maximum(100, np.round(quantile(workload, draw.uniform(0, 1, n)))).astype(int)


def gaps(mean: float, n: int, draw) -> np.ndarray:
    """Log-normal with σ = 2."""
    return np.exp(np.log(mean) - SIGMA**2 / 2 + SIGMA * draw.standard_normal(n))


def arrivals(mean: float, until: float, draw) -> np.ndarray:
    """Instants before `until`, all in the unit of `mean`."""
    at = np.cumsum(gaps(mean, int(until / mean * 1.5) + 1000, draw))
    return at[at < until]


def write(rows, file: Path) -> Path:
    """(ns, src, dst, bytes) as a list of flows, in order of time."""
    return flow_list(file, ((round(ns), a, b, size) for ns, a, b, size in sorted(rows)))
