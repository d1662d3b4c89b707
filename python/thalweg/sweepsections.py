"""What sections of traffic got in a sweep: means over the seeds with their intervals."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from thalweg.settings import columns

if TYPE_CHECKING:
    import polars

    from thalweg.sweeps import Runs

SHOWN = (
    "flows",
    "censored",
    "endless.sum_gbps",
    "fct_us.mean",
    "fct_us.p99",
    "slowdown.mean",
    "slowdown.p99",
    "packet_queueing_us.p99",
)


def sections(runs: Runs) -> polars.DataFrame:
    """A row for each setting and section of traffic.

    Columns: the varied keys, section, controller, runs (seeds), and those of `flows`, `censored` (flows that had not
    ended, which are not part of completion times and slowdowns; only where there are any), `endless.sum_gbps`,
    `fct_us.mean`, `fct_us.p99`, `slowdown.mean`, `slowdown.p99` and `packet_queueing_us.p99` that any section has: the
    mean over the seeds and `±`, half its 95 % confidence interval (null: a single seed). Where not all runs of a
    setting have a number, a column more (`fct_us.mean runs`) says of how many the mean is.
    """
    import polars as pl

    known = set(runs.metrics())
    names = dict.fromkeys(g["name"] for r in runs for g in r.summary.get("groups") or ())
    of = {name: {m: f"groups.{name}.{m}" for m in SHOWN if f"groups.{name}.{m}" in known} for name in names}
    shown = [m for m in SHOWN if any(m in found for found in of.values())]
    found = {name: runs.over_seeds(*metrics.values()) if metrics else [] for name, metrics in of.items()}
    partial = {m for m in shown if any(s[of[name][m]].partial for name in of if m in of[name] for _, s in found[name])}
    rows = []
    for name, metrics in of.items():
        for place, (labels, spreads) in enumerate(found[name]):
            row = {"place": place, **labels, "section": name, "controller": _controllers(runs, name, labels)}
            row["runs"] = max(s.runs for s in spreads.values())
            for m in shown:
                s = spreads.get(metrics.get(m, ""))
                row[m], row[f"{m} ±"] = (None, None) if s is None else (_known(s.mean), _known(s.half))
                row |= {f"{m} runs": 0 if s is None else s.runs} if m in partial else {}
            rows.append(row)
    if not rows:
        return pl.DataFrame()
    table = pl.DataFrame(rows, infer_schema_length=None).sort("place", maintain_order=True).drop("place")
    return table if any(row.get("censored") for row in rows) else table.drop("censored", "censored ±", strict=False)


def _known(value: float) -> float | None:
    return None if math.isnan(value) else value


def _controllers(runs: Runs, section: str, labels: Mapping[str, Any]) -> str:
    """The controllers that a section had in the runs of a setting."""
    named = columns(runs.params)
    found: dict[str, None] = {}
    for n, run in enumerate(runs):
        if all(named[key][n] == value for key, value in labels.items()):
            groups = run.summary.get("groups") or ()
            found |= dict.fromkeys(g.get("controller") or "" for g in groups if g.get("name") == section)
    return ", ".join(filter(None, found))
