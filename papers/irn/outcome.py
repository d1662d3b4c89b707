"""What a run says about the flows that count (§4.3.1)."""

from __future__ import annotations

import numpy as np

from thalweg import study
from thalweg.study import mean, once, percentile

METRICS = ("slow", "fct", "p99")
TITLES = {"slow": "average slowdown", "fct": "average FCT (ms)", "p99": "99 % FCT (ms)"}
# CHOICE §4.3.4: upper edges of the size classes, B.
CLASSES = {"1 KB": 1024, "10 KB": 10_000, "200 KB": 200_000, "1 MB": 1_000_000, "3 MB": 3_000_000}


class Flows(study.Flows):
    """With their slowdowns, by size class."""

    def __init__(self, results):
        super().__init__(results, "ideal")

    def of_class(self, name: str) -> np.ndarray:
        """Which flows are in a size class."""
        edges = list(CLASSES.values())
        n = list(CLASSES).index(name)
        low = edges[n - 1] if n else 0
        return (self.size > low) & (self.size <= edges[n])

    def metrics(self, which=slice(None)) -> dict[str, float]:
        """Average slowdown, average FCT (s), 99 % FCT (s)."""
        fct = self.fct[which]
        return {
            "slow": float(self.slowdown[which].mean()),
            "fct": float(fct.mean()),
            "p99": percentile(fct, 99),
        }


# The flows of a run at full scale take megabytes, and there are hundreds of runs.
@once(most=64)
def flows(results) -> Flows:
    return Flows(results)


@once
def metrics(results) -> dict[str, float]:
    """The paper's three metrics of a run."""
    return flows(results).metrics()


def m3(runs, key: str) -> dict[str, float]:
    """The paper's three metrics, means over the seeds."""
    return {m: mean(runs, key, lambda r, m=m: metrics(r)[m]) for m in METRICS}


def m3_of_class(runs, key: str, name: str) -> dict[str, float]:
    def of(r, m):
        found = flows(r)
        return found.metrics(found.of_class(name))[m]

    return {m: mean(runs, key, lambda r, m=m: of(r, m)) for m in METRICS}


def ratio(a: dict[str, float], b: dict[str, float]) -> dict[str, float]:
    return {m: a[m] / b[m] for m in a}


def named(prefix: str, values: dict[str, float]) -> dict[str, float]:
    """Ratios of the three metrics as they are judged: `R1 slow`, `R1 fct`, `R1 p99`."""
    return {f"{prefix} {m}": x for m, x in values.items()}


def drop_rate(results) -> float:
    """Dropped data packets over data packets sent, those sent again included."""
    return int(results.flows["data_drops"].sum()) / max(int(results.flows["packets"].sum()), 1)


def pauses(results) -> float:
    """Frames that request a pause."""
    return results.summary["pauses"]["frames"]


def unfinished(runs) -> dict[str, float]:
    """The largest number of flows without an end in one run, to be reported with what was measured."""
    return {"most unfinished flows of a run": max(r.summary["measured"]["censored"] for r in runs.values())}
