"""A job in time: when each of its hosts computed, and when messages were on their way to it."""

from __future__ import annotations

import numpy as np
import polars as pl

from thalweg import _counts, plots
from thalweg._arrow import largest
from thalweg._layout import legend_above, note, time_unit
from thalweg.errors import refuse
from thalweg.rundata import NoTable, RunData

# More rows than these cannot be read on a page; of more than a few letters and bars are smaller.
MOST, FEW = 64, 24
# Gaps below this part of the axis are closed: nothing of them could be seen, and files stay small.
_FINEST = 1 / 2000


def fits(results: RunData) -> bool:
    """Whether a run has a job with computations that began."""
    if not {"works", "flows"} <= set(results.tables):
        return False
    return not _computations(results).is_empty()


def timeline(results: RunData, *, hosts: int = MOST) -> plots.Figure:
    """When the hosts of jobs computed (above), and when flows of the same jobs were on their way to them (below, from
    the first packet to the last byte): what is blank above and not below is communication that nothing hides. Of more
    than `hosts` hosts those that were through last."""
    hosts = _counts.count(hosts, "hosts")
    if "works" not in results.tables:
        raise NoTable("works", results.tables)
    if not fits(results):
        raise refuse("no computation of this run has begun: there is nothing to draw", file=results.path or "this run")
    end = round(results.summary.get("simulated_seconds", 0.0) * 1e12)
    computing, receiving = _computations(results), _messages(results, end)
    computing = computing.with_columns(pl.col("ended").fill_null(end))
    every = pl.concat([computing, receiving], how="vertical_relaxed")
    through = every.group_by("host").agg(pl.col("ended").max()).sort("ended", "host", descending=[True, False])
    rows = through["host"].head(hosts).sort().to_list()
    names = dict(results.tables["nodes"].select("node", "name").rows())
    last = int(largest(every["ended"]))
    factor, unit = time_unit(last * 1e-12)
    with plots.style():
        fig, ax = plots.figure(1.4 * plots.COLUMN, 0.9 + (0.15 if len(rows) <= FEW else 0.11) * max(len(rows), 4))
        looks = (
            (computing, -0.42, 0.42, plots.COLOURS[0], "computing"),
            (receiving, 0.02, 0.36, plots.COLOURS[5], "receiving"),
        )
        for frame, above, height, colour, label in looks:
            by_host = {key[0]: part for key, part in frame.group_by("host")}
            for row, host in enumerate(rows):
                if host in by_host:
                    times = merged(by_host[host], last * _FINEST) * 1e-12 * factor
                    spans = [(begin, until - begin) for begin, until in times]
                    ax.broken_barh(spans, (row + above, height), facecolors=colour, linewidth=0)
            ax.bar([0], [0], color=colour, label=label)
        ax.set_yticks(range(len(rows)), [names[host] for host in rows])
        if len(rows) > FEW:
            ax.tick_params(axis="y", labelsize=6)
        ax.set(xlim=(0, last * 1e-12 * factor), ylim=(len(rows) - 0.5, -0.5), xlabel=f"time ({unit})")
        ax.grid(False, axis="y")
        if len(rows) < len(through):
            note(ax, f"{len(rows)} of {len(through)} hosts: through last")
        legend_above(fig, ax, 2)
        return fig


def _computations(results: RunData) -> pl.DataFrame:
    """Of each computation that takes time and has begun: host, began, ended (null: not yet); ps."""
    works = results.tables["works"].filter((pl.col("lasts_ps") > 0) & (pl.col("begun_ps") >= 0))
    return works.select(
        pl.col("host").cast(pl.Int64),
        began=pl.col("begun_ps").cast(pl.Int64),
        ended=pl.when(pl.col("ended_ps") >= 0).then(pl.col("ended_ps").cast(pl.Int64)),
    )


def _messages(results: RunData, end: int) -> pl.DataFrame:
    """The same of flows of jobs, at the hosts that receive them; until the run's end, if they have not arrived."""
    jobs = [n for n, g in enumerate(results.summary.get("groups") or ()) if g.get("job")]
    flows = results.flows.filter(pl.col("group").is_in(jobs) & (pl.col("start_ps") >= 0))
    return flows.select(
        pl.col("dst").cast(pl.Int64).alias("host"),
        began=pl.coalesce("begun_ps", "start_ps").cast(pl.Int64),
        ended=pl.coalesce("received_ps", pl.lit(end)).cast(pl.Int64),
    )


def merged(spans: pl.DataFrame, least: float) -> np.ndarray:
    """The union of intervals, in order, as rows of two numbers; gaps shorter than `least` are closed."""
    spans = spans.sort("began")
    began, ended = (spans[name].to_numpy().astype(float) for name in ("began", "ended"))
    reach = np.maximum.accumulate(ended)
    first = np.concatenate([[True], began[1:] - reach[:-1] > least])
    last = np.concatenate([first[1:], [True]])
    return np.column_stack([began[first], reach[last]])
