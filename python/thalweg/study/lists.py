"""Files that runs read: lists of flows, and of paths. What `RunSpec.prepare` writes."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from pathlib import Path


def write_csv(file: Path, head: str, lines: Iterable[str]) -> Path:
    """All runs of a study share its folder of inputs: names say what is inside."""
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text("\n".join([head, *lines]) + "\n", encoding="utf-8")
    return file


def flow_list(file: Path, rows: Iterable[tuple[int, int, int, int]], first: int = 0) -> Path:
    """Flows as a list (`kind = "list"`): (start in ns, source, destination, bytes), numbered in this order from
    `first` on."""
    lines = (f"{n},{a},{b},{size},{ns}" for n, (ns, a, b, size) in enumerate(rows, first))
    return write_csv(file, "id,src,dst,size_bytes,start_ns", lines)


def path_list(file: Path, paths: Iterable[Sequence[int]]) -> Path:
    """Pinned paths (`routing.kind = "pinned"`): of every flow, by its number, the switches from source to
    destination. ACKs return by the same."""
    ways = ("-".join(map(str, way)) + "," + "-".join(map(str, reversed(way))) for way in paths)
    return write_csv(file, "id,data_path,ack_path", (f"{n},{way}" for n, way in enumerate(ways)))


def from_scenarios(study: str, file: Path) -> str:
    """A file's name as a scenario of the study has it: relative to `scenarios/`, so that results do not depend on
    where the output folder is. `study`: the `__file__` of a module of the study."""
    return os.path.relpath(file, Path(study).parent / "scenarios")
