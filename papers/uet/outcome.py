"""What a run says: completion times, losses, and what ports carried over time."""

from __future__ import annotations

import numpy as np

from thalweg.study import flows, mean, once, seeds


def last(results) -> float:
    """Completion of the last flow, us. One that has not ended counts with its age."""
    return float(flows(results).fct.max()) * 1e6


def average(results) -> float:
    """Mean completion, us."""
    return float(flows(results).fct.mean()) * 1e6


def finish(results) -> float:
    """When the last flow of a job ended, us."""
    found = flows(results)
    return float((found.start + found.fct).max()) * 1e6


def lost(results) -> float:
    """Data packets that did not arrive."""
    return float(results.flows["data_drops"].sum())


def unfinished(results) -> float:
    return float(flows(results).censored)


def ratio(runs, place: str, other: str, value=last, scheme: str = "reps") -> float:
    """Another scheme's over REPS'."""
    return mean(runs, f"{place}:{other}", value) / mean(runs, f"{place}:{scheme}", value)


class Uplinks:
    """What some ports did over time: [sample, port], each sample the end of an interval (us)."""

    def __init__(self, results, ports: list[int]):
        links, queues = results.tables["links"], results.tables["queues"]
        self.at = np.unique(links["time_ps"].to_numpy()) * 1e-6
        self.sent = self._of(links, ports, "bytes")
        self.queue = self._of(queues, ports, "bytes")
        self.dropped = self._of(queues, ports, "dropped")

    def _of(self, table, ports, column: str) -> np.ndarray:
        found = [table.filter(table["port"] == p).sort("time_ps")[column].to_numpy() for p in ports]
        return np.stack(found, axis=1).astype(float)

    def rate(self, every: int) -> np.ndarray:
        """Gb/s on the wire that left in each `every` samples: [interval, port]."""
        return np.diff(self.sent[::every], axis=0) * 8e-3 / np.diff(self.at[::every])[:, None]

    def offered(self, every: int) -> np.ndarray:
        """Gb/s that came: what left, and what the queue grew by. What was dropped is not in it."""
        came = np.diff((self.sent + self.queue)[::every], axis=0)
        return came * 8e-3 / np.diff(self.at[::every])[:, None]

    def middle(self, every: int) -> np.ndarray:
        return (self.at[::every][1:] + self.at[::every][:-1]) / 2


@once
def uplinks(results) -> Uplinks:
    """The ports that the run was to measure."""
    return Uplinks(results, list(results.scenario.to_dict()["measure"]["queues"]["ports"]))


def each(runs, what: str, value) -> list[float]:
    return [value(results) for results in seeds(runs, what)]
