"""The paper's figures, drawn from what the study measures. What is measured in real time is this machine's."""

from __future__ import annotations

import numpy as np

from thalweg import plots
from thalweg.study import figure, half_interval

from . import line, measured, model, switch


@figure("fig2.3", "Figure 2.3: packets transmitted in the cycle model", needs=[], claims=["OQ-F2.3b", "OQ-P4"])
def figure_2_3(runs):
    found = model.transmitted(runs.scale)
    share = {name: np.array(sent) / model.SLOTS[runs.scale] for name, sent in found.items()}
    fig, ax = plots.figure(5.2, 2.8)
    names = list(share)
    for several, label in ((False, "one queue"), (True, "several")):
        at = [n for n, name in enumerate(names) if (name in model.SEVERAL) == several]
        sent = [share[names[n]] for n in at]
        half = [half_interval(s) for s in sent]
        look = {"color": plots.COLOURS[several], "error_kw": {"elinewidth": 0.8, "capsize": 2}}
        ax.bar(at, [s.mean() for s in sent], yerr=half, label=label, **look)
    ax.set(ylabel="packets per slot", xticks=range(len(names)))
    ax.set_xticklabels(names, rotation=35, ha="right", fontsize=7)
    ax.grid(False, axis="x")
    fig.legend(*ax.get_legend_handles_labels(), loc="outside upper center", ncols=2)
    return fig


@figure(
    "fig2.17",
    "Figure 2.17: mean queue of a FIFO, plain and with priorities (stand-in; diamonds: published)",
    needs=[],
    claims=["OQ-F2.17*"],
)
def figure_2_17(runs):
    fig, axes = plots.figure(6.6, 2.7, columns=2)
    panels = (
        (line.by_clients(runs.scale), line.CLIENTS, "clients", 16, (559.333, 571)),
        (line.by_mtu(runs.scale), [line.MTU / part for part in line.PARTS], "MTU (B)", line.MTU / 16, (584.3, 610.7)),
    )
    for ax, (found, x, label, at, published) in zip(axes, panels, strict=True):
        for n, (kind, values) in enumerate(found.items()):
            # They lie on each other, which is what the claim says.
            ax.plot(x, values, label=kind, color=plots.COLOURS[n], linestyle="-:"[n], linewidth=2 - 0.4 * n)
            ax.plot(at, published[n], "D", color=plots.COLOURS[n], markerfacecolor="none", clip_on=False)
        ax.set(xlabel=label, ylabel="mean queue (packets)", xscale="log", ylim=(0, None))
        ax.set_xticks(list(x), [f"{v:g}" for v in x])
        ax.minorticks_off()
    fig.legend(*axes[0].get_legend_handles_labels(), loc="outside upper center", ncols=2)
    return fig


@figure("fig2.19ab", "Figure 2.19a, b: one queue, more and more load (model)", needs=[], claims=["OQ-LOAD"])
def figure_2_19ab(runs):
    found = switch.modelled(runs.scale)
    fig, axes = plots.figure(6.6, 2.7, columns=2)
    for ax, (what, label) in zip(axes, (("mpps", "Mpps"), ("worth", "weighted, per µs")), strict=True):
        for n, name in enumerate(switch.ALGORITHMS):
            ax.plot(switch.LOADS, [found[name, x][what] for x in switch.LOADS], label=name, **plots.curve(n))
        ax.set(xlabel="load / what the core can do under A", ylabel=label, ylim=(0, None))
    fig.legend(*axes[0].get_legend_handles_labels(), loc="outside upper center", ncols=3)
    return fig


@figure("fig2.19cd", "Figure 2.19c, d: several queues in turn (real time)", needs=[], claims=["OQ-F2.19*"])
def figure_2_19cd(runs):
    fig, axes = plots.figure(6.6, 2.7, columns=2)
    at = np.arange(len(switch.QUEUES))
    for n, name in enumerate(switch.ALGORITHMS):
        rows = [(switch.real(runs.scale, k)["A"]["mpps"], switch.real(runs.scale, k)[name]) for k in switch.QUEUES]
        mpps = [base / row["longer"] for base, row in rows]
        worth = [rate * row["worth"] for rate, (_, row) in zip(mpps, rows, strict=True)]
        for ax, values in zip(axes, (mpps, worth), strict=True):
            ax.bar(at + 0.27 * (n - 1), values, 0.25, color=plots.COLOURS[n], label=name)
    for ax, label in zip(axes, ("Mpps", "weighted, per µs"), strict=True):
        ax.set(xlabel="queues", ylabel=label, xticks=at, xticklabels=switch.QUEUES)
        ax.grid(False, axis="x")
    fig.legend(*axes[0].get_legend_handles_labels(), loc="outside upper center", ncols=3)
    return fig


@figure("engines", "ns per packet by engine and by packets that wait (real time)", needs=[], claims=["OQ-D2"])
def engines(runs):
    found = measured.table(runs.scale)
    fig, axes = plots.figure(6.6, 2.7, columns=2)
    for ax, engine in zip(axes, ("bytecode", "generated"), strict=True):
        for n, kind in enumerate(measured.CLASSES):
            ax.plot(
                measured.RESIDENT, [found[kind, r, engine] for r in measured.RESIDENT], label=kind, **plots.curve(n)
            )
        ax.set(xlabel="packets that wait", ylabel="ns per packet", xscale="log", title=engine, ylim=(0, None))
    fig.legend(*axes[0].get_legend_handles_labels(), loc="outside upper center", ncols=2)
    return fig
