"""The figures of runs: what `results.plot` draws, and what sets several runs next to each other."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.lines import Line2D

from thalweg import _counts, _given, _units, jobplot, networkplot, pauses
from thalweg._arrow import largest
from thalweg._layout import legend_above, note, plain_log, plain_log_x, time_unit
from thalweg._page import LINES
from thalweg.errors import nearest, refuse
from thalweg.plots import COLOURS, COLUMN, MARKERS, Figure, cdf, curve, figure, style, svg
from thalweg.rundata import SECONDS_PER, NoTable, RunData
from thalweg.spread import repetitions, spread

if TYPE_CHECKING:
    from matplotlib.typing import LineStyleType

# More runs than these have a legend of runs and percentiles, not of their combinations.
MOST_NAMED = 3


def slowdown_by_size(
    runs: Mapping[str, RunData | Sequence[RunData]], *, bins: int = 20, percentiles: Sequence[float] = (50, 99)
) -> Figure:
    """FCT slowdown over flow size: a point per size if there are few sizes, else points that hold equal
    numbers of flows.

    Several results under one name are repetitions with different seeds: means over them, with 95 % confidence
    intervals.
    """
    bins = _counts.count(bins, "bins")
    percentiles = _given.items(percentiles, "percentiles", "for example (50, 99)")
    for q in percentiles:
        if not _counts.is_number(q) or not 0 <= q <= 100:
            raise refuse(f"`{q!r}` is not a percentile", key="percentiles", hint="numbers from 0 to 100")
    with style():
        fig, ax = figure()
        most, spreads = 1, []
        lines: dict[str, LineStyleType] = {}
        colours: dict[str, dict[str, Any]] = {}
        for n, (name, results) in enumerate(runs.items()):
            repeated = list(results) if isinstance(results, Sequence) else [results]
            most = max(most, len(repeated))
            flows = [r.measured() for r in repeated]
            sizes = [f["size"].to_numpy().astype(float) for f in flows]
            slow = [f["slowdown"].to_numpy() for f in flows]
            edges = _size_bins(np.concatenate(sizes), bins)
            place = [np.searchsorted(edges, s, side="right") for s in sizes]
            for line, q in enumerate(percentiles):
                x, y, half = [], [], []
                for k in range(len(edges) + 1):
                    there = [one[p == k] for one, p in zip(slow, place, strict=True)]
                    found = spread([np.percentile(v, q, method="inverted_cdf") for v in there if len(v)])
                    spreads.append(found)
                    if found.runs:
                        x.append(np.concatenate([s[p == k] for s, p in zip(sizes, place, strict=True)]).mean())
                        y.append(found.mean)
                        half.append(found.half)
                what = "median" if q == 50 else f"{q:g}th percentile"
                # A colour per run, a line per percentile; after eight runs other markers distinguish them.
                marker = "." if n < len(COLOURS) else MARKERS[n // len(COLOURS)]
                look: dict[str, Any] = {
                    "color": COLOURS[n % 8],
                    "linestyle": LINES[line % 4],
                    "marker": marker,
                    "markersize": 4,
                    "capsize": 2,
                }
                # Down to 1 at most: on a logarithmic axis, and no flow is faster than alone.
                bars = [np.minimum(half, np.maximum(np.asarray(y) - 1, 0)), half] if len(repeated) > 1 else None
                label = f"{name}, {what}" if len(runs) > 1 else what
                lines[what] = LINES[line % 4]
                colours[name] = {"color": look["color"], "marker": marker}
                ax.errorbar(x, y, yerr=None if bars is None else np.nan_to_num(bars), label=label, **look)
        ax.set(xlabel="flow size", ylabel="FCT slowdown", xscale="log", yscale="log")
        plain_log(ax)
        plain_log_x(ax, "B")
        if most > 1:
            note(ax, f"mean of {repetitions(spreads)} seeds, bars: 95 % confidence")
        if ax.get_lines():
            if len(runs) <= MOST_NAMED:
                legend_above(fig, ax, 2)
            else:  # Each run and each percentile once.
                shown = [Line2D([], [], **colour) for colour in colours.values()]
                shown += [Line2D([], [], color="0.3", linestyle=line) for line in lines.values()]
                legend_above(fig, ax, 4, (shown, [*colours, *lines]))
        return fig


def _size_bins(sizes: np.ndarray, bins: int) -> np.ndarray:
    """The lower edges of all classes but the first: one class per size, or `bins` classes of as many flows each."""
    distinct = np.unique(sizes)
    if len(distinct) <= bins:
        return distinct[1:]
    ordered = np.sort(sizes)
    return np.unique([part[0] for part in np.array_split(ordered, bins)])[1:]


def _binned(ax: Axes, edges: np.ndarray, counts: np.ndarray, total: int, label: str, **kw: Any) -> None:
    """A distribution function from counts per bin: exact at the upper edges."""
    y = np.cumsum(counts) / max(total, 1)
    ax.step(edges, y, where="post", label=label, **kw)


def replay_ratios(
    runs: Mapping[str, RunData], *, with_nic: bool = False, xlim: tuple[float, float] = (1e-2, 1e2)
) -> Figure:
    """Distribution of (queueing delay in the replay + 1 ns) / (queueing delay in the original + 1 ns) of each
    replay."""
    with style():
        fig, ax = figure()
        for name, run in runs.items():
            table = run.tables["ratios"]
            for column, words in (("router", "switch ports"), ("with_nic", "with the NIC")):
                if len(runs) > 1 and (column == "with_nic") != with_nic:
                    continue
                counts = table[column].to_numpy()
                label = f"{name} ({words})" if len(runs) == 1 and name else name or words
                _binned(ax, table["to"].to_numpy(), counts, int(counts.sum()), label)
        ax.axvline(1.0, color="0.6", lw=0.8)
        ax.set(
            xscale="log",
            xlim=xlim,
            ylim=(0, 1.01),
            xlabel="queueing delay, replay / original",
            ylabel="fraction of packets",
        )
        ax.legend()
        return fig


def replay_lateness(runs: Mapping[str, RunData]) -> Figure:
    """Fraction of packets that left later than in the original by more than so much, of each replay."""
    with style():
        fig, ax = figure()
        for name, run in runs.items():
            table = run.tables["lateness"]
            table = table.filter(table["to_ps"] > 0)
            packets = table["packets"].to_numpy()
            never, total = run.summary["never_left"], max(run.summary["packets"], 1)
            later = (packets.sum() - np.cumsum(packets) + never) / total
            ax.step(table["to_ps"].to_numpy() * 1e-6, later, where="post", label=name or run.summary["scheduler"])
            if name == "":
                ax.axvline(run.summary["threshold_us"], color="0.6", lw=0.8)
        low = min((y for line in ax.lines for y in np.asarray(line.get_ydata(), float) if 0 < y < 1), default=1e-3)
        ax.set(
            xscale="log", yscale="log", ylim=(low / 2, 1), xlabel="late by more than (us)", ylabel="fraction of packets"
        )
        if len(runs) > 1:
            ax.legend()
        return fig


def throughputs(results: RunData) -> list[float]:
    """Gb/s of every flow without end, in the measured window."""
    flows = results.flows
    return (flows["throughput_bps"].drop_nulls() * 1e-9).to_list() if "throughput_bps" in flows.columns else []


def _lines(results: RunData, by: str, those: Sequence[Any]) -> dict[str, Any]:
    """What legends call lines: ports by their ends, flows by their section of traffic where there are several."""
    label = {one: f"{by} {one}" for one in those}
    if by == "port" and "ports" in results.tables:
        ends = results.named("ports").select("port", "from", "to").rows()
        label |= {port: f"{a} → {b}" for port, a, b in ends if port in label}
    if by == "flow" and {"section", "group"} <= set(results.flows.columns):
        rows = results.flows.select("id", "section", "group").rows()
        sections = {group for _, _, group in rows}
        counts = Counter(section for _, section, _ in rows)
        if len(sections) > 1:
            named = {n: section if counts[section] == 1 else f"{section}, flow {n}" for n, section, _ in rows}
            label |= {n: name for n, name in named.items() if n in label}
    return label


def _by_section(results: RunData, name: str) -> dict[str, Any]:
    """The measured flows of each section of traffic, called by its name and its controller; all of them as `name`, if
    only one has any."""
    flows = results.measured()
    if not {"section", "group", "controller"} <= set(flows.columns) or flows["group"].n_unique() < 2:
        return {name: flows}
    parts = flows.sort("group").partition_by("group", maintain_order=True)
    called = Counter(part["section"][0] for part in parts)
    found = {}
    for part in parts:
        section, group, controller = part["section"][0], part["group"][0], part["controller"][0]
        section = section if called[section] == 1 else f"{section} {group}"
        same = section.lower() == str(controller).lower()
        found[section if same else f"{section} ({controller})"] = part
    return found


def series_over_time(
    results: RunData, table: str, value: str, by: str, *, ylabel: str | None = None, most: int = 8
) -> Figure:
    """A sampled quantity over time, one line per `by`: those with the highest peaks, as a line above the axes
    says if not all are shown."""
    import polars as pl

    most = _counts.count(most, "most")
    frame = results.tables[table]
    names = frame.columns
    moment = next(n for n in names if n in ("time", "time_ps", "now", "now_ps", "at", "at_ps", "t_ps"))
    seconds = results.seconds(moment, table)
    factor, unit_of_time = time_unit(float(np.max(seconds, initial=0.0)))
    frame = frame.with_columns(pl.Series("_t", seconds * factor))
    peaks = frame.group_by(by).agg(pl.col(value).max()).sort(value, by, descending=[True, False])
    top = peaks.filter(pl.col(value) > 0)[by].head(most) if largest(peaks[value]) else peaks[by].head(1)
    label = _lines(results, by, top.to_list())
    units = {n: u for n, u, _ in results.columns(table)}
    scale, fitted = _units.fitting([largest(peaks[value])], units[value])
    with style():
        fig, ax = figure()
        for one in top:
            part = frame.filter(pl.col(by) == one)
            values = part[value].to_numpy() / scale
            ax.plot(part["_t"].to_numpy(), values, label=label[one], linewidth=1)
        ax.set(xlabel=f"time ({unit_of_time})", ylabel=f"{ylabel or value} ({fitted})" if fitted else ylabel or value)
        ax.set_ylim(bottom=0)
        if len(top) < len(peaks):
            note(ax, shown(len(top), len(peaks), by, len(results.flows) if by == "flow" else len(peaks), most))
        if len(top) > 1 or by == "port":
            legend_above(fig, ax, 4)
        return fig


def rates_over_time(results: RunData, *, most: int = 8) -> Figure:
    """What arrived of each sampled flow, per interval between samples: at the receiver, each byte once, so that a gap
    that is filled makes no peak. Those that got most."""
    import polars as pl

    most = _counts.count(most, "most")
    frame = results.tables["controllers"]
    column = "arrived" if "arrived" in frame.columns else "delivered"
    sums = frame.group_by("flow").agg(pl.col(column).max()).sort(column, "flow", descending=[True, False])
    top = sorted(sums["flow"].head(most))
    curves = {}
    for flow in top:
        part = frame.filter(pl.col("flow") == flow)
        at = part["time_ps"].to_numpy() * 1e-12
        grown = np.diff(part[column].to_numpy().astype(float))
        if len(at) > 1:
            curves[flow] = ((at[1:] + at[:-1]) / 2, grown * 8e-9 / np.diff(at))
    peak = max((float(y.max()) for _, y in curves.values()), default=0.0)
    scale, unit = _units.fitting([peak], "gbps")
    longest = max((float(x[-1]) for x, _ in curves.values()), default=0.0)
    factor, unit_of_time = time_unit(longest)
    label = _lines(results, "flow", top)
    with style():
        fig, ax = figure()
        for n, (flow, (x, y)) in enumerate(curves.items()):
            ax.step(x * factor, y / scale, where="mid", linewidth=1, label=label[flow], **curve(n))
        ax.set(xlabel=f"time ({unit_of_time})", ylabel=f"throughput ({unit})", ylim=(0, None))
        if len(top) < len(sums):
            note(ax, f"{len(top)} of {len(sums)} sampled flows: those that got most")
        if len(curves) > 1:
            legend_above(fig, ax, 4)
        return fig


def links_over_time(results: RunData, *, most: int = 8) -> Figure:
    """How much of each sampled link was used, per interval between samples: those that carried most of what they
    could."""
    import polars as pl

    most = _counts.count(most, "most")
    frame = results.tables["links"]
    ends = {port: f"{a} → {b}" for port, a, b in results.named("ports").select("port", "from", "to").rows()}
    curves, used = {}, {}
    for port in frame["port"].unique().sort():
        part = frame.filter(pl.col("port") == port)
        carried, could = (np.diff(part[c].to_numpy().astype(float)) for c in ("bytes", "capacity"))
        if len(carried):
            at = part["time_ps"].to_numpy() * 1e-12
            share = np.divide(carried, could, out=np.zeros_like(carried), where=could > 0)
            curves[port] = ((at[1:] + at[:-1]) / 2, 100 * np.minimum(share, 1.0))
            used[port] = carried.sum() / max(could.sum(), 1.0)
    busy = sorted(curves, key=lambda port: (-used[port], port))
    top = [port for port in busy if used[port] > 0][:most] or busy[:1]
    longest = max((float(x[-1]) for x, _ in curves.values() if len(x)), default=0.0)
    factor, unit_of_time = time_unit(longest)
    with style():
        fig, ax = figure()
        for n, port in enumerate(top):
            x, y = curves[port]
            ax.step(x * factor, y, where="mid", linewidth=1, label=ends.get(port, f"port {port}"), **curve(n))
        ax.set(xlabel=f"time ({unit_of_time})", ylabel="link used (%)", ylim=(0, 102))
        if len(top) < len(curves):
            note(ax, shown(len(top), len(curves), "port", len(curves), most).replace("peaks", "use"))
        legend_above(fig, ax, 4)
        return fig


def link_over_time(results: RunData, port: int | None = None) -> Figure:
    """What a link carried next to what it could have, and, of a run that kept its round trips, how long
    packets waited."""
    import polars as pl

    frame = results.tables["links"]
    sampled = frame["port"].unique().sort().to_list()
    most = ((results.summary.get("links") or {}).get("most_used") or {}).get("port")
    if port is None:
        port = most if most in sampled else sampled[0]
    if port not in sampled:
        raise refuse(f"port {port!r} was not sampled", hint=f"those were {', '.join(map(str, sampled))}")
    part = frame.filter(pl.col("port") == port)
    at = part["time_ps"].to_numpy() * 1e-12
    spans, middles = np.diff(at), (at[1:] + at[:-1]) / 2
    rates = {name: np.diff(part[name].to_numpy()) * 8e-6 / spans for name in ("capacity", "bytes")}
    trips = results.tables.get("round_trips")
    if trips is not None and not len(trips):
        trips = None
    below = trips is not None
    ends = results.named("ports").filter(pl.col("port") == port).select("from", "to").row(0)
    with style():
        fig, axes = figure(height=COLUMN if below else None, rows=1 + below, sharex=True)
        above = axes[0] if below else axes
        above.fill_between(middles, rates["capacity"], step="mid", color="0.85", label="could have left")
        above.step(middles, rates["bytes"], where="mid", linewidth=1, label=f"carried, {ends[0]} → {ends[1]}")
        above.set(ylabel="rate (Mb/s)", ylim=(0, None))
        legend_above(fig, above, 2)
        if trips is not None:
            waits = trips.with_columns(pl.col("rtt_ps") - pl.col("rtt_ps").min().over("flow"))
            axes[1].plot(waits["time_ps"] * 1e-12, waits["rtt_ps"] * 1e-9, ".", markersize=1, rasterized=True)
            axes[1].set(ylabel="queueing delay (ms)", ylim=(0, None))
        (axes[1] if below else above).set(xlabel="time (s)")
        return fig


def shown(some: int, sampled: int, by: str, there_are: int, most: int) -> str:
    """Which lines a figure shows, and why these."""
    of = f"{sampled} {by}s" if sampled == there_are else f"{sampled} sampled {by}s (of {there_are})"
    return f"{some} of {of}: {'the highest peaks' if some == most else 'the others stay at 0'}"


class Plots:
    """The figures of one run: `results.plot`."""

    def __init__(self, results: RunData):
        self._results = results

    def __repr__(self) -> str:
        return f"<figures of {self._results.name or 'this run'}: {', '.join(f'.{name}()' for name in self._names())}; all of them: .all()>"

    def _repr_html_(self) -> str:
        from html import escape

        from thalweg._html import framed

        shown = [framed(svg(fig), caption) for caption, fig in self.all().values()]
        return f"<div><p>{escape(repr(self)[1:-1])}</p>{''.join(shown)}</div>"

    def _names(self) -> list[str]:
        """What this run has data for."""
        tables = self._results.tables
        if "ratios" in tables:
            return ["ratios", "lateness"]
        found = ["network"] if networkplot.fits(self._results) else []
        if "flows" in tables:
            measured = len(self._results.measured())
            found += ["slowdown", "cdf"] if measured else []
            found += ["throughput"] if throughputs(self._results) else []
        found += ["job"] if jobplot.fits(self._results) else []
        wanted = {
            "queues": ["queues"],
            "controllers": ["rates", "windows"],
            "links": ["links", "link"],
            "pauses": ["pauses"],
        }
        return found + [name for table, names in wanted.items() if self._rows(table) for name in names]

    def _rows(self, table: str) -> int:
        return self._results.tables.arrow(table).num_rows if table in self._results.tables else 0

    def network(self) -> Figure:
        """The topology with the use of every link, and the busiest one named."""
        return networkplot.utilisation(self._results)

    def job(self, **kw: Any) -> Figure:
        """When the hosts of jobs computed, and when messages were on their way to them."""
        return jobplot.timeline(self._results, **kw)

    def slowdown(self, **kw: Any) -> Figure:
        """FCT slowdown by flow size."""
        return slowdown_by_size({self._results.name: self._results}, **kw)

    def cdf(self, column: str = "slowdown") -> Figure:
        """The distribution of a column of the measured flows, of each section of traffic if several have some."""
        units = {n: u for n, u, _ in self._results.columns()}
        if _given.name(column, "column", nearest("", units)) not in units:
            raise refuse(f"the table `flows` has no column `{column}`", hint=nearest(column, units))
        unit = units[column]
        name = column.removesuffix(f"_{unit}") if unit in SECONDS_PER else column
        scale = SECONDS_PER.get(unit, 1.0)
        series = {one: part[column].to_numpy() * scale for one, part in _by_section(self._results, name).items()}
        if unit in SECONDS_PER:
            return cdf(series, f"{'flow completion time' if name == 'fct' else name} (s)")
        return cdf(series, f"{column} ({unit})" if unit else column)

    def throughput(self) -> Figure:
        """The distribution of the throughput of flows without end, each over its life so far."""
        return cdf(
            {self._results.name: throughputs(self._results)}, "throughput of flows without end (Gb/s)", log=False
        )

    def queues(self, **kw: Any) -> Figure:
        """Queue lengths over time; needs a run that sampled queues."""
        return self._sampled("queues", ("bytes", "packets"), ("port",), **({"ylabel": "queue length"} | kw))

    def windows(self, **kw: Any) -> Figure:
        """Congestion windows over time; needs a run that sampled controllers."""
        return self._sampled("controllers", ("window", "cwnd"), ("flow",), **kw)

    def rates(self, **kw: Any) -> Figure:
        """Throughput of flows over time, as their bytes arrived; needs a run that sampled controllers."""
        self._needs("controllers")
        return rates_over_time(self._results, **kw)

    def links(self, **kw: Any) -> Figure:
        """How much of each link was used over time; needs a run that sampled links."""
        self._needs("links")
        return links_over_time(self._results, **kw)

    def _needs(self, table: str) -> None:
        if table not in self._results.tables:
            raise NoTable(table, self._results.tables)
        if not self._rows(table):
            reason = f"the table `{table}` has no rows: there is nothing to draw"
            raise refuse(
                reason, file=self._results.path or "this run", hint="sample more often, or let the run be longer"
            )

    def link(self, port: int | None = None) -> Figure:
        """What a link carried of what it could have, and queueing delays; needs a run that sampled links (and
        kept round trips)."""
        self._needs("links")
        return link_over_time(self._results, port)

    def _sampled(self, table: str, values: Sequence[str], by: Sequence[str], **kw: Any) -> Figure:
        self._needs(table)
        names = [n for n, _, _ in self._results.columns(table)]
        return series_over_time(
            self._results,
            table,
            next(v for v in values if v in names),
            next(b for b in by if b in names),
            **kw,
        )

    def ratios(self) -> Figure:
        """A replay's queueing delays against the original's."""
        return replay_ratios({"": self._results})

    def lateness(self) -> Figure:
        """How late a replay's packets were."""
        return replay_lateness({"": self._results})

    def pauses(self, **kw: Any) -> Figure:
        """Which ports were paused when; needs a run that kept its pauses."""
        self._needs("pauses")
        return pauses.timeline(self._results.named("pauses"), **kw)

    def all(self) -> dict[str, tuple[str, Figure]]:
        """Every figure that this run has data for: name -> (caption, figure)."""
        made = {}
        if "ratios" in self._results.tables:
            made["ratios"] = ("Queueing delay in the replay / in the original.", self.ratios())
            made["lateness"] = ("How much later than in the original packets left.", self.lateness())
        if networkplot.fits(self._results):
            made["network"] = ("The network: how much of each direction of its links was used.", self.network())
        if jobplot.fits(self._results):
            made["job"] = (
                "The job in time: of each host when it computed (above), and when it received (below).",
                self.job(),
            )
        names = [n for n, _, _ in self._results.columns()] if "flows" in self._results.tables else []
        if "slowdown" in names and len(self._results.measured()):
            if self._results.measured()["size"].n_unique() > 1:
                made["slowdown"] = ("FCT slowdown by flow size.", self.slowdown())
            made["slowdown-cdf"] = ("Distribution of the FCT slowdown.", self.cdf("slowdown"))
        if "flows" in self._results.tables and len(throughputs(self._results)):
            made["throughput"] = ("Throughput of the flows without end, in the measured window.", self.throughput())
        if self._rows("controllers"):
            made["rates"] = ("Throughput over time: what arrived of the flows that got most.", self.rates())
        if self._rows("links"):
            made["links"] = (
                "How much of each link was used over time, of the links that were used most.",
                self.links(),
            )
        for name, caption in (
            ("queues", "Queue length over time, of the ports with the highest peaks."),
            ("windows", "Congestion windows over time, of the flows with the largest ones."),
        ):
            table = "controllers" if name == "windows" else name
            if table in self._results.tables and self._results.tables.arrow(table).num_rows:
                made[name] = (caption, getattr(self, name)())
        most = (self._results.summary.get("links") or {}).get("most_used") or {}
        if most.get("rate_varies", bool(most)) and self._rows("links"):
            made["link"] = ("What the link carried of what it could have, and queueing delays.", self.link())
        if "pauses" in self._results.tables and self._results.tables.arrow("pauses").num_rows:
            made["pauses"] = ("When ports were paused, by depth in their storm; the longest paused.", self.pauses())
        return made
