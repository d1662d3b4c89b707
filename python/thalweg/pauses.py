"""Which switches stopped which: the pauses of a run (`[measure] pauses = true`) as storms, each a tree with one root.

A pause whose packet was bound for an output that was merely busy is a root; one whose packet was bound for an
output that was itself paused was caused by that pause. A storm is a root with all that follows from it.
"""

from __future__ import annotations

import matplotlib
import numpy as np
import polars as pl
from matplotlib.patches import Rectangle

from thalweg import plots
from thalweg._arrow import largest
from thalweg._layout import legend_above, note, time_unit


def storms(pauses: pl.DataFrame, end_ps: int | None = None) -> pl.DataFrame:
    """One row per storm, the largest first.

    Columns: root (pause number), at_ps, from_node, to_node (the port of the root), pauses, ports (different
    ones), depth (0: the root alone), paused_ps (sum over its pauses; one that stands is counted up to
    `end_ps`, or to the last event in the table).
    """
    root = np.arange(len(pauses), dtype=np.int64)
    for number, cause in enumerate(pauses["cause"].fill_null(-1).to_list()):
        if cause >= 0:
            root[number] = root[cause]  # causes come before what they cause
    known = pauses.with_columns(pl.Series("root", root), lasted=_lasted(pauses, end_ps))
    sums = known.group_by("root").agg(
        pauses=pl.len(), ports=pl.col("port").n_unique(), depth=pl.col("depth").max(), paused_ps=pl.col("lasted").sum()
    )
    roots = pauses.select(
        root=pl.col("pause").cast(pl.Int64), at_ps="began_ps", from_node="from_node", to_node="to_node"
    )
    return roots.join(sums, on="root").sort(["pauses", "root"], descending=[True, False])


def by_port(pauses: pl.DataFrame, end_ps: int | None = None) -> pl.DataFrame:
    """One row per port that was ever paused: how often, for how long (ps), and how deep in a storm at most;
    the longest first."""
    return (
        pauses.with_columns(lasted=_lasted(pauses, end_ps))
        .group_by("port", "from_node", "to_node")
        .agg(pauses=pl.len(), paused_ps=pl.col("lasted").sum(), depth=pl.col("depth").max())
        .sort(["paused_ps", "port"], descending=[True, False])
    )


def timeline(pauses: pl.DataFrame, *, ports: int = 24) -> plots.Figure:
    """When the ports that were paused longest were paused, coloured by depth in their storm."""
    longest = by_port(pauses).head(ports)
    known = pauses.with_columns(lasted=_lasted(pauses))
    deepest = int(largest(pauses["depth"]))
    ends = largest(known["began_ps"].cast(pl.Int64) + known["lasted"])
    factor, unit = time_unit(ends * 1e-12)
    with plots.style():
        cycle = [entry["color"] for entry in matplotlib.rcParams["axes.prop_cycle"]]
        shade = [cycle[depth % len(cycle)] for depth in range(deepest + 1)]
        fig, ax = plots.figure(height=0.9 + 0.15 * max(len(longest), 1))
        for row, port in enumerate(longest["port"].to_list()):
            mine = known.filter(pl.col("port") == port)
            begin, width = (mine[c].to_numpy() * 1e-12 * factor for c in ("began_ps", "lasted"))
            colours = [shade[depth] for depth in mine["depth"].to_list()]
            ax.broken_barh(list(zip(begin, width, strict=True)), (row - 0.4, 0.8), facecolors=colours)
        names = [f"{a} → {b}" for a, b in longest.select("from_node", "to_node").iter_rows()]
        ax.set_yticks(range(len(longest)), names)
        ax.invert_yaxis()
        ax.set_xlabel(f"time ({unit})")
        ax.set_ylabel("paused port (node → node)")
        all_ports = pauses["port"].n_unique()
        if len(longest) < all_ports:
            note(ax, f"{len(longest)} of {all_ports} ports: paused longest")
        for depth, colour in enumerate(shade[:4]):
            label = "root" if depth == 0 else f"depth {depth}"
            ax.add_patch(Rectangle((0, 0), 0, 0, color=colour, label=label))
        legend_above(fig, ax, 2)
        return fig


def _lasted(pauses: pl.DataFrame, end_ps: int | None = None) -> pl.Series:
    """How long each pause lasted; one that stands (no end), until `end_ps` or the last event that the table knows."""
    began, ended = pauses["began_ps"].cast(pl.Int64), pauses["ended_ps"].cast(pl.Int64).fill_null(-1)
    last = end_ps if end_ps is not None else int(max(largest(began), largest(ended)))
    return pl.Series("lasted", np.where(ended < 0, last, ended)) - began
