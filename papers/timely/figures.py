"""The paper's figures and table, drawn from this study's runs. Diamonds or dashed lines: published."""

from __future__ import annotations

import numpy as np

from thalweg import plots
from thalweg.study import figure, interval, mean, needs, seeds
from thalweg.study.drawing import distributions, panels, there

from . import algorithm, fabric, incast, recovery, reverse, sensitivity
from .outcome import Samples, average_rtt, fairness, p99_rtt, pauses_later, throughput
from .settings import DCTCP, NAMES, PFC, PFC3, TIMELY

# --- The signal ---------------------------------------------------------------------------------------------


@figure("fig2", "Figure 3.2: round trips less the idle one, and the queue at the bottleneck", needs=["queue@1"])
def figure_2(runs):
    found = algorithm.queueing(runs["queue@1"])
    series = {"RTT - idle RTT": found["RTT - base"]}
    series |= {f"queue, {words}": found[k] for k, words in algorithm.QUEUES.items()}
    # The claim is about deciles.
    until = float(np.quantile(found["RTT - base"], 0.97))
    return distributions(series, "queueing delay (us)", until=until, deciles=True)


@figure("fig3", "Figure 3.3: round trips of the primary incast under congestion on the way back", needs=["reverse:*"])
def figure_3(runs):
    return distributions(reverse.curves(runs), "RTT (us)")


@figure(
    "fluid", "Gradient of the queue (§3.3.2): 12 Gb/s, then 6 Gb/s into 10 Gb/s; dashed: (y - C) / C", needs=["fluid@1"]
)
def draw_fluid(runs):
    found = Samples(runs["fluid@1"])
    came = (found.at - found.rtt * 1e-6) * 1e3
    fig, ax = plots.figure(4.2, 2.8)
    ax.plot(came, found.rtt, ".", markersize=2, label="round trips")
    top, idle = int(np.argmax(found.rtt)), found.rtt.min()
    peak, empties = came[top], came[top] + (found.rtt[top] - idle) / 400
    expected = [idle, idle + 200 * peak, idle, idle]
    ax.plot([0, peak, empties, came.max()], expected, "k--", linewidth=0.8, label="(y - C) / C")
    ax.set(xlabel="time at which a segment is posted (ms)", ylabel="RTT (us)", ylim=(0, None))
    ax.legend()
    return fig


# --- Incast -------------------------------------------------------------------------------------------------

WINDOW_MS = 2500  # measured
APPROACHES = {"gradient": TIMELY, "target 50 us": incast.LOW, "target 500 us": incast.HIGH}


@figure("fig7", "Figure 3.7: gradient against control of the queue's size", needs=needs(*APPROACHES.values()))
def figure_7(runs):
    fig, axes = plots.figure(6.2, 2.6, columns=2)
    x = np.arange(len(APPROACHES))
    axes[0].bar(x, [mean(runs, p, throughput) for p in APPROACHES.values()], 0.6, color=plots.COLOURS[0])
    axes[0].set(ylabel="throughput (Gb/s)")
    for n, (name, value) in enumerate((("mean", average_rtt), ("99th percentile", p99_rtt))):
        y = [mean(runs, p, value) for p in APPROACHES.values()]
        look = {"color": plots.COLOURS[n + 1], "hatch": plots.HATCHES[n], "edgecolor": "white"}
        axes[1].bar(x + (n - 0.5) * 0.4, y, 0.36, label=name, **look)
    axes[1].set(ylabel="RTT (us)")
    axes[1].legend(fontsize=7)
    for ax in axes:
        ax.set_xticks(x, APPROACHES)
        ax.grid(False, axis="x")
    return fig


BIN = 5e-3  # s: round trips of a connection are drawn as means over so long


def over_time(ax, results, flows, span: float, what: str) -> None:
    """What some connections see over the last stretch of a run, s."""
    found = Samples(results)
    begin = found.at.max() - span
    for flow in flows:
        at, rtt, rate = found.of(flow)
        inside = at >= begin
        since = at[inside] - begin
        if what == "rate":
            ax.plot(since * 1e3, rate[inside] / 1e6, linewidth=0.8)
            continue
        n = (since / BIN).astype(int)
        count = np.bincount(n)
        means = np.bincount(n, rtt[inside])[count > 0] / count[count > 0]
        ax.plot((np.flatnonzero(count) + 0.5) * BIN * 1e3, means, linewidth=0.8)
    ylabel = "rate (Mb/s)" if what == "rate" else f"RTT, means of {BIN * 1e3:g} ms (us)"
    ax.set(xlabel="time (ms)", ylabel=ylabel, ylim=(0, None))


@figure("fig8", "Figure 3.8: rates of four connections", needs=needs(TIMELY, incast.LOW))
def figure_8(runs):
    fig, axes = plots.figure(6.6, 2.6, columns=2, sharey=True)
    for ax, (name, point) in zip(axes, (("target 50 us", incast.LOW), ("gradient", TIMELY)), strict=True):
        over_time(ax, seeds(runs, point)[0], range(0, 40, 10), 0.5, "rate")
        ax.axhline(500, color="black", linewidth=0.5)
        ax.set(title=name)
        ax.label_outer()
    return fig


@figure("table1", "Table 3.1: DCTCP (without a host stack), PFC, TIMELY", needs=needs(*incast.TABLE, PFC3))
def table_1(runs):
    points = {"DCTCP": DCTCP, "PFC": PFC, "PFC, cap 3": PFC3, "TIMELY": TIMELY}
    values = (throughput, average_rtt, p99_rtt, fairness)
    head = ("throughput\n(Gb/s)", "mean RTT\n(us)", "p99 RTT\n(us)", "Jain", "pauses\nper ms")
    cells = []
    for point in points.values():
        was = incast.TABLE.get(point, ())
        measured = [mean(runs, point, v) for v in values]
        texts = [f"{measured[0]:.2f}", *(f"{x:.0f}" for x in measured[1:3]), f"{measured[3]:.3f}"]
        texts.append("–" if point == DCTCP else f"{mean(runs, point, pauses_later) / WINDOW_MS:.1f}")
        cells.append([f"{t} ({was[n]:g})" if n < len(was) else t for n, t in enumerate(texts)])
    fig, ax = plots.figure(6.2, 1.6)
    ax.axis("off")
    table = ax.table(cells, rowLabels=list(points), colLabels=head, loc="center", cellLoc="center")
    table.auto_set_font_size(False)
    table.set_fontsize(8)
    table.scale(1, 1.35)
    for (row, _), cell in table.get_celld().items():
        cell.set_linewidth(0.4)
        if row == 0:
            cell.set_height(cell.get_height() * 1.5)
    ax.set_title("measured (published)")
    return fig


@figure("fig11", "Figure 3.11: distribution of round trips", needs=needs(*incast.TABLE, PFC3))
def figure_11(runs):
    points = {"TIMELY": TIMELY, "PFC, cap 2": PFC, "PFC, cap 3": PFC3, "DCTCP, no host stack": DCTCP}
    series = {name: Samples(seeds(runs, p)[0]).rtt for name, p in points.items()}
    return distributions(series, "RTT (us)", log=True)


@figure("fig12", "Figure 3.12: four connections under TIMELY", needs=needs(TIMELY))
def figure_12(runs):
    fig, axes = plots.figure(6.6, 2.6, columns=2)
    for ax, what in zip(axes, ("rate", "rtt"), strict=True):
        over_time(ax, seeds(runs, TIMELY)[0], range(0, 40, 10), 0.5, what)
    axes[0].axhline(500, color="black", linewidth=0.5)
    return fig


THROUGHPUT, MEAN, TAIL = "throughput (Gb/s)", "mean RTT (us)", "p99 RTT (us)"


VALUES = {THROUGHPUT: throughput, MEAN: average_rtt, TAIL: p99_rtt}


def measured(runs, x, series, xlabel: str, labels, published=None, width: float = 6.6):
    """Panels of a quantity each, of points: means over the seeds, with their 95 % intervals."""
    values, errors = (
        {label: (lambda point, v=VALUES[label], f=f: f(runs, point, v)) for label in labels} for f in (mean, interval)
    )
    return panels(x, series, xlabel, values, published, width, errors)


@figure(
    "fig10",
    "Figure 3.10: noise, uniform from 0 to x",
    needs=needs(*(sensitivity.noisy(x, low) for x in sensitivity.NOISE for low in (0, 50))),
)
def figure_10(runs):
    series = {f"T_low {low} us": [sensitivity.noisy(x, low) for x in sensitivity.NOISE] for low in (0, 50)}
    return measured(runs, sensitivity.NOISE, series, "x (us)", [THROUGHPUT], width=3.6)


@figure(
    "fig13",
    "Figure 3.13: segments and T_low (diamonds: published)",
    needs=needs(*(sensitivity.sized(s, low) for s in sensitivity.SEGMENTS for low in sensitivity.LOWS)),
)
def figure_13(runs):
    series = {f"{s} KB": [sensitivity.sized(s, low) for low in sensitivity.LOWS] for s in sensitivity.SEGMENTS}
    was = {(THROUGHPUT, "16 KB"): {0: 18.9, 50: 19.4}, (THROUGHPUT, "64 KB"): {0: 10.2, 50: 11.2}}
    was[TAIL, "16 KB"] = {50: 116}
    return measured(runs, sensitivity.LOWS, series, "T_low (us)", [THROUGHPUT, TAIL], was)


@figure(
    "fig14",
    "Figure 3.14: NIC pacing, 64 KB (diamonds: published)",
    needs=needs(*(sensitivity.paced(p, low) for p in sensitivity.PACES for low in sensitivity.PACED_LOWS)),
)
def figure_14(runs):
    order = sorted(p or 10_000 for p in sensitivity.PACES)
    series = {f"T_low {low} us": [sensitivity.paced(p % 10_000, low) for p in order] for low in sensitivity.PACED_LOWS}
    was = {
        (THROUGHPUT, "T_low 50 us"): {700: 18.9, 10_000: 11.2},
        (THROUGHPUT, "T_low 0 us"): {700: 18.4, 10_000: 10.2},
    }
    fig = measured(runs, order, series, "pace (Mb/s)", [THROUGHPUT, MEAN, TAIL], was, 8.0)
    for ax in fig.axes:
        ax.set_xscale("log")
        ax.set_xticks([500, 1000, 2500, 10_000], ["500", "1000", "2500", "none"])
        ax.minorticks_off()
    return fig


@figure(
    "fig15",
    "Figure 3.15: T_high and connections per client (diamonds: published)",
    needs=needs(*(sensitivity.bounded(h, c) for h in sensitivity.HIGHS for c in sensitivity.EACH)),
)
def figure_15(runs):
    series = {f"{c} per client": [sensitivity.bounded(h, c) for h in sensitivity.HIGHS] for c in sensitivity.EACH}
    was = {(TAIL, f"{c} per client"): {500: us, 1000: us} for c, us in {4: 100, 7: 200, 10: 500}.items()}
    return measured(runs, sensitivity.HIGHS, series, "T_high (us)", [THROUGHPUT, TAIL], was)


@figure("fig16", "Figure 3.16: rate of the connections that stay", needs=needs(*recovery.KINDS))
def figure_16(runs):
    fig, ax = plots.figure(4.6, 2.8)
    for key, name in recovery.NAMES.items():
        ms, rate = recovery.survivors(seeds(runs, key)[0])
        ax.plot(ms, rate, label=name, linestyle="--" if "hai" not in key else "-", linewidth=0.9)
    ax.axhline(1500, color="black", linewidth=0.5)
    was = {"published, with HAI": (50, "D"), "published, fixed step": (140, "s")}
    for name, (ms, marker) in was.items():
        ax.plot(ms, 1500, marker, color="black", markerfacecolor="white", label=name)
    ax.set(xlabel="time from the stop (ms)", ylabel="mean rate (Mb/s)", xlim=(-20, 300), ylim=(0, None))
    fig.legend(*ax.get_legend_handles_labels(), loc="outside upper center", ncols=3)
    return fig


# --- Large scale --------------------------------------------------------------------------------------------


def by_load(runs, values: dict, log: bool):
    """Curves over the offered load, TIMELY and PFC: label of the panel -> function of a run."""
    loads = fabric.LOADS[runs.scale]
    fig, axes = plots.figure(3.3 * len(values), 2.7, columns=len(values))
    for ax, (label, value) in zip(np.atleast_1d(axes), values.items(), strict=True):
        for n, s in enumerate(fabric.SCHEMES):
            y, half = ([f(runs, fabric.fabric(s, x), value) for x in loads] for f in (mean, interval))
            ax.errorbar(
                loads, y, there(half), color=plots.COLOURS[n], marker="os"[n], markersize=4, capsize=2, label=NAMES[s]
            )
        ax.set(xlabel="offered load", ylabel=label)
        if log:
            ax.set_yscale("log")
        else:
            ax.set_ylim(0, None)
    fig.legend(*np.atleast_1d(axes)[0].get_legend_handles_labels(), loc="outside upper center", ncols=2)
    return fig


@figure("fig17", "Figure 3.17: accepted over offered load", needs=fabric.ALL)
def figure_17(runs):
    fig = by_load(runs, {"accepted / offered": fabric.share, "accepted (Gb/s of payload)": fabric.accepted}, False)
    # Where a network saturates: 98 % of what is offered.
    fig.axes[0].axhline(0.98, color="black", linestyle="--", linewidth=0.6)
    fig.axes[0].set_ylim(0.5, 1.03)
    return fig


@figure("fig18", "Figure 3.18: round trips of pings", needs=fabric.ALL)
def figure_18(runs):
    return by_load(runs, {"median RTT (us)": fabric.rtt(50), "p99 RTT (us)": fabric.rtt(99)}, True)


@figure("fig19", "Figure 3.19: latency of calls", needs=fabric.ALL)
def figure_19(runs):
    return by_load(runs, {"median latency (us)": fabric.latency(50), "p99 latency (us)": fabric.latency(99)}, True)


@figure("fig20", "Figure 3.20: an incast of 40 to 1 on top of three backgrounds", needs=fabric.INCAST)
def figure_20(runs):
    groups = [f"{x:g}" for x in fabric.BACKGROUND]
    fig, axes = plots.figure(6.6, 2.6, columns=2)
    for n, s in enumerate(fabric.SCHEMES):
        place = np.arange(len(groups)) + (n - 0.5) * 0.4
        kept = [1 - fabric.lost(runs, s, x) for x in fabric.BACKGROUND]
        axes[0].bar(place, kept, 0.36, color=plots.COLOURS[n])
        if s == "pfc":  # published: it loses 13 to 54 %
            axes[0].plot(place[[0, -1]], [0.87, 0.46], label="published", **plots.PUBLISHED)
        for with_it, hatch in ((False, ""), (True, "//")):
            tail = [mean(runs, fabric.background(s, x, with_it), fabric.rtt(99)) for x in fabric.BACKGROUND]
            shift = place + (0.09 if with_it else -0.09)
            name = f"{NAMES[s]}{', with incast' if with_it else ''}"
            axes[1].bar(shift, tail, 0.17, color=plots.COLOURS[n], hatch=hatch, edgecolor="white", label=name)
    axes[0].set(ylabel="throughput / without incast", xlabel="background load")
    axes[1].set(ylabel="p99 RTT (us)", yscale="log", xlabel="background load")
    for ax in axes:
        ax.set_xticks(range(len(groups)), groups)
        ax.grid(False, axis="x")
    bars, names = axes[1].get_legend_handles_labels()
    marks, published = axes[0].get_legend_handles_labels()
    fig.legend(bars + marks, names + published, loc="outside upper center", ncols=5)
    return fig
