"""`export-pcap`, `export-qlog`, and the same after a run."""

from __future__ import annotations

from pathlib import Path

from thalweg import _format
from thalweg.cli import OK


def pcap(args) -> int:
    """A recorded run's packets, for Wireshark."""
    from thalweg.results import Results

    print(write_pcap(Results.load(args.run), args.file, args.flow, args.port))
    return OK


def qlog(args) -> int:
    """Recorded decisions, for qvis."""
    print(write_qlog(args.record, args.folder, args.flow))
    return OK


def write_pcap(run, file: str | Path, flows=(), ports=()) -> str:
    """Writes the file; what it is, in a line."""
    from thalweg import captures

    records = captures.pcap(run, file, flows, ports)
    return f"{file}: {_format.plural(records, 'record')} of packets"


def write_qlog(record, folder: str | Path, flows=()) -> str:
    """Writes the files; what they are, in a line."""
    from thalweg import captures

    written = captures.qlog(record, folder, flows)
    return f"{folder}: {_format.plural(len(written), 'flow')} as qlog"
