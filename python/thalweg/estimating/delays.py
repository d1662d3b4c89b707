"""What links add to flows: distributions by flow size, and sums of draws from them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike


@dataclass(frozen=True)
class Buckets:
    """How a link's flows are put together by size, smallest first (§3.3 of the paper, and its defaults): a bucket is
    full once it has `least` flows and its largest one is `span` times its smallest. What is left over is the last."""

    least: int = 100
    span: float = 2.0

    def edges(self, sizes: np.ndarray) -> list[int]:
        """Where the buckets of these sizes end, each behind its last flow; `sizes` in rising order.

        >>> Buckets(least=2, span=2.0).edges(np.array([1, 2, 3, 3, 3, 7, 8]))
        [2, 6, 7]
        """
        found, begin, end = [], 0, 0
        while begin < len(sizes):
            end = max(begin + self.least, int(np.searchsorted(sizes, self.span * sizes[begin], side="left")) + 1)
            # Flows of one size are together.
            end = int(np.searchsorted(sizes, sizes[min(end, len(sizes)) - 1], side="right"))
            found.append(end)
            begin = end
        return found


class Delays:
    """A link's delays per packet, by flow size; in ps. Empty if no flow has one.

    >>> Delays(np.array([10, 20]), np.array([1.0, 3.0]), Buckets()).of(15)
    array([1., 3.])
    """

    def __init__(self, sizes: np.ndarray, delays: np.ndarray, buckets: Buckets):
        order = np.argsort(sizes, kind="stable")
        sizes, self._delays = sizes[order], delays[order]
        self._ends = buckets.edges(sizes)
        self._largest = sizes[np.array(self._ends, dtype=np.int64) - 1]

    def __len__(self) -> int:
        """The number of buckets."""
        return len(self._ends)

    def bucket(self, sizes: ArrayLike) -> np.ndarray:
        """The place of the bucket that each size belongs to; what is larger than all belongs to the last."""
        return np.minimum(np.searchsorted(self._largest, sizes, side="left"), len(self) - 1)

    def all(self) -> np.ndarray:
        """What is in all of them."""
        return self._delays

    def inside(self, place: int) -> np.ndarray:
        """What is in a bucket."""
        return self._delays[self._ends[place - 1] if place else 0 : self._ends[place]]

    def of(self, size: int) -> np.ndarray:
        """What flows of a size draw from."""
        return self.inside(int(self.bucket(size)))

    def add_to(self, total: np.ndarray, flows: np.ndarray, sizes: np.ndarray, random: np.random.Generator) -> None:
        """Adds a draw to each number in the rows `flows` of `total`; `sizes`: of these flows."""
        place = self.bucket(sizes)
        for bucket in np.unique(place):
            rows, known = flows[place == bucket], self.inside(int(bucket))
            total[rows] += known[random.integers(len(known), size=(len(rows), total.shape[1]))]


class Alone:
    """What a flow takes on a path of its own beyond its ideal time, by size: slow start, and whatever else a transport
    does when it has no neighbour. In ps; between the sizes that were tried a straight line over the logarithm."""

    # So many sizes are tried one by one; beyond these, numbers of packets so far apart.
    MOST, STEP = 200, 2**0.25

    def __init__(self, sizes: np.ndarray, beyond: np.ndarray):
        order = np.argsort(sizes, kind="stable")
        self._sizes, self._beyond = np.log2(sizes[order]), beyond[order].astype(float)

    def of(self, sizes: np.ndarray, payload: int) -> np.ndarray:
        """Of flows of these sizes; `payload`: of a full packet."""
        exact = np.log2(sizes)
        whole = np.log2(packets(sizes, payload) * payload)
        return np.interp(np.where(np.isin(exact, self._sizes), exact, whole), self._sizes, self._beyond)

    @classmethod
    def tried(cls, sizes: np.ndarray, payload: int) -> np.ndarray:
        """Which sizes to try for flows of these sizes: all, if they are few; else whole packets, each number of them at
        first, then in steps."""
        different = np.unique(sizes)
        if len(different) <= cls.MOST:
            return different
        counts = set(range(1, 65))
        steps = 64 * cls.STEP ** np.arange(1, 200)
        most = int(packets(different[-1:], payload)[0])
        counts |= set(np.round(steps[steps < most]).astype(int).tolist()) | {most}
        return np.array(sorted(n for n in counts if n <= most), dtype=np.int64) * payload


def packets(sizes: np.ndarray, payload: int) -> np.ndarray:
    """How many packets flows have."""
    return -(-sizes // payload)


def quantiles(values: np.ndarray, at: Sequence[float]) -> list[float | None]:
    """Percentiles by nearest rank; `None` of nothing."""
    if not len(values):
        return [None] * len(at)
    return [float(v) for v in np.percentile(values, at, method="inverted_cdf")]
