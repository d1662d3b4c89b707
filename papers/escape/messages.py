"""Poisson messages on persistent connections, and how long they take."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np

from thalweg.papers import NotCheckable, once

from .numbers import ends_at
from .settings import SCENARIOS, pinned

# bytes: cumulative %; as HPCC's public artifact has them.
CDF = {
    "web": "0:0 10K:15 20K:20 30K:30 50K:40 80K:53 200K:60 1M:70 2M:80 5M:90 10M:97 30M:100",
    "hadoop": "0:0 100:1 200:2 300:5 350:15 400:20 500:30 600:40 700:50 1000:60 2000:67 7000:70 30K:72 50K:82 80K:87 120K:90 300K:95 1M:97.5 2M:99 10M:100",
}
WORKLOADS = tuple(CDF)
ENOUGH = 10  # messages in a size class before it decides
GENERATORS = 10


def knots(workload: str):
    number = lambda text: float(text.replace("K", "e3").replace("M", "e6"))  # noqa: E731
    pairs = [point.split(":") for point in CDF[workload].split()]
    return np.array([number(size) for size, _ in pairs]), np.array([float(share) for _, share in pairs])


def mean(workload: str) -> float:
    size, share = knots(workload)
    return float(np.sum(np.diff(share) / 100 * (size[1:] + size[:-1]) / 2))


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
    sizes, share = knots(workload)
    draw = np.random.default_rng([seed, WORKLOADS.index(workload)])
    folder.mkdir(parents=True, exist_ok=True)
    sections, paths, number = [], [], 0
    for (a, b), (gbps, way) in pairs.items():
        gap = mean(workload) * 8 * GENERATORS / (gbps * 1e9)
        for g in range(GENERATORS):
            rows, at = [], draw.exponential(gap)
            while at < ms * 1e-3:
                size = max(1, round(float(np.interp(draw.uniform(0, 100), share, sizes))))
                rows.append(f"{number},{a},{b},{size},{round(at * 1e9)}")
                paths.append(way)
                number += 1
                at += draw.exponential(gap)
            if not rows:
                continue
            file = folder / f"messages-{name}-{workload}-{ms:g}-{seed}-{a}-{b}-{g}.csv"
            file.write_text("\n".join(["id,src,dst,size_bytes,start_ns", *rows]) + "\n", encoding="utf-8")
            sections.append({"kind": "list", "file": os.path.relpath(file, SCENARIOS), "connection": "back-to-back"})
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


def classes(workload: str, size) -> dict[float, np.ndarray]:
    edges, _ = knots(workload)
    where = np.searchsorted(edges, size, side="left")
    return {edges[i]: np.flatnonzero(where == i) for i in range(1, len(edges))}


def by_class(found: dict[str, Took], workload: str, what, keep=None) -> dict[str, dict[float, float]]:
    """By scheme and size class; only classes with enough messages under every scheme."""
    chosen = {s: np.ones(len(t.size), bool) if keep is None else np.isin(t.src, keep) for s, t in found.items()}
    bins = {s: classes(workload, t.size[chosen[s]]) for s, t in found.items()}
    first = next(iter(found))
    shared = [b for b in bins[first] if min(len(bins[s][b]) for s in found) >= ENOUGH]
    if not shared:
        over = ", ".join(f"{s} {len(t.size)} of {len(t.size) + t.unfinished}" for s, t in found.items())
        raise NotCheckable(f"no size class has {ENOUGH} messages that were over under every scheme: {over}")
    return {s: {b: float(what(t.fct[chosen[s]][bins[s][b]])) for b in shared} for s, t in found.items()}
