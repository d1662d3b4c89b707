"""Links that are alike: of each group one is simulated, and stands for all.

As in §3.4 of the paper: the first link that stands for none takes in all later ones that are near it, in load, in flow
sizes and in gaps between starts.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from thalweg.estimating.paths import Flows, Network
from thalweg.estimating.reduced import Shape

# Points at which distributions are compared.
_AT = np.linspace(0, 100, 101)


@dataclass(frozen=True)
class Look:
    """What is compared of a link: `form` must be the same, the others near."""

    form: tuple[Any, ...]
    load: float
    sizes: np.ndarray
    gaps: np.ndarray

    @classmethod
    def at(cls, network: Network, port: int, flows: Flows, chosen: np.ndarray, shapes: set[Shape]) -> Look:
        """Of the flows at the places `chosen`, which cross a port in reduced paths of these shapes."""
        start = np.sort(flows.start[chosen])
        gaps = np.diff(start) if len(start) > 1 else np.zeros(1)
        # Flows that start together take the link for as long as it needs for them.
        takes = float(flows.size[chosen].sum()) * 8e12 / network.rate[port]
        load = takes / max(float(start[-1] - start[0]), takes, 1.0)
        form = tuple(sorted(shapes)), tuple(np.unique(flows.section[chosen]).tolist())
        return cls(form, load, np.percentile(flows.size[chosen], _AT), np.percentile(gaps, _AT))

    def is_near(self, other: Look, within: float) -> bool:
        return (
            self.form == other.form
            and abs(self.load - other.load) <= within * self.load
            and _apart(self.sizes, other.sizes) <= within
            and _apart(self.gaps, other.gaps) <= within
        )


def _apart(a: np.ndarray, b: np.ndarray) -> float:
    """Weighted mean absolute percentage error: Σ|a − b| / Σ|a|."""
    return float(np.abs(a - b).sum() / max(np.abs(a).sum(), 1e-300))


def standing_for(looks: Mapping[int, Look], within: float | None) -> dict[int, int]:
    """By port the one that stands for it: itself, if `within` is `None`.

    Links that are compared: each with those that stand for others, in the order of their numbers.
    """
    if within is None:
        return {port: port for port in looks}
    leaders: list[int] = []
    found: dict[int, int] = {}
    for port, look in looks.items():
        near: Sequence[int] = [lead for lead in leaders if looks[lead].is_near(look, within)]
        found[port] = near[0] if near else port
        if not near:
            leaders.append(port)
    return found
