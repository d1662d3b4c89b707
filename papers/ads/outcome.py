"""What a run says about the flows that count."""

from __future__ import annotations

import numpy as np

from thalweg.papers import once


class Completion:
    """What a run says about the flows that count. A flow that had not ended when the run did counts with the
    time that it had been under way, a lower bound: leaving it out would flatter the scheme that starved
    it."""

    def __init__(self, results):
        import polars as pl

        rows = results.flows.select(pl.col("measured").cast(bool), done=pl.col("status") == "completed")
        counts, done = rows["measured"].to_numpy(), rows["done"].to_numpy()[rows["measured"].to_numpy()]
        self.size = results.flows["size"].to_numpy()[counts]
        start, fct, ideal = (results.seconds(column)[counts] for column in ("start", "fct", "ideal"))
        waited = results.summary["simulated_seconds"] - start
        self.fct = np.where(done, fct, waited)
        self.slowdowns = np.maximum(self.fct / ideal, 1.0)  # below 1 only if censored
        self.censored = int(np.count_nonzero(~done))

    @property
    def slowdown(self) -> float:
        return float(self.slowdowns.mean())

    @property
    def average(self) -> float:
        return float(self.fct.mean())

    @property
    def p99(self) -> float:
        return float(np.percentile(self.fct, 99))


@once
def completion(results) -> Completion:
    """The same, read once per run."""
    return Completion(results)


def slowdown(runs, key: str) -> float:
    return completion(runs[key]).slowdown
