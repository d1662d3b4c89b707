"""Figures as papers print them, of numbers that are there. Every function returns a matplotlib `Figure`;
nothing needs a display."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from thalweg import _units
from thalweg._layout import legend_above, plain_log, plain_log_x, time_unit
from thalweg._page import (
    COLOURS,
    COLUMN,
    FORMATS,
    HATCHES,
    MARKERS,
    PUBLISHED,
    Figure,
    drawn,
    figure,
    look,
    save,
    style,
    svg,
)  # fmt: skip

__all__ = [
    "COLOURS", "COLUMN", "FORMATS", "HATCHES", "MARKERS", "PUBLISHED",
    "Figure", "bars", "cdf", "curve", "drawn", "figure", "lines", "look", "plain_log", "plain_log_x", "save", "style",
    "svg",
]  # fmt: skip


def cdf(
    series: Mapping[str, Sequence[float] | np.ndarray], xlabel: str, *, log: bool = True, title: str = ""
) -> Figure:
    """Empirical distribution functions. Times are given in seconds, with a label that ends in `(s)`, rates with one
    that ends in
    `(Gb/s)`; the axis gets the unit of their range."""
    curves = {name: np.asarray(v, dtype=float) for name, v in series.items()}
    if xlabel.endswith(" (s)"):
        every = np.concatenate(list(curves.values())) if curves else np.empty(0)
        # The median: of a heavy tail the longest says little about the others.
        factor, unit = time_unit(float(np.median(every)) if len(every) else 1.0)
        curves = {name: v * factor for name, v in curves.items()}
        xlabel = f"{xlabel.removesuffix(' (s)')} ({unit})"
    elif xlabel.endswith(" (Gb/s)"):
        scale, unit = _units.fitting([float(np.max(v, initial=0.0)) for v in curves.values()], "gbps")
        curves = {name: v / scale for name, v in curves.items()}
        xlabel = f"{xlabel.removesuffix(' (Gb/s)')} ({unit})"
    with style():
        fig, ax = figure()
        for n, (name, values) in enumerate(curves.items()):
            x = np.sort(values)
            if len(x):
                ax.step(x, np.arange(1, len(x) + 1) / len(x), where="post", label=name, **curve(n))
        if log and any(len(v) for v in curves.values()):
            ax.set_xscale("log")
            plain_log_x(ax)
        ax.set(xlabel=xlabel, ylabel="fraction", ylim=(0, 1.01), title=title)
        if len(curves) > 4:
            legend_above(fig, ax, 3)
        elif len(curves) > 1:
            ax.legend()
        return fig


def curve(n: int) -> dict[str, Any]:
    """`look` of a curve without markers."""
    return {k: v for k, v in look(n).items() if k != "marker"}


def bars(
    groups: Sequence[str],
    series: Mapping[str, Sequence[float | None]],
    ylabel: str,
    *,
    published: Mapping[str, Sequence[float | None]] | None = None,
    errors: Mapping[str, Sequence[float | None]] | None = None,
    log: bool = False,
    title: str = "",
    width: float = COLUMN * 1.4,
) -> Figure:
    """Grouped bars, one colour and hatch per series; `published` values are drawn as diamonds on them,
    `errors` as error bars (half of their length)."""
    with style():
        fig, ax = figure(width, COLUMN * 0.68)
        place = np.arange(len(groups))
        one = 0.8 / max(len(series), 1)
        for n, (name, values) in enumerate(series.items()):
            x = place + (n - (len(series) - 1) / 2) * one
            heights = [np.nan if v is None else v for v in values]
            ax.bar(
                x,
                heights,
                one * 0.92,
                label=name,
                color=COLOURS[n % 8],
                hatch=HATCHES[(n + n // 8) % 8],
                edgecolor="white",
                yerr=_errors(errors, name),
                error_kw={"elinewidth": 0.8, "capsize": 2},
            )
            if published and name in published:
                marks = [np.nan if v is None else v for v in published[name]]
                ax.plot(x, marks, **PUBLISHED)
        if published:
            ax.plot([], [], label="published", **PUBLISHED)
        if log:
            ax.set_yscale("log")
            plain_log(ax)
        ax.set_xticks(place, groups)
        # The room at the sides does not grow with the number of groups: their labels need it.
        ax.set_xlim(-0.55, max(len(groups), 1) - 0.45)
        ax.grid(False, axis="x")
        ax.set(ylabel=ylabel, title=title)
        legend_above(fig, ax, len(series) + bool(published))
        return fig


def _errors(errors: Mapping[str, Sequence[float | None]] | None, name: str) -> list[float] | None:
    """Half the length of each bar; NaN draws none, not even its ends."""
    if not errors or name not in errors:
        return None
    half = [np.nan if e is None or not np.isfinite(e) else e for e in errors[name]]
    return half if np.isfinite(half).any() else None


def lines(
    x: Sequence[float],
    series: Mapping[str, Sequence[float]],
    xlabel: str,
    ylabel: str,
    *,
    errors: Mapping[str, Sequence[float | None]] | None = None,
    log_x: bool = False,
    log_y: bool = False,
    title: str = "",
) -> Figure:
    """Curves over a parameter; `errors`: error bars (half of their length)."""
    with style():
        fig, ax = figure()
        for n, (name, y) in enumerate(series.items()):
            ax.errorbar(x, y, yerr=_errors(errors, name), markersize=4, capsize=2, label=name, **look(n))
        if log_x:
            ax.set_xscale("log")
        if log_y:
            ax.set_yscale("log")
        ax.set(xlabel=xlabel, ylabel=ylabel, title=title)
        if len(series) > 4:
            legend_above(fig, ax, 3)
        elif len(series) > 1:
            ax.legend()
        return fig
