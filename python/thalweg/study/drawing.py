"""Figures that several studies draw."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.lines import Line2D

from thalweg import plots
from thalweg.study.numbers import thinned_cdf


def there(half: Sequence[float]) -> Sequence[float] | None:
    """Half the lengths of error bars for matplotlib; `None` if there is none to be drawn, so that legends have none."""
    return half if np.isfinite(half).any() else None


def distributions(
    series: Mapping[str, Sequence[float]],
    xlabel: str,
    *,
    log: bool = False,
    until: float | None = None,
    deciles: bool = False,
    size: tuple[float, float] = (4.2, 2.8),
) -> plots.Figure:
    """Distribution functions of many samples, thinned, each with a line of its own, so that two that lie on each
    other are seen. `until`: where the axis ends, short of a tail that no claim is about; `deciles`: they have marks."""
    with plots.style():
        fig, ax = plots.figure(*size)
        for n, (name, values) in enumerate(series.items()):
            look: dict[str, Any] = {"color": plots.COLOURS[n % 8], "linestyle": ("-", "--", ":", "-.")[n % 4]}
            ax.plot(*thinned_cdf(values), label=name, **look)
            if deciles:
                at = np.arange(0.1, 0.95, 0.1)
                ax.plot(np.quantile(values, at), at, "o", markersize=3, color=look["color"])
        ax.set(xlabel=xlabel, ylabel="fraction", ylim=(0, 1.01))
        if log:
            ax.set_xscale("log")
            plots.plain_log_x(ax)
        if until is not None:
            ax.set_xlim(right=until)
        fig.legend(*ax.get_legend_handles_labels(), loc="outside upper center", ncols=2)
        return fig


def panels(
    x: Sequence[float],
    series: Mapping[str, Iterable[Any]],
    xlabel: str,
    values: Mapping[str, Callable[..., Any]],
    published: Mapping[tuple[str, str], Mapping[float, float]] | None = None,
    width: float = 6.6,
    errors: Mapping[str, Callable[..., Any]] | None = None,
) -> plots.Figure:
    """A quantity per panel over x. `values`: the panel's label, and a function of an entry of `series`; `published`:
    by panel and series, drawn as diamonds; `errors`: like `values`, half the length of error bars (NaN: none)."""
    with plots.style():
        fig, axes = plots.figure(width, 2.7, columns=len(values))
        for ax, (label, value) in zip(np.atleast_1d(axes), values.items(), strict=True):
            for n, (name, entries) in enumerate(series.items()):
                y = [value(e) for e in entries]
                look: dict[str, Any] = {"color": plots.COLOURS[n], "marker": "os^vDPX*"[n % 8]}
                half = [errors[label](e) for e in entries] if errors else []
                ax.errorbar(x, y, there(half), markersize=4, capsize=2, label=name, **look)
                for at, level in (published or {}).get((label, name), {}).items():
                    ax.plot([at], [level], "D", color=plots.COLOURS[n], markerfacecolor="none", markersize=6)
            ax.set(xlabel=xlabel, ylabel=label)
            ax.margins(y=0.08)
            ax.set_ylim(bottom=0)
        handles, names = np.atleast_1d(axes)[0].get_legend_handles_labels()
        if published:
            handles += [Line2D([], [], color="black", marker="D", markerfacecolor="none", linestyle="none")]
            names += ["published"]
        fig.legend(handles, names, loc="outside upper center", ncols=4)
        return fig


def over_time(
    series: Mapping[str, Sequence[tuple[Any, ...]]],
    labels: Sequence[str],
    levels: Sequence[Sequence[float]] = (),
    *,
    scales: Sequence[float] = (),
    tops: Sequence[float | None] = (),
    logs: Sequence[bool] = (),
    until: float | None = None,
    size: tuple[float, float] = (6.6, 2.7),
    ncols: int = 4,
) -> plots.Figure:
    """A panel for each label: `series` has for each name a pair (instants in s, values) per panel, drawn in ms and
    times `scales`. `levels`: what is published, dashed.

    What a claim is about is often small next to a burst: `tops` ends a panel's axis, and a line above it says how high
    its series go; `logs` makes it logarithmic. `until`: ms that are drawn."""
    with plots.style():
        fig, axes = plots.figure(*size, columns=len(labels))
        axes = np.atleast_1d(axes)
        for n, (name, pairs) in enumerate(series.items()):
            for ax, (at, values), scale in zip(axes, pairs, scales or [1] * len(labels), strict=True):
                ax.plot(at * 1e3, values * scale, color=plots.COLOURS[n % 8], linewidth=0.8, label=name)
        for k, ax in enumerate(axes):
            there = levels[k] if levels else ()
            for level in there:
                ax.axhline(level, color="black", linestyle="--", linewidth=0.8, alpha=0.6)
            ax.set(xlabel="ms", ylabel=labels[k], xlim=(None, until))
            if logs and logs[k]:
                ax.set_yscale("log")
            else:
                ax.set_ylim(bottom=0)
            if tops and (top := tops[k]) is not None:
                _cut(ax, top)
        handles, names = axes[0].get_legend_handles_labels()
        if any(len(there) for there in levels):
            handles += [Line2D([], [], color="black", linestyle="--", linewidth=0.8, alpha=0.6)]
            names += ["published"]
        fig.legend(handles, names, loc="outside upper center", ncols=max(ncols, len(names)))
        return fig


def _cut(ax: Axes, top: float) -> None:
    """Ends the axis at `top`; says what lies above."""
    curves = [line for line in ax.get_lines() if not str(line.get_label()).startswith("_")]
    highest = {line.get_label(): float(np.nanmax(line.get_ydata(), initial=-np.inf)) for line in curves}
    above = [f"{name}: {peak:.0f}" for name, peak in highest.items() if peak > top]
    ax.set_ylim(top=top)
    if above:
        ax.set_title("highest " + ", ".join(above), loc="right", fontsize=7, color="0.35")


def by_size(
    tables: Mapping[str, Mapping[str, Mapping[float, float]]],
    names: Mapping[str, str],
    *,
    size: tuple[float, float] = (6.6, 2.8),
) -> plots.Figure:
    """A panel for each of `tables`, which maps its label to scheme and size class (B): ms, both axes logarithmic."""
    with plots.style():
        fig, axes = plots.figure(*size, columns=len(tables))
        axes = np.atleast_1d(axes)
        for ax, (label, table) in zip(axes, tables.items(), strict=True):
            for n, (scheme, found) in enumerate(table.items()):
                y = np.array(list(found.values())) * 1e3
                ax.plot(list(found), y, markersize=3, label=names[scheme], **plots.look(n))
            ax.set(xlabel="B", ylabel=label, xscale="log", yscale="log")
        fig.legend(*axes[0].get_legend_handles_labels(), loc="outside upper center", ncols=4)
        return fig
