"""`export-pcap`, `export-qlog`, and the same after a run; `trace`."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from thalweg import _format
from thalweg.cli import OK
from thalweg.errors import refuse

if TYPE_CHECKING:
    from thalweg.rundata import RunData


def pcap(args: Namespace) -> int:
    """A recorded run's packets, for Wireshark."""
    from thalweg.results import Results

    print(write_pcap(Results.load(args.run), args.file, args.flow, args.port))
    return OK


def qlog(args: Namespace) -> int:
    """Recorded decisions, for qvis."""
    print(write_qlog(args.record, args.folder, args.flow))
    return OK


def trace(args: Namespace) -> int:
    """What a run recorded, for Perfetto."""
    from thalweg._lines import wrapped
    from thalweg.results import Results

    run = Path(args.run)
    file = Path(args.out) if args.out else run.with_name(f"{run.absolute().name}.pftrace")
    try:
        drawn = Results.load(run).trace(file, flows=args.flow, ports=args.port)
    except ImportError as e:
        raise refuse(f"thalweg trace: {e}") from None
    parts = [
        _format.plural(drawn.transmissions, "transmission"),
        _format.plural(drawn.pauses, "pause"),
        _format.plural(drawn.flows, "flow"),
        _format.plural(drawn.samples, "sample"),
    ]
    print(wrapped(", ".join(parts) + "; open it in https://ui.perfetto.dev", 2, f"{file}: "))
    for line in drawn.missing:
        print(wrapped(line, 2, "not drawn: "))
    return OK


def write_pcap(run: RunData, file: str | Path, flows: Sequence[int] = (), ports: Sequence[int] = ()) -> str:
    """Writes the file; what it is, in a line."""
    from thalweg import captures

    records = captures.pcap(run, file, flows=flows, ports=ports)
    return f"{file}: {_format.plural(records, 'record')} of packets"


def write_qlog(record: str | Path, folder: str | Path, flows: Sequence[int] = ()) -> str:
    """Writes the files; what they are, in a line."""
    from thalweg import captures

    written = captures.qlog(record, folder, flows=flows)
    return f"{folder}: {_format.plural(len(written), 'flow')} as qlog"
