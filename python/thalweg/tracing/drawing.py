"""What stands where in a timeline: ports under their nodes, then flows."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import polars as pl

from thalweg import recording
from thalweg.decisions import DECISIONS
from thalweg.errors import ScenarioError
from thalweg.hops import transmissions
from thalweg.rundata import WAYS
from thalweg.tracing import Traced

if TYPE_CHECKING:
    from thalweg.results import Results
    from thalweg.tracing.writer import Writer

# Counters from tables: table, column, unit, what the track is called.
_OF_FLOWS = (
    ("controllers", "window", "B", "window"),
    ("controllers", "in_flight", "B", "in flight"),
    ("controllers", "pace", "b/s", "pace"),
    ("controllers", "srtt_ps", "ps", "smoothed round trip"),
)
# The first ranks of a port's track: below its transmissions.
_PAUSES, _WAITING, _RATE = 1, 2, 3


class Drawing:
    """One run's timeline, written track by track."""

    def __init__(self, run: Results, writer: Writer, flows: Sequence[int], ports: Sequence[int]):
        self._run, self._writer = run, writer
        self._flows, self._ports = list(flows), list(ports)
        self._missing: list[str] = []
        self._drawn = {"transmissions": 0, "pauses": 0, "flows": 0, "samples": 0}

    def draw(self) -> Traced:
        """Everything; what was drawn."""
        packets = self._packets()
        self._draw_ports(packets)
        self._draw_flows(packets)
        self._writer.close()
        return Traced(**self._drawn, missing=self._missing)

    def _packets(self) -> pl.LazyFrame | None:
        """The recording's rows of the wanted flows, numbered, with what they are; None: there is no recording."""
        run = self._run
        if run.path is None or not recording.present(run.path):
            self._missing.append("packets were not recorded: `thalweg run --record-hops`")
            return None
        rows = run.packets.with_row_index("packet")
        if "ports" not in rows.collect_schema().names():
            self._missing.append(
                "hops were not recorded, only what hosts sent is drawn: `thalweg run --record-hops`, or "
                "`measure.packets = { hops = true }`"
            )
        return rows.filter(pl.col("flow").is_in(self._flows)) if self._flows else rows

    def _draw_ports(self, packets: pl.LazyFrame | None) -> None:
        run, writer = self._run, self._writer
        sent = None if packets is None else transmissions(run, packets, self._ports or None)
        if sent is not None:
            sent = sent.with_columns(pl.col("kind").cast(pl.String), pl.col("seq").fill_null(-1))
        pauses = self._pauses()
        by_port = {} if sent is None else {key[0]: part for key, part in sent.group_by("port", maintain_order=True)}
        nodes: dict[str, int] = {}
        for port, start, end in run.named("ports").select("port", "from", "to").iter_rows():
            if self._ports and port not in self._ports:
                continue
            if start not in nodes:
                nodes[start] = writer.track(start, ordered=True, rank=len(nodes))
            track = writer.track(f"→ {end} (port {port})", nodes[start], rank=4 * port, ordered=True)
            if port in by_port:
                self._draw_transmissions(track, by_port[port])
                self._draw_waiting(track, by_port[port])
            if (stops := pauses.filter(pl.col("port") == port)).height:
                self._draw_pauses(track, stops, pauses)
            self._counter(track, "queues", "port", port, "bytes", "B", "bytes waiting, sampled", _WAITING)
            self._draw_rate(track, port)

    def _draw_transmissions(self, track: int, sent: pl.DataFrame) -> None:
        writer = self._writer
        names = ("flow", "kind", "seq", "bytes", "marked", "start_ps", "sent_ps", "lost_ps", "lost", "came_ps")
        # What was dropped in the queue has no start, and stands where it was dropped.
        rows = sent.select(names).sort(pl.coalesce("start_ps", "lost_ps"), maintain_order=True, nulls_last=True)
        for flow, kind, seq, wire, marked, starts, ends, lost_at, lost, came in rows.iter_rows():
            about = {"flow": flow, "bytes": wire, "kind": kind} | ({"seq": seq} if seq >= 0 else {})
            if starts is not None:
                waited = {"waited_ps": starts - came} | ({"marked": 1} if marked else {})
                writer.slice(track, f"flow {flow}", starts, ends, about | waited)
                self._drawn["transmissions"] += 1
            if lost and lost_at is not None:
                writer.instant(track, "dropped" if starts is None else "lost on the link", lost_at, about)

    def _draw_waiting(self, track: int, sent: pl.DataFrame) -> None:
        """Bytes that wait, at every change: without the packet being transmitted."""
        came = sent.select(at="came_ps", by=pl.col("bytes").cast(pl.Int64))
        gone = pl.coalesce("start_ps", pl.when("lost").then("lost_ps"))
        left = sent.select(at=gone, by=-pl.col("bytes").cast(pl.Int64)).filter(pl.col("at").is_not_null())
        steps = pl.concat([came, left]).group_by("at").agg(pl.col("by").sum()).sort("at")
        steps = steps.with_columns(bytes=pl.col("by").cum_sum()).filter(pl.col("by") != 0)
        if steps.height:
            self._samples(track, "bytes waiting", "B", _WAITING, steps["at"], steps["bytes"])

    def _draw_rate(self, track: int, port: int) -> None:
        """What a sampled link carried, from one sample to the next."""
        if "links" not in self._run.tables:
            return
        rows = self._run.tables["links"].filter(pl.col("port") == port).sort("time_ps")
        spans = rows["time_ps"].cast(pl.Int64).diff(null_behavior="drop")
        grown = rows["bytes"].cast(pl.Float64).diff(null_behavior="drop")
        if len(spans):
            rate = grown * 8e12 / spans
            self._samples(track, "rate, between samples", "b/s", _RATE, rows["time_ps"].slice(0, len(spans)), rate)

    def _pauses(self) -> pl.DataFrame:
        run = self._run
        if "pauses" in run.tables:
            return run.named("pauses")
        if run.scenario.to_dict().get("switch", {}).get("pfc"):
            self._missing.append("pauses were not recorded: set `measure.pauses = true`")
        return pl.DataFrame(schema={"pause": pl.UInt32, "port": pl.UInt32, "cause": pl.Int64})

    def _draw_pauses(self, track: int, stops: pl.DataFrame, every: pl.DataFrame) -> None:
        writer = self._writer
        caused = every.filter(pl.col("cause").is_not_null())
        effects = {key[0]: part["pause"].to_list() for key, part in caused.group_by("cause")}
        end = round(self._run.summary.get("simulated_seconds", 0.0) * 1e12)
        below = writer.track("paused", track, rank=_PAUSES)
        columns = ("pause", "to_node", "began_ps", "ended_ps", "cause", "depth")
        for pause, by, began, ended, cause, depth in stops.sort("began_ps").select(columns).iter_rows():
            about = {"pause": pause, "by": by, "depth": depth} | ({} if cause is None else {"cause": cause})
            stands = {"stands": 1} if ended is None else {}
            until = max(end, began) if ended is None else ended
            # An arrow is called by the pause that it leads to, plus one: 0 is not an arrow's number.
            leads = [effect + 1 for effect in effects.get(pause, ())]
            source = None if cause is None else pause + 1
            writer.slice(below, f"paused by {by}", began, until, about | stands, leads, source)
            self._drawn["pauses"] += 1

    def _draw_flows(self, packets: pl.LazyFrame | None) -> None:
        run, writer = self._run, self._writer
        table = run.named("flows")
        chosen = table.filter(pl.col("id").is_in(self._flows)) if self._flows else table
        events = self._events(packets)
        root = writer.track("flows", rank=1 << 20, ordered=True)
        end = round(run.summary.get("simulated_seconds", 0.0) * 1e12)
        for row in chosen.iter_rows(named=True):
            if row["start_ps"] is None:
                continue
            flow, section = row["id"], row.get("section") or ""
            name = f"flow {flow}: {row['src']} → {row['dst']}" + (f" ({section})" if section else "")
            track = writer.track(name, root, rank=flow, ordered=True)
            keys = ("size", "status", "fct_ps", "ideal_ps", "packets", "retransmissions", "timeouts", "controller")
            about = {key: row[key] for key in keys if row.get(key) is not None}
            about |= {"trims": row["trims"]} if row.get("trims") else {}
            fct = row["fct_ps"]
            until = row["start_ps"] + fct if fct is not None else max(end, row["start_ps"])
            writer.slice(track, "flow" if fct is None else "flow, to its completion", row["start_ps"], until, about)
            self._drawn["flows"] += 1
            for what, at, about in events.get(flow, ()):
                writer.instant(track, what, at, about)
            for place, (of, column, unit, called) in enumerate(_OF_FLOWS):
                self._counter(track, of, "flow", flow, column, unit, called, place + 1)
        if "controllers" not in run.tables and self._takes("measure.controllers", {"every": "1ms"}):
            self._missing.append("windows and rates were not sampled: " + WAYS["controllers"])

    def _events(self, packets: pl.LazyFrame | None) -> dict[int, list[tuple[str, int, dict[str, Any]]]]:
        """Of each flow: retransmissions as they leave, expiries of its timer."""
        found: dict[int, list[tuple[str, int, dict[str, Any]]]] = {}
        for flow, seq, wire, at in () if packets is None else _sent_again(packets):
            found.setdefault(flow, []).append(("retransmission", at, {"seq": seq, "bytes": wire}))
        run = self._run
        if run.path is not None and (run.path / DECISIONS).is_file():
            expired = run.decisions.filter(pl.col("call") == "on_timeout")
            for flow, at in expired.select("flow", "at_ps").iter_rows():
                found.setdefault(flow, []).append(("timeout", at, {}))
        elif "timeouts" in run.flows.columns and run.flows["timeouts"].sum():
            could = self._takes("measure.decisions", True)
            way = "set `measure.decisions = true`" if could else "that is with congestion controllers only"
            self._missing.append(f"when timeouts fired was not recorded: {way}")
        for events in found.values():
            events.sort(key=lambda event: event[1])
        return found

    def _takes(self, key: str, value: object) -> bool:
        """Whether the run's scenario could have had a key: of what it refuses nothing is advised."""
        try:
            self._run.scenario.with_({key: value})
        except ScenarioError:
            return False
        return True

    def _counter(self, track: int, table: str, by: str, one: int, column: str, unit: str, name: str, rank: int) -> None:
        tables = self._run.tables
        if table not in tables or column not in tables[table].columns:
            return
        rows = tables[table].filter((pl.col(by) == one) & pl.col(column).is_not_null()).sort("time_ps")
        if rows.height:
            self._samples(track, name, unit, rank, rows["time_ps"], rows[column])

    def _samples(self, track: int, name: str, unit: str, rank: int, times: pl.Series, values: pl.Series) -> None:
        below = self._writer.track(name, track, unit=unit, rank=rank)
        for at, value in zip(times, values, strict=True):
            self._writer.sample(below, at, value)
        self._drawn["samples"] += len(times)


# A SYN has no payload; what comes back is an ACK, or a message of the transport.
def _sent_again(packets: pl.LazyFrame) -> Iterator[tuple[int, int, int, int]]:
    """Flow, position, bytes and instant of data packets whose position was sent before."""
    rows = packets.filter(pl.col("kind") == "data")
    again = rows.sort("handed_ps", "packet").filter(pl.int_range(pl.len()).over("flow", "seq") > 0)
    yield from again.select("flow", "seq", "wire", "ingress_ps").collect().iter_rows()
