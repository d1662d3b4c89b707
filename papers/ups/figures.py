"""The paper's figures, drawn from this study's runs. Diamonds: published. At quick scale some show another
network, named in them."""

from __future__ import annotations

import textwrap

import numpy as np
from matplotlib.ticker import FuncFormatter

from thalweg import plots
from thalweg.study import Key, figure, interval, mean, places, schemes, seeds, thinned_cdf

from . import edge, fairness, fct, replays, shares, tail
from .numbers import BUCKETS, weighted_shares
from .outcome import bytes_fct, bytes_rtt, flows
from .settings import NAMES, NETWORKS, split, title

PLAIN = FuncFormatter(lambda x, _: f"{x:g}")  # 0.1, 1, 10 instead of powers


def brief(place: str) -> str:
    """A place's name on two lines."""
    network, percent = split(place)
    return f"{NETWORKS[network].title}\n{percent} %"


def narrow(name: str, width: int = 8) -> str:
    """A name on lines of few letters; words are not broken."""
    whole = {"break_long_words": False, "break_on_hyphens": False}
    return "\n".join(part for line in name.split("\n") for part in textwrap.wrap(line, width, **whole))


def first(runs, kind: str, *preferred: str) -> str:
    """The first of these places that was run, else any."""
    there = [p.removeprefix(f"{kind}-") for p in places(runs)]
    return next((p for p in preferred if p in there), there[0])


def narrower(n: int) -> float:
    """The width of the `n`th of several curves that may lie on each other: each leaves the one under it to be seen."""
    return max(3.4 - 0.5 * n, 0.8)


def published_row(table, there, n: int):
    return [table[p][n] if table[p] else None for p in there]


def log_bars(groups, series, ylabel: str, published, width: float = 5.0, errors=None):
    """Bars on a logarithmic axis that leaves the shortest one visible; `errors`: intervals over the seeds."""
    fig = plots.bars(groups, series, ylabel, log=True, published=published, errors=errors, width=width)
    values = [x for table in (series, published) for row in table.values() for x in row if x]
    fig.axes[0].set_ylim(bottom=min(values) / 2)
    return fig


# --- Replay -------------------------------------------------------------------------------------------------


@figure("table1", "Table 1: packets late in the LSTF replay, in all and by more than T", needs=["udp-*>lstf@*"])
def table_1(runs):
    rows = list(replays.TABLE)
    # Sixteen groups on one page: no line of a label is longer than a group is wide.
    groups = [narrow(brief(place) if s == "random" else NAMES[s].replace("/", "/ ")) for place, s in rows]
    late = [replays.late(runs, *row) for row in rows]
    series = {"late": [x[0] for x in late], "late by more than T": [x[1] or None for x in late]}
    was = [replays.TABLE[row] or (None, None) for row in rows]
    marks = {name: [(w[n] or None) for w in was] for n, name in enumerate(series)}
    half = [
        [interval(runs, replays.replayed(*row), f) for row in rows] for f in (replays.overdue, replays.overdue_by_t)
    ]
    fig = log_bars(groups, series, "fraction of packets", marks, 9.0, dict(zip(series, half, strict=True)))
    fig.axes[0].tick_params(axis="x", labelsize=5.5)
    return fig


@figure(
    "fig1",
    "Figure 1: queueing delay in the replay over that in the original, whole path and routers alone",
    needs=["udp-i2-70:*>lstf@*"],
)
def figure_1(runs):
    fig, axes = plots.figure(6.6, 2.8, columns=2, sharey=True)
    both = (("from the flow's arrival", "with_nic"), ("at routers", "router"))
    for ax, (what, column) in zip(axes, both, strict=True):
        for s in replays.ORIGINALS:
            x, y = replays.ratio_cdf(seeds(runs, replays.replayed("i2-70", s))[0], column)
            ax.plot(x, y, label=NAMES[s])
        ax.set(xlabel=f"delay ratio, {what}", xscale="symlog", xlim=(0, 10), ylim=(0, 1.01))
        ax.xaxis.set_major_formatter(PLAIN)
        ax.axvline(1, color="black", linewidth=0.5)
    axes[0].set(ylabel="fraction of packets")
    fig.legend(*axes[0].get_legend_handles_labels(), loc="outside upper center", ncols=4)
    return fig


@figure(
    "congestion-points",
    "Non-empty router queues that a packet meets (§2.3)",
    needs=[f"{k}>lstf@*" for k in replays.POINTS],
    claims=["UPS-CP*"],
)
def draw_congestion_points(runs):
    numbers = range(8)
    series, marks = {}, {}
    for key, published in replays.POINTS.items():
        name = NETWORKS[split(Key.of(key).place.removeprefix("udp-"))[0]].title
        series[name] = [replays.points(runs, key)[n] for n in numbers]
        marks[name] = [published.get(n) for n in numbers]
    return plots.bars([str(n) for n in numbers], series, "fraction of packets", published=marks)


@figure("candidates", "Other candidates (§2.3): preemptive LSTF, and static priorities o(p)", needs=["udp-i2-70:*>*@*"])
def draw_candidates(runs):
    rows = [(*row, "preemptive") for row in replays.PREEMPTIVE] + [(*row, "priorities") for row in replays.PRIORITIES]
    series = {
        "LSTF": [replays.late(runs, place, s)[0] for place, s, _ in rows],
        "other candidate": [replays.late(runs, *row)[0] for row in rows],
    }
    was = list(replays.PREEMPTIVE.values()) + [x[0] for x in replays.PRIORITIES.values()]
    marks = {"LSTF": [replays.TABLE[place, s][0] for place, s, _ in rows], "other candidate": was}
    groups = [f"{NAMES[s]}\n{'preemptive LSTF' if c == 'preemptive' else 'priorities o(p)'}" for _, s, c in rows]
    return log_bars(groups, series, "fraction late", marks)


@figure(
    "buckets",
    "LSTF by a bucket queue: packets late in all (solid) and by more than T (dashed)",
    needs=[f"{replays.replayed(*row, 'lstf')}*@*" for row in replays.BUCKETS["full"]],
)
def draw_buckets(runs):
    fig, ax = plots.figure(4.6, 2.8)
    widths = replays.DRAWN[runs.scale]
    x = range(1 + len(widths))
    for n, (place, s) in enumerate(replays.BUCKETS[runs.scale]):
        found = replays.late_in_buckets(runs, place, s)
        name = f"{title(place)}, {NAMES[s]}"
        (line,) = ax.plot(x, [ov for ov, _ in found], marker="os^v"[n], markersize=3, label=name)
        ax.plot(x, [ov_t or np.nan for _, ov_t in found], linestyle="--", color=line.get_color())
    ax.set(xlabel="bucket width", ylabel="fraction of packets", yscale="log")
    ax.set_xticks(x, ["exact", *(w.replace("us", " µs").replace("ms", " ms") for w in widths)])
    ax.legend(fontsize=7, loc="lower right")
    return fig


# --- Mean FCT and tail --------------------------------------------------------------------------------------


@figure("fig2", "Figure 2: mean flow completion time", needs=["fct-*"])
def figure_2(runs):
    there = [p for p in fct.PUBLISHED if f"fct-{p}" in places(runs)]
    names = dict(zip(fct.FOUR, ("FIFO", "SRPT", "SJF", "LSTF, size × D"), strict=True))
    series = {names[s]: [fct.times(runs, p)[s] for p in there] for s in fct.FOUR}
    marks = {names[s]: published_row(fct.PUBLISHED, there, n) for n, s in enumerate(fct.FOUR)}
    half = {names[s]: [interval(runs, f"fct-{p}:{s}", fct.average) for p in there] for s in fct.FOUR}
    return log_bars([brief(p) for p in there], series, "mean FCT (s)", marks, 6.6, half)


@figure("fig2-by-size", "Figure 2: mean flow completion time of each size", needs=["fct-i2-70:*"])
def figure_2_by_size(runs):
    fig, ax = plots.figure(4.2, 2.8)
    for n, s in enumerate(fct.FOUR):
        found = [flows(r) for r in seeds(runs, f"fct-i2-70:{s}")]
        size, t = np.concatenate([f.size for f in found]), np.concatenate([f.fct for f in found])
        sizes = np.unique(size)
        look = {"marker": "os^v"[n], "markersize": 3, "linewidth": narrower(n)}
        ax.plot(sizes, [t[size == x].mean() for x in sizes], label=NAMES[s], **look)
    ax.set(xlabel="flow size (B)", ylabel="mean FCT (s)", xscale="log", yscale="log", title=title("i2-70"))
    plots.plain_log(ax)
    ax.legend()
    return fig


@figure("fig3", "Figure 3: tail of the packet delay", needs=["tail-i2-70:*"])
def figure_3(runs):
    fig, ax = plots.figure(4.2, 2.8)
    for s in tail.TWO:
        name = {"fifo": "FIFO", "fifo+": "LSTF, equal slacks"}[s]
        ax.plot(*tail.above(seeds(runs, f"tail-i2-70:{s}")[0]), label=name)
    ax.set(xlabel="packet delay (s)", ylabel="fraction of packets above", yscale="log", ylim=(1e-6, 1))
    ax.set(title=title("i2-70"))
    ax.legend()
    return fig


@figure("fig3-bars", "Figure 3: mean and 99th percentile of the packet delay", needs=["tail-*"])
def figure_3_bars(runs):
    there = [p for p in tail.PUBLISHED if f"tail-{p}" in places(runs)]
    names = ("FIFO, mean", "LSTF, mean", "FIFO, 99 %", "LSTF, 99 %")
    values = [(s, v) for v in (tail.average, tail.p99) for s in tail.TWO]
    series = {n: [mean(runs, f"tail-{p}:{s}", v) for p in there] for n, (s, v) in zip(names, values, strict=True)}
    marks = {n: published_row(tail.PUBLISHED, there, k) for k, n in enumerate(names)}
    half = {n: [interval(runs, f"tail-{p}:{s}", v) for p in there] for n, (s, v) in zip(names, values, strict=True)}
    return log_bars([brief(p) for p in there], series, "packet delay (s)", marks, 6.6, half)


# --- Fairness -----------------------------------------------------------------------------------------------


@figure("fig4", "Figure 4: Jain's index of 90 flows over time", needs=["long:*"])
def figure_4(runs):
    fig, ax = plots.figure(4.6, 2.8)
    for n, s in enumerate(schemes(runs, "long")):
        index = np.mean([fairness.indices(r) for r in seeds(runs, f"long:{s}")], axis=0)
        name = NAMES.get(s) or f"LSTF, {s.removeprefix('lstf-')} Mb/s"
        look = {"linestyle": "--" if s in NAMES else "-", "linewidth": narrower(n)}
        ax.plot(np.arange(1, len(index) + 1), index, label=name, **look)
    ax.set(xlabel="time (ms)", ylabel="Jain's index", ylim=(0, 1.02))
    fig.legend(*ax.get_legend_handles_labels(), loc="outside upper center", ncols=3)
    return fig


@figure("fig11", "Figure 11: a newcomer (solid) among twenty flows (dotted: one of them)", needs=["newcomer:*"])
def figure_11(runs):
    fig, ax = plots.figure(4.6, 2.8)
    for n, s in enumerate(schemes(runs, "newcomer")):
        rate = fairness.rates(seeds(runs, f"newcomer:{s}")[0])
        name = NAMES.get(s) or f"LSTF, {s.removeprefix('lstf-')} Mb/s"
        when = np.arange(len(rate)) + 0.5
        look = {"color": plots.COLOURS[n], "linewidth": narrower(n)}
        ax.plot(when, rate[:, -1], label=name, **look)
        ax.plot(when, rate[:, 0], linestyle=":", **look)
    ax.axhline(fairness.SHARE, color="black", linewidth=0.5, label="fair share")
    ax.set(xlabel="time after the newcomer's start (ms)", ylabel="rate (Mb/s)", ylim=(0, None))
    fig.legend(*ax.get_legend_handles_labels(), loc="outside upper center", ncols=3)
    return fig


@figure("fig12", "Figure 12: weights of A, B, C; horizontal: expected", needs=["weights:*"])
def figure_12(runs):
    rows = list(fairness.WEIGHTS)
    found = [np.mean([fairness.throughput(r) for r in seeds(runs, f"weights:{w}")], axis=0) for w in rows]
    series = {f: [x[n] for x in found] for n, f in enumerate("ABC")}
    was = [fairness.WEIGHTS[w] or (None,) * 3 for w in rows]
    marks = {f: [w[n] for w in was] for n, f in enumerate("ABC")}
    fig = plots.bars([w.replace("-", "\n") for w in rows], series, "throughput (Mb/s)", published=marks, width=5.4)
    for group, w in enumerate(rows):
        for n, x in enumerate(weighted_shares(*fairness.weights(w))):
            place = group + (n - 1) * 0.8 / 3
            fig.axes[0].plot([place - 0.13, place + 0.13], [x, x], color="black", linewidth=0.8)
    fig.axes[0].set(xlabel="weights of A, B, C")
    return fig


@figure("fig5", "Figure 5: distribution of flow completion times", needs=["fair-*"])
def figure_5(runs):
    place = first(runs, "fair", "i2-70")
    estimates = [s for s in schemes(runs, f"fair-{place}") if s.removeprefix("lstf-").isdigit()]
    if place == "i2-70":
        estimates = [f"lstf-{r}" for r in shares.FIGURE_5]
    fig, ax = plots.figure(4.6, 2.8)
    for s in ("fifo", "fq", *estimates):
        x, y = thinned_cdf(np.concatenate([flows(r).fct for r in seeds(runs, f"fair-{place}:{s}")]))
        name = NAMES.get(s) or f"LSTF, {s.removeprefix('lstf-')} Mb/s"
        ax.plot(x, y, label=name, linestyle="--" if s in NAMES else "-")
    ax.set(xlabel="FCT (s)", ylabel="fraction of flows", xscale="log", ylim=(0, 1.01), title=title(place))
    ax.xaxis.set_major_formatter(PLAIN)
    fig.legend(*ax.get_legend_handles_labels(), loc="outside upper center", ncols=3)
    return fig


@figure("table2", "Table 2: FCT across bytes over r_est; horizontal: FIFO (dashed) and FQ (dotted)", needs=["fair-*"])
def table_2(runs):
    there = [p for p in shares.PUBLISHED if f"fair-{p}" in places(runs)]
    fig, ax = plots.figure(5.0, 3.2)
    for n, p in enumerate(there):
        by_estimate = shares.estimates(runs, p)
        x = sorted(by_estimate)
        ax.plot(
            x, [by_estimate[r] for r in x], color=plots.COLOURS[n], marker="os^vDP"[n], markersize=3, label=title(p)
        )
        for s, line in (("fifo", "--"), ("fq", ":")):
            ax.axhline(mean(runs, f"fair-{p}:{s}", bytes_fct), color=plots.COLOURS[n], linestyle=line, linewidth=0.8)
        if shares.PUBLISHED[p]:
            values, best, _ = shares.PUBLISHED[p]
            ax.plot([best], [values[2]], "D", color=plots.COLOURS[n], markerfacecolor="none")
    ax.set(xlabel="r_est (Mb/s)", ylabel="FCT across bytes (s)", xscale="log", yscale="log")
    plots.plain_log(ax)
    plots.plain_log_x(ax)
    ax.plot([], [], "kD", markerfacecolor="none", label="published, best r_est")
    fig.legend(*ax.get_legend_handles_labels(), loc="outside upper center", ncols=3)
    return fig


# --- The edge -----------------------------------------------------------------------------------------------


@figure("fig6", "Figure 6: FCT and RTT by flow size: mean, with 10th and 99th percentile", needs=["fair-*"])
def figure_6(runs):
    place = first(runs, "fair", "tenth-70")
    fig, axes = plots.figure(7.0, 3.0, columns=2)
    for ax, what in zip(axes, ("fct", "rtt"), strict=True):
        for n, s in enumerate(edge.FIVE):
            found = [flows(r) for r in seeds(runs, f"fair-{place}:{s}")]
            parts = [np.concatenate([getattr(f, f"{what}_of")(b) for f in found]) for b in BUCKETS]
            middle = np.array([p.mean() for p in parts])
            low, high = (np.array([np.percentile(p, q) for p in parts]) for q in (10, 99))
            error = np.maximum([middle - low, high - middle], 0)
            x = np.arange(len(BUCKETS)) + (n - 2) * 0.15
            ax.errorbar(x, middle, error, fmt="os^vD"[n], markersize=3, linewidth=0.8, label=NAMES[s])
        ax.set_xticks(range(len(BUCKETS)), BUCKETS)
        ax.set(xlabel="flow size (packets)", ylabel=f"{what.upper()} (s)", yscale="log")
        plots.plain_log(ax)
    fig.legend(*axes[0].get_legend_handles_labels(), loc="outside upper center", ncols=5)
    return fig


@figure("fig6-bars", "Figure 6: FCT and RTT across bytes", needs=edge.ALL)
def figure_6_bars(runs):
    there = [p.removeprefix("fair-") for p in edge.complete(runs)]
    groups, (series, marks, half) = [], ({NAMES[s]: [] for s in edge.FIVE} for _ in range(3))
    for n, (what, value) in enumerate((("FCT", bytes_fct), ("RTT", bytes_rtt))):
        for p in there:
            groups.append(f"{brief(p)}\n{what}")
            for k, s in enumerate(edge.FIVE):
                series[NAMES[s]].append(mean(runs, f"fair-{p}:{s}", value))
                half[NAMES[s]].append(interval(runs, f"fair-{p}:{s}", value))
                marks[NAMES[s]].append(edge.PUBLISHED[p][n][k])
    fig = log_bars(groups, series, "across bytes (s)", marks, max(7.5, 1.1 * len(groups)), half)
    fig.axes[0].tick_params(axis="x", labelsize=6)
    return fig


@figure("table4", "Table 4: refresh threshold R of Edge-CoDel, I2 / 10, 70 %", needs=["fair-tenth-70:lstf+edge*@*"])
def table_4(runs):
    fig, axes = plots.figure(5.4, 2.4, columns=2)
    for ax, n, name, value in zip(axes, (0, 1), ("FCT", "RTT"), (bytes_fct, bytes_rtt), strict=True):
        y = edge.by_threshold(runs, value)
        ax.plot(list(y), list(y.values()), marker="o", markersize=4, label="measured")
        ax.plot(
            list(edge.REFRESH),
            [x[n] for x in edge.REFRESH.values()],
            "kD",
            markerfacecolor="none",
            label="published",
        )
        ax.set(xlabel="R (ms)", ylabel=f"{name} across bytes (s)")
        ax.set_ylim(0, 1.08 * ax.dataLim.y1)
    axes[0].legend()
    return fig


@figure(
    "table3",
    "Table 3: marking in switches and at the edge, DCTCP, datacenter",
    needs=["ecn-*", "fct-datacenter-70:fifo@*"],
)
def table_3(runs):
    loads = [int(p.removeprefix("ecn-")) for p in places(runs) if p.startswith("ecn-")]
    groups, series, marks = [], {NAMES[s]: [] for s in edge.THREE}, {NAMES[s]: [] for s in edge.THREE}
    for n, what in enumerate(("FCT", "RTT")):
        for u in loads:
            groups.append(f"{what}\n{u} %")
            found = edge.marked(runs, u)[n]
            for k, s in enumerate(edge.THREE):
                series[NAMES[s]].append(1e3 * found[s])
                marks[NAMES[s]].append(edge.MARKING[u][n][k] * (1e3 if n == 0 else 1))
    return log_bars(groups, series, "mean (ms)", marks, 5.4)
