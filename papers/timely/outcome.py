"""What a run of the incast test-bed says: round trips and rates at completions, throughput, shares, pauses."""

from __future__ import annotations

import numpy as np

from thalweg.study import jain, once, percentile, seconds


class Samples:
    """One entry per round trip that was reported to a controller: when (s), whose, how long (us), the rate that
    followed (b/s)."""

    def __init__(self, results, only=None):
        table = results.tables["round_trips"]
        if only is not None:
            table = table.filter(table["flow"].is_in(only))
        self.at = table["time_ps"].to_numpy() * 1e-12
        self.flow = table["flow"].to_numpy()
        self.rtt = table["rtt_ps"].to_numpy() * 1e-6
        self.rate = table["pace"].to_numpy().astype(float)

    def p(self, level: float) -> float:
        return percentile(self.rtt, level)

    def of(self, flow: int):
        """(when, round trip, rate) of one flow."""
        mine = self.flow == flow
        return self.at[mine], self.rtt[mine], self.rate[mine]


@once
def _rtt(results) -> tuple[float, float]:
    found = Samples(results)
    return float(found.rtt.mean()), found.p(99)


def average_rtt(results) -> float:
    """us."""
    return _rtt(results)[0]


def p99_rtt(results) -> float:
    """us."""
    return _rtt(results)[1]


def since(results, table: str, column: str) -> tuple[np.ndarray, float]:
    """By how much a counter has grown per entity from `measure.from` to the last look, and in how many seconds."""
    import polars as pl

    begin = results.scenario.to_dict()["measure"]["from"]
    start = seconds(begin)
    rows = results.tables[table]
    who = "port" if table == "links" else "flow"
    rows = rows.filter(pl.col("time_ps") >= round(start * 1e12)).sort("time_ps")
    ends = rows.group_by(who, maintain_order=True).agg(
        (pl.col(column).last().cast(pl.Float64) - pl.col(column).first().cast(pl.Float64)).alias("grown"),
        ((pl.col("time_ps").last() - pl.col("time_ps").first()) * 1e-12).alias("seconds"),
    )
    return ends.sort(who)["grown"].to_numpy(), float(ends["seconds"].max())


def throughput(results) -> float:
    """Gb/s on the wire through the server's ports."""
    grown, took = since(results, "links", "bytes")
    return float(grown.sum()) * 8 / took / 1e9


def goodput(results) -> np.ndarray:
    """Mb/s of payload of every connection."""
    grown, took = since(results, "controllers", "delivered")
    return grown * 8 / took / 1e6


def fairness(results) -> float:
    return jain(goodput(results))


def pauses(results) -> float:
    """Pauses of the whole run, those while connections start included."""
    return float((results.summary.get("pauses") or {}).get("frames", 0))


def pauses_later(results) -> float:
    """Pauses that begin in the measured window."""
    start = seconds(results.scenario.to_dict()["measure"]["from"])
    return float((results.tables["pauses"]["began_ps"].to_numpy() >= start * 1e12).sum())


def drops(results) -> float:
    return float(results.summary["drops"])
