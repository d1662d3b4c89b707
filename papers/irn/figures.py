"""The paper's figures, drawn from this study's runs. Diamonds: published numbers; Figures 4.1 to 4.6 are
published as images only, their diamonds come from Table 4.2 and its ratios."""

from __future__ import annotations

import numpy as np
from matplotlib.container import BarContainer
from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

from thalweg import plots
from thalweg.study import Key, figure, interval, places, seeds
from thalweg.study.drawing import there

from . import basic, factors, incast, overheads, sensitivity, tables, traces
from .outcome import METRICS, TITLES, flows, m3, metrics
from .settings import BASELINES, CONTROLS, NAMES, POINTS, needs

SCALE = {"slow": 1.0, "fct": 1e3, "p99": 1e3}
WITH = CONTROLS[1:]


def default_published(name: str, cc: str) -> dict[str, float] | None:
    """What Table 4.2 says of a scheme at the default: absolute for IRN, by its ratios for the others (ms)."""
    if (("default", cc)) not in tables.PUBLISHED or name not in BASELINES:
        return None
    irn, r1, r2 = (dict(zip(METRICS, x, strict=True)) for x in tables.PUBLISHED["default", cc])
    over = {"irn": dict.fromkeys(METRICS, 1.0), "irn-pfc": r2, "roce-pfc": r1}[name]
    return {m: irn[m] / over[m] for m in METRICS}


def three(runs, series: dict[str, list[str]], groups: list[str], limit: dict[str, float] | None = None):
    """The three metrics side by side: bars of each series (a list of `SCHEME.CONTROL`, one per group), with 95 %
    intervals where there are several seeds. Bars that others would hide are on a logarithmic axis."""
    fig, axes = plots.figure(7.2, 2.5, columns=3)
    one, heights = 0.8 / len(series), []
    for ax, m in zip(axes, METRICS, strict=True):
        for n, (name, keys) in enumerate(series.items()):
            x = np.arange(len(groups)) + (n - (len(series) - 1) / 2) * one
            y = [m3(runs, f"default:{k}")[m] * SCALE[m] for k in keys]
            half = [interval(runs, f"default:{k}", lambda r, m=m: metrics(r)[m]) * SCALE[m] for k in keys]
            look = {"color": plots.COLOURS[n], "hatch": plots.HATCHES[n], "edgecolor": "white"}
            ax.bar(x, y, one * 0.92, yerr=there(half), error_kw={"elinewidth": 0.8, "capsize": 2}, label=name, **look)
            was = [default_published(*k.split(".")) for k in keys]
            ax.plot(x, [w[m] if w else np.nan for w in was], **plots.PUBLISHED)
        ax.set_xticks(range(len(groups)), groups)
        ax.tick_params(axis="x", length=0)
        ax.grid(False, axis="x")
        ax.set(title=TITLES[m])
        heights.append([bar.get_height() for bar in ax.patches])
        if limit and m in limit:
            ax.set_ylim(top=limit[m])
    if any(max(h) > 20 * min(h) for h in heights):
        for ax, h in zip(axes, heights, strict=True):
            ax.set_yscale("log")
            ax.set_ylim(bottom=min(h) / 2)
            plots.plain_log(ax)
    marks = axes[0].plot([], [], label="published (Table 4.2)", **plots.PUBLISHED)
    bars = [c for c in axes[0].containers if isinstance(c, BarContainer)]
    columns = len(bars) + 1 if len(bars) < 5 else len(bars) // 2 + 1
    fig.legend(handles=[*bars, *marks], loc="outside upper center", ncols=columns)
    return fig


def pair(name: str, title: str, a: str, b: str, controls) -> None:
    """Figures 4.1 to 4.6: two schemes."""

    @figure(name, title, needs=needs("default", (a, b), controls))
    def measured(runs):
        series = {NAMES[s]: [f"{s}.{cc}" for cc in controls] for s in (a, b)}
        return three(runs, series, [NAMES[cc] for cc in controls])


pair("fig4-1", "Figure 4.1: IRN and RoCE + PFC", "irn", "roce-pfc", ("none",))
pair("fig4-2", "Figure 4.2: IRN with and without PFC", "irn", "irn-pfc", ("none",))
pair("fig4-3", "Figure 4.3: RoCE with and without PFC", "roce-pfc", "roce", ("none",))
pair("fig4-4", "Figure 4.4: IRN and RoCE + PFC with congestion control", "irn", "roce-pfc", WITH)
pair("fig4-5", "Figure 4.5: IRN with and without PFC, with congestion control", "irn", "irn-pfc", WITH)
pair("fig4-6", "Figure 4.6: RoCE with and without PFC, with congestion control", "roce-pfc", "roce", WITH)


@figure("fig4-7", "Figure 4.7: factor analysis", needs=needs("default", ("irn", *factors.VARIANTS)))
def figure_4_7(runs):
    names = ("irn", *factors.VARIANTS)
    series = {NAMES[s]: [f"{s}.{cc}" for cc in CONTROLS] for s in names}
    return three(runs, series, [NAMES[cc] for cc in CONTROLS])


@figure(
    "fig4-8",
    "Figure 4.8: completion times of single packets, 90 to 99.9 %",
    needs=needs("default", BASELINES),
)
def figure_4_8(runs):
    fig, axes = plots.figure(7.2, 2.6, columns=3, sharey=True)
    for ax, cc in zip(axes, CONTROLS, strict=True):
        for s in BASELINES:
            found = np.sort(np.concatenate([basic.single(r) for r in seeds(runs, f"default:{s}.{cc}")]))
            rank = np.arange(1, len(found) + 1) / len(found)
            tail = (rank >= 0.9) & (rank <= 0.999)
            ax.plot(1e3 * found[tail], 100 * rank[tail], label=NAMES[s])
        ax.set(xlabel="FCT (ms)", xscale="log", title=NAMES[cc], ylim=(90, 100))
        ax.xaxis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0)))
        ax.xaxis.set_major_formatter(FuncFormatter(lambda x, _: f"{x:g}"))
        ax.xaxis.set_minor_formatter(NullFormatter())
    axes[0].set(ylabel="flows up to here (%)")
    fig.legend(*axes[0].get_legend_handles_labels(), loc="outside upper center", ncols=3)
    return fig


@figure("fig4-9", "Figure 4.9: incast, RCT over that of RoCE + PFC", needs=["incast-[0-9][0-9]:*"])
def figure_4_9(runs):
    senders = sorted({int(p.removeprefix("incast-")) for p in places(runs)})
    fig, axes = plots.figure(6.4, 2.6, columns=2)
    for ax, other in zip(axes, ("roce-pfc", "irn-pfc"), strict=True):
        for n, cc in enumerate(CONTROLS):
            key = f"incast-{{}}:{{}}.{cc}"
            y = [incast.rct(runs, key.format(m, "irn")) / incast.rct(runs, key.format(m, other)) for m in senders]
            ax.plot(senders, y, marker="os^"[n], markersize=4, label=NAMES[cc])
        ax.axhline(1, color="black", linewidth=0.5)
        ax.set(xlabel="senders", ylabel=f"RCT, IRN / {NAMES[other]}")
        low, high = ax.get_ylim()
        ax.set_ylim(min(low, 0.9), max(high, 1.1))
    fig.legend(*axes[0].get_legend_handles_labels(), loc="outside upper center", ncols=3)
    return fig


@figure(
    "timely-incast",
    "The rate of the last flow of an incast of ten, TIMELY",
    needs=["burst:*"],
    claims=["IRN-F9[ab]"],
)
def draw_timely_incast(runs):
    fig, ax = plots.figure(5.2, 2.8)
    for key, results in runs.items():
        name = Key.of(key).scheme.split(".")[0]
        t, pace = traces.slowest(results)
        ax.step(1e3 * t, pace / 1e6, where="post", label=NAMES[name])
    ax.set(xscale="log", yscale="log", xlabel="time (ms)", ylabel="rate (Mb/s)")
    ax.legend()
    return fig


@figure(
    "timely-band",
    "TIMELY's open constants: what claims judge, with the weight and the least rate of either description",
    needs=sensitivity.NEEDS,
    claims=["IRN-F9[ab]", "IRN-X6a", "IRN-X7[ac]"],
)
def draw_timely_band(runs):
    found = sensitivity.band(runs)
    rows = list(next(iter(found.values())))
    fig, ax = plots.figure(6.4, 3.2)
    for n, (name, values) in enumerate(found.items()):
        ax.plot([values[r] for r in rows], range(len(rows)), "os^D"[n], markersize=5, label=name, linestyle="none")
    ax.axvline(1, color="black", linewidth=0.5)
    ax.set_yticks(range(len(rows)), rows)
    ax.invert_yaxis()
    ax.set(xlabel="IRN / the other scheme")
    fig.legend(loc="outside upper center", ncols=2)
    return fig


def plain_bars(runs, keys: dict[str, str]):
    return three(runs, {name: [k] for name, k in keys.items()}, [""])


@figure(
    "fig4-10",
    "Figure 4.10: IRN and Resilient RoCE (RoCE with DCQCN, without PFC)",
    needs=[*needs("default", ("irn",), ("none",)), *needs("default", ("roce",), ("dcqcn",))],
)
def figure_4_10(runs):
    return plain_bars(runs, {"Resilient RoCE": "roce.dcqcn", "IRN": "irn.none"})


@figure(
    "fig4-11",
    "Figure 4.11: IRN and iWARP's TCP",
    needs=["default:iwarp.newreno@*", *needs("default", ("irn",), ("none", "aimd"))],
)
def figure_4_11(runs):
    return plain_bars(runs, {"iWARP (TCP)": "iwarp.newreno", "IRN": "irn.none", "IRN + AIMD": "irn.aimd"})


@figure(
    "fig4-12",
    "Figure 4.12: IRN with worst-case overheads",
    needs=needs("default", ("irn", *overheads.KINDS, "roce-pfc")),
)
def figure_4_12(runs):
    names = ("irn", *overheads.KINDS, "roce-pfc")
    return three(runs, {NAMES[s]: [f"{s}.{cc}" for cc in CONTROLS] for s in names}, [NAMES[cc] for cc in CONTROLS])


@figure("tables", "Tables 4.2 to 4.8: R1 = IRN / (RoCE + PFC), R2 = IRN / (IRN + PFC)", needs=tables.ALL)
def draw_tables(runs):
    # The tables as text go next to the report.
    folder = next(iter(runs.values())).path.parents[1]
    rows = tables.printed(runs)
    (folder / "tables.csv").write_text(tables.csv(rows), encoding="utf-8")
    (folder / "tables.md").write_text(tables.markdown(rows), encoding="utf-8")
    have = set(tables.complete(runs))
    there = [p for p in tables.ROWS if all((p, cc) in have for cc in CONTROLS)]
    fig, axes = plots.figure(9.0, 7.0, columns=3, rows=2, sharex=True, sharey="row")
    for column, cc in enumerate(CONTROLS):
        rows = [tables.row(runs, p, cc) for p in there]
        for line, (which, what) in enumerate((("R1", 1), ("R2", 2))):
            ax = axes[line][column]
            for n, m in enumerate(METRICS):
                x = np.arange(len(there)) + (n - 1) * 0.24
                ax.plot(x, [r[what][m] for r in rows], "os^"[n], color=plots.COLOURS[n], markersize=4, label=m)
                was = [tables.PUBLISHED.get((p, cc)) for p in there]
                y = [w[what][n] if w else np.nan for w in was]
                ax.plot(x, y, "D", color=plots.COLOURS[n], markersize=5, markerfacecolor="none")
            ax.axhline(1, color="black", linewidth=0.6)
            ax.set_yscale("log")
            ax.yaxis.set_major_locator(LogLocator(subs=(1.0, 2.0, 3.0, 5.0, 7.0)))
            ax.yaxis.set_major_formatter(FuncFormatter(lambda y, _: f"{y:g}"))
            ax.yaxis.set_minor_formatter(NullFormatter())
            ax.set_xticks(range(len(there)), [POINTS[p].title for p in there], rotation=90, fontsize=6)
            ax.set(title=f"{which}, {NAMES[cc]}")
    axes[0][0].plot([], [], "kD", markersize=5, markerfacecolor="none", label="published")
    fig.legend(*axes[0][0].get_legend_handles_labels(), loc="outside upper center", ncols=4)
    return fig


@figure(
    "sizes",
    "By flow size (§4.3.4): IRN over RoCE + PFC and over IRN + PFC, average FCT",
    needs=needs("default", BASELINES),
)
def draw_sizes(runs):
    classes = list(basic.CLASSES)
    fig, axes = plots.figure(6.4, 2.6, columns=2, sharey=True)
    for ax, other in zip(axes, ("roce-pfc", "irn-pfc"), strict=True):
        for n, cc in enumerate(CONTROLS):
            m = {s: [basic.m3_of_class(runs, f"default:{s}.{cc}", c)["fct"] for c in classes] for s in ("irn", other)}
            y = np.array(m["irn"]) / np.array(m[other])
            ax.plot(range(len(classes)), y, marker="os^"[n], markersize=4, label=NAMES[cc])
        ax.axhline(1, color="black", linewidth=0.5)
        ax.set_xticks(range(len(classes)), classes)
        ax.set(xlabel="flows up to", title=f"IRN / {NAMES[other]}", ylim=(0, None))
    axes[0].set(ylabel="average FCT, ratio")
    fig.legend(*axes[0].get_legend_handles_labels(), loc="outside upper center", ncols=3)
    return fig


@figure(
    "slowdown",
    "Distribution of slowdowns at the default, no congestion control",
    needs=needs("default", basic.FOUR, ("none",)),
)
def draw_slowdown(runs):
    return plots.cdf(
        {NAMES[s]: np.concatenate([flows(r).slowdown for r in seeds(runs, f"default:{s}.none")]) for s in basic.FOUR},
        "slowdown",
    )
