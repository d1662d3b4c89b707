"""What a test compares with a number: values of a run's flows, and what is read of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from thalweg.results import Results
    from thalweg.study.flows import Flows


class Sample:
    """A number per flow. Percentiles are by nearest rank: values that occurred. Empty, it refuses to be compared.

    >>> Sample("slowdown", [1.0, 2.0, 3.0]).p50
    2.0
    """

    def __init__(self, what: str, values: ArrayLike, censored: int = 0):
        self.what, self.values, self.censored = what, np.sort(np.asarray(values, dtype=float)), censored

    def percentile(self, p: float) -> float:
        """The smallest value that `p` % of the values do not exceed."""
        from thalweg.study import percentile

        return percentile(self._there(), p)

    @property
    def p50(self) -> float:
        return self.percentile(50)

    @property
    def p95(self) -> float:
        return self.percentile(95)

    @property
    def p99(self) -> float:
        return self.percentile(99)

    @property
    def least(self) -> float:
        return float(self._there()[0])

    @property
    def most(self) -> float:
        return float(self._there()[-1])

    @property
    def mean(self) -> float:
        return float(self._there().mean())

    def __len__(self) -> int:
        return len(self.values)

    def _there(self) -> np.ndarray:
        if not len(self.values):
            raise ValueError(f"{self.what}: there is no such flow in the measured window")
        return self.values

    def __repr__(self) -> str:
        if not len(self.values):
            return f"<{self.what} of no flow>"
        shown = {"mean": self.mean, "p50": self.p50, "p95": self.p95, "p99": self.p99, "most": self.most}
        numbers = ", ".join(f"{name} {value:.4g}" for name, value in shown.items())
        more = f"; {self.censored} had not ended" if self.censored else ""
        return f"<{self.what} of {len(self.values)} flows: {numbers}{more}>"


def slowdown(results: Results) -> Sample:
    """Completion time over that of the same flow alone. A flow that had not ended when the run did counts with the time
    that it had been under way, a lower bound (`censored` counts them)."""
    found = _flows(results)
    return Sample("slowdown", found.slowdown, found.censored)


def fct_ms(results: Results) -> Sample:
    """Flow completion times, ms; flows that had not ended count as in `slowdown`."""
    found = _flows(results)
    return Sample("completion time (ms)", 1e3 * found.fct, found.censored)


def goodput_mbps(results: Results) -> Sample:
    """Payload delivered in order per time, Mbit/s: of flows without end in the measured window (the column
    `throughput_bps`), of the others that count over their completion time, or until the run ended."""
    table = results.flows
    rated = "throughput_bps" in table.columns
    endless = table["throughput_bps"].drop_nulls().to_numpy() if rated else np.empty(0)
    found = _flows(results)
    # Of those that have started: flows without end have a column of their own.
    delivered = table["delivered"].to_numpy()[found.counted].astype(float)
    sized = table["size"].is_not_null().to_numpy()[found.counted] & (found.fct > 0)
    rates = np.concatenate([endless, 8 * delivered[sized] / found.fct[sized]])
    return Sample("goodput (Mbit/s)", rates / 1e6, found.censored)


def loss(results: Results) -> float:
    """Data packets lost over data packets sent, of all flows; 0 if none was sent."""
    sent = float(results.flows["packets"].sum())
    return float(results.flows["data_drops"].sum()) / sent if sent else 0.0


def _flows(results: Results) -> Flows:
    from thalweg.study import flows

    return flows(results)
