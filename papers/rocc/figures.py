"""The paper's figures, drawn from this study's runs. Dashed lines: published."""

from __future__ import annotations

import numpy as np

from thalweg import plots
from thalweg.papers import figure

from . import corners, large
from .micro import AFTER, CHANGES, COMPARED, COUNTS, SCHEMES, SET_POINT, key, of, queue, shares, used
from .settings import LARGE, NAMES


def over_time(series: dict, labels: tuple[str, str], published: tuple = ()):
    """F above, the queue below; `series` maps a name to ((when, Gb/s), (when, bytes))."""
    with plots.style():
        fig, axes = plots.figure(6.6, 2.7, columns=2)
        for n, (name, pair) in enumerate(series.items()):
            for ax, (at, values), scale in zip(axes, pair, (1, 1e-3), strict=True):
                ax.plot(at * 1e3, values * scale, color=plots.COLOURS[n], linewidth=0.8, label=name)
        for ax, label, levels in zip(axes, labels, published or ((), ()), strict=True):
            for level in levels:
                ax.axhline(level, color="grey", linestyle="--", linewidth=0.7)
            ax.set(xlabel="ms", ylabel=label)
            ax.set_ylim(bottom=0)
        fig.legend(*axes[0].get_legend_handles_labels(), loc="outside upper center", ncols=4)
        return fig


@figure("fig5", "Figure 3.5: F and the queue from the start, 40 Gb/s", needs=[key(n, 40) + "@1" for n in COUNTS])
def _(runs):
    series = {f"N = {n}": (of(runs, key(n, 40)).rate(), of(runs, key(n, 40)).queue()) for n in COUNTS}
    return over_time(series, ("F (Gb/s)", "queue (KB)"), ([40 / n for n in COUNTS], [SET_POINT[40] / 1e3]))


@figure("fig6", "Figure 3.6: F and the queue as N changes every 10 ms", needs=CHANGES)
def _(runs):
    series = of(runs, "changes:rocc")
    return over_time({"RoCC": (series.rate(0), series.queue())}, ("F (Gb/s)", "queue (KB)"), ([13.33, 0.4], [150]))


@figure("fig8", "Figure 3.8: six schemes, ten flows, 40 Gb/s", needs=[f"compare:{s}@1" for s in SCHEMES])
def _(runs):
    with plots.style():
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
    with plots.style():
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
def _(runs):
    return average(runs, "corners", [5, 8.75, 8.75, 8.75, 8.75, 5], {"dcqcn": {0: 3.5}, "hpcc": {0: 2.5}})


@figure("fig9b", "Figure 3.9b: unequal access links (diamonds: published)", needs=[f"unequal:{s}@1" for s in LARGE])
def _(runs):
    hpcc = dict.fromkeys(range(5), 9.4) | {5: 24.5, 6: 24.5}
    return average(runs, "unequal", [100 / 7] * 7, {"hpcc": hpcc})


def beds(runs, *names: str):
    series = {n: corners.Series(runs[f"{n}:rocc@1"]) for n in names}
    return over_time({n: (s.rate(0), s.queue()) for n, s in series.items()}, ("F (Gb/s)", "queue (KB)"), ((), [75]))


@figure("fig10", "Figure 3.10: the DPDK testbed's stand-in", needs=["dpdk-*:rocc@1"])
def _(runs):
    return beds(runs, "dpdk-uni", "dpdk-mix")


@figure("fig11", "Figure 3.11: the P4 testbed's stand-in", needs=["tofino-*:rocc@1"])
def _(runs):
    return beds(runs, "tofino-uni", "tofino-mix")


def tails(runs, workload: str):
    with plots.style():
        fig, axes = plots.figure(6.6, 2.8, columns=2)
        for ax, level in zip(axes, (None, 99), strict=True):
            table = large.p99(runs, workload, 99)
            for n, s in enumerate(LARGE):
                found = large.read(large.of(runs, workload, s))
                bins = found.bins(workload)
                y = [found.fct[bins[b]].mean() if level is None else table[s][b] for b in table[s]]
                ax.plot(
                    list(table[s]), np.array(y) * 1e3, marker="o", markersize=3, color=plots.COLOURS[n], label=NAMES[s]
                )
            ax.set(xlabel="B", ylabel="mean (ms)" if level is None else "p99 (ms)", xscale="log", yscale="log")
        fig.legend(*axes[0].get_legend_handles_labels(), loc="outside upper center", ncols=3)
        return fig


@figure("fig12", "Figures 3.12 and 3.13: completion times, WebSearch", needs=large.keys("web"))
def _(runs):
    return tails(runs, "web")


@figure("fig13", "Figures 3.12 and 3.13: completion times, FB_Hadoop", needs=large.keys("hadoop"))
def _(runs):
    return tails(runs, "hadoop")


@figure("fig14", "Figure 3.14: mean queues and pauses by class of ports, WebSearch", needs=large.keys("web"))
def _(runs):
    with plots.style():
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


@figure("fig15", "Figure 3.15: without PFC and with unlimited buffers, FB_Hadoop", needs=large.NO_PFC)
def _(runs):
    with plots.style():
        fig, ax = plots.figure(4.2, 2.8)
        for n, s in enumerate(LARGE):
            found = large.fold(runs, s)
            ax.plot(list(found), list(found.values()), marker="o", markersize=3, color=plots.COLOURS[n], label=NAMES[s])
        ax.axhline(1, color="grey", linestyle="--", linewidth=0.7)
        ax.set(xlabel="B", ylabel="mean completion time, fold", xscale="log")
        ax.legend(fontsize=7)
        return fig
