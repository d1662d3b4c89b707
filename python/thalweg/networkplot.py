"""A run's network, drawn: how much of every link was used, and which was used most."""

from __future__ import annotations

import math
from collections import defaultdict
from typing import TYPE_CHECKING

from matplotlib.axes import Axes
from matplotlib.cm import ScalarMappable
from matplotlib.collections import LineCollection
from matplotlib.colors import Normalize

from thalweg import _units, plots

if TYPE_CHECKING:
    from thalweg.rundata import RunData

# Networks of more nodes are blots of ink.
MOST_NODES = 1500
# Of more hosts, or switches, names are left out.
_MOST = {"host": 24, "switch": 40}
_COLOURS = "viridis_r"

Place = tuple[float, float]


def fits(run: RunData) -> bool:
    """Whether a run's network can be drawn so that something is seen."""
    return {"nodes", "ports"} <= set(run.tables) and 2 <= run.tables.arrow("nodes").num_rows <= MOST_NODES


def utilisation(run: RunData) -> plots.Figure:
    """The network with its links: each half shows by its colour how much of the direction that leaves its end was used,
    over the whole run. The busiest direction is named, with its use in the measured window."""
    nodes, ports = run.tables["nodes"], run.named("ports")
    kinds = dict(nodes.select("name", "kind").iter_rows())
    links = list(ports.select("from", "to", "utilisation").iter_rows())
    places = laid(kinds, [(a, b) for a, b, _ in links])
    halves, used = [], []
    for a, b, share in links:
        (xa, ya), (xb, yb) = places[a], places[b]
        halves.append([(xa, ya), ((xa + xb) / 2, (ya + yb) / 2)])
        used.append(100 * min(share or 0.0, 1.0))
    with plots.style():
        fig, ax = plots.figure(width=2 * plots.COLUMN, height=3.2)
        ax.set_axis_off()
        scale = Normalize(0, 100)
        ax.add_collection(LineCollection(halves, array=used, cmap=_COLOURS, norm=scale, linewidths=2, zorder=1))
        for kind, marker, size in (("host", "o", 9), ("switch", "s", 36)):
            those = [places[name] for name, one in kinds.items() if one == kind]
            if those:
                x, y = zip(*those, strict=True)
                ax.scatter(x, y, s=size, marker=marker, c="0.25", zorder=2, linewidths=0)
        _name(ax, kinds, places)
        _mark_busiest(ax, run, places)
        ax.margins(0.06)
        bar = fig.colorbar(ScalarMappable(scale, _COLOURS), ax=ax, shrink=0.8, pad=0.01)
        bar.set_label("used (%)")
        bar.outline.set_visible(False)
        return fig


def _name(ax: Axes, kinds: dict[str, str], places: dict[str, Place]) -> None:
    few = {kind: sum(one == kind for one in kinds.values()) <= most for kind, most in _MOST.items()}
    for name, kind in kinds.items():
        if few[kind]:
            x, y = places[name]
            below = kind == "host" and y <= 0
            offset, side = ((0, -9), "center") if below else ((4, 4), "left")
            ax.annotate(name, (x, y), xytext=offset, textcoords="offset points", ha=side, fontsize=6)


def _mark_busiest(ax: Axes, run: RunData, places: dict[str, Place]) -> None:
    most = run.summary.get("bottleneck")
    if not most or most["from"] not in places or most["to"] not in places:
        return
    (x, y), (u, v) = places[most["from"]], places[most["to"]]
    # In an arc next to its link, whose colours stay visible.
    look = {"arrowstyle": "->", "color": plots.COLOURS[1], "lw": 1.4, "shrinkA": 5, "shrinkB": 5}
    ax.annotate("", (u, v), (x, y), arrowprops=look | {"connectionstyle": "arc3,rad=0.12"})
    rate = _units.quantity(most["rate_gbps"], "gbps")
    text = f"busiest: {most['from']} → {most['to']}, {rate}, {100 * most['utilisation']:.3g} % used"
    ax.set_title(text, color=plots.COLOURS[1], loc="left")


def laid(kinds: dict[str, str], links: list[tuple[str, str]]) -> dict[str, Place]:
    """Where nodes stand: switches in layers by how far the nearest host is, hosts below their switch; where switches of
    the top layer form a mesh or a ring of their own, these on a circle with what hangs on each outside it."""
    near: dict[str, list[str]] = defaultdict(list)
    for a, b in links:
        near[a].append(b)
    level = {name: 0 for name, kind in kinds.items() if kind == "host"}
    front = list(level)
    while front:
        coming = [b for a in front for b in near[a] if b not in level]
        level |= {b: level[a] + 1 for a in front for b in near[a] if b not in level}
        front = list(dict.fromkeys(coming))
    for name in kinds:
        level.setdefault(name, 1)
    top = max(level.values(), default=0)
    inner = [name for name in kinds if level[name] == top]
    meshed = sum(level[b] == top for a in inner for b in near[a]) // 2
    return _circle(inner, near, level) if top and meshed > 3 else _layers(kinds, near, level)


def _layers(kinds: dict[str, str], near: dict[str, list[str]], level: dict[str, int]) -> dict[str, Place]:
    """From the lowest switches, which stand side by side with their hosts below, upwards, each layer centred."""
    hosts: dict[str, list[str]] = defaultdict(list)
    for name in kinds:
        if level[name] == 0 and near[name]:
            hosts[near[name][0]].append(name)
    places: dict[str, Place] = {}
    right = 0.0
    for name in (n for n in kinds if level[n] == 1):
        for n, host in enumerate(hosts[name]):
            places[host] = (right + n, 0.0)
        needed = max(len(hosts[name]), 1)
        places[name] = (right + (needed - 1) / 2, 1.0)
        right += needed + 0.6
    for name in kinds:
        if level[name] == 0 and name not in places:
            places[name] = (right, 0.0)
            right += 1
    wide = max(right - 1.6, 1.0)
    for height in range(2, max(level.values(), default=0) + 1):
        row = [n for n in kinds if level[n] == height]
        for n, name in enumerate(row):
            places[name] = (wide * (n + 0.5) / len(row), float(height))
    return places


def _circle(inner: list[str], near: dict[str, list[str]], level: dict[str, int]) -> dict[str, Place]:
    """The inner ones on a circle; what hangs on each, behind it."""
    places = {}
    for n, name in enumerate(inner):
        turn = 2 * math.pi * n / len(inner)
        places[name] = (math.sin(turn), math.cos(turn))
    front = [(name, 2 * math.pi * n / len(inner), 2 * math.pi / len(inner)) for n, name in enumerate(inner)]
    radius = 1.0
    while front:
        radius += 0.35
        coming = []
        for name, turn, wide in front:
            outer = [b for b in dict.fromkeys(near[name]) if b not in places and level[b] < level[name]]
            for k, one in enumerate(outer):
                at = turn + wide * ((k + 0.5) / len(outer) - 0.5) * 0.8
                places[one] = (radius * math.sin(at), radius * math.cos(at))
                coming.append((one, at, wide / len(outer)))
        front = coming
    for one in level:
        places.setdefault(one, (0.0, -radius - 0.3))
    return places
