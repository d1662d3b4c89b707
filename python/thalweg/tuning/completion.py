"""Completion times by which settings can be ranked: with the flows that had not ended."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from thalweg import headline

if TYPE_CHECKING:
    import polars

    from thalweg.results import Results


def value(results: Results, metric: str) -> Any:
    """A number of a run's summary. Completion times and slowdowns of which some flows have none, because the run ended
    first: with the time that these had been under way, a lower bound. Without them the setting under which the fewest
    flows end would be the best."""
    found = headline.scalars(results.summary).get(metric)
    if metric.endswith(".count"):
        return found
    return _with_unfinished(results, metric) if headline.unfinished(results.summary, metric) else found


def _with_unfinished(results: Results, metric: str) -> float:
    import numpy as np

    times = next(t for t in headline.TIMES if t in metric)
    of, _, statistic = metric.rpartition(times)
    table = results.flows.filter(_counted(results, of))
    ends = results.summary["simulated_seconds"] * 1e12
    # A flow that waits for another to end has waited all along.
    under_way = ends - table["start_ps"].fill_null(0)
    took = table["fct_ps"].cast(float).fill_null(under_way.cast(float)).to_numpy()
    took = took / table["ideal_ps"].to_numpy() if times == ".slowdown." else took / 1e6
    if statistic in ("mean", "max"):
        return float(getattr(took, statistic)())
    # By nearest rank, as the summary's.
    rank = math.ceil(float(statistic.removeprefix("p")) / 100 * len(took))
    return float(np.sort(took)[min(max(rank, 1), len(took)) - 1])


def _counted(results: Results, of: str) -> polars.Expr:
    """Which flows a table of the summary is about: all that are measured, those of a size class, or of a section."""
    import polars as pl

    kind, _, name = of.partition(".")
    rows = pl.col("measured").cast(bool)
    if kind == "size_classes":
        part = next(c for c in results.summary[kind] if c["name"] == name)
        rows &= pl.col("size") > part["above_bytes"]
        rows &= pl.lit(True) if part["up_to_bytes"] is None else pl.col("size") <= part["up_to_bytes"]
    if kind == "groups":
        rows &= pl.col("group") == [g["name"] for g in results.summary[kind]].index(name)
    return rows
