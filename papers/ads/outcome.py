"""What a run says about the flows that count."""

from __future__ import annotations

import numpy as np

from thalweg.study import Flows, once


class Completion(Flows):
    """Flows with their slowdowns: below 1 only if censored."""

    def __init__(self, results):
        super().__init__(results, "ideal")
        self.slowdowns = np.maximum(self.slowdown, 1.0)

    @property
    def p99(self) -> float:
        return float(np.percentile(self.fct, 99))


@once
def completion(results) -> Completion:
    """The same, read once per run."""
    return Completion(results)


def slowdown(runs, key: str) -> float:
    return float(completion(runs[key]).slowdowns.mean())
