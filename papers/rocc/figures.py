"""The paper's figures, drawn from this study's runs. Dashed lines: published."""

from __future__ import annotations

import numpy as np

from thalweg import plots
from thalweg.study import figure
from thalweg.study.drawing import by_size, over_time

from . import corners, large
from .micro import AFTER, CHANGES, COMPARED, COUNTS, SCHEMES, SET_POINT, key, of, queue, shares, used
from .settings import LARGE, NAMES

F_AND_QUEUE, KB = ("F (Gb/s)", "queue (KB)"), (1, 1e-3)


@figure(
    "fig5",
    "Figure 3.5: F and the queue from the start, 40 Gb/s (dotted: converged, as published)",
    needs=[key(n, 40) + "@1" for n in COUNTS],
)
def figure_5(runs):
    series = {f"N = {n}": (of(runs, key(n, 40)).pace(), of(runs, key(n, 40)).queue()) for n in COUNTS}
    fair = [40 / n for n in COUNTS], [SET_POINT[40] / 1e3]
    fig = over_time(series, F_AND_QUEUE, fair, scales=KB, tops=(None, 450), logs=(True, False), until=10)
    for ax in fig.axes:
        ax.axvline(2, color="black", linestyle=":", linewidth=0.8, alpha=0.6)
    return fig


@figure("fig6", "Figure 3.6: F and the queue as N changes every 10 ms", needs=CHANGES)
def figure_6(runs):
    series = of(runs, "changes:rocc")
    found = {"RoCC": (series.pace(), series.queue())}
    return over_time(found, F_AND_QUEUE, ([13.33, 0.4], [150]), scales=KB, tops=(None, 450), logs=(True, False))


@figure("fig8", "Figure 3.8: six schemes, ten flows, 40 Gb/s", needs=[f"compare:{s}@1" for s in SCHEMES])
def figure_8(runs):
    fig, axes = plots.figure(7.0, 2.7, columns=3)
    names = [NAMES[s] for s in SCHEMES]
    axes[0].boxplot([shares(runs, s) for s in SCHEMES], tick_labels=names)
    axes[0].axhline(4, color="grey", linestyle="--", linewidth=0.7)
    axes[0].set(ylabel="rate of each flow (Gb/s)")
    axes[1].boxplot([queue(runs, s) for s in SCHEMES], tick_labels=names, showfliers=False)
    axes[1].set(ylabel="queue (KB)")
    axes[2].boxplot([used(runs, s) for s in SCHEMES], tick_labels=names, showfliers=False)
    axes[2].set(ylabel=f"utilisation, {AFTER * 1e3:g} to {COMPARED * 1e3:g} ms")
    for ax in axes:
        ax.tick_params(axis="x", rotation=60)
    return fig


def average(runs, place: str, ideal: list[float], published: dict):
    fig, ax = plots.figure(4.2, 2.8)
    at = np.arange(len(ideal))
    for n, s in enumerate(LARGE):
        ax.bar(at + 0.27 * (n - 1), corners.rates(runs, place, s), 0.25, color=plots.COLOURS[n], label=NAMES[s])
        for flow, rate in published.get(s, {}).items():
            ax.plot([flow + 0.27 * (n - 1)], [rate], "D", color="black", markersize=3)
    ax.plot(at, ideal, "_", color="grey", markersize=24)
    ax.set(ylabel="Gb/s", xticks=at, xticklabels=[f"D{i}" for i in at])
    ax.legend(fontsize=7)
    return fig


@figure("fig9a", "Figure 3.9a: two bottlenecks (diamonds: published)", needs=[f"corners:{s}@1" for s in LARGE])
def figure_9a(runs):
    return average(runs, "corners", [5, 8.75, 8.75, 8.75, 8.75, 5], {"dcqcn": {0: 3.5}, "hpcc": {0: 2.5}})


@figure("fig9b", "Figure 3.9b: unequal access links (diamonds: published)", needs=[f"unequal:{s}@1" for s in LARGE])
def figure_9b(runs):
    hpcc = dict.fromkeys(range(5), 9.4) | {5: 24.5, 6: 24.5}
    return average(runs, "unequal", [100 / 7] * 7, {"hpcc": hpcc})


def beds(runs, *names: str):
    series = {n: of(runs, f"{n}:rocc") for n in names}
    return over_time({n: (s.pace(), s.queue()) for n, s in series.items()}, F_AND_QUEUE, ((), [75]), scales=KB)


@figure("fig10", "Figure 3.10: the DPDK testbed's stand-in", needs=["dpdk-*:rocc@1"])
def figure_10(runs):
    return beds(runs, "dpdk-uni", "dpdk-mix")


@figure("fig11", "Figure 3.11: the P4 testbed's stand-in", needs=["tofino-*:rocc@1"])
def figure_11(runs):
    return beds(runs, "tofino-uni", "tofino-mix")


def tails(runs, workload: str):
    tables = {"mean (ms)": large.p99(runs, workload, np.mean), "p99 (ms)": large.p99(runs, workload)}
    return by_size(tables, NAMES)


@figure("fig12", "Figures 3.12 and 3.13: completion times, WebSearch", needs=large.keys("web"))
def figure_12(runs):
    return tails(runs, "web")


@figure("fig13", "Figures 3.12 and 3.13: completion times, FB_Hadoop", needs=large.keys("hadoop"))
def figure_13(runs):
    return tails(runs, "hadoop")


@figure("fig14", "Figure 3.14: mean queues and pauses by class of ports, WebSearch", needs=large.keys("web"))
def figure_14(runs):
    fig, axes = plots.figure(6.6, 2.7, columns=2)
    at = np.arange(len(large.CLASSES))
    for n, s in enumerate(LARGE):
        results = large.of(runs, "web", s)
        bars = [large.queue(results, c) for c in large.CLASSES], [large.pauses(results, c) for c in large.CLASSES]
        for ax, values in zip(axes, bars, strict=True):
            ax.bar(at + 0.27 * (n - 1), values, 0.25, color=plots.COLOURS[n], label=NAMES[s])
    for ax, label in zip(axes, ("mean queue (KB)", "pauses"), strict=True):
        ax.set(ylabel=label, xticks=at, xticklabels=list(large.CLASSES))
    axes[0].axhline(300, color="grey", linestyle="--", linewidth=0.7)
    fig.legend(*axes[0].get_legend_handles_labels(), loc="outside upper center", ncols=3)
    return fig


# The most that is published of each scheme.
PUBLISHED_FOLD = {13: "DCQCN, published: up to 13", 7: "HPCC, published: up to 7", 1: "RoCC, published: close to 1"}


@figure("fig15", "Figure 3.15: without PFC and with unlimited buffers, FB_Hadoop", needs=large.NO_PFC)
def figure_15(runs):
    fig, ax = plots.figure(4.2, 2.8)
    for n, s in enumerate(LARGE):
        found = large.fold(runs, s)
        # Lines of their own: RoCC's and HPCC's both lie at 1.
        ax.plot(
            list(found),
            list(found.values()),
            markersize=6 - n,
            label=NAMES[s],
            **(plots.look(n) | {"linestyle": ("-", "--", ":")[n]}),
        )
    for fold, name in PUBLISHED_FOLD.items():
        ax.axhline(fold, color="black", linestyle=":", linewidth=0.8, alpha=0.6)
        below = "top" if fold == 1 else "bottom"  # the curves lie on 1
        at = {"xytext": (2, -5 if fold == 1 else 1), "textcoords": "offset points"}
        ax.annotate(name, (0, fold), xycoords=("axes fraction", "data"), va=below, fontsize=6, **at)
    ax.set_ylim(bottom=0.5)
    ax.set(xlabel="B", ylabel="mean completion time, fold", xscale="log", yscale="log")
    ax.legend(fontsize=7)
    return fig
