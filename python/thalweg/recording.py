"""Recordings: one row per packet of a run, streamed to Parquet and back.

`packets.parquet` holds the packets in the order in which their NICs began to transmit them. The engine gives
rows out in this order as packets leave; one that stays while a million younger ones leave comes late and goes
to `late.parquet`, sorted too.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, Any

from thalweg import _core
from thalweg.errors import ScenarioError, refuse

if TYPE_CHECKING:
    import polars
    import pyarrow as pa
    import pyarrow.parquet as pq

FORMAT, VERSION = "thalweg packets", 4
PACKETS, LATE = "packets.parquet", "late.parquet"
# Rows of a row group: what is in memory at a time is a small multiple of this.
GROUP = 1 << 18
_MARK = b"thalweg.recording"

# What packets are, in the order of the engine's codes.
KINDS = ["data", "ack", "syn", "syn-ack", "control"]

# name -> (unit, meaning); list columns only if hops are recorded.
COLUMNS = {
    "flow": ("", "number of the flow"),
    "forward": ("", "travels with the flow's data; false: comes back (ACKs)"),
    "kind": ("", "data; ack; syn: set-up, or a message to the receiver; syn-ack; control: a message to the sender"),
    "seq": ("B", "data: offset of the first payload byte; ACK: next byte expected; null: a message without a number"),
    "wire": ("B", "on the wire"),
    "handed_ps": ("ps", "when it was given to its NIC"),
    "ingress_ps": ("ps", "i(p): when its NIC began to transmit it; where it was dropped there, when that was"),
    "exit_ps": ("ps", "o(p): when its last bit reached its host; null: it was lost, or the run ended before"),
    "lost_ps": ("ps", "when it was dropped, or lost on a link; null: it was not"),
    "lost_at": ("", "the port that it was lost at; null: none"),
    "lost_on_link": ("", "1: on that port's link, as it was transmitted; 0: the port dropped it, or it was not lost"),
    "marked": ("", "congestion was experienced on its way; 0 of what was lost"),
    "waited_ps": ("ps", "time spent waiting at switch ports"),
    "queues": ("", "switch ports at which it had to wait"),
    "hops": ("", "switch ports it came to"),
}
HOP_COLUMNS = {
    "arrivals_ps": ("ps", "when it came to each switch port"),
    "starts_ps": ("ps", "when its transmission began there; null: it was lost, or the run ended before"),
    "ports": ("", "which switch ports these were"),
}


def scenario_digest(scenario_toml: str, inputs: Mapping[str, str]) -> str:
    """Names a resolved scenario together with the files that it reads."""
    text = json.dumps([scenario_toml, dict(sorted(inputs.items()))])
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def schema(hops: bool) -> pa.Schema:
    """The columns of both files."""
    import pyarrow as pa

    types = {"flow": pa.uint32(), "wire": pa.uint32(), "seq": pa.uint64(), "forward": pa.uint8()}
    types |= {"queues": pa.uint8(), "hops": pa.uint8(), "lost_at": pa.uint32(), "marked": pa.uint8()}
    types |= {"kind": pa.dictionary(pa.uint8(), pa.string()), "lost_on_link": pa.uint8()}
    wanted = COLUMNS | (HOP_COLUMNS if hops else {})
    fields = []
    for name, (unit, doc) in wanted.items():
        of = pa.uint32() if name == "ports" else pa.int64()
        kind = pa.list_(pa.field("element", of, nullable=name == "starts_ps")) if name in HOP_COLUMNS else of
        nullable = name in ("exit_ps", "lost_ps", "lost_at", "seq")
        fields.append(pa.field(name, types.get(name, kind), nullable=nullable, metadata={"unit": unit, "doc": doc}))
    return pa.schema(fields, metadata={"table": "packets", "doc": "One row per packet."})


class Writer:
    """Writes a running simulation's recording into a folder. Encoding goes on in a thread while the engine works."""

    def __init__(self, folder: Path, simulation: _core.Simulation, seed: int, digest: str):
        self._folder, self._simulation = folder, simulation
        self._hops = bool(simulation.records())
        self._schema = schema(self._hops)
        self._about = {
            "format": FORMAT,
            "version": VERSION,
            "thalweg": _core.VERSION,
            "seed": seed,
            "scenario": digest,
            "hops": self._hops,
        }
        self._main = self._open(PACKETS)
        self._waiting: list[pa.Table] = []
        self._late: list[pa.Table] = []
        self._rows = self._held = 0
        self._newest = -1
        self._torn = False
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="thalweg-recording")
        self._busy: Future[Any] | None = None

    def _open(self, name: str) -> pq.ParquetWriter:
        import pyarrow.parquet as pq

        delta = ("ingress_ps", "exit_ps", "lost_ps", "seq")
        plain = ("waited_ps", *((f"{c}.list.element" for c in HOP_COLUMNS) if self._hops else ()))
        return pq.ParquetWriter(
            self._folder / name,
            self._schema,
            compression="zstd",
            compression_level=1,
            use_dictionary=[name for name in COLUMNS if name not in (*delta, *plain)],
            column_encoding=dict.fromkeys((*delta, *plain), "DELTA_BINARY_PACKED"),
            write_statistics=False,
            write_page_checksum=True,
        )

    def drain(self, end: bool = False) -> None:
        """Takes what the engine has ready; at the `end` everything."""
        if self._torn:
            # Interrupted in the middle of this function: rows are lost, there is no recording.
            raise KeyboardInterrupt
        self._torn = True
        self._drain(end)
        self._torn = False

    def _drain(self, end: bool) -> None:
        rows = self._simulation.take_recorded(end)
        table, late = self._sorted_out(rows)
        if table.num_rows:
            self._waiting.append(table)
            self._held += table.num_rows
        if late is not None:
            self._late.append(late)
        if self._held >= GROUP or (end and self._held):
            import pyarrow as pa

            batch = pa.concat_tables(self._waiting)
            self._waiting, self._held = [], 0
            self._rows += batch.num_rows
            self._wait()
            self._busy = self._thread.submit(self._main.write_table, batch, GROUP)

    def _sorted_out(self, rows: Mapping[str, _core.Buffer]) -> tuple[pa.Table, pa.Table | None]:
        """The rows as a table, and those among them that come late."""
        import numpy as np
        import pyarrow as pa

        seen = {k: np.frombuffer(memoryview(v), dtype=v.dtype) for k, v in rows.items()}
        # Not before the end: 2^64 - 1, here -1, of exits, and 0 of starts.
        seen |= {k: v.view(np.int64) for k, v in seen.items() if v.dtype == np.uint64 and k != "seq"}
        missing = {"exit_ps": seen["exit"] < 0, "lost_ps": seen["lost"] < 0, "lost_at": seen["lost"] < 0}
        missing |= {"starts_ps": seen["starts"] == 0} if self._hops else {}
        missing |= {"seq": seen["seq"] == np.iinfo(np.uint64).max}

        def found(name: str) -> pa.Array:
            made = pa.array(seen[name.removesuffix("_ps")], mask=missing.get(name))
            return pa.DictionaryArray.from_arrays(made, KINDS) if name == "kind" else made

        arrays = [found(name) for name in COLUMNS]
        if self._hops:
            bounds = pa.array(np.concatenate(([0], np.cumsum(seen["hops"], dtype=np.int64))).astype(np.int32))
            for name in HOP_COLUMNS:
                arrays.append(pa.ListArray.from_arrays(bounds, found(name)).cast(self._schema.field(name).type))
        table = pa.Table.from_arrays(arrays, schema=self._schema)
        if not table.num_rows:
            return table, None
        newest = np.maximum.accumulate(np.concatenate(([self._newest], seen["ingress"])))
        self._newest = int(newest[-1])
        late = seen["ingress"] < newest[:-1]
        if not late.any():
            return table, None
        return table.filter(pa.array(~late)), table.filter(pa.array(late))

    def _wait(self) -> None:
        if self._busy is not None:
            self._busy.result()
            self._busy = None

    def close(self, complete: bool) -> None:
        """Writes what is left, and what the whole is. Before it, the files cannot be read."""
        import pyarrow as pa

        self._wait()
        late = pa.concat_tables(self._late).sort_by("ingress_ps") if self._late else None
        self._about |= {"complete": complete, "rows": self._rows, "late_rows": late.num_rows if late else 0}
        if late is not None:
            with self._open(LATE) as file:
                file.write_table(late, GROUP)
                file.add_key_value_metadata({_MARK: json.dumps(self._about)})
        self._main.add_key_value_metadata({_MARK: json.dumps(self._about)})
        self._main.close()

    def __enter__(self) -> Writer:
        return self

    def __exit__(self, *failure: object) -> None:
        # Closed already, unless the run has failed: then the folder is about to be removed.
        self._thread.shutdown()
        self._main.close()


def present(folder: Path) -> bool:
    """Whether a run directory holds a recording."""
    return (folder / PACKETS).is_file()


def delete(folder: Path) -> None:
    """Removes a run's recording; what was counted while it was written stays in its summary."""
    for name in (PACKETS, LATE):
        (folder / name).unlink(missing_ok=True)


class Reader:
    """An existing recording: checked when opened, then read a row group at a time."""

    def __init__(self, folder: Path):
        self._main = _File(folder / PACKETS)
        self.about = self._main.about
        self._late = None
        if self.about.get("late_rows"):
            if not (folder / LATE).is_file():
                raise refuse(
                    "is missing: the recording is incomplete", file=folder / LATE, hint="run it again with --record"
                )
            self._late = _File(folder / LATE)
            if self._late.about != self.about:
                raise refuse("belongs to another recording", file=folder / LATE, hint="run it again with --record")
        counts = (self._main.rows, self._late.rows if self._late else 0)
        if counts != (self.about.get("rows"), self.about.get("late_rows")):
            raise refuse(
                "holds another number of packets than were recorded",
                file=folder / PACKETS,
                hint="run it again with --record",
            )

    @property
    def rows(self) -> int:
        return self.about["rows"] + self.about["late_rows"]

    @property
    def hops(self) -> bool:
        return bool(self.about["hops"])

    def tables(self, columns: Sequence[str]) -> Iterator[pa.Table]:
        """All packets in order of ingress; the next rows are decoded in a thread meanwhile."""
        main = self._main.groups(columns)
        merged = _merged(main, self._late.groups(columns)) if self._late else main
        with ThreadPoolExecutor(1, thread_name_prefix="thalweg-recording") as thread:
            coming = thread.submit(next, merged, None)
            while (table := coming.result()) is not None:
                coming = thread.submit(next, merged, None)
                yield table


class _File:
    """One Parquet file of a recording."""

    def __init__(self, path: Path):
        import pyarrow as pa
        import pyarrow.parquet as pq

        self.path = path
        try:
            self._file = pq.ParquetFile(path, page_checksum_verification=True)
            about = self._file.metadata.metadata.get(_MARK)
        except (pa.ArrowException, OSError) as e:
            raise self._cut_short(e) from None
        if about is None:
            raise refuse("is not a recording of thalweg", file=path)
        self.about: dict[str, Any] = json.loads(about)
        found = (self.about.get("format"), self.about.get("version"))
        if found != (FORMAT, VERSION):
            reason = f"is a recording of format version {found[1]}, this thalweg reads version {VERSION}"
            raise refuse(reason, file=path, hint="run it again with --record")
        wanted = schema(bool(self.about.get("hops")))
        have = self._file.schema_arrow
        for field in wanted:
            if field.name not in have.names:
                raise refuse(f"has no column `{field.name}`", file=path, hint="run it again with --record")
            if have.field(field.name).type != field.type:
                reason = f"column `{field.name}` is {have.field(field.name).type}, not {field.type}"
                raise refuse(reason, file=path, hint="run it again with --record")

    @property
    def rows(self) -> int:
        return self._file.metadata.num_rows

    def _cut_short(self, e: Exception) -> ScenarioError:
        reason = f"is damaged or cut short ({str(e).splitlines()[0].rstrip('.')})"
        return refuse(reason, file=self.path, hint="run it again with --record")

    def groups(self, columns: Sequence[str]) -> Iterator[pa.Table]:
        import pyarrow as pa

        for n in range(self._file.num_row_groups):
            try:
                yield self._file.read_row_group(n, columns=list(columns), use_threads=False)
            except (pa.ArrowException, OSError) as e:
                raise self._cut_short(e) from None


def _merged(main: Iterator[pa.Table], late: Iterator[pa.Table]) -> Iterator[pa.Table]:
    """Two streams in order of ingress as one."""
    import numpy as np
    import pyarrow as pa

    waiting = next(late, None)
    for table in main:
        newest = table["ingress_ps"][-1].as_py()
        parts = [table]
        while waiting is not None:
            count = int(np.searchsorted(waiting["ingress_ps"].to_numpy(), newest, side="right"))
            parts.append(waiting.slice(0, count))
            if count < waiting.num_rows:
                waiting = waiting.slice(count)
                break
            waiting = next(late, None)
        if len(parts) > 1:
            both = pa.concat_tables(parts)
            yield both.take(np.argsort(both["ingress_ps"].to_numpy(), kind="stable"))
        else:
            yield table
    while waiting is not None:
        yield waiting
        waiting = next(late, None)


def packets(folder: Path) -> polars.LazyFrame:
    """All packets of a recorded run, in order of ingress, as a polars query that reads what it needs."""
    import polars as pl

    reader = Reader(folder)
    files = [folder / PACKETS] + ([folder / LATE] if reader.about["late_rows"] else [])
    first, *more = [pl.scan_parquet(f) for f in files]
    return first.merge_sorted(more[0], key="ingress_ps") if more else first
