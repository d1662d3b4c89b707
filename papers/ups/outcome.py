"""What a TCP run says about the flows that count."""

from __future__ import annotations

import numpy as np

from thalweg import study
from thalweg.study import across_bytes, once

from .numbers import in_bucket


class Flows(study.Flows):
    """With the mean round trip (s) of each: one without a sample has none to average."""

    def __init__(self, results):
        super().__init__(results, "rtt")
        self.rtt = np.where(self.rtt > 0, self.rtt, np.nan)

    @property
    def average_rtt(self) -> float:
        return float(np.nanmean(self.rtt))

    @property
    def bytes_fct(self) -> float:
        return across_bytes(self.size, self.fct)

    @property
    def bytes_rtt(self) -> float:
        """Mean round trip of each flow, weighted by its size: not the mean over all samples."""
        sampled = ~np.isnan(self.rtt)
        return across_bytes(self.size[sampled], self.rtt[sampled])

    def fct_of(self, bucket: str) -> np.ndarray:
        return self.fct[in_bucket(self.size, bucket)]

    def rtt_of(self, bucket: str) -> np.ndarray:
        found = self.rtt[in_bucket(self.size, bucket)]
        return found[~np.isnan(found)]


@once
def flows(results) -> Flows:
    """The same, read once per run."""
    return Flows(results)


def average(results) -> float:
    return flows(results).average


def average_rtt(results) -> float:
    return flows(results).average_rtt


def bytes_fct(results) -> float:
    return flows(results).bytes_fct


def bytes_rtt(results) -> float:
    return flows(results).bytes_rtt


def losses(results) -> dict[str, float]:
    """What losses did to the flows that count."""
    f = flows(results)
    columns = ("delivered", "timeouts", "drops")
    delivered, timeouts, drops = (results.flows[column].to_numpy()[f.counted] for column in columns)
    return {
        "drops per flow": float(drops.mean()),
        "flows with a timeout": float(np.mean(timeouts > 0)),
        # Its SYN or all of its first packets were lost, and the timer that would mend it is longer than what
        # was left of the run.
        "flows that never got through": float(np.mean(~f.done & (delivered == 0))),
    }


def cut(runs) -> dict[str, float]:
    """The largest number of censored flows in one run, to be reported with what was measured."""
    return {"most censored flows of a run": max(flows(r).censored for r in runs.values())}
