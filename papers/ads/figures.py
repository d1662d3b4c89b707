"""The paper's figures, and what it says about robustness, drawn from this study's runs. Diamonds: published."""

from __future__ import annotations

import matplotlib
import numpy as np

from thalweg import plots
from thalweg.study import figure, places

from .outcome import completion, slowdown
from .settings import HOSTS, MORE_RATES, RATES, SCHEDULERS, SWITCHES_ONLY, WORKLOADS
from .study import HEAVY, grid, sweep_of

NAMES = {
    "mintcp": "minTCP",
    "tcp": "TCP",
    "dctcp": "DCTCP",
    "rcp": "RCP",
    "vivace": "PCC",
    "fifo": "FIFO",
    "fq": "FQ",
    "sjf": "SJF",
    "srpt": "SRPT",
}
ADS_BARS = ("fifo", "ads-2-static", "ads-2-dynamic", "ads-8-static", "ads-8-dynamic", "srpt")


def label(name: str) -> str:
    if name.startswith("ads-"):
        _, k, table = name.split("-")
        return f"ADS-{k} {table}"
    return NAMES[name]


def schedulers_by_rate(runs, value, ylabel: str, *, log: bool, published=None):
    series = {NAMES[s]: [value(completion(runs[f"{HEAVY}:{r}+{s}"])) for r in RATES] for s in SCHEDULERS}
    marks = None
    if published:
        # Ratios to SRPT, drawn from where SRPT was measured.
        marks = {
            NAMES[s]: [
                published[s, r] * series["SRPT"][n] if (s, r) in published else None for n, r in enumerate(RATES)
            ]
            for s in dict.fromkeys(s for s, _ in published)
        }
    fig = plots.bars([NAMES[r] for r in RATES], series, ylabel, log=log, published=marks, width=5.0)
    if ylabel == "average slowdown":
        fig.axes[0].set_ylim(bottom=1)
    return fig


@figure(
    "fig1a",
    "Figure 1a: average slowdown (diamonds: published ratio × SRPT as measured)",
    needs=grid(HEAVY),
    claims=["ADS-F1a.*"],
)
def figure_1a(runs):
    published = {("fifo", "tcp"): 9.7, ("fq", "tcp"): 1.8, ("fifo", "dctcp"): 2.2}
    return schedulers_by_rate(
        runs, lambda c: float(c.slowdowns.mean()), "average slowdown", log=True, published=published
    )


@figure("fig1b", "Figure 1b: average completion time", needs=grid(HEAVY), claims=["ADS-F1b"])
def figure_1b(runs):
    return schedulers_by_rate(runs, lambda c: c.average * 1e3, "average FCT (ms)", log=False)


@figure("fig1c", "Figure 1c: 99th percentile of completion times", needs=grid(HEAVY), claims=["ADS-F1c.*"])
def figure_1c(runs):
    return schedulers_by_rate(runs, lambda c: c.p99 * 1e3, "99th percentile FCT (ms)", log=False)


SHOWN = [(HEAVY, r) for r in (*RATES, *MORE_RATES)]
SHOWN.insert(-1, (SWITCHES_ONLY, "rcp"))


@figure(
    "more-rates",
    "RCP and PCC (footnote 2: run by the authors, not shown): average slowdown",
    needs=[f"{point}:{r}+{s}" for point, r in SHOWN for s in SCHEDULERS],
)
def draw_more_rates(runs):
    names = [NAMES[r] + (",\nswitches only" if point == SWITCHES_ONLY else "") for point, r in SHOWN]
    series = {NAMES[s]: [slowdown(runs, f"{point}:{r}+{s}") for point, r in SHOWN] for s in SCHEDULERS}
    fig = plots.bars(names, series, "average slowdown", log=True, width=6.2)
    fig.axes[0].set_ylim(bottom=1)
    return fig


def ads_bars(runs, workload: str, names, rates, published=None):
    series = {label(n): [slowdown(runs, f"{workload}:{r}+{n}") for r in rates] for n in names}
    marks = None
    if published:
        srpt = series["SRPT"][rates.index("tcp")]
        marks = {label(n): [x * srpt if r == "tcp" else None for r in rates] for n, x in published.items()}
    fig = plots.bars([NAMES[r] for r in rates], series, "average slowdown", log=True, published=marks, width=6.2)
    fig.axes[0].set_ylim(bottom=1)
    return fig


def ads_keys(workload: str, names, rates) -> list[str]:
    return [f"{workload}:{r}+{n}" for r in rates for n in names]


WITH_FOUR = (
    "fifo",
    "ads-2-static",
    "ads-2-dynamic",
    "ads-4-static",
    "ads-4-dynamic",
    "ads-8-static",
    "ads-8-dynamic",
    "srpt",
)


@figure(
    "fig2",
    "Figure 2 with ADS-4: heavy-tailed workload (diamonds: published ratios for TCP × SRPT as measured)",
    needs=ads_keys(HEAVY, WITH_FOUR, RATES),
    claims=["ADS-F2.*"],
)
def figure_2(runs):
    published = {"fifo": 9.7, "ads-2-dynamic": 3 * 1.066, "ads-8-static": 1.066, "ads-8-dynamic": 1.066}
    return ads_bars(runs, HEAVY, WITH_FOUR, RATES, published)


@figure("fig3", "Figure 3: uniform workload", needs=ads_keys("uniform", ADS_BARS, HOSTS))
def figure_3(runs):
    return ads_bars(runs, "uniform", ADS_BARS, HOSTS)


@figure("fig4", "Figure 4: Facebook workload", needs=ads_keys("facebook", ADS_BARS, HOSTS))
def figure_4(runs):
    return ads_bars(runs, "facebook", ADS_BARS, HOSTS)


@figure("by-size", "Average slowdown of each flow size of the workload", needs=[f"{HEAVY}:*dctcp+*", f"{HEAVY}:tcp+*"])
def draw_by_size(runs):
    shown = ("fifo", "fq", "srpt", "ads-2-dynamic", "ads-8-dynamic")
    fig, axes = plots.figure(6.2, 2.8, columns=2, sharey=True)
    for ax, r in zip(axes, HOSTS, strict=True):
        for n, name in enumerate(shown):
            found = completion(runs[f"{HEAVY}:{r}+{name}"])
            sizes = np.unique(found.size)
            y = [found.slowdowns[found.size == size].mean() for size in sizes]
            ax.plot(sizes, y, marker="os^vD"[n], markersize=3, label=label(name))
        ax.set(xlabel="flow size (B)", title=f"{NAMES[r]} hosts", xscale="log", yscale="log")
    axes[0].set(ylabel="average slowdown")
    fig.legend(*axes[0].get_legend_handles_labels(), loc="outside upper center", ncols=5)
    return fig


@figure(
    "robustness",
    "Robustness (§2.3.2): average slowdown over that of SRPT with the same hosts; below 1, SRPT is beaten",
    needs=grid(*WORKLOADS, "load-*", "iw-*", "rtomin-*"),
    claims=["ADS-R.*"],
)
def draw_robustness(runs):
    rows = places(runs)
    columns = [(r, s) for r in RATES for s in SCHEDULERS if s != "srpt"]
    ratio = np.array(
        [[slowdown(runs, f"{p}:{r}+{s}") / slowdown(runs, f"{p}:{r}+srpt") for r, s in columns] for p in rows]
    )
    fig, ax = plots.figure(6.2, 0.9 + 0.24 * len(rows))
    shade = matplotlib.colors.TwoSlopeNorm(0.0, vmin=-0.7, vmax=max(np.log10(ratio).max(), 0.7))
    ax.imshow(np.log10(ratio), cmap="RdBu_r", norm=shade, aspect="auto")
    for y, line in enumerate(ratio):
        for x, value in enumerate(line):
            ink = "white" if abs(shade(np.log10(value)) - 0.5) > 0.33 else "black"
            ax.text(
                x,
                y,
                f"{value:.2f}" if value < 9.95 else f"{value:.0f}",
                ha="center",
                va="center",
                fontsize=7,
                color=ink,
            )
    for edge in (2.5, 5.5):
        ax.axvline(edge, color="white", linewidth=3)
    ax.set_xticks(range(len(columns)), [f"{NAMES[r]}\n{NAMES[s]}" for r, s in columns], fontsize=7)
    ax.set_yticks(range(len(rows)), [spell(p) for p in rows], fontsize=7)
    ax.grid(False)
    ax.tick_params(length=0)
    text = "numbers: average slowdown / that of SRPT with the same hosts (columns); red: SRPT is better, blue: SRPT is beaten"
    fig.supxlabel(text, fontsize=7)
    return fig


def spell(point: str) -> str:
    for head, text in (("load-", "load {} %"), ("iw-", "initial window {}"), ("rtomin-", "RTOmin {}")):
        if point.startswith(head):
            return text.format(point.removeprefix(head))
    return f"{point}{' (default)' if point == HEAVY else ''}"


@figure(
    "foreign-map",
    "Static map of the heavy-tailed workload under other workloads, ADS-8, TCP hosts (§3.3.2)",
    needs=[
        f"{p}{w}:tcp+{n}"
        for w in WORKLOADS[1:]
        for p, n in (("foreign-", "ads-8-static"), ("", "ads-8-dynamic"), ("", "srpt"), ("", "fifo"))
    ],
)
def draw_foreign_map(runs):
    others = WORKLOADS[1:]
    series = {
        "FIFO": [slowdown(runs, f"{w}:tcp+fifo") for w in others],
        "foreign map": [slowdown(runs, f"foreign-{w}:tcp+ads-8-static") for w in others],
        "dynamic map": [slowdown(runs, f"{w}:tcp+ads-8-dynamic") for w in others],
        "SRPT": [slowdown(runs, f"{w}:tcp+srpt") for w in others],
    }
    fig = plots.bars(others, series, "average slowdown", log=True, width=6.2)
    fig.axes[0].set_ylim(bottom=1)
    return fig


@figure(
    "dynamic",
    "Interval I and window W of the dynamic map, TCP hosts (§3.3.2)",
    needs=["published:*", "i-*", "w-*"],
    claims=["ADS-X2"],
)
def draw_dynamic(runs):
    def value(point: str, swept: str) -> float:
        if point == "published":
            return {"i": 5, "w": 10}[swept]
        return float(point[2:].removesuffix("ms"))

    fig, axes = plots.figure(6.2, 2.4, columns=2, sharey=True)
    for ax, swept, text in zip(axes, "iw", ("interval I (ms), W = 10", "window W (intervals of 5 ms)"), strict=True):
        shown = sorted(sweep_of(runs, swept), key=lambda p: value(p, swept))
        for n, k in enumerate((2, 8)):
            y = [slowdown(runs, f"{p}:tcp+ads-{k}-dynamic") for p in shown]
            ax.plot([value(p, swept) for p in shown], y, marker="os"[n], markersize=4, label=f"ADS-{k}")
        ax.set(xlabel=text, xscale="log")
        plots.plain_log_x(ax)
    axes[0].set(ylabel="average slowdown", ylim=(0, None))
    fig.legend(*axes[0].get_legend_handles_labels(), loc="outside upper center", ncols=2)
    return fig


@figure(
    "socket-buffer",
    "Remaining size known, or estimated from the socket's send buffer (§3.2)",
    needs=[
        f"{p}:{r}+{n}" for p in (HEAVY, "socket-buffer") for r in ("tcp", "dctcp") for n in ("srpt", "ads-8-dynamic")
    ],
)
def draw_socket_buffer(runs):
    schemes = [(r, n) for r in ("tcp", "dctcp") for n in ("srpt", "ads-8-dynamic")]
    series = {
        name: [slowdown(runs, f"{p}:{r}+{n}") for r, n in schemes]
        for name, p in (("true remaining size", HEAVY), ("estimate: 3 MB socket buffer", "socket-buffer"))
    }
    return plots.bars([f"{NAMES[r]}\n{label(n)}" for r, n in schemes], series, "average slowdown", width=5.0)
