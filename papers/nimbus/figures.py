"""The thesis' figures, drawn from this study's runs. Dashed lines and diamonds: published."""

from __future__ import annotations

import numpy as np

from thalweg import plots
from thalweg.study import figure, interval, mean, needs, seeds
from thalweg.study.drawing import there

from .estimator import CBR, ELASTIC, ONE, RANDOM, spectrum
from .outcome import accuracy, delays, etas, goodput, series
from .robust import BESIDE_BBR, LOAD, LOADS, RATIO, RATIOS, SIZES
from .settings import NAMES, RATE
from .several import each, found
from .synthetic import COMPARED, POINTS, SEGMENTS, fair, row
from .wan import ALONE, SCHEMES, deviation, pooled

TALLEST = 1.05 * RATE  # of an axis of rates: a flow that has the whole link is seen
LABELS = {"ncc": "NimbusCC", "copa": "Copa"}


@figure("fig4-4", "Figure 4-4: spectrum of the estimated cross traffic", needs=needs(ONE, CBR, RANDOM))
def figure_4_4(runs):
    fig, ax = plots.figure(4.2, 2.8)
    for name, point in {"one Cubic flow": ONE, "CBR": CBR, "Poisson": RANDOM}.items():
        ax.plot(*spectrum(seeds(runs, point)[0]), label=name)
    ax.axvline(5, color="k", linestyle="--", linewidth=0.8, label="pulses")
    ax.set(xlabel="frequency (Hz)", ylabel="Mb/s", xlim=(0, 20), ylim=(0, None))
    ax.legend(fontsize=7, loc="upper right")
    return fig


@figure("fig4-5", "Figure 4-5: η by the elastic part of the cross traffic", needs=needs(*ELASTIC.values()))
def figure_4_5(runs):
    fig, ax = plots.figure(4.2, 2.8)
    for part, point in ELASTIC.items():
        values = np.sort(np.concatenate([etas(r) for r in seeds(runs, point)]))
        ax.plot(values, np.linspace(0, 1, len(values)), label=f"{part} %")
    ax.axvline(2, color="k", linestyle="--", linewidth=0.8)
    ax.set(xlabel="η", ylabel="fraction", xscale="log", xlim=(0.05, 100), ylim=(0, 1.01))
    fig.legend(*ax.get_legend_handles_labels(), loc="outside upper center", ncols=5)
    return fig


@figure(
    "fig4-7", "Figure 4-7: rates and delays while cross traffic changes", needs=needs(POINTS["ncc"], POINTS["copa"])
)
def figure_4_7(runs):
    fig, axes = plots.figure(6.6, 2.8, columns=2)
    for name in ("ncc", "copa"):
        results = seeds(runs, POINTS[name])[0]
        at, bytes = series(results, "arrived")
        axes[0].plot(at[100::100], np.diff(bytes[::100]) * 8e-6 * 1500 / 1448, label=LABELS[name])
        seconds = range(180)
        axes[1].plot(seconds, [delays(results, t, t + 1).mean() for t in seconds], label=LABELS[name])
    axes[0].step(
        [at for at, *_ in SEGMENTS] + [180],
        [fair(at, at + 20) for at, *_ in SEGMENTS] + [48],
        "k--",
        where="post",
        linewidth=0.8,
        label="fair share",
    )
    axes[0].set(xlabel="time (s)", ylabel="Mb/s", ylim=(0, TALLEST))
    axes[1].set(xlabel="time (s)", ylabel="queueing delay (ms)", ylim=(0, 105))
    fig.legend(*axes[0].get_legend_handles_labels(), loc="outside upper center", ncols=3)
    return fig


PUBLISHED = {
    "ncc": (-10, 12),
    "ncc-copa": (-15, 14),
    "cubic": (12, 78),
    "bbr": (61, 56),
    "vegas": (-79, 3),
    "copa": (-54, 18),
    "vivace": (61, 27),
}


@figure(
    "table4-1",
    "Table 4.1: throughput with elastic traffic, delay without; diamonds: published",
    needs=needs(*(POINTS[s] for s in COMPARED)),
)
def table_4_1(runs):
    fig, ax = plots.figure(4.6, 3.0)
    for n, scheme in enumerate(COMPARED):
        found = row(runs, scheme)
        colour = plots.COLOURS[n % len(plots.COLOURS)]
        ax.plot(
            found["delay, inelastic (ms)"],
            100 * found["throughput, elastic"],
            "o",
            color=colour,
            label=NAMES[scheme],
        )
        delta, ms = PUBLISHED[scheme]
        ax.plot(ms, delta, "D", color=colour, markerfacecolor="none")
    ax.plot([], [], "D", color="black", markerfacecolor="none", label="published")
    ax.set(xlabel="queueing delay, inelastic (ms)", ylabel="throughput against fair, elastic (%)")
    fig.legend(*ax.get_legend_handles_labels(), loc="outside upper center", ncols=4)
    return fig


def inelastic(results) -> float:
    return accuracy(results, False)


def elastic(results) -> float:
    return accuracy(results, True)


@figure(
    "fig4-12",
    "Figure 4-12: accuracy by inelastic load and by the elastic flow's round trip",
    needs=needs(*LOAD.values(), *RATIO.values()),
)
def figure_4_12(runs):
    fig, axes = plots.figure(6.6, 2.8, columns=2)
    for n, scheme in enumerate(("ncc", "copa")):
        look = {"color": plots.COLOURS[n], "markersize": 3, "capsize": 2}
        for what, line in (("cbr", "o-"), ("poisson", "s:")):
            found, half = ([f(runs, LOAD[scheme, what, x], inelastic) for x in LOADS] for f in (mean, interval))
            axes[0].errorbar(LOADS, found, there(half), fmt=line, label=f"{LABELS[scheme]}, {what}", **look)
        found, half = ([f(runs, RATIO[scheme, x], elastic) for x in RATIOS] for f in (mean, interval))
        axes[1].errorbar(RATIOS, found, there(half), fmt="o-", **look)
    axes[0].set(xlabel="inelastic cross traffic (Mb/s)", ylabel="accuracy", ylim=(0, 1.02))
    axes[1].set(xlabel="round trip of the elastic flow / own", ylim=(0, 1.02))
    # The right panel's schemes have the colours of the left one's.
    fig.legend(*axes[0].get_legend_handles_labels(), loc="outside upper center", ncols=4)
    return fig


@figure("figG-3", "Figure G-3: throughput beside one BBR flow, by buffer", needs=needs(*BESIDE_BBR.values()))
def figure_g_3(runs):
    fig, ax = plots.figure(4.2, 2.8)
    for n, (scheme, name) in enumerate({"ncc": "NimbusCC", "cubic": "Cubic"}.items()):
        found, half = ([f(runs, BESIDE_BBR[scheme, b], goodput) for b in SIZES] for f in (mean, interval))
        look = {"color": plots.COLOURS[n], "markersize": 3, "capsize": 2}
        ax.errorbar(SIZES, found, there(half), fmt="o-", label=name, **look)
    ax.axhline(RATE / 2, color="k", linestyle="--", linewidth=0.8, label="fair share")
    ax.set(xlabel="buffer (BDP)", ylabel="Mb/s", xscale="log", ylim=(0, None))
    ax.set_xticks(SIZES, [f"{b:g}" for b in SIZES])
    ax.minorticks_off()
    ax.legend(fontsize=7)
    return fig


TOP = 4  # where the axis of shares ends: PCC Vivace takes a thousand times its own


@figure("fig4-8", "Figure 4-8: delays and shares next to the WAN workload", needs=needs(*ALONE.values()))
def figure_4_8(runs):
    fig, axes = plots.figure(6.6, 2.8, columns=2)
    for n, scheme in enumerate(SCHEMES):
        ms = np.sort(pooled(runs, ALONE[scheme], delays))[::20]
        axes[0].plot(ms, np.linspace(0, 1, len(ms)), label=LABELS.get(scheme, NAMES[scheme]))
        low, first, median, third, high = np.percentile(pooled(runs, ALONE[scheme], deviation), (10, 25, 50, 75, 90))
        axes[1].plot([n, n], [low, high], color=plots.COLOURS[n % len(plots.COLOURS)], linewidth=1)
        axes[1].plot([n, n], [first, third], color=plots.COLOURS[n % len(plots.COLOURS)], linewidth=5)
        axes[1].plot(n, median, "k_")
        if median > TOP:
            axes[1].text(n, TOP, f"median\n{median:.0f}", ha="center", va="top", fontsize=6)
    axes[0].set(xlabel="queueing delay (ms)", ylabel="fraction", xlim=(0, 105), ylim=(0, 1.01))
    axes[1].axhline(0, color="black", linewidth=0.5)
    axes[1].set(ylabel="rate / fair share − 1, over 5 s", ylim=(-1, TOP))
    fig.legend(*axes[0].get_legend_handles_labels(), loc="outside upper center", ncols=4)
    axes[1].set_xticks(range(len(SCHEMES)), [LABELS.get(s, NAMES[s]) for s in SCHEMES], fontsize=6)
    return fig


@figure("fig4-15", "Figure 4-15: four NimbusCC flows that come and go; thick: it pulses", needs=["f4.15@*"])
def figure_4_15(runs):
    fig, ax = plots.figure(6.6, 2.8)
    for number, flow in each(found(runs, "f4.15")[0]).items():
        step = 100
        at, mbps = flow["at"][step::step], np.diff(flow["arrived"][::step]) * 8e-6 / 2 * 1500 / 1448
        colour = plots.COLOURS[number % len(plots.COLOURS)]
        ax.plot(at[: len(mbps)], mbps, color=colour, linewidth=0.8, label=f"flow {number + 1}")
        pulses = flow["pulses"][step::step][: len(mbps)] > 0
        ax.plot(at[: len(mbps)], np.where(pulses, mbps, np.nan), color=colour, linewidth=3)
    ax.set(xlabel="time (s)", ylabel="Mb/s", ylim=(0, TALLEST))
    fig.legend(*ax.get_legend_handles_labels(), loc="outside upper center", ncols=4)
    return fig
