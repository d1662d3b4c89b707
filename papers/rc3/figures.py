"""The paper's figures, drawn from this study's runs. Diamonds: published."""

from __future__ import annotations

import numpy as np

from thalweg import plots
from thalweg.study import figure, half_interval, places, seeds

from . import completion, model, theory
from .outcome import S5, S1187, SIZES, Pair, pair
from .settings import NAMES, PLACES

PACKETS = [str(s // 1460) for s in SIZES]
DEFAULT = ["i2-30:tcp@*", "i2-30:rc3@*"]


def brief(place: str) -> str:
    return PLACES[place].title.replace(", ", "\n")


def by_size(series, ylabel: str = "reduction (%)", *, all_flows: bool = False, **more):
    """Bars of each size, and of all flows."""
    fig = plots.bars([*PACKETS, "all"] if all_flows else PACKETS, series, ylabel, **more)
    fig.axes[0].set_xlabel("flow size (packets)")
    return fig


def between_seeds(p: Pair) -> list[float]:
    """Half the 95 % interval of each size's mean over the seeds, and of that of all flows."""
    rows = np.array([[*(one.sized(s) for s in SIZES), one.flows()] for one in p.each()])
    return [half_interval(column) for column in rows.T] if len(rows) > 1 else [np.nan] * rows.shape[1]


@figure(
    "fig4", "Figure 2.4: the model's gain for three pipes, and what is measured", needs=DEFAULT, claims=["RC3-F4-*"]
)
def figure_4(runs):
    p, sizes = pair(runs, "i2-30"), [s // 1460 for s in SIZES]
    series = {
        f"model, {name}": [model.gain(n, rate=a, rtt=t) for n in sizes] for name, (a, t) in theory.NETWORKS.items()
    }
    series["measured, 5 MB"] = [p.sized(s) for s in SIZES]
    return plots.lines(sizes, series, "flow size (packets)", "reduction (%)", log_x=True)


@figure("fig7", "Figure 2.7: reduction per flow size, simulated; diamonds: the authors' model", needs=DEFAULT)
def figure_7(runs):
    both = zip(seeds(runs, "i2-30:tcp"), seeds(runs, "i2-30:rc3"), strict=True)
    rows = np.array([[p.sized(s) for s in SIZES] for p in (Pair(one) for one in both)])
    gain = {"RC3": rows.mean(axis=0).tolist()}
    errors = {"RC3": rows.std(axis=0, ddof=1).tolist()} if len(rows) > 1 else None
    published = {"RC3": [model.PUBLISHED[s] for s in SIZES]}
    return by_size(gain, published=published, errors=errors, width=5.0)


def sized(runs, places):
    found = {brief(p).replace("\n", ", "): pair(runs, p) for p in places}
    errors = {name: between_seeds(p)[:-1] for name, p in found.items()}
    return by_size({name: [p.sized(s) for s in SIZES] for name, p in found.items()}, errors=errors, width=6.5)


@figure("fig8a", "Figure 2.8a: reduction per flow size at three loads", needs=[f"{p}:*" for p in completion.LOADS])
def figure_8a(runs):
    return sized(runs, completion.LOADS)


@figure("fig8b", "Figure 2.8b: reduction per flow size for four networks", needs=[f"{p}:*" for p in completion.LINKS])
def figure_8b(runs):
    return sized(runs, completion.LINKS)


def table(runs, published):
    found = [pair(runs, p) for p in published]
    ours = {"over flows": [p.flows() for p in found], "over bytes": [p.bytes() for p in found]}
    theirs = list(published.values())
    marks = {
        "over flows": [100 * (1 - after / before) for before, after, _, _ in theirs],
        "over bytes": [100 * (1 - after / before) for _, _, before, after in theirs],
    }
    fig = plots.bars([brief(p) for p in published], ours, "reduction (%)", published=marks, width=7.2)
    fig.axes[0].tick_params(axis="x", labelsize=6)
    return fig


@figure(
    "averages",
    "Figure 2.8, averages: loads, link rates and delays",
    needs=[f"{p}:{s}@*" for p in (*completion.LOADS, *completion.LINKS) for s in ("tcp", "rc3")],
    claims=["RC3-F8*"],
)
def draw_averages(runs):
    return table(runs, completion.LOADS | completion.LINKS)


@figure(
    "table1",
    "Table 2.1: other networks and workloads",
    needs=[f"{p}:{s}@*" for p in completion.TABLE for s in ("tcp", "rc3")],
)
def table_1(runs):
    return table(runs, completion.TABLE)


@figure("fig9", "Figure 2.9: mean completion time under random losses", needs=["loss-*", *DEFAULT])
def figure_9(runs):
    there = ["i2-30", *(p for p in places(runs) if p.startswith("loss-"))]
    means = [pair(runs, p).means() for p in there]
    rate = [0.0] + [float(p.removeprefix("loss-")) for p in there[1:]]
    series = {"TCP": [m["before"] for m in means], "RC3": [m["after"] for m in means]}
    fig = plots.lines(rate, series, "loss per queue (%)", "mean FCT (s)")
    fig.axes[0].set_ylim(bottom=0)
    return fig


@figure("fig10", "Figure 2.10: levels, 100 Mb/s and 40 ms", needs=["100m-40ms:*"])
def figure_10(runs):
    schemes = ("rc3-1", "rc3-3", "rc3-10")
    series = {NAMES[s]: [pair(runs, "100m-40ms", s).sized(z) for z in SIZES] for s in schemes}
    return by_size(series, width=6.5)


@figure("fig11", "Figure 2.11: distribution of completion times, flows of 7.3 KB and 1.7 MB", needs=DEFAULT)
def figure_11(runs):
    p = pair(runs, "i2-30")
    series = {}
    for size, name in ((S5, "7.3 KB"), (S1187, "1.7 MB")):
        series |= {f"TCP, {name}": p.before[p.size == size], f"RC3, {name}": p.after[p.size == size]}
    fig = plots.cdf(series, "FCT (s)")
    ax = fig.axes[0]
    for k, ms in enumerate(completion.STEPS * 1e3):  # the axis is in ms
        label = "" if k else "steps of TCP, 7.3 KB"
        ax.axvline(ms, color="black", linestyle="--", linewidth=0.6, alpha=0.6, label=label)
    ax.get_legend().remove()
    fig.legend(*ax.get_legend_handles_labels(), loc="outside upper center", ncols=3)
    return fig


@figure("fig12", "Figure 2.12: median throughput per flow", needs=DEFAULT, claims=["RC3-SUM-a", "RC3-F7-a"])
def figure_12(runs):
    p = pair(runs, "i2-30")
    rates = {
        name: [float(np.median(8e-6 * s / x[p.size == s])) for s in SIZES]
        for name, x in (("TCP", p.before), ("RC3", p.after))
    }
    return by_size(rates, "Mb/s", log=True, width=5.0)


@figure("fig13a", "Figure 2.13a: larger initial windows", needs=["i2-30:*"])
def figure_13a(runs):
    base = runs["i2-30:tcp@1"]
    pairs = {NAMES[s]: Pair((base, runs[f"i2-30:{s}@1"])) for s in ("iw10", "iw50", "rc3")}
    series = {name: [*(p.sized(s) for s in SIZES), p.flows()] for name, p in pairs.items()}
    published = {name: [None] * len(SIZES) + [x] for name, x in zip(pairs, (13, 24, 44), strict=True)}
    return by_size(series, all_flows=True, published=published, width=6.5)


@figure("fig14", "Figure 2.14: RC3 and RCP against TCP", needs=["i2-30-settled:*"])
def figure_14(runs):
    found = {NAMES[s]: pair(runs, "i2-30-settled", s) for s in ("rc3", "rcp")}
    series = {name: [*(p.sized(s) for s in SIZES), p.flows()] for name, p in found.items()}
    errors = {name: between_seeds(p) for name, p in found.items()}
    return by_size(series, all_flows=True, errors=errors, width=6.5)
