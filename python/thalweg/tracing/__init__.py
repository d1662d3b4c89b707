"""A run as a timeline for Perfetto (https://ui.perfetto.dev): `thalweg trace`, `results.trace(path)`.

The file is Perfetto's TrackEvent protobuf. Its stamps are nanoseconds; every slice has its exact times in picoseconds
as annotations.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from thalweg import _input, _places
from thalweg.errors import refuse

if TYPE_CHECKING:
    from thalweg.results import Results
    from thalweg.tracing.writer import Writer

# Files that carry it may be replaced.
MARK = "made by thalweg"


class Traced(NamedTuple):
    """What was drawn, and what was not."""

    #: Transmissions of packets: a slice each.
    transmissions: int
    #: Pauses of ports: a slice each.
    pauses: int
    #: Flows: a track each.
    flows: int
    #: Samples of counters.
    samples: int
    #: What the run did not record, with the key that would: a sentence each.
    missing: list[str]


def perfetto(run: Results, path: str | Path, *, flows: Sequence[int] = (), ports: Sequence[int] = ()) -> Traced:
    """Writes what a run recorded as a timeline: what was drawn, and what was not recorded.

    Ports are tracks, grouped by node: transmissions and pauses are slices, bytes that wait a counter, arrows lead from
    a pause to those that it caused. Flows are tracks with retransmissions and timeouts on them, and the windows and
    rates that were sampled. `flows` and `ports`: only these.

    Example: `thalweg.run("incast.toml", out="runs/incast", record="hops").trace("incast.pftrace")`.

    Raises:
        ScenarioError: there is no such flow or port; the file cannot be written.
        ImportError: the package `perfetto` is missing.
    """
    path = _input.path(path, "a timeline")
    flows, ports = run.numbers(flows, "flows"), run.numbers(ports, "ports")
    writer = _writer()
    from thalweg.tracing.drawing import Drawing

    _places.check_file(path, mark=MARK)
    try:
        with _places.under_way(path) as temporary, temporary.open("xb") as file:
            traced = Drawing(run, writer(file, f"{MARK}: {run.name}".rstrip(": ")), flows, ports).draw()
    except OSError as e:
        raise refuse(f"cannot be written: {e.strerror or e}", file=path) from None
    return traced


def _writer() -> type[Writer]:
    try:
        from thalweg.tracing.writer import Writer
    except ImportError as e:
        if (e.name or "").split(".")[0] not in ("perfetto", "google"):
            raise
        raise ImportError("the package perfetto is not installed: pip install 'thalweg[trace]'") from None
    return Writer
