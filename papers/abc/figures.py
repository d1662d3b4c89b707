"""The paper's figures, drawn from this study's runs."""

from __future__ import annotations

import numpy as np

from thalweg import plots
from thalweg.papers import figure

from .outcome import delays, rate, summary
from .settings import DOWN, NAMES, SCHEMES, UP, Cell
from .single import ETAS, WAVES, aims, every, keys


def over_time(cells: dict, first: float, last: float):
    """Throughput against capacity above, queueing delay below."""
    with plots.style():
        fig, axes = plots.figure(2.3 * len(cells), 3.4, rows=2, columns=len(cells), squeeze=False)
        for n, (name, results) in enumerate(cells.items()):
            at, carried, offered = rate(results)
            inside = (at >= first) & (at <= last)
            axes[0][n].fill_between(at[inside], offered[inside], color="0.85", linewidth=0)
            axes[0][n].plot(at[inside], carried[inside])
            axes[0][n].set(title=name, ylim=(0, None))
            found = delays(results)
            seen = (found.left >= first) & (found.left <= last)
            axes[1][n].plot(found.left[seen], found.ms[seen], linewidth=0.6)
            axes[1][n].set(xlabel="time (s)", ylim=(0, None))
        axes[0][0].set(ylabel="throughput (Mb/s)")
        axes[1][0].set(ylabel="queueing delay (ms)")
        return fig


SHOWN = ("cubic", "cubic-codel", "bbr", "abc")


@figure("fig1", "Figures 2-1, B-1: over time, on Verizon-LTE-short.down", needs=keys(*(Cell(s) for s in SHOWN)))
def _(runs):
    return over_time({NAMES[s]: runs[Cell(s).key] for s in SHOWN}, 20, 60)


@figure("figB5", "Figure B-5: a square wave", needs=keys(*WAVES.values()))
def _(runs):
    return over_time({NAMES[s]: runs[c.key] for s, c in WAVES.items()}, 10, 16)


def plane(points: dict[str, tuple[float, float]], ax) -> None:
    """Utilisation over delay, the better the further up and right, as the field draws it."""
    for n, (name, (u, late)) in enumerate(points.items()):
        ax.plot(late, u, plots.MARKERS[n % len(plots.MARKERS)])
        ax.annotate(name, (late, u), textcoords="offset points", xytext=(3, 3), fontsize=6)
    ax.set(xlabel="95 % queueing delay (ms)", xscale="log")
    ax.invert_xaxis()


@figure("fig7", "Figure 2-7: utilisation against delay", needs=[f"{t}:{s}" for t in (DOWN, UP) for s in SCHEMES])
def _(runs):
    with plots.style():
        fig, axes = plots.figure(6.4, 2.8, columns=2)
        for ax, trace in zip(axes, (DOWN, UP), strict=True):
            plane({NAMES[s]: summary(runs[Cell(s, trace).key])[:2] for s in SCHEMES}, ax)
            ax.set(title=trace)
        axes[0].set(ylabel="utilisation")
        return fig


@figure("fig8", "Figure 2-8, B-3, B-4: averages over the traces", needs=[f"*:{s}" for s in SCHEMES])
def _(runs):
    with plots.style():
        fig, axes = plots.figure(6.4, 2.8, columns=2)
        found = {s: np.mean([summary(runs[c.key]) for c in every(s)], axis=0) for s in SCHEMES}
        for ax, column, label in ((axes[0], 0, "utilisation"), (axes[1], 1, "95 % queueing delay (ms)")):
            ax.barh([NAMES[s] for s in SCHEMES], [found[s][column] for s in SCHEMES])
            ax.set(xlabel=label)
        axes[1].set_xscale("log")
        return fig


@figure("fig16", "Figure 2-16: the utilisation aimed at", needs=keys(*map(aims, ETAS)))
def _(runs):
    with plots.style():
        fig, ax = plots.figure(3.4, 2.6)
        found = [summary(runs[aims(eta).key]) for eta in ETAS]
        ax.plot([f[1] for f in found], [f[0] for f in found], "o-")
        for eta, f in zip(ETAS, found, strict=True):
            ax.annotate(f"{eta:g}", (f[1], f[0]), textcoords="offset points", xytext=(4, -8), fontsize=7)
        ax.set(xlabel="95 % queueing delay (ms)", ylabel="utilisation")
        return fig
