"""Runs as files of other tools: packets as pcapng (Wireshark, tcpdump, tshark), decisions as qlog (qvis)."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from thalweg import _core, _input, _places, _units, decisions
from thalweg.errors import ScenarioError, nearest, refuse
from thalweg.hops import nics

if TYPE_CHECKING:
    import polars

    from thalweg.rundata import RunData

COMMENTS = ["dropped", "lost on the link"]
# Files that carry it may be replaced.
MARK = "by thalweg"
# Rows of a batch.
_BATCH = 1 << 18


def pcap(run: RunData, path: str | Path, *, flows: Sequence[int] = (), ports: Sequence[int] = ()) -> int:
    """Writes the packets of a recorded run as they left the ports on their way: how many records there are.

    An interface per port and direction, named after its ends; a packet has a record for every port that sent it, with
    the instant at which its transmission began, and one with a comment where it was dropped or lost. Where hops were
    not recorded, only its sender's NIC has one. `flows` and `ports`: only these.

    Raises:
        ScenarioError: the run has no recording; there is no such flow or port.
    """
    path = _input.path(path, "a capture")
    columns, interfaces, hosts = _records(run, flows, ports)
    if columns.is_empty():
        place = run.path or "this run"
        raise refuse("no packet was recorded: none was sent while it ran", file=place, hint="let it run longer")
    _places.check_file(path, mark=MARK)
    try:
        with _places.under_way(path) as temporary:
            writer = _core.PcapWriter(str(temporary), f"{MARK}: {run.name}".rstrip(": "), hosts)
            for name, rate in interfaces:
                writer.interface(name, rate)
            for at in range(0, columns.height, _BATCH):
                rows = columns.slice(at, _BATCH)
                writer.write({name: rows[name].to_numpy(writable=True) for name in rows.columns}, COMMENTS)
            writer.close()
    except OSError as e:
        raise refuse(f"cannot be written: {e.strerror or e}", file=path) from None
    return columns.height


def _records(
    run: RunData, flows: Sequence[int], ports: Sequence[int]
) -> tuple[polars.DataFrame, list[tuple[str, int]], list[str]]:
    """Columns as the writer takes them, in order of time; interfaces; hosts' names."""
    import polars as pl

    packets, table, named = run.packets, run.tables["ports"], run.named("ports")
    flows, ports = run.numbers(flows, "flows"), run.numbers(ports, "ports")
    if flows:
        packets = packets.filter(pl.col("flow").is_in(list(flows)))
    rows = packets.with_row_index("packet").collect()
    ends = nics(run, "group").join(transports(run), on="group")
    rows = rows.join(ends, on="flow", how="left", maintain_order="left")
    forward = pl.col("forward") == 1
    # Set-up has no payload: all of it is headers, however long they are.
    is_set_up = pl.col("kind").is_in(["syn", "syn-ack"]) & pl.col("tcp")
    rows = rows.with_columns(
        header=pl.when(is_set_up).then("wire").otherwise("header"),
        seq=pl.col("seq").fill_null(0),
        src=pl.when(forward).then("src").otherwise("dst"),
        dst=pl.when(forward).then("dst").otherwise("src"),
    )
    here = pl.col("lost_at") == pl.col("interface")
    first = table.with_row_index("interface").unique("from", keep="first", maintain_order=True)
    first = first.select(pl.col("from").alias("src"), "interface")
    seen = [
        rows.join(first, on="src", how="left", maintain_order="left").with_columns(
            at=pl.col("ingress_ps"),
            lost=pl.when(here).then(1 + pl.col("lost_on_link")),
        )
    ]
    if "ports" in rows.columns:
        hops = rows.explode("arrivals_ps", "starts_ps", "ports").rename({"ports": "interface"})
        hops = hops.filter(pl.col("interface").is_not_null()).with_columns(
            at=pl.coalesce("starts_ps", pl.when(here).then("lost_ps")),
            lost=pl.when(here).then(1 + pl.col("lost_on_link")),
        )
        # What waits as the run ends has not been sent.
        seen.append(hops.filter(pl.col("at").is_not_null()))
    wanted = ["at", "interface", "src", "dst", "flow", "forward", "seq", "wire", "marked"]
    wanted += ["lost", "packet", "header", "tcp"]
    every = pl.concat([frame.select(wanted) for frame in seen], how="vertical_relaxed")
    if ports:
        there = every.filter(pl.col("interface").is_in(list(ports)))
        if there.is_empty() and not every.is_empty():
            raise _passes_elsewhere(every["interface"].unique().sort().to_list(), flows, ports)
        every = there
    if flows and every.is_empty():
        raise refuse(f"no packet of flow {_listed(flows)} was recorded")
    every = run.check_packets(every, "src", "dst", "interface", "header").sort("at", "packet", maintain_order=True)
    columns = every.select(
        at_ns=(pl.col("at") // 1000).cast(pl.UInt64),
        interface=pl.col("interface").cast(pl.UInt32),
        src=pl.col("src").cast(pl.UInt32),
        dst=pl.col("dst").cast(pl.UInt32),
        flow=pl.col("flow").cast(pl.UInt32),
        forward=pl.col("forward").cast(pl.UInt8),
        seq=pl.col("seq").cast(pl.UInt64),
        wire=pl.col("wire").cast(pl.UInt32),
        header=pl.col("header").cast(pl.UInt32),
        tcp=pl.col("tcp").cast(pl.UInt8),
        marked=pl.col("marked").cast(pl.UInt8),
        comment=pl.col("lost").fill_null(0).cast(pl.UInt8),
    )
    interfaces = [
        (f"{a} > {b}", int(rate)) for a, b, rate in zip(named["from"], named["to"], named["rate_bps"], strict=True)
    ]
    nodes = run.tables["nodes"]
    hosts = [str(name) for name, kind in zip(nodes["name"], nodes["kind"], strict=True) if kind == "host"]
    return columns, interfaces, hosts


def _listed(numbers: Sequence[int]) -> str:
    return ", ".join(map(str, numbers[:20])) + (", …" if len(numbers) > 20 else "")


def _passes_elsewhere(passed: list[int], flows: Sequence[int], ports: Sequence[int]) -> ScenarioError:
    """A selection of nothing: an empty file would not say why."""
    whose = f"flow {_listed(flows)}" if flows else "a flow"
    hint = f"{'they pass' if flows else 'packets pass'} the ports {_listed(passed)}"
    return refuse(f"no packet of {whose} passed port {_listed(ports)}", hint=hint)


def transports(run: RunData) -> polars.DataFrame:
    """By section of traffic (`group`): bytes of a data packet's headers with telemetry, and whether it is TCP's."""
    import polars as pl

    rows = []
    for number, (_, own) in enumerate(run.traffic):
        is_tcp = own.get("kind") == "tcp"
        header = sum(int(_units.in_bytes(str(own.get(key, "0B")))) for key in ("header", "telemetry")) if is_tcp else 0
        rows.append((number, header, is_tcp))
    return pl.DataFrame(rows, schema={"group": pl.UInt32, "header": pl.UInt32, "tcp": pl.Boolean}, orient="row")


def qlog(record: bytes | str | Path, out: str | Path, *, flows: Sequence[int] = ()) -> list[Path]:
    """Writes recorded decisions (`measure.decisions`, or `--record` of a real connection) as qlog: one file per flow,
    `flow-N.sqlog` in the folder `out`. Returns the files that were written.

    Raises:
        ScenarioError: there is no record, it is damaged, or has no such flow.
    """
    folder, written = _input.path(out, "a folder"), []
    if not isinstance(record, bytes):
        record = _input.path(record, "a record of decisions, or a run directory")
    title = MARK if isinstance(record, bytes) else f"{record.name} {MARK}"
    try:
        files = dict(_core.qlog(decisions.read(record), title))
    except ValueError as e:
        raise refuse(str(e), file="the record" if isinstance(record, bytes) else record) from None
    if not files:
        place = "the record" if isinstance(record, bytes) else record
        raise refuse("holds no decisions: no controller was called", file=place, hint="let it run longer")
    for flow in flows:
        if flow not in files:
            raise refuse(f"there is no record of flow {flow}", hint=nearest(str(flow), [str(n) for n in files]))
    _places.check_folder(folder)
    for flow in flows or files:
        path = folder / f"flow-{flow}.sqlog"
        _places.write_file(path, bytes(files[flow]), mark=MARK)
        written.append(path)
    return written
