"""The figures of a sweep: a metric over what was varied, or two metrics against each other."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Sequence
from typing import Any, Protocol

from matplotlib.axes import Axes

from thalweg import _units, plots
from thalweg._layout import broken, legend_above, note, plain_log, plain_log_x
from thalweg.errors import nearest, refuse
from thalweg.settings import SEED, columns, text
from thalweg.spread import Spread, repetitions


class Swept(Protocol):
    """What is drawn: `thalweg.Runs`."""

    @property
    def params(self) -> list[dict[str, Any]]: ...
    @property
    def metric(self) -> str: ...
    @property
    def seeds_agree(self) -> str: ...
    def metrics(self) -> list[str]: ...
    def check_metric(self, metric: str) -> str: ...
    def over_seeds(self, *metrics: str) -> list[tuple[dict[str, Any], dict[str, Spread]]]: ...


# "100KB", "2us", "40Gbps": a number and a unit.
_QUANTITY = re.compile(r"(\d+(?:\.\d+)?)\s*([A-Za-zµ]+)")
# What the parts of a column's name are called.
_QUANTITIES = {
    "fct_us": "FCT",
    "slowdown": "slowdown",
    "packet_queueing_us": "queueing delay of packets",
    "queueing_us": "mean queueing delay, flows",
    "throughput_gbps": "throughput of flows",
    "lateness_us": "lateness",
}
_STATISTICS = {
    "mean": "mean",
    "p50": "median",
    "p90": "90th percentile",
    "p95": "95th percentile",
    "p99": "99th percentile",
    "p999": "99.9th percentile",
    "max": "largest",
}
_NAMES = {
    "goodput_gbps": "goodput",
    "endless.sum_gbps": "throughput, flows without end",
    "endless.smallest_gbps": "smallest throughput of a flow",
    "endless.jain": "Jain's index",
    "bottleneck.utilisation": "use of the busiest link",
}
# Of these more is better.
_MORE = ("gbps", "jain", "utilisation", "completed", "delivered")


def axis_label(name: str, unit: str | None = None) -> str:
    """A column's name for people, with its unit (`unit`: the one that its numbers have been brought to)."""
    own = _units.of_name(name)
    said = unit if unit is not None else _units.fitting([], own)[1]
    return _called(name) + (f" ({said})" if said else "")


def _called(name: str) -> str:
    if name in _NAMES:
        return _NAMES[name]
    if found := re.fullmatch(r"size_classes\.(.+)\.(slowdown|fct_us)\.(\w+)", name):
        return f"{_called(f'measured.{found[2]}.{found[3]}')}, flows {found[1]}"
    if found := re.fullmatch(r"groups\.(.+)\.endless\.(.+)", name):
        return f"{found[1]}: " + ("throughput" if found[2] == "sum_gbps" else _called(f"endless.{found[2]}"))
    if found := re.fullmatch(r"groups\.(.+)\.(slowdown|fct_us|packet_queueing_us)\.(\w+)", name):
        of = f"measured.{found[2]}" if found[2] != "packet_queueing_us" else found[2]
        return f"{found[1]}: {_called(f'{of}.{found[3]}')}"
    if found := re.fullmatch(r"groups\.(.+)\.job\.(completion|compute|exposed|spread)_us", name):
        return f"{found[1]}: job {found[2]}"
    *place, quantity, statistic = ("", "", *name.split("."))
    if quantity in _QUANTITIES and statistic in _STATISTICS:
        where = [p for p in place if p and p not in ("measured", "endless")]
        # "99th percentile of slowdown" is longer, and a mean of means is none.
        said = _QUANTITIES[quantity].removeprefix("mean ") if statistic == "mean" else _QUANTITIES[quantity]
        return f"{_STATISTICS[statistic]} {said}" + (f", {' '.join(where)}" if where else "")
    return _units.without_unit(name).replace("_", " ").replace(".", " ")


def is_better_larger(name: str) -> bool:
    """Whether more of it is better: throughput, fairness, completed flows."""
    return any(word in name for word in _MORE)


def is_delay(name: str) -> bool:
    """Whether it is a delay: pictures have it fall to the right."""
    return "queueing" in name or "rtt" in name or "delay" in name


def short_names(keys: Iterable[str]) -> dict[str, str]:
    """The shortest ends of dotted keys that distinguish them: `switch.shared_buffer.sharing.alpha` is `alpha` if no
    other key ends so."""
    keys = list(keys)
    parts = {key: key.split(".") for key in keys}
    out = {}
    for key in keys:
        mine = parts[key]
        # (A position in a list says nothing alone.)
        for n in range(1, len(mine) + 1):
            end = mine[-n:]
            alone = all(other == key or parts[other][-n:] != end for other in keys)
            if alone and not end[0].isdecimal():
                break
        out[key] = ".".join(end)
    return out


# Units of one quantity, as multiples of the first: `500KB, 1MB` is an axis of numbers.
_SCALES = (
    {"B": 1, "KB": 1e3, "MB": 1e6, "GB": 1e9, "TB": 1e12},
    {"B": 1, "KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30},
    {"bps": 1, "Kbps": 1e3, "Mbps": 1e6, "Gbps": 1e9, "Tbps": 1e12},
    {"ps": 1, "ns": 1e3, "us": 1e6, "ms": 1e9, "s": 1e12},
)


def _places(values: list[Any]) -> tuple[list[float], list[str] | None, str]:
    """Where values lie on an axis: numbers as they are, quantities by their numbers in the smallest of their units,
    everything else side by side. Answers (places, tick labels or None, unit)."""
    if all(isinstance(v, int | float) and not isinstance(v, bool) for v in values):
        return [float(v) for v in values], None, ""
    parsed = [_QUANTITY.fullmatch(v) if isinstance(v, str) else None for v in values]
    units = {p[2] for p in parsed if p}
    if all(parsed) and len(units) == 1:
        return [float(p[1]) for p in parsed if p], None, units.pop()
    scale = next((scale for scale in _SCALES if units <= scale.keys()), None)
    if all(parsed) and scale is not None:
        unit = min(units, key=scale.__getitem__)
        return [float(p[1]) * scale[p[2]] / scale[unit] for p in parsed if p], None, unit
    first = {text(v): n for n, v in reversed(list(enumerate(dict.fromkeys(values))))}
    order = {name: n for n, name in enumerate(sorted(first, key=first.__getitem__))}
    return [float(order[text(v)]) for v in values], list(order), ""


def legend_of(labels: dict[str, Any], varied: list[str]) -> str:
    """`dctcp, buffer 100KB`: names of variants alone, other settings with the short name of their key."""
    parts = []
    short = short_names(labels)
    for key in varied:
        value = text(labels[key])
        bare = isinstance(labels[key], str) and not _QUANTITY.fullmatch(value)
        parts.append(value if bare else f"{short[key]} {value}")
    return ", ".join(parts)


# More curves than this get panels, if some setting has few values.
MOST_CURVES = 8
MOST_PANELS = 6


def over(
    runs: Swept,
    metric: str | None = None,
    *,
    x: str | None = None,
    log_x: bool | None = None,
    log_y: bool | None = None,
    panels: str | None = None,
) -> plots.Figure:
    """`metric` (a column of `runs.frame`) over the setting `x`, a curve per combination of the others: means
    over the seeds, with bars that span the 95 % confidence interval.

    `x` is the varied setting with numbers and most values, unless given; `log_x` and `log_y` say whether an axis is
    logarithmic (by its
    range unless given). `panels`: a setting whose values get a panel each (one is chosen where there are more than
    eight curves).
    """
    metric = runs.check_metric(metric or runs.metric)
    named = columns(runs.params)
    varied = [k for k, v in named.items() if k != SEED and len({text(one) for one in v}) > 1]
    for given in (x, panels):
        if given is not None and given not in named:
            raise refuse(f"the sweep has no setting called `{given}`", hint=nearest(given, named))
    count = {k: len({text(v) for v in named[k]}) for k in varied}
    if x is None:
        # The longest row of numbers makes the best axis; names come side by side.
        def rank(key: str) -> tuple[Any, ...]:
            return _places(named[key])[1] is None, count[key]

        free = [k for k in varied if k != panels]
        x = max(free, key=rank, default=next((k for k in named if k not in (SEED, panels)), None))
    if panels is None:
        others = [k for k in varied if k != x]
        curves = math.prod(count[k] for k in others)
        few = [k for k in others if count[k] <= MOST_PANELS]
        panels = min(few, key=lambda k: (count[k], others.index(k)), default=None) if curves > MOST_CURVES else None
        panels = panels if len(others) > 1 else None
    points = [(labels, s[metric]) for labels, s in runs.over_seeds(metric) if s[metric].runs]
    scale, unit = _units.fitting([s.mean for _, s in points], _units.of_name(metric))
    points = [(labels, s.scaled(scale)) for labels, s in points]
    with plots.style():
        if x is None or not points:
            fig, ax = plots.figure(plots.COLUMN * 1.3)
            values = [s.mean for _, s in points]
            ax.errorbar(range(len(values)), values, yerr=[_bar(s) for _, s in points], fmt="o", capsize=2)
            ax.set(ylabel=broken(axis_label(metric, unit)), xticks=[])
            return fig
        means = [s.mean for _, s in points]
        if log_y is None:
            log_y = min(means) > 0 and max(means) >= 100 * min(means)
        shown = list(dict.fromkeys(text(labels[panels]) for labels, _ in points)) if panels else [""]
        wide = plots.COLUMN * (1.3 if len(shown) == 1 else 0.5 + 0.75 * min(len(shown), 3))
        rows = -(-len(shown) // 3)
        fig, axes = plots.figure(
            wide,
            plots.COLUMN * 0.88 * rows,
            columns=min(len(shown), 3),
            rows=rows,
            sharex=True,
            sharey=True,
            squeeze=False,
        )
        others = [k for k in varied if k not in (x, panels)]
        # A curve looks the same in all panels.
        looks = {name: n for n, name in enumerate(dict.fromkeys(legend_of(labels, others) for labels, _ in points))}
        for n, ax in enumerate(axes.flat):
            if n >= len(shown):
                ax.set_visible(False)
                continue
            of = [p for p in points if not panels or text(p[0][panels]) == shown[n]]
            _panel(ax, of, x, others, looks, log_x)
            if panels:
                ax.set_title(f"{short_names(named)[panels]} {shown[n]}", loc="left")
            if log_y:
                ax.set_yscale("log")
            elif all(m >= 0 for m in means) and ax.get_ylim()[0] < 0:
                ax.set_ylim(bottom=0)
        for ax in axes.flat:
            if log_y:
                plain_log(ax)
        for ax in axes[:, 0]:
            ax.set(ylabel=broken(axis_label(metric, unit)))
        last = axes[-1, 0] if len(shown) == 1 else None
        if any(s.runs > 1 for _, s in points):
            seeds, same = repetitions(s for _, s in points), runs.seeds_agree
            said = f"{seeds} seeds, {same}" if same else f"mean of {seeds} seeds, bars: 95 % confidence"
            note(axes[0, -1] if last is None else last, said)
        if len(looks) > 1:
            legend_above(fig, axes[0, 0], 3)
        return fig


def _panel(
    ax: Axes,
    points: Sequence[tuple[dict[str, Any], Spread]],
    x: str,
    others: list[str],
    looks: dict[str, int],
    log_x: bool | None,
) -> None:
    """The curves of one panel."""
    at, ticks, unit = _places([labels[x] for labels, _ in points])
    curves: dict[str, list[tuple[float, Spread]]] = {name: [] for name in looks}
    for place, (labels, s) in zip(at, points, strict=True):
        curves[legend_of(labels, others)].append((place, s))
    for n, (name, curve) in enumerate(curves.items()):
        curve.sort(key=lambda p: p[0])
        # Names have no order that a line could follow.
        look = plots.look(looks[name]) | ({"linestyle": "none"} if ticks else {})
        shift = (n - (len(curves) - 1) / 2) * min(0.12, 0.6 / len(curves)) if ticks else 0.0
        ax.errorbar(
            [p + shift for p, _ in curve], [s.mean for _, s in curve], yerr=[_bar(s) for _, s in curve],
            label=name, markersize=4, capsize=2, **look,
        )  # fmt: skip
    if ticks:
        crowded = sum(map(len, ticks)) > 45
        tilted: dict[str, Any] = {"rotation": 20, "ha": "right"} if crowded else {}
        ax.set_xticks(range(len(ticks)), ticks, **tilted)
        ax.set_xlim(-0.5, len(ticks) - 0.5)
        ax.grid(False, axis="x")
    elif log_x if log_x is not None else min(at) > 0 and max(at) >= 20 * min(at):
        ax.set_xscale("log")
        plain_log_x(ax)
    ax.set(xlabel=f"{x} ({unit})" if unit else x)


def _bar(s: Spread) -> float:
    return 0.0 if math.isnan(s.half) else s.half


def pareto(
    runs: Swept,
    x: str | None = None,
    y: str | None = None,
    *,
    more_x: bool | None = None,
    more_y: bool | None = None,
    colour: str | None = None,
    log: bool = False,
) -> plots.Figure:
    """`y` over `x`, a point per setting (means over the seeds, bars: 95 % confidence); the settings that no
    other one beats in both are joined, numbered and named.

    Without `x` and `y` the field's picture: throughput over the 95th percentile of the queueing delay of packets,
    which falls to the
    right, so that the best is above and to the right. `more_x`, `more_y`: more of it is better (unless given, of
    throughput, fairness and completed flows). `colour`: a setting whose values get a colour each."""
    known = runs.metrics()
    x = runs.check_metric(
        x
        or next((m for m in ("packet_queueing_us.p95", "measured.fct_us.p99") if m in known), "packet_queueing_us.p95")
    )
    y = runs.check_metric(y or next((m for m in ("endless.sum_gbps", "goodput_gbps") if m in known), "goodput_gbps"))
    more_x = is_better_larger(x) if more_x is None else more_x
    more_y = is_better_larger(y) if more_y is None else more_y
    points = runs.over_seeds(x, y)
    units = {}
    for metric in dict.fromkeys((x, y)):
        scale, units[metric] = _units.fitting([s[metric].mean for _, s in points], _units.of_name(metric))
        for _, s in points:
            s[metric] = s[metric].scaled(scale)
    named = columns(runs.params)
    varied = [k for k, v in named.items() if k != SEED and len({text(one) for one in v}) > 1]
    colour = colour or next((k for k in varied if _places(named[k])[1] is not None), None)
    if colour is not None and colour not in named:
        raise refuse(f"the sweep has no setting called `{colour}`", hint=nearest(colour, named))
    best = front([(s[x].mean * (-1 if more_x else 1), s[y].mean * (-1 if more_y else 1)) for _, s in points])
    with plots.style():
        fig, ax = plots.figure(plots.COLUMN * 1.7, plots.COLUMN)
        groups: dict[str, list[Any]] = {}
        for labels, s in points:
            groups.setdefault(legend_of(labels, [colour]) if colour else "", []).append(s)
        for n, (name, group) in enumerate(groups.items()):
            ax.errorbar(
                [s[x].mean for s in group], [s[y].mean for s in group],
                xerr=[_bar(s[x]) for s in group], yerr=[_bar(s[y]) for s in group],
                markersize=4, elinewidth=0.5, label=name, zorder=3, **(plots.look(n) | {"linestyle": "none"}),
            )  # fmt: skip
        edge = sorted((points[n] for n in best), key=lambda p: p[1][x].mean)
        ax.plot(
            [s[x].mean for _, s in edge],
            [s[y].mean for _, s in edge],
            color="0.5",
            linewidth=0.8,
            label="not beaten in both",
        )
        # Numbers at the points, names next to the axes: names of neighbours would cover each other. Settings
        # that come out the same share one.
        names: dict[tuple[float, float], list[str]] = {}
        for labels, s in edge:
            names.setdefault((s[x].mean, s[y].mean), []).append(", ".join(text(labels[k]) for k in varied))
        for n, place in enumerate(names, 1):
            ax.annotate(
                str(n), place, xytext=(3, 3), textcoords="offset points", fontsize=7, fontweight="bold", zorder=4
            )
        listed = "\n".join(f"{n}  " + "\n    ".join(several) for n, several in enumerate(names.values(), 1))
        ax.text(1.02, 1.0, listed, transform=ax.transAxes, va="top", fontsize=6.5)
        if log:
            ax.set(xscale="log", yscale="log")
            plain_log(ax)
            plain_log_x(ax)
        else:
            # The means fill the page; a bar may reach beyond it.
            ax.set_xlim(_limits([s[x].mean for _, s in points]))
            ax.set_ylim(_limits([s[y].mean for _, s in points]))
        if is_delay(x) and not more_x and more_y:
            ax.invert_xaxis()
        ax.set(xlabel=axis_label(x, units[x]), ylabel=broken(axis_label(y, units[y])))
        several = [s[metric] for _, s in points for metric in units]
        if any(s.partial for s in several):
            note(ax, f"mean of {repetitions(several)} seeds")
        legend_above(fig, ax, 3)
        return fig


def _limits(values: list[float]) -> tuple[float, float]:
    low, high = min(values), max(values)
    margin = 0.12 * (high - low) or 0.1 * abs(high) or 1.0
    return (max(low - margin, 0.0) if low >= 0 else low - margin), high + margin


def front(points: list[tuple[float, float]]) -> list[int]:
    """Which points no other one beats: less is better in both. Equal points all stay."""
    return [
        n
        for n, (x, y) in enumerate(points)
        if math.isfinite(x) and math.isfinite(y) and not any(a <= x and b <= y and (a < x or b < y) for a, b in points)
    ]
