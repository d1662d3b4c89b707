"""One flow over one path, simulated and with real packets: which runs there are, and what the claims measure."""

from __future__ import annotations

from thalweg.study import RunSpec, include, measure_each, run

from . import cellular
from .compared import side_by_side
from .emulated import emulated
from .settings import PATHS, SECONDS, SENDERS, key

include(globals(), cellular)

CELLS = {f"WORLDS-{path}-{sender}": (path, sender) for path in PATHS for sender in SENDERS}


def runs(scale: str) -> list[RunSpec]:
    there = [run(key(path, sender), "path", PATHS[path].keys | SENDERS[sender].keys) for path, sender in CELLS.values()]
    return there + cellular.runs(scale)


@measure_each(CELLS, needs=lambda cell: [key(*cell).every])
def same_scenario(runs, cell):
    (results,) = runs.values()
    return side_by_side(results, emulated(runs.folder, results, cell[1], SECONDS), SECONDS)
