"""The paper's figures, drawn from this study's runs. Dashed lines: published."""

from __future__ import annotations

import numpy as np

from thalweg import plots
from thalweg.study import drawing, figure

from .hol import keys, means
from .messages import WORKLOADS
from .numbers import ON_WIRE, TOLD, Seen
from .ring import MS, POOLS, k, utilisation
from .settings import NAMES
from .trees import CYCLE, FAILS, FT3_MS, SCHEMES, flows_of, tails


def over_time(series: dict, label: str, levels=()):
    """Gb/s over time; `series` maps a name to (when, values)."""
    pairs = {name: [pair] for name, pair in series.items()}
    return drawing.over_time(pairs, [label], [levels], size=(6.6, 2.4), ncols=6)


@figure(
    "fig8",
    "Figure 4.8: the ring with and without Escape, ten flows per host",
    needs=k("greedy-10:pfc", "greedy-10:escape"),
)
def figure_8(runs):
    found = {
        NAMES[s]: Seen(runs[f"greedy-10:{s}@1"]).windows(5e-4, 0, MS * 1e-3, on_wire=ON_WIRE) for s in ("pfc", "escape")
    }
    return over_time(found, "delivered by all (Gb/s)")


@figure("fig7", "Figure 4.7: utilisation of the ring by T_cap", needs=k(*(f"pool-{p}:escape" for p in POOLS)))
def figure_7(runs):
    fig, ax = plots.figure(3.3, 2.4)
    ax.plot(POOLS, [np.mean(utilisation(runs, f"pool-{p}:escape")) for p in POOLS], marker="o", color=plots.COLOURS[0])
    ax.axhline(0.91, color="grey", linestyle="--", linewidth=0.7)
    ax.set(xlabel="$T_{cap}$ (packets)", ylabel="utilisation", ylim=(0, 1.05))
    return fig


@figure("fig9", "Figure 4.9: 42 flows join six, HPCC and Escape", needs=k("joined:escape"))
def figure_9(runs):
    seen = Seen(runs["joined:escape@1"])
    series = {f"a flow of h{n + 1}": seen.windows(1e-3, 0, 0.1, [2 * n], TOLD) for n in range(3)}
    return over_time(series, "Gb/s", (10, 1.25))


@figure(
    "fig13", "Figures 4.12 and 4.13: the sources of the circle before and after the failures", needs=k("ft3:escape")
)
def figure_13(runs):
    seen = Seen(runs["ft3:escape@1"])
    series = {}
    for pair in CYCLE:
        flows = sorted({*flows_of(pair), *flows_of(pair, True)})
        series[f"h{pair[0] + 1}"] = seen.windows(1e-3, 0, FT3_MS * 1e-3, flows, TOLD)
    fig = over_time(series, "Gb/s", (13.3, 20))
    fig.axes[0].axvline(FAILS, color="grey", linewidth=0.7)
    return fig


@figure(
    "fig15",
    "Figure 4.15: 99th percentile of completion on FT2",
    needs=k(*(f"ft2-{w}-total:{s}" for w in WORKLOADS for s in SCHEMES[1:])),
)
def figure_15(runs):
    return by_size(runs, lambda w: tails(runs, w, SCHEMES[1:]), "99th percentile (ms)")


@figure(
    "fig17",
    "Figure 4.17: mean completion of innocent messages on HOL",
    needs=[key for w in WORKLOADS for key in keys(w, ("pfc", "escape", "gfc"))],
)
def figure_17(runs):
    return by_size(runs, lambda w: means(runs, w, ("pfc", "escape", "gfc")), "mean (ms)")


def by_size(runs, found, label: str):
    fig, axes = plots.figure(6.6, 2.6, columns=2)
    for ax, w in zip(axes, WORKLOADS, strict=True):
        for n, (s, values) in enumerate(found(w).items()):
            # Lines of their own: schemes that never pause lie on each other.
            ms = [v * 1e3 for v in values.values()]
            ax.plot(list(values), ms, markersize=4, label=NAMES[s], **plots.look(n))
        ax.set(xscale="log", yscale="log", xlabel=f"size (B), {w}", ylabel=label)
    fig.legend(*axes[0].get_legend_handles_labels(), loc="outside upper center", ncols=4)
    return fig
