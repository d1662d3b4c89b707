"""The paper's figures, drawn from this study's runs. Diamonds or dashed lines: published."""

from __future__ import annotations

import numpy as np

from thalweg import plots
from thalweg.study import figure, mean, needs, places, seeds
from thalweg.study.drawing import panels

from . import acks, balls, entropies, failures, micro, mixed, symmetric, ultra
from .outcome import average, finish, last, uplinks
from .settings import KMAX, KMIN, NAMES, SCHEMES

# --- A rack's uplinks over time -----------------------------------------------------------------------------

STEP = 20  # us, the figures' interval


def rack(runs, place: str, until: float, dead: tuple = ()):
    """Rates and queues of a rack's uplinks, OPS above REPS."""
    with plots.style():
        fig, axes = plots.figure(6.6, 4.4, rows=2, columns=2, sharex=True, sharey="col")
        for row, scheme in zip(axes, ("ops", "reps"), strict=True):
            found = uplinks(seeds(runs, f"{place}:{scheme}")[0])
            for n in range(found.sent.shape[1]):
                look = {"color": plots.COLOURS[n % 8], "linewidth": 0.9}
                row[0].plot(found.middle(STEP), found.rate(STEP)[:, n], **look)
                row[1].plot(found.at, found.queue[:, n] / 1e3, **look)
            for level in (KMIN, KMAX):
                row[1].axhline(level / 1e3, color="black", linestyle=":", linewidth=0.8)
            for begin, end in dead:
                for ax in row:
                    ax.axvspan(begin, end, color="0.9")
            row[0].set(ylabel=f"{NAMES[scheme]}: Gb/s", ylim=(0, 440), xlim=(0, until))
            row[1].set(ylabel="queue (KB)")
        for ax in axes[-1]:
            ax.set(xlabel="us")
        return fig


@figure("fig2", "Figure 2: a rack's eight uplinks; dotted: Kmin and Kmax", needs=needs("symmetric-rack:*"))
def figure_2(runs):
    return rack(runs, micro.SYMMETRIC, 400)


@figure("fig4", "Figure 4: four uplinks, one at 200 Gb/s", needs=needs("slow-uplink:*"))
def figure_4(runs):
    return rack(runs, micro.SLOW, 1600)


@figure("fig7", "Figure 7: four uplinks, of which two die for a while (grey)", needs=needs("failing-uplinks:*"))
def figure_7(runs):
    return rack(runs, micro.FAILING, 2000, (micro.FIRST_DEAD, micro.SECOND_DEAD))


# --- Bars ---------------------------------------------------------------------------------------------------


def bars(runs, places: dict[str, str], schemes, values, ylabel: str, *, log: bool = False):
    """Completion over that of REPS: a group for each place. `values`: by place, or one for all."""
    with plots.style():
        fig, ax = plots.figure(6.6, 2.9)
        width = 0.84 / len(schemes)
        for k, s in enumerate(schemes):
            heights = []
            for p in places:
                value = values[p] if isinstance(values, dict) else values
                heights.append(mean(runs, f"{p}:{s}", value) / mean(runs, f"{p}:reps", value))
            x = np.arange(len(places)) + (k - (len(schemes) - 1) / 2) * width
            look = {"color": plots.COLOURS[k % 8], "hatch": plots.HATCHES[k % len(plots.HATCHES)]}
            ax.bar(x, heights, width * 0.92, label=NAMES.get(s, s), edgecolor="white", **look)
        ax.axhline(1, color="black", linewidth=0.6)
        ax.set_xticks(np.arange(len(places)), places.values(), fontsize=7)
        ax.set(ylabel=ylabel)
        if log:
            ax.set_yscale("log")
        ax.grid(False, axis="x")
        fig.legend(*ax.get_legend_handles_labels(), loc="outside upper center", ncols=4)
        return fig


PATTERNS = {"permutation": "permutation", "tornado": "tornado", "incast-8": "incast 8:1", "incast-32": "incast 32:1"}


@figure("fig3", "Figure 3: symmetric networks, last flow over REPS'", needs=[f"{p}:*" for p in PATTERNS])
def figure_3(runs):
    return bars(runs, PATTERNS, tuple(SCHEMES), last, "last flow / REPS'")


@figure("fig3b", "Figure 3: web search, mean completion by load", needs=[f"web-{x:g}:*" for x in symmetric.LOADS])
def figure_3b(runs):
    series = {NAMES[s]: [f"web-{x:g}:{s}" for x in symmetric.LOADS] for s in symmetric.LOADED}
    loads = [100 * x for x in symmetric.LOADS]
    return panels(loads, series, "load (%)", {"mean completion (us)": lambda p: mean(runs, p, average)}, width=4.4)


EXCHANGES = {f"exchange-{w}": f"all-to-all, {w}" for w in symmetric.WINDOWS}


@figure(
    "fig3c",
    "Figure 3: collective operations, over REPS'",
    needs=[f"{p}:*" for p in (*symmetric.JOBS, *EXCHANGES)],
    claims=["REPS-F3-[ef]"],
)
def figure_3c(runs):
    places = {"ring": "ring", "butterfly": "butterfly"} | EXCHANGES
    return bars(runs, places, ("reps", "ops", "ecmp"), finish, "end of the job / REPS'")


SLOW = {
    "slow-permutation": "permutation",
    "slow-tornado": "tornado",
    "slow-web-1": "web search, 100 %",
    "slow-ring": "ring",
    "slow-butterfly": "butterfly",
}
SLOW_VALUES = dict.fromkeys(SLOW, finish) | {"slow-web-1": average}


@figure("fig5", "Figure 5: 3 % of the uplinks at half speed, over REPS'", needs=[f"{p}:*" for p in SLOW])
def figure_5(runs):
    return bars(runs, SLOW, tuple(SCHEMES), SLOW_VALUES, "completion / REPS'")


@figure("fig6", "Figure 6: a tenth of the traffic on one path", needs=["one-path-tenth:*"])
def figure_6(runs):
    kinds = {"one path (mean)": mixed.of_one_path, "sprayed (last)": mixed.of_the_sprayed}
    with plots.style():
        fig, ax = plots.figure(4.2, 2.6)
        for k, s in enumerate(("reps", "ops")):
            y = [mean(runs, f"one-path-tenth:{s}", v) for v in kinds.values()]
            look = {"color": plots.COLOURS[k], "hatch": plots.HATCHES[k], "edgecolor": "white"}
            ax.bar(np.arange(2) + (k - 0.5) * 0.4, y, 0.36, label=f"the rest under {NAMES[s]}", **look)
        ax.set_xticks(np.arange(2), kinds)
        ax.set(ylabel="us")
        ax.grid(False, axis="x")
        fig.legend(*ax.get_legend_handles_labels(), loc="outside upper center", ncols=2)
        return fig


# --- Failures -----------------------------------------------------------------------------------------------

DYING = {p: p.replace(":", "\n") for p in failures.PLACES}


@figure("fig8", "Figure 8: what dies, and under which load: OPS' completion over others'", needs=["*:permutation:*"])
def figure_8(runs):
    modes = [*failures.DYING, "errors"]
    with plots.style():
        fig, ax = plots.figure(5.6, 3.0)
        for k, s in enumerate(failures.SURVIVORS):
            ratios = [
                mean(runs, f"{m}:permutation:ops", last) / mean(runs, f"{m}:permutation:{s}", last) for m in modes
            ]
            ax.plot(ratios, range(len(modes)), "os^vDPX*"[k], color=plots.COLOURS[k], label=NAMES[s], linestyle="none")
        ax.set(xscale="log", xlabel="OPS' last flow / this one's (permutation)")
        ax.set_yticks(range(len(modes)), modes)
        fig.legend(*ax.get_legend_handles_labels(), loc="outside upper center", ncols=5)
        return fig


@figure("fig9", "Figure 9: dead cables", needs=[f"dead-{x}:{s}@*" for x in ("?", "?0") for s in failures.SWEPT])
def figure_9(runs):
    shares = [x for x in failures.SHARES["full"] if f"dead-{x}" in places(runs)]
    with plots.style():
        fig, ax = plots.figure(4.6, 2.9)
        for k, s in enumerate(failures.SWEPT):
            y = [mean(runs, f"dead-{x}:{s}", last) for x in shares]
            ax.plot(shares, y, marker="os^"[k], color=plots.COLOURS[k], markersize=4, label=NAMES[s])
        ideal = [failures.ideal(seeds(runs, f"dead-{x}:reps")[0], x) for x in shares]
        ax.plot(shares, ideal, "k--", linewidth=0.8, label="ideal")
        ax.set(xlabel="dead cables (%)", ylabel="last flow (us)", yscale="log")
        fig.legend(*ax.get_legend_handles_labels(), loc="outside upper center", ncols=4)
        return fig


# --- ACKs, values, windows ----------------------------------------------------------------------------------


@figure("fig12", "Figures 12 and 13: packets for each ACK", needs=["acks-*"], claims=["REPS-F12-*", "REPS-F13-*"])
def figure_12(runs):
    with plots.style():
        fig, axes = plots.figure(6.6, 2.7, columns=2)
        for ax, (place, words) in zip(axes, acks.PLACES.items(), strict=True):
            for k, s in enumerate(acks.BOTH):
                y = [mean(runs, f"{place}-{n}:{s}", last) for n in acks.RATIOS]
                ax.plot(acks.RATIOS, y, marker="os"[k], color=plots.COLOURS[k], markersize=4, label=NAMES[s])
            ax.set(xlabel="packets for each ACK", ylabel="last flow (us)", xscale="log", title=words)
            ax.set_xticks(acks.RATIOS, [str(n) for n in acks.RATIOS])
            ax.minorticks_off()
        axes[1].set_yscale("log")
        fig.legend(*axes[0].get_legend_handles_labels(), loc="outside upper center", ncols=2)
        return fig


@figure("fig14", "Figure 14: the busiest of 32 uplinks over the mean", needs=["values-*"])
def figure_14(runs):
    powers = entropies.POWERS["quick"]
    with plots.style():
        fig, ax = plots.figure(4.4, 2.7)
        y = [100 * mean(runs, f"values-{p}:oblivious", entropies.imbalance) for p in powers]
        ax.plot([1 << p for p in powers], y, "o-", color=plots.COLOURS[0], markersize=4, label="measured")
        ax.plot([256, 65536], [10, 1], "D", color="black", markerfacecolor="none", label="published bounds")
        ax.set(xscale="log", yscale="log", xlabel="values", ylabel="above the mean (%)")
        ax.legend()
        return fig


@figure("fig15", "Figure 15: completion by the number of values; diamonds: published", needs=["of-*"])
def figure_15(runs):
    published = {"reps": {32: 1.08, 256: 1.0}, "ops": {32: 1.64, 256: 1.21}}
    with plots.style():
        fig, ax = plots.figure(4.4, 2.7)
        for k, s in enumerate(entropies.BOTH):
            most = mean(runs, f"of-65536:{s}", last)
            y = [mean(runs, f"of-{n}:{s}", last) / most for n in entropies.COUNTS]
            ax.plot(entropies.COUNTS, y, marker="os"[k], color=plots.COLOURS[k], markersize=4, label=NAMES[s])
            ax.plot(*zip(*published[s].items(), strict=True), "D", color=plots.COLOURS[k], markerfacecolor="none")
        ax.set(xscale="log", xlabel="values", ylabel="last flow / with 65 536")
        ax.legend()
        return fig


@figure("fig16", "Figure 16: under other control of congestion, over REPS'", needs=["under-*"])
def figure_16(runs):
    places = {f"under-{name}": name.upper() for name in entropies.WINDOWS}
    return bars(runs, places, entropies.BOTH, last, "last flow / REPS'")


# --- Balls into bins ----------------------------------------------------------------------------------------


@figure("fig17", "Figure 17: balls at random at 99 % load, the fullest bin", needs=[])
def figure_17(runs):
    with plots.style():
        fig, ax = plots.figure(4.6, 2.7)
        for k, n in enumerate(balls.BINS):
            y = balls.thrown(n, balls.ROUNDS, balls.TRIALS["quick"], balls.LOAD)
            ax.plot(np.arange(1, balls.ROUNDS + 1), y, color=plots.COLOURS[k], linewidth=1, label=f"{n} bins")
        ax.set(xlabel="round", ylabel="fullest bin (balls)")
        ax.legend(ncols=2, fontsize=7)
        return fig


@figure("fig18", "Figure 18: eight bins, at random and recycled; dotted: the threshold", needs=[])
def figure_18(runs):
    with plots.style():
        fig, ax = plots.figure(4.6, 2.7)
        recycled = balls.kept(8, balls.FEW, balls.SHORT)
        free = balls.each_thrown(8, balls.SHORT)
        for k, (name, table) in enumerate((("at random", free), ("recycled", recycled))):
            lines = ax.plot(table, color=plots.COLOURS[k], linewidth=0.9, linestyle=("--", "-")[k])
            lines[0].set_label(name)
        ax.axhline(balls.FEW, color="black", linestyle=":", linewidth=0.9)
        ax.set(xlabel="round", ylabel="balls of each bin")
        ax.legend()
        return fig


# --- Ultra Ethernet -----------------------------------------------------------------------------------------


@figure("uet", "Ultra Ethernet: ways to spray, mean completion", needs=["uet-*"], claims=["UE-*"])
def figure_uet(runs):
    places = {"uet-permutation": "permutation", "uet-slow": "a slow spine", "uet-dead": "a dead link"}
    with plots.style():
        fig, axes = plots.figure(6.6, 2.9, columns=3)
        for ax, (place, words) in zip(axes, places.items(), strict=True):
            found = ultra.means(runs, place)
            order = sorted(found, key=found.get)
            ax.barh(range(len(order)), [found[s] for s in order], color=plots.COLOURS[0], edgecolor="white")
            ax.set_yticks(range(len(order)), order, fontsize=7)
            ax.set(title=words, xlabel="us")
            ax.grid(False, axis="y")
        return fig
