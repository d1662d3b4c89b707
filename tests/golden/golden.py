"""Golden digests: what a fixed list of runs did when it was last looked at.

    python tests/golden/golden.py            compares; names every run that differs
    python tests/golden/golden.py --write    writes tests/golden/digests.csv anew

Every run of every study at quick scale, the benchmark's workloads, a dragonfly and a torus, the lists of
`tests/reference` (where the data are) and a recording with its replays, each cut after so many events that all
of them take about a minute on two cores. A digest covers the order of the events and what happened in them, so
a change that keeps this file as it is has kept the simulator's behaviour. One that moves a digest says in the
CHANGELOG which defect it mends, and writes the list anew in the same commit.
"""

from __future__ import annotations

import argparse
import csv
import hashlib
import os
import sys
import tempfile
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field
from multiprocessing import get_context
from pathlib import Path

import thalweg
from thalweg import _core
from thalweg.engine import collect
from thalweg.papers import find
from thalweg.scenario import Scenario

HERE = Path(__file__).parent
LIST = HERE / "digests.csv"
ROOT = HERE.parents[1]
BENCHES = ROOT / "benches" / "scenarios"
sys.path.insert(0, str(ROOT / "tests" / "reference"))

# Events after which a run is cut.
STUDY, REFERENCE, BENCH = 100_000, 200_000, 300_000
W7 = {
    "roce+pfc": "roce+voq-pfc",
    "roce+pfc+dcqcn": "roce-dcqcn+voq-pfc",
    "irn+dcqcn": "irn-dcqcn+voq",
    "irn+timely": "irn-timely+voq",
    "hpcc+pfc": "hpcc+voq-pfc",
}

# The examples of networks with detours, and the rules that they are for.
DETOURS = {"adverse": ("ecmp", "valiant", "ugal"), "torus": ("ecmp", "dimension-order")}

W8 = {"homa": "homa+spray"}
W9 = {"escape": {"switch.relief": {"kind": "escape", "pool": 16}}}

RECORDED = """\
name = "recorded"
[topology]
kind = "internet2"
[transport]
kind = "udp"
pace = { kind = "constant", rate = "1Gbps" }
[switch]
buffer = "unlimited"
[switch.scheduler]
kind = "random"
[[traffic]]
kind = "poisson"
sizes = "heavy-tailed"
load = 0.5
until = "2ms"
[run]
until = "1s"
[measure]
packets = { hops = true }
"""


@dataclass(frozen=True)
class Row:
    """A run's name, how many events it was given, and what it did in them."""

    name: str
    events: int
    hops: int
    digest: str

    def cells(self) -> tuple[str, str, str, str]:
        return self.name, str(self.events), str(self.hops), self.digest


@dataclass
class Cut:
    """A run that was taken so far and no further; `prepare` functions of studies take its results for those
    of a whole run."""

    scenario: Scenario
    events: int
    simulation: _core.Simulation = field(init=False)

    def __post_init__(self):
        self.simulation = _core.Simulation(self.scenario._core)
        left = self.events
        while left and self.simulation.step(min(left, 10_000)):
            left -= min(left, 10_000)

    def row(self, name: str) -> Row:
        seen = self.simulation.progress()
        return Row(name, seen["events"], seen["packet_hops"], f"{self.simulation.digest():016x}")

    def results(self) -> thalweg.Results:
        return collect(self.simulation, self.scenario.to_toml(), "cut", 1.0, {"directory": ".", "inputs": {}})


def has_data(row: str) -> bool:
    """What a row runs on is here: the lists of `tests/reference` and the recorded traces of cellular links
    are not part of the project."""
    import replay

    traces = lambda: find("abc").module("settings").TRACES.is_dir()  # noqa: E731
    return traces() if row.startswith("abc/") else replay.DATA.is_dir() or not row.startswith("reference/")


def study(name: str) -> Iterator[Row]:
    """Every run of a study at quick scale."""
    if not has_data(f"{name}/"):
        return
    paper = find(name)
    specs = paper.module("study").runs("quick")
    wanted = {key for s in specs for key in s.after}
    kept: dict[str, thalweg.Results] = {}
    with tempfile.TemporaryDirectory() as folder:
        for s in sorted(specs, key=lambda s: bool(s.prepare)):
            if s.replay is not None:
                continue  # needs a whole recording: see `recorded`
            more = s.prepare(kept, Path(folder)) if s.prepare else {}
            cut = Cut(Scenario.load(paper.folder / s.scenario, {**s.set, **more}), STUDY)
            if s.key in wanted:
                kept[s.key] = cut.results()
            yield cut.row(f"{name}/{s.key}")


def benches(_: str) -> Iterator[Row]:
    """The benchmark's workloads."""
    for file in sorted(BENCHES.glob("*.toml")):
        named = {"w7-rdma": W7, "w8-receivers": W8}.get(file.stem, {})
        more = W9 if file.stem == "w9-relief" else {k: {"scheme": v} for k, v in named.items()}
        schemes = {"": {}} | more
        for scheme, overrides in schemes.items():
            yield Cut(Scenario.load(file, overrides), BENCH).row(f"bench/{file.stem}{scheme and ':'}{scheme}")


def references(_: str) -> Iterator[Row]:
    """The lists of independent simulators, the first run of each; nothing where the data are not."""
    import replay
    import sets

    class Found(Exception):
        pass

    def capture(toml: str, folder: str, overrides: dict, traffic: str | None = None):
        raise Found(replay.scenario(toml, folder, overrides, traffic))

    if not replay.DATA.is_dir():
        return
    plain, replay.run = replay.run, capture
    try:
        for name, compare in sets.all_sets().items():
            if name.startswith(("htsim-model", "mahimahi")):
                continue  # a model of the peer, not a run of ours; recorded runs, whole
            try:
                compare()
            except Found as found:
                yield Cut(found.args[0], REFERENCE).row(f"reference/{name}")
    finally:
        replay.run = plain


def detours(_: str) -> Iterator[Row]:
    """A dragonfly and a torus, under the rules that go by their shape."""
    for name, rules in DETOURS.items():
        for rule in rules:
            scenario = Scenario.load(ROOT / "examples" / "dragonfly" / f"{name}.toml", {"routing": rule})
            yield Cut(scenario, STUDY).row(f"detours/{name}:{rule}")


def recorded(_: str) -> Iterator[Row]:
    """A recording, and its packets again under every scheduler that replays have."""
    with tempfile.TemporaryDirectory() as folder:
        run = thalweg.run(Scenario.from_toml(RECORDED), out=Path(folder) / "recorded", progress=False)
        yield Row("recorded", run.meta["events"], run.meta["packet_hops"], run.digest)
        for scheduler in _core.candidates():
            for preemptive in (False, True):
                again = thalweg.replay(run, scheduler=scheduler, preemptive=preemptive, progress=False)
                late = "".join(again.tables[t].write_csv() for t in ("lateness", "ratios"))
                digest = hashlib.blake2s(late.encode(), digest_size=8).hexdigest()
                name = f"recorded/{scheduler}{'+preemptive' if preemptive else ''}"
                yield Row(name, again.meta["events"], again.summary["packet_hops"], digest)


# The longest first.
PARTS = {
    "bfc": study, "irn": study, "ads": study, "references": references, "abc": study, "timely": study, "ups": study, "rc3": study,
    "rocc": study, "escape": study, "benches": benches, "recorded": recorded,
    "detours": detours,
}  # fmt: skip


def part(name: str) -> list[Row]:
    return list(PARTS[name](name))


def measure(jobs: int | None = None) -> list[Row]:
    """All rows, by name."""
    with ProcessPoolExecutor(jobs or os.cpu_count(), mp_context=get_context("spawn")) as pool:
        return sorted((row for rows in pool.map(part, PARTS) for row in rows), key=lambda r: r.name)


def everything() -> list[Row]:
    """The rows of the list."""
    with LIST.open(newline="", encoding="utf-8") as f:
        return [Row(r["run"], int(r["events"]), int(r["packet_hops"]), r["digest"]) for r in csv.DictReader(f)]


def listed() -> dict[str, Row]:
    """The rows that can be run here."""
    return {row.name: row for row in everything() if has_data(row.name)}


def differences(found: list[Row]) -> list[str]:
    """One line for each run that is not as listed."""
    here, there = {r.name: r for r in found}, listed()
    lines = [f"{k}: is listed, but did not run" for k in there.keys() - here.keys()]
    lines += [f"{k}: ran, but is not listed" for k in here.keys() - there.keys()]
    for k in here.keys() & there.keys():
        a, b = there[k], here[k]
        if a != b:
            lines.append(
                f"{k}: {a.digest} after {a.events} events and {a.hops} hops; now {b.digest}, {b.events}, {b.hops}"
            )
    return sorted(lines)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--write", action="store_true", help="write the list anew")
    parser.add_argument("--jobs", type=int, help="processes (default: one per core)")
    args = parser.parse_args()
    found = measure(args.jobs)
    wrong = differences(found) if LIST.is_file() else [f"{LIST} is not there"]
    print("\n".join(wrong) or f"{len(found)} runs as listed")
    if left := len(everything()) - len(listed()) if LIST.is_file() else 0:
        print(f"{left} more are listed, whose data are not here")
    if args.write:
        with LIST.open("w", newline="", encoding="utf-8") as f:
            table = csv.writer(f, lineterminator="\n")
            table.writerow(("run", "events", "packet_hops", "digest"))
            table.writerows(r.cells() for r in found)
        return 0
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
