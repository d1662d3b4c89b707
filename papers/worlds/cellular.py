"""LTE traces: simulated against emulated, and the emulator against Mahimahi with the same kernel's CUBIC."""

from __future__ import annotations

import csv
import gzip
import os
from collections.abc import Callable, Mapping
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


def recorded(name: str) -> np.ndarray:
    """The trace's opportunities, ms."""
    return np.array(gzip.decompress((TRACES / f"{name}.gz").read_bytes()).split(), dtype=np.int64)


def from_there(ms: np.ndarray, begin: int) -> np.ndarray:
    """The trace from `begin` ms on, at the place where ours begins; before that an opportunity a millisecond."""
    laps = np.concatenate([ms, ms + ms[-1]])
    return np.concatenate([np.arange(1, 1000 * START), laps[laps >= begin] - begin + 1000 * START])


def unpacked(name: str, begin: Callable[[str], int] | None = None):
    """What `RunSpec.prepare` calls: the trace, from where Mahimahi's runs begin or as it is; without it a made-up link,
    so that the run exists."""

    def prepare(_, folder: Path) -> Mapping:
        transmitter = MADE_UP
        if (TRACES / f"{name}.gz").is_file():
            folder.mkdir(parents=True, exist_ok=True)
            place = f"-from-{begin(name)}ms" if begin else ""
            file = (folder / f"{name}{place}").resolve()
            times = from_there(recorded(name), begin(name)) if begin else recorded(name)
            file.write_text("".join(f"{ms}\n" for ms in times), encoding="ascii")
            transmitter = {"kind": "traced", "file": str(file)}
        return {"link": [{"which": "core-links", "direction": "forward", "transmitter": transmitter}]}

    return prepare


def spec(trace: str, sender: str, seconds: int, scheme: str = "", begin: Callable[[str], int] | None = None) -> RunSpec:
    until = {"traffic.0.start": f"{START}s", "run.until": f"{1000 * (START + seconds) + RTT}ms"}
    keys = PATH | SENDERS[sender].keys | until
    return run(key(trace, scheme or sender), "path", keys, prepare=unpacked(trace, begin))


def runs(_: str) -> list[RunSpec]:
    whole = [spec(trace, "kernel-cubic", WHOLE, "mahimahi", their_start) for trace in NAMES]
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


def their_start(trace: str) -> int:
    """Where Mahimahi's first run begins, ms of the trace; its first line where there are none."""
    return int(peer(trace)[0]["flow_start_ms"]) if (MAHIMAHI / "summary.csv").is_file() else 0


def opportunities(ms: np.ndarray, begin: int, seconds: int) -> int:
    """How many the trace has in so many seconds from `begin` ms on."""
    times = from_there(ms, begin)
    return int(((times >= 1000 * START) & (times < 1000 * (START + seconds))).sum())


@measure_each({f"WORLDS-MM-{trace}": trace for trace in NAMES}, needs=lambda trace: [key(trace, "mahimahi").every])
def against_mahimahi(runs, trace):
    need_traces()
    theirs = peer(trace)
    (results,) = runs.values()
    here = emulated(runs.folder, results, "kernel-cubic", WHOLE, START)
    used = (
        here.rate(WHOLE) * 1e6 / 8 * WHOLE / (OPPORTUNITY * opportunities(recorded(trace), their_start(trace), WHOLE))
    )

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
