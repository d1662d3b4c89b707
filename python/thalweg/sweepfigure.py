"""The figures of a sweep: a metric over what was varied, or two metrics against each other."""

from __future__ import annotations

import math
import re
from typing import Any, Protocol

from thalweg import plots
from thalweg._layout import legend_above, note, plain_log, plain_log_x
from thalweg.errors import nearest, refuse
from thalweg.settings import SEED, columns, text
from thalweg.spread import Spread


class Swept(Protocol):
    """What is drawn: `thalweg.Runs`."""

    @property
    def params(self) -> list[dict[str, Any]]: ...
    @property
    def metric(self) -> str: ...
    def check_metric(self, metric: str) -> str: ...
    def over_seeds(self, *metrics: str) -> list[tuple[dict[str, Any], dict[str, Spread]]]: ...


# "100KB", "2us", "40Gbps": a number and a unit.
_QUANTITY = re.compile(r"(\d+(?:\.\d+)?)\s*([A-Za-zµ]+)")
_NAMES = {
    "measured.slowdown.mean": "mean slowdown",
    "measured.slowdown.p99": "99th percentile slowdown",
    "measured.fct_us.mean": "mean FCT (us)",
    "measured.fct_us.p99": "99th percentile FCT (us)",
    "goodput_gbps": "goodput (Gb/s)",
}


def axis_label(name: str) -> str:
    """A column's name for people."""
    if name in _NAMES:
        return _NAMES[name]
    if found := re.fullmatch(r"size_classes\.(.+)\.(slowdown|fct_us)\.(\w+)", name):
        return f"{axis_label(f'measured.{found[2]}.{found[3]}')}, flows {found[1]}"
    if found := re.fullmatch(r"groups\.(.+)\.endless\.(.+)", name):
        what = "throughput (Gb/s)" if found[2] == "sum_gbps" else axis_label(f"endless.{found[2]}")
        return f"{found[1]}: {what}"
    return re.sub(r"(?:\.|_)(us|ms|gbps|bytes|B)(?=\.|$)", "", name).replace("_", " ") + _unit(name)


def _unit(name: str) -> str:
    found = re.search(r"(?:\.|_)(us|ms|gbps|bytes|B)(?=\.|$)", name)
    return f" ({ {'gbps': 'Gb/s', 'bytes': 'B'}.get(found[1], found[1]) })" if found else ""


def _places(values: list) -> tuple[list[float], list[str] | None, str]:
    """Where values lie on an axis: numbers as they are, quantities of one unit by their numbers, everything else side by side.
    Answers (places, tick labels or None, unit)."""
    if all(isinstance(v, int | float) and not isinstance(v, bool) for v in values):
        return [float(v) for v in values], None, ""
    parsed = [_QUANTITY.fullmatch(v) if isinstance(v, str) else None for v in values]
    units = {p[2] for p in parsed if p}
    if all(parsed) and len(units) == 1:
        return [float(p[1]) for p in parsed if p], None, units.pop()
    order = {text(v): n for n, v in reversed(list(enumerate(dict.fromkeys(values))))}
    order = {name: n for n, name in enumerate(sorted(order, key=order.get))}
    return [float(order[text(v)]) for v in values], list(order), ""


def legend_of(labels: dict[str, Any], varied: list[str]) -> str:
    """`dctcp, buffer 100KB`: names of variants alone, other settings with the last part of their key."""
    parts = []
    for key in varied:
        value = text(labels[key])
        bare = isinstance(labels[key], str) and not _QUANTITY.fullmatch(value)
        parts.append(value if bare else f"{key.rsplit('.', 1)[-1]} {value}")
    return ", ".join(parts)


def over(runs: Swept, metric: str | None = None, *, x: str | None = None, log_x: bool | None = None) -> plots.Figure:
    """`metric` (a column of `runs.frame`) over the setting `x`, a curve per combination of the others: means over the seeds, with bars
    that span the 95 % confidence interval.

    `x` is the varied setting with numbers and most values, unless given; `log_x` says whether its axis is logarithmic (by its range
    unless given).
    """
    metric = runs.check_metric(metric or runs.metric)
    named = columns(runs.params)
    varied = [k for k, v in named.items() if k != SEED and len({text(one) for one in v}) > 1]
    if x is not None and x not in named:
        raise refuse(f"the sweep has no setting called `{x}`", hint=nearest(x, named))
    if x is None:
        # The longest row of numbers makes the best axis; names come side by side.
        def rank(key: str) -> tuple:
            return _places(named[key])[1] is None, len({text(v) for v in named[key]})

        x = max(varied, key=rank, default=next((k for k in named if k != SEED), None))
    points = [(labels, s[metric]) for labels, s in runs.over_seeds(metric) if s[metric].runs]
    seeds = max((s.runs for _, s in points), default=0)
    with plots.style():
        fig, ax = plots.figure(plots.COLUMN * 1.3)
        if x is None or not points:
            values = [s.mean for _, s in points]
            ax.errorbar(range(len(values)), values, yerr=[_bar(s) for _, s in points], fmt="o", capsize=2)
            ax.set(ylabel=axis_label(metric), xticks=[])
            return fig
        at, ticks, unit = _places([labels[x] for labels, _ in points])
        others = [k for k in varied if k != x]
        curves: dict[str, list[tuple[float, Any]]] = {}
        for place, (labels, s) in zip(at, points, strict=True):
            curves.setdefault(legend_of(labels, others), []).append((place, s))
        for n, (name, curve) in enumerate(curves.items()):
            curve.sort(key=lambda p: p[0])
            # Names have no order that a line could follow.
            look = {"linestyle": "none"} if ticks else {}
            shift = (n - (len(curves) - 1) / 2) * min(0.12, 0.6 / len(curves)) if ticks else 0.0
            ax.errorbar(
                [p + shift for p, _ in curve], [s.mean for _, s in curve], yerr=[_bar(s) for _, s in curve],
                label=name, marker=plots.MARKERS[n % 8], markersize=4, capsize=2, color=plots.COLOURS[n % 8], **look,
            )  # fmt: skip
        if ticks:
            crowded = sum(map(len, ticks)) > 45
            ax.set_xticks(range(len(ticks)), ticks, **({"rotation": 20, "ha": "right"} if crowded else {}))
            ax.set_xlim(-0.5, len(ticks) - 0.5)
            ax.grid(False, axis="x")
        elif log_x if log_x is not None else min(at) > 0 and max(at) >= 20 * min(at):
            ax.set_xscale("log")
            plain_log_x(ax)
        ax.set(xlabel=f"{x} ({unit})" if unit else x, ylabel=axis_label(metric))
        if all(s.mean >= 0 for _, s in points) and ax.get_ylim()[0] < 0:
            ax.set_ylim(bottom=0)
        if seeds > 1:
            note(ax, f"mean of {seeds} seeds, bars: 95 % confidence")
        if len(curves) > 1:
            legend_above(fig, ax, 3)
        return fig


def _bar(s) -> float:
    return 0.0 if math.isnan(s.half) else s.half


def pareto(
    runs: Swept,
    x: str,
    y: str,
    *,
    more_x: bool = False,
    more_y: bool = False,
    colour: str | None = None,
    log: bool = False,
) -> plots.Figure:
    """`y` over `x`, a point per setting (means over the seeds, bars: 95 % confidence); the settings that no other one beats in both are
    joined, numbered and named. `more_x`, `more_y`: more of it is better. `colour`: a setting whose values get a colour each."""
    points = runs.over_seeds(x, y)
    named = columns(runs.params)
    varied = [k for k, v in named.items() if k != SEED and len({text(one) for one in v}) > 1]
    colour = colour or next((k for k in varied if _places(named[k])[1] is not None), None)
    if colour is not None and colour not in named:
        raise refuse(f"the sweep has no setting called `{colour}`", hint=nearest(colour, named))
    best = front([(s[x].mean * (-1 if more_x else 1), s[y].mean * (-1 if more_y else 1)) for _, s in points])
    with plots.style():
        fig, ax = plots.figure(plots.COLUMN * 1.7, plots.COLUMN)
        groups: dict[str, list] = {}
        for labels, s in points:
            groups.setdefault(legend_of(labels, [colour]) if colour else "", []).append(s)
        for n, (name, group) in enumerate(groups.items()):
            ax.errorbar(
                [s[x].mean for s in group], [s[y].mean for s in group],
                xerr=[_bar(s[x]) for s in group], yerr=[_bar(s[y]) for s in group],
                fmt=plots.MARKERS[n % 8], markersize=4, elinewidth=0.5, color=plots.COLOURS[n % 8], label=name, zorder=3,
            )  # fmt: skip
        edge = sorted((points[n] for n in best), key=lambda p: p[1][x].mean)
        ax.plot(
            [s[x].mean for _, s in edge],
            [s[y].mean for _, s in edge],
            color="0.5",
            linewidth=0.8,
            label="not beaten in both",
        )
        # Numbers at the points, names beside the axes: names of neighbours would cover each other. Settings that come out the same share one.
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
        ax.set(xlabel=axis_label(x), ylabel=axis_label(y))
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
