"""The flows that count, and the one rule about those that do not end."""

from __future__ import annotations

import numpy as np

from thalweg.papers import once
from thalweg.rundata import RunData


class Flows:
    """Sizes (B) and completion times (s) of the flows that count (`measure.from`, `measure.until`), in the order of
    their numbers.

    **The rule of censoring.** A flow that had not ended when the run did counts with the time that it had been under
    way, a lower bound: leaving it out would flatter the scheme that starved it. `censored` counts them; a study reports
    the number with what it measured. A flow that still waited for another one to end had not been under way: it is
    among the `censored`, and has no size and no time here.

    `times`: columns of times that are read, too, each an attribute in seconds: `Flows(results, "ideal").slowdown`."""

    ideal: np.ndarray

    def __init__(self, results: RunData, *times: str):
        table = results.flows
        measured = table["measured"].cast(bool).to_numpy()
        self.counted = measured & ~np.isnan(results.seconds("start"))
        self.done = (table["status"] == "completed").to_numpy()[self.counted]
        self.size = table["size"].to_numpy()[self.counted].astype(np.int64)
        self.start, fct = (results.seconds(column)[self.counted] for column in ("start", "fct"))
        self.fct = np.where(self.done, fct, results.summary["simulated_seconds"] - self.start)
        self.censored = int(np.count_nonzero(measured) - np.count_nonzero(self.done))
        for column in times:
            setattr(self, column, results.seconds(column)[self.counted])

    @property
    def slowdown(self) -> np.ndarray:
        """Completion time over that of the same flow alone (`ideal`)."""
        return self.fct / self.ideal

    @property
    def average(self) -> float:
        """Mean completion time, s."""
        return float(self.fct.mean())


@once
def flows(results: RunData) -> Flows:
    """The same with slowdowns, read once per run."""
    return Flows(results, "ideal")
