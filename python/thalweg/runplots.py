"""The figures of runs: what `results.plot` draws, and what sets several runs beside each other."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

import numpy as np

from thalweg import pauses
from thalweg._layout import legend_above, note, plain_log, time_unit
from thalweg.plots import COLOURS, COLUMN, Figure, cdf, figure, style
from thalweg.rundata import SECONDS_PER, RunData
from thalweg.spread import spread


def slowdown_by_size(
    runs: Mapping[str, RunData | Sequence[RunData]], *, bins: int = 20, percentiles: Sequence[float] = (50, 99)
) -> Figure:
    """FCT slowdown over flow size: a point per size if there are few sizes, else points that hold equal numbers of flows.

    Several results under one name are repetitions with different seeds: means over them, with 95 % confidence intervals.
    """
    with style():
        fig, ax = figure()
        most = 1
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
                    if found.runs:
                        x.append(np.concatenate([s[p == k] for s, p in zip(sizes, place, strict=True)]).mean())
                        y.append(found.mean)
                        half.append(found.half)
                what = "median" if q == 50 else f"{q:g}th percentile"
                look = {"color": COLOURS[n % 8], "linestyle": ("-", "--", ":")[line % 3], "marker": ".", "capsize": 2}
                # Down to 1 at most: on a logarithmic axis, and no flow is faster than alone.
                bars = [np.minimum(half, np.maximum(np.asarray(y) - 1, 0)), half] if len(repeated) > 1 else None
                label = f"{name}, {what}" if len(runs) > 1 else what
                ax.errorbar(x, y, yerr=None if bars is None else np.nan_to_num(bars), label=label, **look)
        ax.set(xlabel="flow size (B)", ylabel="FCT slowdown", xscale="log", yscale="log")
        plain_log(ax)
        if most > 1:
            note(ax, f"mean of {most} seeds, bars: 95 % confidence")
        if ax.get_lines():
            legend_above(fig, ax, 2)
        return fig


def _size_bins(sizes: np.ndarray, bins: int) -> np.ndarray:
    """The lower edges of all classes but the first: one class per size, or `bins` classes of as many flows each."""
    distinct = np.unique(sizes)
    if len(distinct) <= bins:
        return distinct[1:]
    ordered = np.sort(sizes)
    return np.unique([part[0] for part in np.array_split(ordered, bins)])[1:]


def _binned(ax, edges, counts, total: int, label: str, **kw) -> None:
    """A distribution function from counts per bin: exact at the upper edges."""
    y = np.cumsum(counts) / max(total, 1)
    ax.step(edges, y, where="post", label=label, **kw)


def replay_ratios(runs: Mapping[str, RunData], *, with_nic: bool = False, xlim=(1e-2, 1e2)) -> Figure:
    """Distribution of (queueing delay in the replay + 1 ns) / (queueing delay in the original + 1 ns) of each replay."""
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


def _endless(results: RunData) -> list[float]:
    """Gb/s of every flow without end, in the measured window."""
    flows = results.flows
    return (flows["throughput_bps"].drop_nulls() * 1e-9).to_list() if "throughput_bps" in flows.columns else []


def _lines(results: RunData, by: str, those: Sequence) -> dict:
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


def series_over_time(
    results: RunData, table: str, value: str, by: str, *, ylabel: str | None = None, most: int = 8
) -> Figure:
    """A sampled quantity over time, one line per `by`: those with the highest peaks, as a line above the axes says if not all are shown."""
    import polars as pl

    frame = results.tables[table]
    names = frame.columns
    moment = next(n for n in names if n in ("time", "time_ps", "now", "now_ps", "at", "at_ps", "t_ps"))
    seconds = results.seconds(moment, table)
    factor, unit_of_time = time_unit(float(np.max(seconds, initial=0.0)))
    frame = frame.with_columns(pl.Series("_t", seconds * factor))
    peaks = frame.group_by(by).agg(pl.col(value).max()).sort(value, by, descending=[True, False])
    top = peaks.filter(pl.col(value) > 0)[by].head(most) if peaks[value].max() else peaks[by].head(1)
    label = _lines(results, by, top.to_list())
    units = {n: u for n, u, _ in results.columns(table)}
    kilo = units[value] == "B" and peaks[value].max() >= 10_000
    with style():
        fig, ax = figure()
        for one in top:
            part = frame.filter(pl.col(by) == one)
            values = part[value].to_numpy() * (1e-3 if kilo else 1)
            ax.plot(part["_t"].to_numpy(), values, label=label[one], linewidth=1)
        unit = "KB" if kilo else units[value]
        ax.set(xlabel=f"time ({unit_of_time})", ylabel=f"{ylabel or value} ({unit})" if unit else ylabel or value)
        ax.set_ylim(bottom=0)
        if len(top) < len(peaks):
            note(ax, shown(len(top), len(peaks), by, len(results.flows) if by == "flow" else len(peaks), most))
        if len(top) > 1 or by == "port":
            legend_above(fig, ax, 4)
        return fig


def link_over_time(results: RunData, port: int | None = None) -> Figure:
    """What a link carried beside what it could have, and, of a run that kept its round trips, how long packets waited."""
    import polars as pl

    frame = results.tables["links"]
    sampled = frame["port"].unique().sort().to_list()
    most = ((results.summary.get("links") or {}).get("most_used") or {}).get("port")
    if port is None:
        port = most if most in sampled else sampled[0]
    if port not in sampled:
        raise KeyError(f"port {port} was not sampled: those were {', '.join(map(str, sampled))}")
    part = frame.filter(pl.col("port") == port)
    at = part["time_ps"].to_numpy() * 1e-12
    spans, middles = np.diff(at), (at[1:] + at[:-1]) / 2
    rates = {name: np.diff(part[name].to_numpy()) * 8e-6 / spans for name in ("capacity", "bytes")}
    trips = results.tables.get("round_trips")
    below = trips is not None and len(trips) > 0
    ends = results.named("ports").filter(pl.col("port") == port).select("from", "to").row(0)
    with style():
        fig, axes = figure(height=COLUMN if below else None, rows=1 + below, sharex=True)
        above = axes[0] if below else axes
        above.fill_between(middles, rates["capacity"], step="mid", color="0.85", label="could have left")
        above.step(middles, rates["bytes"], where="mid", linewidth=1, label=f"carried, {ends[0]} → {ends[1]}")
        above.set(ylabel="rate (Mb/s)", ylim=(0, None))
        legend_above(fig, above, 2)
        if below:
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

    def slowdown(self, **kw) -> Figure:
        """FCT slowdown by flow size."""
        return slowdown_by_size({self._results.name: self._results}, **kw)

    def cdf(self, column: str = "slowdown") -> Figure:
        """The distribution of a column of the measured flows."""
        unit = {n: u for n, u, _ in self._results.columns()}[column]
        values = self._results.measured()[column].to_numpy()
        if unit in SECONDS_PER:
            name = column.removesuffix(f"_{unit}")
            return cdf({name: values * SECONDS_PER[unit]}, f"{'flow completion time' if name == 'fct' else name} (s)")
        return cdf({column: values}, f"{column} ({unit})" if unit else column)

    def throughput(self) -> Figure:
        """The distribution of the throughput of flows without end, each over its life so far."""
        return cdf({self._results.name: _endless(self._results)}, "throughput of flows without end (Gb/s)", log=False)

    def queues(self, **kw) -> Figure:
        """Queue lengths over time; needs a run that sampled queues."""
        return self._sampled("queues", ("bytes", "packets"), ("port",), **({"ylabel": "queue length"} | kw))

    def windows(self, **kw) -> Figure:
        """Congestion windows over time; needs a run that sampled controllers."""
        return self._sampled("controllers", ("window", "cwnd"), ("flow",), **kw)

    def link(self, port: int | None = None) -> Figure:
        """What a link carried of what it could have, and queueing delays; needs a run that sampled links (and kept round trips)."""
        if "links" not in self._results.tables:
            raise KeyError("this run did not sample links: ask for them in the scenario")
        return link_over_time(self._results, port)

    def _sampled(self, table: str, values: Sequence[str], by: Sequence[str], **kw) -> Figure:
        if table not in self._results.tables:
            raise KeyError(f"this run did not sample {table}: ask for them in the scenario")
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

    def pauses(self, **kw) -> Figure:
        """Which ports were paused when; needs a run that kept its pauses."""
        return pauses.timeline(self._results.named("pauses"), **kw)

    def all(self) -> dict[str, tuple[str, Figure]]:
        """Every figure that this run has data for: name -> (caption, figure)."""
        made = {}
        if "ratios" in self._results.tables:
            made["ratios"] = ("Queueing delay in the replay / in the original.", self.ratios())
            made["lateness"] = ("How much later than in the original packets left.", self.lateness())
        names = [n for n, _, _ in self._results.columns()] if "flows" in self._results.tables else []
        if "slowdown" in names and len(self._results.measured()):
            if self._results.measured()["size"].n_unique() > 1:
                made["slowdown"] = ("FCT slowdown by flow size.", self.slowdown())
            made["slowdown-cdf"] = ("Distribution of the FCT slowdown.", self.cdf("slowdown"))
        if "flows" in self._results.tables and len(_endless(self._results)):
            made["throughput"] = ("Throughput of the flows without end, in the measured window.", self.throughput())
        for name, caption in (
            ("queues", "Queue length over time, of the ports with the highest peaks."),
            ("windows", "Congestion windows over time, of the flows with the largest ones."),
        ):
            table = "controllers" if name == "windows" else name
            if table in self._results.tables and self._results.tables.arrow(table).num_rows:
                made[name] = (caption, getattr(self, name)())
        if self._results.summary.get("links") and "links" in self._results.tables:
            made["link"] = ("What the link carried of what it could have, and queueing delays.", self.link())
        if "pauses" in self._results.tables and self._results.tables.arrow("pauses").num_rows:
            made["pauses"] = ("When ports were paused, by depth in their storm; the longest paused.", self.pauses())
        return made
