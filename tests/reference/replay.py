"""Scenarios with a peer's files next to them: what the comparisons share."""

from __future__ import annotations

import csv
import gzip
import io
import math
import os
import re
from dataclasses import dataclass, field
from pathlib import Path

HERE = Path(__file__).parent
DATA = Path(os.environ.get("THALWEG_REFERENCE", HERE / "../../../shared/reference"))

# Upper edges of the size classes, bytes.
EDGES = [10_000, 100_000, 1_000_000, 10_000_000, math.inf]


@dataclass
class Outcome:
    """What came out. `flows`: (size, peer FCT, our FCT) in ns; `metrics`: (name, peer, ours)."""

    flows: list[tuple[float, float, float]] = field(default_factory=list)
    metrics: list[tuple[str, float, float]] = field(default_factory=list)
    seconds: float = 0.0


def read(folder: str, name: str) -> list[dict[str, str]]:
    path = DATA / folder / name
    text = path.read_text() if path.is_file() else gzip.decompress((DATA / folder / f"{name}.gz").read_bytes()).decode()
    return list(csv.DictReader(io.StringIO(text)))


def scenario(toml: str, folder: str, overrides: dict, traffic: str | None = None):
    """The scenario with the peer's files next to it; `traffic` replaces its traffic sections."""
    import thalweg

    text = (HERE / toml).read_text()
    if traffic is not None:
        text = re.sub(r"\[\[traffic\]\].*?\n\n", "", text, flags=re.S) + traffic
    return thalweg.Scenario(text, toml, DATA / folder, overrides)


def run(toml: str, folder: str, overrides: dict, traffic: str | None = None):
    """What comes out of it."""
    import thalweg

    return thalweg.run(scenario(toml, folder, overrides, traffic), progress=False)


def by_flow(results, peer: list[dict[str, str]]) -> Outcome:
    flows = results.flows
    ours = dict(zip(flows["id"], zip(flows["size"], flows["fct_ps"], strict=True), strict=True))
    out = Outcome(seconds=results.meta["seconds"])
    for row in peer:
        size, fct = ours[int(row["id"])]
        theirs = float(row["fct_ns"] or -1)
        if fct is not None and theirs > 0:  # complete in both
            out.flows.append((size, theirs, fct / 1000))
    return out
