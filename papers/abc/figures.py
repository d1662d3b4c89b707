"""The paper's figures, drawn from this study's runs."""

from __future__ import annotations

import numpy as np

from thalweg import plots
from thalweg.study import figure

from . import wifi
from .beside import LOADS, POLICIES, outcome
from .crossed import CROSSED, LONG, RATES, STEP, WIRED, wired_waits
from .outcome import delays, rate, summary
from .settings import DOWN, NAMES, SCHEMES, UP, Cell
from .single import ETAS, WAVES, aims, every, keys


def over_time(cells: dict, first: float, last: float):
    """Throughput against capacity above, queueing delay below."""
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
def figure_1(runs):
    return over_time({NAMES[s]: runs[Cell(s).key] for s in SHOWN}, 20, 60)


@figure("figB5", "Figure B-5: a square wave", needs=keys(*WAVES.values()))
def figure_b5(runs):
    return over_time({NAMES[s]: runs[c.key] for s, c in WAVES.items()}, 10, 16)


def plane(points: dict[str, tuple[float, float]], ax) -> None:
    """Utilisation over delay, the better the further up and right, as the field draws it."""
    for n, (name, (u, late)) in enumerate(points.items()):
        first = n == 0  # ABC is what all others are compared with
        look = plots.look(n) | {"linestyle": "none", "markersize": 8 if first else 5, "zorder": 3 if first else 2}
        ax.plot(late, u, label=name, markeredgecolor="black" if first else "none", **look)
    ax.set(xlabel="95 % queueing delay (ms)", xscale="log")
    plots.plain_log_x(ax)
    ax.invert_xaxis()


def named(fig):
    """Names beside the figure: at the points they would lie on each other."""
    fig.legend(*fig.axes[0].get_legend_handles_labels(), loc="outside upper center", ncols=5)
    return fig


@figure("fig7", "Figure 2-7: utilisation against delay", needs=[f"{t}:{s}" for t in (DOWN, UP) for s in SCHEMES])
def figure_7(runs):
    fig, axes = plots.figure(6.4, 2.8, columns=2)
    for ax, trace in zip(axes, (DOWN, UP), strict=True):
        plane({NAMES[s]: summary(runs[Cell(s, trace).key])[:2] for s in SCHEMES}, ax)
        ax.set(title=trace)
    axes[0].set(ylabel="utilisation")
    return named(fig)


# The table of §2.1, Cubic by §2.7.3: utilisation and delay over ABC's; these are .78 and 242 ms.
PUBLISHED = {
    "abc": (1, 1), "cubic": (1.18, 4.82), "cubic-codel": (0.67, 0.84), "copa": (0.66, 0.85), "vivace": (1.12, 4.93),
    "bbr": (0.96, 2.83), "verus": (0.72, 2.01),
}  # fmt: skip


@figure(
    "fig8",
    "Figure 2-8, B-3, B-4: averages over the traces (dots: each trace; diamonds: published, table of §2.1)",
    needs=[f"*:{s}" for s in SCHEMES],
)
def figure_8(runs):
    fig, axes = plots.figure(6.4, 2.8, columns=2)
    found = {s: np.mean([summary(runs[c.key]) for c in every(s)], axis=0) for s in SCHEMES}
    for ax, column, label in ((axes[0], 0, "utilisation"), (axes[1], 1, "95 % queueing delay (ms)")):
        names = [NAMES[s] for s in SCHEMES]
        each = [[summary(runs[c.key])[column] for c in every(s)] for s in SCHEMES]
        ax.barh(names, [found[s][column] for s in SCHEMES])
        ax.plot(np.concatenate(each), np.repeat(names, [len(e) for e in each]), ".", color="0.45", markersize=2)
        level = (0.78, 242)[column]
        marks = [level * ratios[column] for ratios in PUBLISHED.values()]
        ax.plot(marks, [NAMES[s] for s in PUBLISHED], "D", color="black", markerfacecolor="none", markersize=4)
        ax.set(xlabel=label)
        ax.tick_params(axis="y", labelsize=7)
    axes[1].set_xscale("log")
    return fig


@figure("fig16", "Figure 2-16: the utilisation aimed at", needs=keys(*map(aims, ETAS)))
def figure_16(runs):
    fig, ax = plots.figure(3.4, 2.6)
    found = [summary(runs[aims(eta).key]) for eta in ETAS]
    ax.plot([f[1] for f in found], [f[0] for f in found], "o-")
    for eta, f in zip(ETAS, found, strict=True):
        ax.annotate(f"{eta:g}", (f[1], f[0]), textcoords="offset points", xytext=(4, -8), fontsize=7)
    ax.set(xlabel="95 % queueing delay (ms)", ylabel="utilisation")
    return fig


def two_hops(results, rates, step: float):
    """What left the wireless link next to its rate and the wired link's; waits at both."""
    fig, axes = plots.figure(6.4, 3.4, rows=2)
    at, carried, _ = rate(results)
    times = np.arange(len(rates) + 1) * step
    axes[0].step(times, [*rates, rates[-1]], where="post", color="0.6", label="wireless")
    axes[0].axhline(WIRED, color="0.8", label="wired")
    axes[0].plot(at, carried, label="carried")
    axes[0].set(ylabel="Mb/s", ylim=(0, None))
    axes[0].legend(ncols=3, fontsize=6)
    found = delays(results)
    begun, ms, _flow = wired_waits(results)
    axes[1].plot(found.left, found.ms, linewidth=0.6, label="wireless")
    axes[1].plot(begun, ms, linewidth=0.6, label="wired")
    axes[1].set(xlabel="time (s)", ylabel="queueing delay (ms)", ylim=(0, None))
    axes[1].legend(fontsize=6)
    return fig


@figure("fig4", "Figure 2-4: a wired bottleneck before a wireless one", needs=["switching"])
def figure_4(runs):
    return two_hops(runs["switching"], RATES, STEP)


@figure("fig10", "Figure 2-10: the same with cross traffic on the wired link", needs=["cross"])
def figure_10(runs):
    return two_hops(runs["cross"], CROSSED, LONG)


@figure("fig13", "Figure 2-13: ABC next to CUBIC in two queues", needs=["wired:beside:*"])
def figure_13(runs):
    fig, ax = plots.figure(3.4, 2.6)
    for policy in POLICIES:
        found = outcome(runs, policy)
        ax.plot(LOADS, [100 * (found[load][0] - 1) for load in LOADS], "o-", label=policy)
    ax.set(xlabel="load of short flows (%)", ylabel="CUBIC above ABC (%)")
    ax.legend()
    return fig


@figure("fig5", "Figure 2-5: time between block ACKs against the length of the batch", needs=["wifi:scatter"])
def figure_5(runs):
    fig, ax = plots.figure(3.4, 2.6)
    frames, ms = wifi.batches(runs["wifi:scatter"])
    ax.plot(frames, ms, ".", markersize=2, alpha=0.3)
    b = np.arange(1, wifi.M + 1)
    ax.plot(b, 8e-3 * wifi.WIRE * b / wifi.MCS[1] + 1e3 * (wifi.OVERHEAD + wifi.CONTENTION), color="0.3")
    ax.set(xlabel="frames", ylabel="time between block ACKs (ms)", ylim=(0, None))
    return fig


@figure("fig6", "Figure 2-6: the estimated rate of a link against the load", needs=["wifi:offered:*"])
def figure_6(runs):
    fig, ax = plots.figure(3.4, 2.6)
    for mcs, found in wifi.estimates(runs).items():
        mu, left = found.T * wifi.carries(mcs)
        (line,) = ax.plot(left, mu, "o-", label=f"MCS {mcs}")
        ax.axhline(wifi.carries(mcs), color=line.get_color(), linewidth=0.5)
    ends = np.array(ax.get_xlim())
    ax.plot(ends, 2 * ends, color="0.6", linewidth=0.8, label="twice what leaves")
    ax.set(xlabel="throughput (Mb/s)", ylabel="estimate (Mb/s)", xlim=(0, None), ylim=(0, 55))
    ax.legend(fontsize=6)
    return fig


WIFI = {"one": "one user", "two": "two users", "walk": "MCS walks from 3 to 7"}


@figure(
    "fig9", "Figures 2-9, B-2: throughput against delay over Wi-Fi", needs=["wifi:one:*", "wifi:two:*", "wifi:walk:*"]
)
def figure_9(runs):
    fig, axes = plots.figure(8.4, 2.8, columns=len(WIFI))
    for ax, (what, title) in zip(axes, WIFI.items(), strict=True):
        plane({wifi.NAMES_HERE[s]: found for s, found in wifi.means(runs, what).items()}, ax)
        ax.set(title=title)
    axes[0].set(ylabel="throughput (Mb/s)")
    return named(fig)
