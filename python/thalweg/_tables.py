"""What the tables of run directories hold. What is read there is compared with it once, as it is read, so that figures,
reports and exports find the columns that they take, and in them what they expect."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, Protocol

from thalweg.errors import refuse

if TYPE_CHECKING:
    import pyarrow

WHOLE, NUMBER, TEXT, FLAG = "whole numbers", "numbers", "text", "true or false"
AGAIN = "the folder is damaged, or of another version: run it again"


class Others(Protocol):
    """The other tables of a folder, by name."""

    def __contains__(self, name: object, /) -> bool: ...
    def arrow(self, name: str, /) -> pyarrow.Table: ...


class Column(NamedTuple):
    """What a column holds."""

    kind: str
    #: Rows may be without a value.
    gaps: bool = False
    #: Every run has it that has the table, of whichever version.
    always: bool = True


def _columns(always: bool = True, **named: str) -> dict[str, Column]:
    """By kind the names; `name?`: with gaps."""
    kinds = {"whole": WHOLE, "number": NUMBER, "text": TEXT, "flag": FLAG}
    each = ((name, kinds[kind]) for kind, names in named.items() for name in names.split())
    return {name.rstrip("?"): Column(kind, name.endswith("?"), always) for name, kind in each}


_AT = "time_ps"
# Columns that are not here, such as those of controllers' own, are taken as they are.
TABLES: dict[str, dict[str, Column]] = {
    "flows": {
        **_columns(
            whole="id src dst size? start_ps? fct_ps? ideal_ps delivered packets timeouts data_drops group",
            number="slowdown?",
            text="status",
            flag="measured",
        ),
        **_columns(
            False,
            whole="listed? begun_ps? received_ps? acked_ps? rtt_ps? retransmissions drops trims wasted_credits class "
            "after? src_nic dst_nic",
            number="throughput_bps?",
            text="section controller end reason?",
        ),
    },
    "ports": {
        **_columns(whole="port from to rate_bps packets dropped max_queue", number="waited_ps utilisation"),
        **_columns(False, whole="bytes lost marked trimmed pauses paused_ps capacity"),
    },
    "nodes": {**_columns(whole="node", text="name kind"), **_columns(False, whole="host?")},
    "queues": {
        **_columns(whole=f"{_AT} port packets bytes"),
        **_columns(False, whole="dropped marked flows occupied"),
    },
    "links": {
        **_columns(whole=f"{_AT} port bytes capacity"),
        **_columns(False, whole="packets estimate?"),
    },
    "controllers": {
        **_columns(whole=f"{_AT} flow window? delivered"),
        **_columns(False, whole="threshold? in_flight srtt_ps? arrived pace?"),
    },
    "round_trips": {**_columns(whole=f"{_AT} flow rtt_ps"), **_columns(False, whole="pace?")},
    "priorities": _columns(whole="port priority packets"),
    "pauses": _columns(whole="pause port from_node to_node began_ps ended_ps? cause? depth"),
    "memory": _columns(
        whole="node port? from_node? most_bytes limit_bytes? most_headroom? headroom_bytes?",
    ),
    "works": _columns(whole="id host cpu? lasts_ps begun_ps? ended_ps? group", text="section"),
    "delays": _columns(whole="packets", number="from_ps to_ps"),
    "lateness": _columns(whole="packets", number="from_ps to_ps"),
    "ratios": _columns(whole="router with_nic", number="from to"),
    "congestion_points": _columns(whole="points packets"),
}


# Tables whose rows a column counts, from 0.
COUNTED = {"flows": "id", "ports": "port", "nodes": "node", "pauses": "pause", "works": "id"}
# Columns that hold numbers of nodes; the table `nodes` says what these are called.
NODES = {
    "flows": ("src", "dst", "src_nic", "dst_nic"),
    "ports": ("from", "to"),
    "pauses": ("from_node", "to_node"),
    "memory": ("node", "from_node"),
    "works": ("host",),
}
# Columns that hold numbers of rows of other tables.
REFERS: dict[str, dict[str, str]] = {
    **{table: dict.fromkeys(columns, "nodes") for table, columns in NODES.items()},
    "queues": {"port": "ports"},
    "links": {"port": "ports"},
    "controllers": {"flow": "flows"},
    "round_trips": {"flow": "flows"},
    "priorities": {"port": "ports"},
}
REFERS["pauses"] |= {"port": "ports", "cause": "pauses"}
REFERS["memory"] |= {"port": "ports"}


def read(path: Path, others: Others) -> pyarrow.Table:
    """A table in a file, found to be what its name says, and to fit the `others` of its folder."""
    import pyarrow
    import pyarrow.parquet as pq

    try:
        table = pq.ParquetFile(path).read()
    except (pyarrow.ArrowException, OSError, ValueError) as e:
        # Not all failures have words.
        why = next((line for line in str(e).splitlines() if line.strip()), type(e).__name__)
        raise refuse(f"cannot be read: {why.rstrip('.')}", file=path, hint=AGAIN) from None
    checked(table, path.stem, path)
    return fitting(table, path.stem, path, others)


def checked(table: pyarrow.Table, name: str, file: object) -> pyarrow.Table:
    """The same table, if each of its columns holds what this table's do."""
    for column, wanted in TABLES.get(name, {}).items():
        if column not in table.column_names:
            if wanted.always:
                reason = f"is not a table of {name}: it has no column `{column}` ({wanted.kind})"
                raise refuse(reason, file=file, hint=AGAIN)
            continue
        if table.column_names.count(column) > 1:
            raise refuse(f"is not a table of {name}: it has two columns `{column}`", file=file, hint=AGAIN)
        found = table.column(column)
        if not _is(found.type, wanted.kind):
            reason = f"is not a table of {name}: its column `{column}` holds {found.type}, not {wanted.kind}"
            raise refuse(reason, file=file, hint=AGAIN)
        if found.null_count and not wanted.gaps:
            reason = (
                f"is not a table of {name}: its column `{column}` ({wanted.kind}) has {found.null_count} empty cells"
            )
            raise refuse(reason, file=file, hint=AGAIN)
    return table


def fitting(table: pyarrow.Table, name: str, file: object, others: Others) -> pyarrow.Table:
    """The same table, if its rows are counted as they should be, and its numbers are of rows that are there."""
    import numpy as np
    import pyarrow.compute

    if (counted := COUNTED.get(name)) and not np.array_equal(table[counted].to_numpy(), np.arange(table.num_rows)):
        reason = f"is not whole: its column `{counted}` does not count its {table.num_rows} rows from 0"
        raise refuse(reason, file=file, hint=AGAIN)
    for column, of in REFERS.get(name, {}).items():
        if of not in others or not table.num_rows or column not in table.column_names:
            continue
        known = table.num_rows if of == name else others.arrow(of).num_rows
        least, most = (found.as_py() for found in pyarrow.compute.min_max(table[column]).values())
        if least is not None and not 0 <= least <= most < known:
            wrong = most if most >= known else least
            reason = f"its column `{column}` names row {wrong} of the table {of}, which has {known}"
            raise refuse(reason, file=file, hint=AGAIN)
    return table


def _is(kind: pyarrow.DataType, wanted: str) -> bool:
    from pyarrow import types

    if wanted == WHOLE:
        return types.is_integer(kind)
    if wanted == NUMBER:
        return types.is_integer(kind) or types.is_floating(kind)
    if wanted == FLAG:
        return types.is_boolean(kind)
    return types.is_string(kind) or types.is_large_string(kind)
