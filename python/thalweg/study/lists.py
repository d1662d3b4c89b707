"""Files that runs read: lists of flows, and of paths. What `RunSpec.prepare` writes."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from itertools import count
from pathlib import Path

from thalweg import _places


def write_csv(file: Path, head: str, lines: Iterable[str]) -> Path:
    """All runs of a study share its folder of inputs: names say what is inside."""
    return _places.write_file(file, "\n".join([head, *lines]) + "\n", mark="")


def flow_list(file: Path, rows: Iterable[tuple[int, int, int, int]], numbers: Iterable[int] | None = None) -> Path:
    """Flows as a list (`kind = "list"`): (start in ns, source, destination, bytes), numbered in this order or as
    `numbers` has it."""
    named = zip(count() if numbers is None else numbers, rows, strict=False)
    lines = (f"{n},{a},{b},{size},{ns}" for n, (ns, a, b, size) in named)
    return write_csv(file, "id,src,dst,size_bytes,start_ns", lines)


def link_list(file: Path, links: Iterable[tuple[object, object, str, str]]) -> dict[str, str]:
    """A network by its links (node, node, rate, delay): the table `topology` of a scenario."""
    write_csv(file, "a,b,rate,delay", (",".join(map(str, link)) for link in links))
    return {"kind": "file", "format": "links-csv", "file": str(file.resolve())}


def path_list(file: Path, paths: Iterable[Sequence[int]]) -> Path:
    """Pinned paths (`routing.kind = "pinned"`): of every flow, by its number, the switches from source to
    destination. ACKs return by the same."""
    ways = ("-".join(map(str, way)) + "," + "-".join(map(str, reversed(way))) for way in paths)
    return write_csv(file, "id,data_path,ack_path", (f"{n},{way}" for n, way in enumerate(ways)))


def from_scenarios(study: str, file: Path) -> str:
    """A file's name as a scenario of the study has it: relative to `scenarios/`, so that results do not depend on
    where the output folder is. `study`: the `__file__` of a module of the study."""
    return os.path.relpath(file, Path(study).parent / "scenarios")
