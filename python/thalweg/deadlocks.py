"""Ports that wait for each other: which, since when, and whose packets (`summary["pauses"]["deadlocks"]`)."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from thalweg import _format, plots

if TYPE_CHECKING:
    from thalweg.rundata import RunData

MOST = 8  # flows that are named


def cycle(deadlock: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """The ports of a cycle, each behind the one that waits for it; ports that only lead into it are left out."""
    left: dict[int, list[Mapping[str, Any]]] = {}
    for wait in deadlock.get("waits", []):
        left.setdefault(wait["from_node"], []).append(wait)
    way: list[Mapping[str, Any]] = []
    seen: dict[int, int] = {}
    at = next(iter(left), None)
    while at in left and at not in seen:
        seen[at] = len(way)
        way.append(next((w for w in left[at] if w["to_node"] in left), left[at][0]))
        at = way[-1]["to_node"]
    return way[seen[at] :] if at in seen else []


def said(deadlock: Mapping[str, Any], names: Sequence[str] | None = None) -> str:
    """Which nodes wait for which, since when, and whose packets; in one line."""
    when = _format.simulated(deadlock["at_us"] * 1e6)
    ring = cycle(deadlock)
    ports = [wait["port"] for wait in ring] or deadlock["ports"]
    behind = [str(p) for p in deadlock["ports"] if p not in ports]
    ended = deadlock.get("ended_us")
    until = "never go on" if ended is None else f"go on at {_format.simulated(ended * 1e6)}"
    text = f"since {when} ports {', '.join(map(str, sorted(ports)))} wait for each other and {until}"
    if ring:
        node = str if names is None else names.__getitem__
        flows = sorted({f for wait in ring for f in wait["flows"]})
        text += ": " + " -> ".join(node(wait["from_node"]) for wait in [*ring, ring[0]])
        if flows:
            text += "; flows " + ", ".join(map(str, flows[:MOST])) + (", ..." if len(flows) > MOST else "")
    return text + (f"; behind them ports {', '.join(behind)}" if behind else "")


def lines(results: RunData) -> list[str]:
    """What a run says of its deadlocks: those that stand first."""
    pauses = results.summary.get("pauses") or {}
    found = sorted(pauses.get("deadlocks", []), key=lambda d: d.get("ended_us") is not None)
    names = results.tables["nodes"]["name"].to_list() if "nodes" in results.tables else None
    return [said(deadlock, names) for deadlock in found]


def drawn(deadlock: Mapping[str, Any], names: Sequence[str] | None = None) -> plots.Figure:
    """The cycle as arrows: which nodes wait for which, and how many flows wait there."""
    ring = cycle(deadlock)
    with plots.style():
        fig, ax = plots.figure(2.6, 2.6)
        ax.set_axis_off()
        ax.set_aspect("equal")
        places = [
            (math.sin(2 * math.pi * n / len(ring)), math.cos(2 * math.pi * n / len(ring))) for n in range(len(ring))
        ]
        for n, wait in enumerate(ring):
            a, b = places[n], places[(n + 1) % len(ring)]
            ax.annotate(
                "", b, a, arrowprops={"arrowstyle": "->", "color": plots.COLOURS[1], "shrinkA": 12, "shrinkB": 12}
            )
            middle = ((a[0] + b[0]) / 2, (a[1] + b[1]) / 2)
            flows = len(wait["flows"])
            ax.text(
                *middle,
                f"port {wait['port']}" + (f"\n{flows} flows" if flows else ""),
                ha="center",
                va="center",
                fontsize=6,
            )
            name = str(wait["from_node"]) if names is None else names[wait["from_node"]]
            ax.text(
                *a, name, ha="center", va="center", bbox={"boxstyle": "circle", "fc": "white", "ec": "black", "lw": 0.7}
            )
        ax.set(xlim=(-1.4, 1.4), ylim=(-1.4, 1.4))
        return fig
