"""Distributions of flow sizes, size classes, and buckets of equal probability."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise

import numpy as np
from numpy.typing import ArrayLike

from thalweg.papers import NotCheckable


class Sizes:
    """A distribution by its knots (bytes, cumulative %), with straight lines between them."""

    def __init__(self, *knots: tuple[float, float]):
        self.bytes, self.percent = (np.array(column, dtype=float) for column in zip(*knots, strict=True))

    @property
    def mean(self) -> float:
        """B."""
        return float(np.sum(np.diff(self.percent) / 100 * (self.bytes[1:] + self.bytes[:-1]) / 2))

    def draw(self, random: np.random.Generator) -> int:
        """A size, B; at least 1."""
        return max(1, round(float(np.interp(random.uniform(0, 100), self.percent, self.bytes))))

    def classes(self, size: ArrayLike) -> dict[float, np.ndarray]:
        """Indices of the flows of every size class, by its upper edge: classes reach from knot to knot."""
        where = np.searchsorted(self.bytes, size, side="left")
        return {self.bytes[i]: np.flatnonzero(where == i) for i in range(1, len(self.bytes))}


# WebSearch and FB_Hadoop as HPCC's artifact has them (Li et al., SIGCOMM 2019, §5.1; `traffic_gen/*.txt`).
WEB_SEARCH = Sizes(
    (0, 0), (10e3, 15), (20e3, 20), (30e3, 30), (50e3, 40), (80e3, 53), (200e3, 60), (1e6, 70), (2e6, 80), (5e6, 90),
    (10e6, 97), (30e6, 100),
)  # fmt: skip
FB_HADOOP = Sizes(
    (0, 0), (100, 1), (200, 2), (300, 5), (350, 15), (400, 20), (500, 30), (600, 40), (700, 50), (1000, 60), (2000, 67),
    (7000, 70), (30e3, 72), (50e3, 82), (80e3, 87), (120e3, 90), (300e3, 95), (1e6, 97.5), (2e6, 99), (10e6, 100),
)  # fmt: skip


def in_all(
    sizes: Mapping[str, np.ndarray], classes: Callable[[np.ndarray], Mapping[float, np.ndarray]], least: int
) -> dict[str, dict[float, np.ndarray]]:
    """By scheme, the size classes that have at least so many flows under every scheme: what is compared decides by
    these alone. Empty if there is none."""
    found = {scheme: classes(of) for scheme, of in sizes.items()}
    first = next(iter(found.values()))
    shared = [edge for edge in first if min(len(one[edge]) for one in found.values()) >= least]
    return {scheme: {edge: one[edge] for edge in shared} for scheme, one in found.items()}


def equal_buckets(size: Sequence[int], count: int) -> list[tuple[int, int]]:
    """Buckets of equal probability: (low, high] in bytes, each with a `count`-th of the flows. The edges are the
    quantiles by nearest rank. Where one size alone has more than its share, buckets that would be empty are left
    out, so that there are fewer."""
    ordered = np.sort(np.asarray(size))
    if len(ordered) < count:
        raise NotCheckable(f"{len(ordered)} flows do not fill {count} buckets")
    edges = [0, *(int(ordered[-(-len(ordered) * n // count) - 1]) for n in range(1, count + 1))]
    return [(low, high) for low, high in pairwise(edges) if high > low]
