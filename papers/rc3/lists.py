"""The same flows under several transports at once: lists made from what the TCP run sent."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path

from thalweg.study import RunSpec, flow_list, run
from thalweg.study.lists import from_scenarios

from .settings import PLACES, PRIORITY, TCP, ends

BASE = "i2-30"
RC3 = TCP | {"rc3": {}}
VIDEO = {"first": "1500000B", "chunk": "64000B", "every": "100ms"}
# ns-3's TCP of then: a window grows with every ACK, used up or not, and no pause takes it away.
AS_PUBLISHED = {"growth": "always", "restart": "keep"}
BUFFERED, CHUNKS = 1_500_000, 20
SESSION = BUFFERED + CHUNKS * 64_000


def half(hosts: int = 100) -> set[int]:
    """Half of the hosts, drawn once."""
    return set(random.Random(1).sample(range(hosts), hosts // 2))


def critical(row: Mapping) -> bool:
    """A tenth of the flows: CHOICE, drawn by their numbers."""
    return random.Random(row["id"]).random() < 0.1


def rows(results) -> Iterable[Mapping]:
    """The flows that started."""
    found = results.flows.select("id", "src", "dst", "size", "start_ps")
    return found.drop_nulls("start_ps").iter_rows(named=True)


def write(folder: Path, name: str, found: Iterable[Mapping]) -> str:
    """The name of the list, as a scenario has it."""
    flows = ((r["start_ps"] // 1000, r["src"], r["dst"], r["size"]) for r in found)
    return from_scenarios(__file__, flow_list(folder / f"{name.replace(':', '-')}.csv", flows))


def split(
    key: str, scale: str, first: Callable[[Mapping], bool], sections: tuple[dict, dict], set: Mapping, seed: int = 1
):
    """A run in which the flows that `first` chooses have the first section's settings, all others the second's."""

    def prepare(runs, folder: Path) -> dict:
        flows = list(rows(runs[f"{BASE}:tcp@{seed}"]))
        chosen = [r for r in flows if first(r)]
        others = [r for r in flows if not first(r)]
        files = [write(folder, name, part) for name, part in ((f"{key}-chosen", chosen), (f"{key}-others", others))]
        return {"traffic": [{"kind": "list", "file": f} | s for f, s in zip(files, sections, strict=True)]}

    given = ends(BASE, scale) | dict(PLACES[BASE].different) | dict(set)
    return run(key, "i2", given, seed, after=(f"{BASE}:tcp@{seed}",), prepare=prepare)


def videos(scheme: str, scale: str, seed: int = 1) -> RunSpec:
    """§2.4.1, YouTube: CHOICE, 2 % of the flows are sessions of a burst of 1.5 MB and then 64 KB every 100 ms."""
    key = f"video:{scheme}"
    last, watched = (0.5, 24) if scale == "quick" else (3.0, 200)
    rest = RC3 if scheme == "rc3" else TCP

    def is_video(row: Mapping) -> bool:
        return random.Random(-1 - row["id"]).random() < 0.02

    def prepare(runs, folder: Path) -> dict:
        flows = list(rows(runs[f"{BASE}:tcp@{seed}"]))
        sessions = [r | {"size": SESSION} for r in flows if is_video(r)]
        # The flows of both lists are numbered by their starts, as those of the TCP run were.
        counted = [r["id"] for r in sessions if 0.3e12 <= r["start_ps"] < last * 1e12]
        others = [r for r in flows if not is_video(r)]
        files = [write(folder, name, part) for name, part in ((f"{key}-sessions", sessions), (f"{key}-others", others))]
        return {
            "traffic": [{"kind": "list", "file": files[0], "transport": "video"}, {"kind": "list", "file": files[1]}],
            "measure.controllers": {"every": "5ms", "flows": counted[:watched]},
        }

    end = 3.5 if scale == "quick" else 8
    given = {
        "measure.from": "0.3s",
        "measure.until": f"{last}s",
        "run.until": f"{end}s",
        "transport": rest,
        "transports": {"video": rest | {"writes": VIDEO} | AS_PUBLISHED},
    } | (PRIORITY if scheme == "rc3" else {})
    return run(key, "i2", given, seed, after=(f"{BASE}:tcp@{seed}",), prepare=prepare)


def runs(scale: str) -> list:
    chosen = half()
    rc3 = PRIORITY | {"transports": {"rc3": RC3}}
    with_rc3 = ({"transport": "rc3"}, {})
    qos = PRIORITY | {"transport": TCP | {"ack_class": "data"}}
    return [
        split("mix:rc3", scale, lambda r: r["src"] in chosen, with_rc3, rc3),
        split("critical:qos", scale, critical, ({"class": 0}, {"class": 1}), qos),
        split("critical:rc3", scale, critical, with_rc3, rc3),
        videos("tcp", scale),
        videos("rc3", scale),
    ]
