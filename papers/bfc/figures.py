"""The paper's figures, drawn from this study's runs."""

from __future__ import annotations

import numpy as np

from thalweg import plots
from thalweg.study import figure

from .crowds import ELEPHANTS, herd, mice
from .fabric import ALL, ALPHAS, CREDITS, INCAST_SHORTEST, LOADS, MAIN, SHORTEST, TABLES, Point, burst, keys, plain
from .link import KS, XS, empty, lone, model
from .outcome import bins, busy, competing, flows, short
from .receivers import RACK, WAITS, alpha, credits, rack, recorded, waits
from .settings import NAMES
from .switches import FACTORS, GROUP, bed_used, g1, two
from .variants import classed, table


def curves(results: dict, workload: str, title: str, ax) -> None:
    for n, (s, r) in enumerate(results.items()):
        found = bins(r, workload)
        at = [min(k, 2e7) / 1e3 for k in found]
        ax.plot(at, list(found.values()), label=NAMES.get(s, s), markersize=3, **plots.look(n))
    ax.set(xscale="log", yscale="log", xlabel="flow size, at most (KB)", title=title)


def pairs(runs, names, left, right, workload):
    fig, axes = plots.figure(7.4, 3.0, columns=2, sharey=True)
    for ax, (title, make) in zip(axes, (left, right), strict=True):
        curves({s: runs[make(workload, s).key] for s in names}, workload, title, ax)
    axes[0].set(ylabel="p99 slowdown")
    return named(fig, axes[0], 5)


def named(fig, ax, columns: int):
    """The legend above, where it covers nothing."""
    fig.legend(*ax.get_legend_handles_labels(), loc="outside upper center", ncols=columns)
    return fig


INCASTS, NONE = ("55 % and 5 % incasts", burst), ("60 %", plain)


@figure("fig9", "Figures 3-9, 3-10: Google", needs=keys(*(m("google", s) for m in (burst, plain) for s in ALL)))
def figure_9(runs):
    return pairs(runs, ALL, INCASTS, NONE, "google")


@figure("fig11", "Figure 3-11: Facebook", needs=keys(*(m("fb", s) for m in (burst, plain) for s in ALL)))
def figure_11(runs):
    return pairs(runs, ALL, INCASTS, NONE, "fb")


@figure(
    "fig9b",
    "Figures 3-9b, 3-10b: memory of switches",
    needs=keys(*(m("google", s) for m in (burst, plain) for s in MAIN)),
)
def figure_9b(runs):
    fig, axes = plots.figure(6.6, 2.6, columns=2)
    for ax, (title, make) in zip(axes, (INCASTS, NONE), strict=True):
        for n, s in enumerate(MAIN):
            held = np.sort(busy(runs[make("google", s).key]).ravel()) / 1e6
            ax.plot(held, np.linspace(0, 1, len(held)), label=NAMES[s], **plots.curve(n))
        ax.set(title=title, xlabel="held by a switch (MB)", ylim=(0.8, 1.002))
    axes[0].axvline(12, color="black", linestyle="--", linewidth=0.6, label="a switch's memory")
    axes[0].set(ylabel="share of the samples")
    return named(fig, axes[0], 4)


@figure("fig10c", "Figure 3-10c: flows that wait at a port", needs=keys(burst("google", "bfc"), plain("google", "bfc")))
def figure_10c(runs):
    fig, ax = plots.figure(3.4, 2.6)
    for title, make in (INCASTS, NONE):
        waiting = np.sort(competing(runs[make("google", "bfc").key])[0])
        ax.plot(waiting, np.linspace(0, 1, len(waiting)), label=title)
    ax.axvline(32, color="black", linestyle="--", linewidth=0.6, label="queues")
    ax.set(xlabel="flows", ylabel="share of the samples", ylim=(0.9, 1.001))
    ax.legend(fontsize=7, loc="lower right")
    return fig


SWEPT = ("bfc", "bfc128", "ideal-fq", "dctcp")


@figure(
    "fig12",
    "Figure 3-12: load",
    needs=keys(*(Point("fb", s, load) for load in LOADS["quick"] for s in SWEPT)),
)
def figure_12(runs):
    fig, ax = plots.figure(3.6, 2.8)
    for n, s in enumerate(SWEPT):
        at = LOADS["quick"]
        found = [short(runs[Point("fb", s, load).key], "fb") for load in at]
        ax.plot(at, found, label=NAMES[s], markersize=4, **plots.look(n))
    ax.set(xlabel="load (%)", ylabel="p99 slowdown, < 3 KB", yscale="log", ylim=(0.9, None))
    plots.plain_log(ax)
    return named(fig, ax, 2)


@figure("fig14", "Figure 3-14: elephants and mice", needs=[herd(n) for n in ELEPHANTS["quick"]])
def figure_14(runs):
    fig, ax = plots.figure(3.4, 2.6)
    for n, (victim, name) in enumerate(((0, "direct"), (1, "indirect"))):
        at = ELEPHANTS["quick"]
        ax.plot(at, [mice(runs[herd(k)], victim) for k in at], label=name, markersize=4, **plots.look(n))
    ax.axvline(31, color="black", linestyle="--", linewidth=0.6, label="queues")
    ax.set(xlabel="elephants", ylabel="median slowdown of mice", xscale="log", yscale="log")
    ax.legend(fontsize=7)
    return fig


@figure("fig17", "Figure 3-17: four classes", needs=keys(*(classed(s) for s in ("bfc", "dctcp", "hpcc"))))
def figure_17(runs):
    fig, axes = plots.figure(7.2, 2.6, columns=4, sharey=True)
    for cls, ax in enumerate(axes):
        for n, s in enumerate(("bfc", "hpcc", "dctcp")):
            found = bins(runs[classed(s).key], "fb", cls=cls, least=20)
            at = [min(k, 2e7) / 1e3 for k in found]
            ax.plot(at, list(found.values()), label=NAMES[s], markersize=3, **plots.look(n))
        ax.set(xscale="log", yscale="log", title=f"class {cls}", xlabel="KB")
    axes[0].set(ylabel="p99 slowdown")
    return named(fig, axes[0], 3)


@figure("fig22", "Figure 3-22: size of the flow table", needs=keys(*(table(n) for n in (*TABLES, 100))))
def figure_22(runs):
    fig, ax = plots.figure(3.4, 2.6)
    at = sorted((*TABLES, 100))
    ax.plot(at, [short(runs[table(n).key], "fb") for n in at], "o-")
    ax.set(xlabel="entries per queue", ylabel="p99 slowdown, < 3 KB", xscale="log", ylim=(0, None))
    ax.set_xticks(at, [str(n) for n in at])
    ax.minorticks_off()
    return fig


@figure(
    "fig21", "Figure 3-21: dynamic and stochastic assignment", needs=keys(*(burst("fb", s) for s in ("bfc", "hashed")))
)
def figure_21(runs):
    fig, ax = plots.figure(3.4, 2.6)
    curves({s: runs[burst("fb", s).key] for s in ("bfc", "hashed")}, "fb", "", ax)
    ax.set(ylabel="p99 slowdown")
    ax.legend(fontsize=7)
    return fig


@figure("fig7", "Figure 3-7: threshold at the testbed", needs=[two(f) for f in FACTORS])
def figure_7(runs):
    fig, axes = plots.figure(6.0, 2.4, columns=2)
    at, found = [2 * f for f in FACTORS], np.array([bed_used(runs[two(f)]) for f in FACTORS])
    panels = ((100 * found[:, 0], 100, "utilisation (%)"), (found[:, 1], 15, "mean queue (KB)"))
    for ax, (values, published, label) in zip(axes, panels, strict=True):
        ax.plot(at, values, "o-", markersize=4, label="measured")
        ax.plot(2, published, "kD", markerfacecolor="none", label="published, 2 us")
        ax.set(xlabel="threshold (us)", ylabel=label, ylim=(0, 1.08 * max(published, *values)))
    return named(fig, axes[0], 2)


@figure("fig8", "Figure 3-8: assignment at the testbed", needs=["g1-*"])
def figure_8(runs):
    fig, ax = plots.figure(3.6, 2.8)
    for k, name in enumerate(("single", "hashed", "bfc")):
        found = [g1(runs, name, n) for n in GROUP]
        at, look = np.array(GROUP) + 0.15 * (k - 1), plots.look(k)
        ax.errorbar(at, [x.mean() for x in found], [x.std() for x in found], capsize=2, label=NAMES[name], **look)
    ax.plot(GROUP, [30 * (n + 8) for n in GROUP], "k--", linewidth=0.8, label="30 (n + 8) us")
    ax.set(xlabel="G2 flows", ylabel="completion of G1 (us)", ylim=(0, None), xticks=GROUP)
    return named(fig, ax, 2)


@figure("figC1", "Figure C-1: a lone flow", needs=[lone(k, x) for k in KS for x in XS], claims=["BFC-C1-*"])
def figure_c1(runs):
    fig, ax = plots.figure(3.4, 2.6)
    dense = np.linspace(1.01, 1.03 * max(XS), 100)
    for k in KS:
        (line,) = ax.plot(dense, model(k, dense), linewidth=0.8)
        ax.plot(XS, [empty(runs[lone(k, x)], 50e9)[0] for x in XS], "o", color=line.get_color(), label=f"k = {k:g}")
    ax.set(xlabel="x", ylabel="share of the time\nwithout a packet", ylim=(0, None))
    ax.legend(fontsize=7, title="dots: measured", title_fontsize=7)
    return fig


@figure(
    "figF6", "Figure F-6: the incasts' own flows", needs=keys(*(burst("google", s) for s in ALL)), claims=["BFC-FF6-a"]
)
def figure_f6(runs):
    fig, ax = plots.figure(4.6, 3.0)
    for n, s in enumerate(ALL):
        found = np.sort(flows(runs[burst("google", s).key]).of(0, np.inf, incast=True))
        ax.plot(found, np.linspace(0, 1, len(found)), label=NAMES[s], **plots.curve(n))
    ax.set(xlabel="slowdown", ylabel="share of the flows")
    return named(fig, ax, 4)


def workloads(runs, names, make):
    """Google's sizes, and Facebook's."""
    fig, axes = plots.figure(6.6, 2.6, columns=2, sharey=True)
    for ax, (w, title) in zip(axes, (("google", "Google"), ("fb", "Facebook")), strict=True):
        curves({s: runs[make(w, s).key] for s in names}, w, title, ax)
        plots.plain_log(ax)
    axes[0].set(ylabel="p99 slowdown")
    return named(fig, axes[0], 4)


BOTH = ("google", "fb")


def shortest(name: str, title: str, names, make, claims: list[str]) -> None:
    """Declares a figure of Homa and SRF."""

    @figure(name, title, needs=keys(*(make(w, s) for w in BOTH for s in names)), claims=claims)
    def measured(runs):
        return workloads(runs, names, make)


shortest("figF1", "Figure F-1: Homa and SRF, no incasts", SHORTEST, plain, ["BFC-FF1-[ab]", "BFC-H-e"])
shortest("figF2", "Figure F-2: Homa and SRF, one receiver", RACK, rack, ["BFC-FF2-a", "BFC-H-e"])
shortest("figF3", "Figure F-3: Homa and SRF with incasts", INCAST_SHORTEST, burst, ["BFC-FF3-*"])


# 95th and 99th percentile, us.
PUBLISHED_WAITS = {
    "Agg-ToR": dict(zip(WAITS, ((2.4, 6.7), (40.8, 87.2)), strict=True)),
    "ToR-Agg": dict(zip(WAITS, ((2.1, 6.0), (43.7, 93.3)), strict=True)),
}


@figure(
    "tabF1",
    "Table F.1: how long Homa's scheduled packets wait",
    needs=keys(*(recorded(s) for s in WAITS)),
    claims=["BFC-TF1-a"],
)
def draw_tabf1(runs):
    fig, axes = plots.figure(6.6, 2.4, columns=2, sharey=True)
    for ax, layer in zip(axes, ("Agg-ToR", "ToR-Agg"), strict=True):
        for n, s in enumerate(WAITS):
            found = np.sort(waits(runs[recorded(s).key])[layer])
            colour = plots.COLOURS[n]
            ax.plot(found, np.linspace(0, 1, len(found)), color=colour, label=NAMES[s])
            ax.plot(PUBLISHED_WAITS[layer][s], (0.95, 0.99), "D", color=colour, markersize=5, markerfacecolor="none")
        ax.plot([], [], "kD", markerfacecolor="none", label="published")
        ax.set(title=layer, xlabel="queueing delay (us)", xscale="symlog", xlim=(0, 300), ylim=(0.5, 1.015))
        ax.set_xticks([0, 1, 3, 10, 30, 100, 300], ["0", "1", "3", "10", "30", "100", "300"])
    axes[0].set(ylabel="share of the packets")
    return named(fig, axes[0], 3)


@figure(
    "figF4",
    "Figure F-4c, F-4d: ExpressPass' parameters",
    needs=keys(*(plain("fb", s) for s in {*map(credits, CREDITS), *map(alpha, ALPHAS)})),
    claims=["BFC-FF4-[cd]"],
)
def figure_f4(runs):
    panels = (
        ("credits that may wait", {f"{n}": credits(n) for n in CREDITS}),
        ("α", {f"1/{1 / x:g}": alpha(x) for x in ALPHAS}),
    )
    fig, axes = plots.figure(6.6, 2.6, columns=2, sharey=True)
    for ax, (title, names) in zip(axes, panels, strict=True):
        curves({name: runs[plain("fb", s).key] for name, s in names.items()}, "fb", title, ax)
        ax.legend(fontsize=6)
        plots.plain_log(ax)
    axes[0].set(ylabel="p99 slowdown")
    return fig
