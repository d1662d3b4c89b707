"""Poisson messages on persistent connections, and how long they take."""

from __future__ import annotations

import itertools
from pathlib import Path

import numpy as np

from thalweg.study import NotCheckable, flow_list, in_all, once
from thalweg.study.lists import from_scenarios
from thalweg.study.sizes import FB_HADOOP, WEB_SEARCH

from .numbers import ends_at
from .settings import pinned

SIZES = {"web": WEB_SEARCH, "hadoop": FB_HADOOP}
WORKLOADS = tuple(SIZES)
ENOUGH = 10  # messages in a size class before it decides
GENERATORS = 10


def traffic(
    name: str,
    pairs: dict[tuple[int, int], tuple[float, list[int] | None]],
    workload: str,
    ms: float,
    seed: int,
    folder: Path,
) -> dict:
    """Of each pair of hosts (Gb/s, path) ten generators: sections with a connection each; and the paths of
    all messages."""
    sizes = SIZES[workload]
    draw = np.random.default_rng([seed, WORKLOADS.index(workload)])
    sections, paths = [], []
    for (a, b), (gbps, way) in pairs.items():
        gap = sizes.mean * 8 * GENERATORS / (gbps * 1e9)
        for g in range(GENERATORS):
            rows, at = [], draw.exponential(gap)
            while at < ms * 1e-3:
                size = sizes.draw(draw)
                rows.append((round(at * 1e9), a, b, size))
                at += draw.exponential(gap)
            if not rows:
                continue
            file = folder / f"messages-{name}-{workload}-{ms:g}-{seed}-{a}-{b}-{g}.csv"
            named = from_scenarios(__file__, flow_list(file, rows, itertools.count(len(paths))))
            sections.append({"kind": "list", "file": named, "connection": "back-to-back"})
            paths += [way] * len(rows)
    out: dict = {"traffic": sections}
    if all(way is not None for way in paths):
        out["routing"] = pinned(f"{name}-{workload}-{ms:g}-{seed}", paths, folder)
    return out


class Took:
    """Messages that began after the warm-up and before the last part of the run: size (B), completion (s)
    from its arrival at the host."""

    def __init__(self, results, warm: float, last: float):
        flows = results.flows
        start, received = (results.seconds(c) for c in ("start", "received"))
        inside = (start >= warm) & (start < last)
        done = np.isfinite(received)
        self.size = flows["size"].to_numpy()[inside & done].astype(float)
        self.src = flows["src"].to_numpy()[inside & done]
        self.fct = (received - start)[inside & done]
        self.unfinished = int((inside & ~done).sum())


@once
def took(results) -> Took:
    until = ends_at(results)
    return Took(results, 0.1 * until, 0.8 * until)


def by_class(found: dict[str, Took], workload: str, what, keep=None) -> dict[str, dict[float, float]]:
    """By scheme and size class; only classes with enough messages under every scheme."""
    chosen = {s: np.ones(len(t.size), bool) if keep is None else np.isin(t.src, keep) for s, t in found.items()}
    bins = in_all({s: t.size[chosen[s]] for s, t in found.items()}, SIZES[workload].classes, ENOUGH)
    if not any(bins.values()):
        over = ", ".join(f"{s} {len(t.size)} of {len(t.size) + t.unfinished}" for s, t in found.items())
        raise NotCheckable(f"no size class has {ENOUGH} messages that were over under every scheme: {over}")
    return {s: {b: float(what(t.fct[chosen[s]][which])) for b, which in bins[s].items()} for s, t in found.items()}
