"""What runs say about the flows that count, and what two runs of the same flows say together."""

from __future__ import annotations

import numpy as np

from thalweg import study
from thalweg.study import Key, once

PACKET = 1460
SIZES = tuple(PACKET * n for n in (1, 2, 3, 5, 7, 40, 72, 137, 267, 1187, 2107))
S1, S3, S5, S40, S72, S267, S1187, S2107 = (SIZES[n] for n in (0, 2, 3, 5, 6, 8, 9, 10))


class Flows(study.Flows):
    """In the order of their starts, and `who` they are: start (ns, as lists have it), source, destination, size."""

    def __init__(self, results):
        super().__init__(results)
        columns = (results.flows[c].to_numpy()[self.counted] for c in ("start_ps", "src", "dst", "group"))
        start, src, dst, group = columns
        who = np.stack([start // 1000, src, dst, self.size])
        order = np.lexsort(who[::-1])
        self.who, self.size = who[:, order], self.size[order].astype(float)
        self.done, self.fct, self.group = (x[order] for x in (self.done, self.fct, group))


@once
def flows(results) -> Flows:
    """The same, read once per run."""
    return Flows(results)


class Pair:
    """The flows that ended in both of two runs (the authors' filter), or in all of several pairs together."""

    def __init__(self, *pairs, keep=None):
        parts, self._pairs = [], pairs
        for one, two in pairs:
            a, b = flows(one), flows(two)
            if not np.array_equal(a.who, b.who):
                raise ValueError("the two runs do not have the same flows")
            both = a.done & b.done & (True if keep is None else keep(a))
            parts.append((a.size[both], a.fct[both], b.fct[both], len(both) - both.sum()))
        self.size, self.before, self.after = (np.concatenate([p[n] for p in parts]) for n in range(3))
        self.left_out = int(sum(p[3] for p in parts))

    def each(self) -> list[Pair]:
        """Every pair on its own."""
        return [Pair(one) for one in self._pairs]

    @property
    def count(self) -> int:
        return len(self.size)

    def of(self, wanted: np.ndarray) -> float:
        """Reduction in % of the mean completion time."""
        return float(100 * (1 - self.after[wanted].mean() / self.before[wanted].mean()))

    def flows(self) -> float:
        return self.of(np.full(len(self.size), True))

    def bytes(self) -> float:
        return float(100 * (1 - (self.size * self.after).sum() / (self.size * self.before).sum()))

    def sized(self, size: float) -> float:
        return self.of(self.size == size)

    def number(self, size: float) -> int:
        return int(np.count_nonzero(self.size == size))

    def by_size(self, sizes=SIZES) -> dict[int, float]:
        return {s: self.sized(s) for s in sizes if self.number(s)}

    def means(self) -> dict[str, float]:
        """Mean completion times over flows and over bytes, s."""
        total = self.size.sum()
        return {
            "before": float(self.before.mean()),
            "after": float(self.after.mean()),
            "before, bytes": float((self.size * self.before).sum() / total),
            "after, bytes": float((self.size * self.after).sum() / total),
        }


def pair(runs, place: str, scheme: str = "rc3", base: str = "tcp", like: str = "") -> Pair:
    """All seeds that both were run with, or of these only those of another place."""
    keys = [Key.of(k) for k in runs]
    one, two = ({k.seed: runs[k] for k in keys if k.point == Key(place, s)} for s in (base, scheme))
    there = {k.seed for k in keys if k.place == (like or place)}
    return Pair(*((one[s], two[s]) for s in one if s in two and s in there))


def averages(p: Pair) -> dict[str, float]:
    """What the tables of §2.4.1 print."""
    m = p.means()
    return {
        "flows %": p.flows(),
        "bytes %": p.bytes(),
        "TCP (s)": m["before"],
        "RC3 (s)": m["after"],
        "TCP, bytes (s)": m["before, bytes"],
        "RC3, bytes (s)": m["after, bytes"],
        "flows that decide": p.count,
        "flows that did not end in both": p.left_out,
    }
