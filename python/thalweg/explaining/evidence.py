"""What is known of a run's packets: its recording, or that of the same run made again."""

from __future__ import annotations

import shutil
import tempfile
import weakref
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import polars as pl

from thalweg import recording
from thalweg.decisions import DECISIONS
from thalweg.errors import ScenarioError, refuse
from thalweg.explaining.portlog import PortLog
from thalweg.hops import transmissions

if TYPE_CHECKING:
    from thalweg.progress import Reporter
    from thalweg.results import Results
    from thalweg.scenario import Scenario


class Visit(NamedTuple):
    """A packet at a port; times in picoseconds, None: never."""

    port: int
    came: int
    start: int | None
    sent: int | None
    next: int | None
    #: Its bytes at the port's rate.
    takes: int
    #: The least that any packet took beyond its bytes; negative: packets are passed on before they have arrived.
    least: int


class Packet(NamedTuple):
    """A packet of the flow; times in picoseconds."""

    number: int
    forward: bool
    seq: int
    wire: int
    visits: list[Visit]
    #: When it arrived at its host; None: never.
    arrived: int | None
    #: When it was lost; None: it was not.
    lost: int | None

    @property
    def handed(self) -> int:
        """When it was given to its NIC."""
        return self.visits[0].came

    @property
    def over(self) -> int | None:
        """When it arrived, or was lost."""
        return self.arrived if self.lost is None else self.lost

    @property
    def name(self) -> str:
        return f"{'data' if self.forward else 'ACK'} {self.seq}"


class FlowRecord(NamedTuple):
    """All that is known of one flow's packets and of the ports that they came to."""

    flow: int
    start: int
    #: When it was complete.
    end: int
    size: int
    packets: list[Packet]
    ports: dict[int, PortLog]
    #: Expiries of its retransmission timer that its table counts.
    timeouts: int
    #: When they were; None: not recorded.
    expired: list[int] | None
    #: Calls of its controller: instants, allowed pace (negative: none), room in its window (bytes); None: not recorded.
    allowed: tuple[np.ndarray, np.ndarray, np.ndarray] | None
    #: Whether an application writes its data by and by.
    writes: bool
    #: Whether switches stop single queues of NICs, which leaves no record.
    holds: bool


class Evidence:
    """The record of a run. A run made again is in a temporary folder, which is removed when this is closed, or
    collected."""

    def __init__(self, run: Results, folder: str | None = None):
        self.run = run
        self._remove = None if folder is None else weakref.finalize(self, shutil.rmtree, folder, ignore_errors=True)

    @property
    def made_again(self) -> bool:
        """Whether the run had to be made again."""
        return self._remove is not None

    def close(self) -> None:
        """Removes the temporary folder, if there is one."""
        if self._remove is not None:
            self._remove()

    @classmethod
    def of(cls, results: Results, progress: bool | Reporter | None = False) -> Evidence:
        """The run's own record, if it has all that is needed; else the same run again, recorded.

        Raises:
            ScenarioError: the run cannot be made again, or is another one then.
        """
        return cls(results) if cls.is_there(results) else cls._again(results, progress)

    @staticmethod
    def is_there(results: Results) -> bool:
        """Whether a run has recorded all that is needed: its packets with their hops, and the pauses if there are."""
        if results.path is None or not recording.present(results.path):
            return False
        if "ports" not in results.packets.collect_schema().names():
            return False
        return "pauses" in results.tables or not stops_ports(results)

    @classmethod
    def _again(cls, results: Results, progress: bool | Reporter | None) -> Evidence:
        from thalweg import engine

        place = results.path or "this run"
        if results.partial:
            hint = "run it again with --record-hops"
            raise refuse("was stopped early and has no record of its packets' hops", file=place, hint=hint)
        folder = tempfile.mkdtemp(prefix="thalweg-")
        try:
            run = engine.run(recorded(results.scenario), out=Path(folder) / "run", progress=progress)
            if run.digest != results.digest:
                reason = f"is another run when it is made again (digest {run.digest}, not {results.digest})"
                hint = "made by another version, or its files have changed: run it again with --record-hops"
                raise refuse(reason, file=place, hint=hint)
        except BaseException:
            shutil.rmtree(folder, ignore_errors=True)
            raise
        return cls(run, folder)

    @cached_property
    def _rows(self) -> pl.LazyFrame:
        return self.run.packets.with_row_index("packet")

    def flow(self, flow: int) -> FlowRecord:
        """What there is on one flow that is complete."""
        run = self.run
        row = run.flows.row(flow, named=True)
        start, end = row["start_ps"], row["start_ps"] + row["fct_ps"]
        mine = self._rows.filter((pl.col("flow") == flow) & (pl.col("handed_ps") <= end))
        ports = transmissions(run, mine)["port"].unique().to_list()
        over = pl.coalesce("exit_ps", "lost_ps")
        meanwhile = self._rows.filter((pl.col("handed_ps") <= end) & (over.is_null() | (over >= start)))
        sent = transmissions(run, meanwhile, ports)
        return FlowRecord(
            flow,
            start,
            end,
            row["size"],
            _packets(sent.filter(pl.col("flow") == flow)),
            self._logs(sent, ports),
            row["timeouts"],
            *self._decided(flow),
            *self._described(flow),
        )

    def _described(self, flow: int) -> tuple[bool, bool]:
        _, transport = self.run.section_of(flow)
        writes = bool(transport.get("writes") or transport.get("video"))
        return writes, bool(self.run.document.get("switch", {}).get("backpressure"))

    def _logs(self, sent: pl.DataFrame, ports: list[int]) -> dict[int, PortLog]:
        run = self.run
        ends = {port: (a, b) for port, a, b in run.named("ports").select("port", "from", "to").iter_rows()}
        began = sent.filter(pl.col("start_ps").is_not_null())
        by_port = {key[0]: part for key, part in began.group_by("port", maintain_order=True)}
        stops: dict[int, list[tuple[int, int | None]]] = {}
        if "pauses" in run.tables:
            rows = run.tables["pauses"].select("port", "began_ps", "ended_ps").sort("began_ps")
            for port, begins, ends_at in rows.iter_rows():
                stops.setdefault(port, []).append((begins, ends_at))
        empty = began.clear()
        made = {}
        for port in ports:
            part = by_port.get(port, empty)
            times = (part["start_ps"].to_numpy(), part["sent_ps"].to_numpy(), part["flow"].to_numpy())
            made[port] = PortLog(f"{ends[port][0]} → {ends[port][1]}", ends[port][1], *times, stops.get(port, []))
        return made

    def _decided(self, flow: int) -> tuple[list[int] | None, tuple[Any, ...] | None]:
        run = self.run
        if run.path is None or not (run.path / DECISIONS).is_file():
            return None, None
        calls = run.decisions.filter(pl.col("flow") == flow)
        expired = calls.filter(pl.col("call") == "on_timeout")["at_ps"].to_list()
        known = calls.filter(pl.col("in_flight").is_not_null())
        pace = known["pace_bps"].cast(pl.Float64).fill_null(-1.0).to_numpy()
        room = (known["window"].cast(pl.Float64) - known["in_flight"].cast(pl.Float64)).to_numpy()
        return expired, (known["at_ps"].to_numpy(), pace, room)


def stops_ports(results: Results) -> bool:
    """Whether whole ports pause, which `measure.pauses` records: under PFC, and not where neighbours slow down."""
    return bool(results.scenario.to_dict().get("switch", {}).get("pfc"))


def recorded(scenario: Scenario) -> Scenario:
    """The same run with all that explanations look in: none of it changes what happens."""
    scenario = scenario.with_({"measure.packets": {"hops": True}})
    for key in ("measure.pauses", "measure.decisions"):
        # Refused where it can have no effect: where nothing is ever paused, or no controller decides.
        try:
            scenario = scenario.with_({key: True})
        except ScenarioError:
            continue
    return scenario


def _packets(sent: pl.DataFrame) -> list[Packet]:
    """In the order in which they were given to their NICs."""
    found: dict[int, Packet] = {}
    names = ("packet", "forward", "seq", "wire", "exit_ps", "lost_ps", "port", "came_ps", "start_ps", "sent_ps")
    rows = sent.sort("packet", "hop").select(*names, "next_ps", "takes_ps", "least_ps")
    for number, forward, seq, wire, arrived, lost, port, came, start, left, after, takes, least in rows.iter_rows():
        if number not in found:
            found[number] = Packet(number, bool(forward), seq, wire, [], arrived, lost)
        least = 0 if least is None else least
        found[number].visits.append(Visit(port, came, start, left, after, takes, least))
    return sorted(found.values(), key=lambda packet: (packet.handed, packet.visits[0].start or packet.handed))
