"""LTE traces: simulated against emulated, and the emulator against Mahimahi with the same kernel's CUBIC."""

from __future__ import annotations

import csv
import gzip
import os
from collections.abc import Mapping
from functools import cache
from pathlib import Path

import numpy as np

from thalweg.study import NotCheckable, RunSpec, measure_each, run

from .compared import side_by_side
from .emulated import emulated
from .settings import SENDERS, key

# Recorded traces have licences of their own and are not part of this repository: see README.md.
TRACES = Path(os.environ.get("THALWEG_TRACES", Path(__file__).parents[2] / "../shared/traces"))
MAHIMAHI = Path(os.environ.get("THALWEG_MAHIMAHI", Path(__file__).parents[2] / "../shared/reference/mahimahi"))
NAMES = ("Verizon-LTE-short.down", "TMobile-LTE-driving.down")
OPPORTUNITY = 1504  # bytes
# Of the runs against the simulator, and of those against Mahimahi, whose runs have 140 s.
SECONDS, WHOLE = 30, 140
# Both worlds begin at one place of the trace, s; in the emulated one programs have to start first.
START = 3
RTT = 100  # ms
# As there: 100 ms of round trip, 250 packets, ACKs over 12 Mb/s.
PATH = {"topology.bottleneck_rate": "12Mbps", "topology.delay": "50ms", "switch.buffer": "250pkts"}
MADE_UP = {"kind": "cellular", "length": "140s"}


def need_traces() -> None:
    if not all((TRACES / f"{name}.gz").is_file() for name in NAMES):
        raise NotCheckable("needs the recorded traces, which are not here: see papers/worlds/README.md")


def unpacked(name: str):
    """What `RunSpec.prepare` calls: the trace; without it a made-up link, so that the run exists."""

    def prepare(_, folder: Path) -> Mapping:
        packed, transmitter = TRACES / f"{name}.gz", MADE_UP
        if packed.is_file():
            folder.mkdir(parents=True, exist_ok=True)
            file = (folder / name).resolve()
            file.write_bytes(gzip.decompress(packed.read_bytes()))
            transmitter = {"kind": "traced", "file": str(file)}
        return {"link": [{"which": "core-links", "direction": "forward", "transmitter": transmitter}]}

    return prepare


def spec(trace: str, sender: str, seconds: int, scheme: str = "") -> RunSpec:
    until = {"traffic.0.start": f"{START}s", "run.until": f"{1000 * (START + seconds) + RTT}ms"}
    keys = PATH | SENDERS[sender].keys | until
    return run(key(trace, scheme or sender), "path", keys, prepare=unpacked(trace))


def runs(_: str) -> list[RunSpec]:
    whole = [spec(trace, "kernel-cubic", WHOLE, "mahimahi") for trace in NAMES]
    return [spec(trace, sender, SECONDS) for trace in NAMES for sender in SENDERS] + whole


CELLS = {f"WORLDS-{trace}-{sender}": (trace, sender) for trace in NAMES for sender in SENDERS}


@measure_each(CELLS, needs=lambda cell: [key(*cell).every])
def same_trace(runs, cell):
    need_traces()
    (results,) = runs.values()
    return side_by_side(results, emulated(runs.folder, results, cell[1], SECONDS, START), SECONDS)


@cache
def peer(trace: str) -> list[Mapping[str, str]]:
    """Mahimahi's runs of CUBIC over the trace."""
    file = MAHIMAHI / "summary.csv"
    if not file.is_file():
        raise NotCheckable("needs the reference runs of Mahimahi, which are not here: see papers/worlds/README.md")
    with file.open(newline="") as rows:
        found = [r for r in csv.DictReader(rows) if (r["trace"], r["scheme"]) == (trace, "cubic")]
    return [r for r in found if r["run"][-1].isdigit() and "alone" not in r["run"]]


def opportunities(trace: str, begin: float, seconds: float) -> int:
    """How many the trace has in a window from `begin` seconds on."""
    ms = np.array(gzip.decompress((TRACES / f"{trace}.gz").read_bytes()).split(), dtype=np.int64)
    laps = np.concatenate([ms + lap * ms[-1] for lap in range(2 + int(1000 * (begin + seconds)) // int(ms[-1]))])
    return int(((laps >= 1000 * begin) & (laps < 1000 * (begin + seconds))).sum())


@measure_each({f"WORLDS-MM-{trace}": trace for trace in NAMES}, needs=lambda trace: [key(trace, "mahimahi").every])
def against_mahimahi(runs, trace):
    need_traces()
    theirs = peer(trace)
    (results,) = runs.values()
    here = emulated(runs.folder, results, "kernel-cubic", WHOLE, START)
    used = here.rate(WHOLE) * 1e6 / 8 * WHOLE / (OPPORTUNITY * opportunities(trace, START, WHOLE))

    def mean(what: str) -> float:
        return float(np.mean([float(r[what]) for r in theirs]))

    return {
        "utilisation apart": used - mean("util"),
        "median delay, ours / theirs": here.delay() / mean("p50"),
        "p95, ours / theirs": here.delay(0.95) / mean("p95"),
        "utilisation": used,
        "Mahimahi's": mean("util"),
        "median ms": here.delay(),
        "late p99 us": here.late[1],
        "load": here.load,
    }
