"""The same path with real packets: `thalweg shell` on the scenario that was simulated, around the study's traffic."""

from __future__ import annotations

import hashlib
import json
import os
import re
import subprocess
import sys
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from thalweg import _core
from thalweg.papers import NotCheckable
from thalweg.results import Results

from .settings import SENDERS, Sender

TRAFFIC = Path(__file__).parent / "traffic.py"
PORTS = ("switch0", "switch1")
AVAILABLE = Path("/proc/sys/net/ipv4/tcp_available_congestion_control")
BIN = 0.1  # s, of the emulator's series
# A bin with less has no data of the flow: bytes.
SILENT = 7500
NOTE = "emulation.json"
# A run that comes late is made again, at most so often. Late: if packets are held back by more than this part of the
# round trip (99th percentile), what is to be found in its rate or delay could come from that.
TRIES, LATE = 3, 0.05
# Refusals by the machine, as `thalweg attach` words them.
REFUSED = re.compile(r"not allowed|this kernel|cgroup|real-time|permission", re.IGNORECASE)


@dataclass(frozen=True)
class Passage:
    """What an emulated run says of the way of the data. Rates in Mb/s, times in ms, lateness in us."""

    outcome: Mapping
    load: float

    @property
    def way(self) -> Mapping:
        return self.outcome["up"]["statistics"]

    def rate(self, seconds: float) -> float:
        """Over so many seconds from the first data on. When that came is known to a bin: half of the one behind the
        last stands for what is missing of the first."""
        bins = [b["bytes"] for b in self.way["series"]]
        first = next((n for n, bytes in enumerate(bins) if bytes > SILENT), 0)
        last = first + round(seconds / BIN)
        return (sum(bins[first:last]) + sum(bins[last : last + 1]) / 2) * 8e-6 / seconds

    def delay(self, share: float = 0.5) -> float:
        """What that share of all packets waited at most, ms. The emulator counts in steps of 1/32: in proportion within
        one."""
        counts = self.way["waited"]["counts"]
        rank, seen = share * sum(count for _, count in counts), 0
        for last, count in counts:
            if seen + count >= rank:
                width = 1 << max(0, last.bit_length() - 6)
                return (last - width + width * (rank - seen) / count) / 1e6
            seen += count
        return 0.0

    @property
    def late(self) -> tuple[float, float]:
        """Median and 99th percentile, us."""
        found = self.outcome["up"]["lateness"]["histogram"]
        return found["p50_ns"] / 1e3, found["p99_ns"] / 1e3

    @property
    def disturbed(self) -> str | None:
        """What the emulator itself did to the packets, if that is too much."""
        ways = [self.outcome["up"], self.outcome["down"]]
        if any(way["statistics"]["overrun"] or way["statistics"]["unfinished"] for way in ways):
            return "the emulator lost packets"
        latest = max(way["lateness"]["histogram"]["p99_ns"] for way in ways)
        allowed = LATE * sum(way["delay_ns"] for way in ways)
        return f"late by {latest / 1e6:.1f} ms (p99)" if latest > allowed else None


def check(sender: Sender) -> None:
    """Why this machine cannot run it, as `NotCheckable`."""
    if why := _core.emulate_refusal():
        raise NotCheckable(f"not checkable here: {why}")
    if sender.attached:
        if "kernel" not in _core.CONNECTS:
            raise NotCheckable("not checkable here: this build has no `kernel` (`thalweg attach`)")
        if os.geteuid() != 0:
            raise NotCheckable("not checkable here: `thalweg attach` needs root")
    elif sender.congestion not in AVAILABLE.read_text(encoding="ascii").split():
        raise NotCheckable(f"not checkable here: this kernel has no `{sender.congestion}`")


def emulated(folder: Path, results: Results, sender: str, seconds: float, start: float = 0.0) -> Passage:
    """A run of the scenario that was simulated, or what is kept of it: data for so long, from `start` on. One that the
    machine was too busy for is made again."""
    scenario = tomllib.loads(results.scenario_toml)
    place = folder / re.sub(r"[^A-Za-z0-9.+-]", "-", scenario["name"])
    # Another simulated sender makes no other emulated run.
    path = [scenario.get(part) for part in ("topology", "switch", "link")]
    wanted = hashlib.sha256(f"{path}{seconds}{start}{SENDERS[sender]}".encode()).hexdigest()
    found = _kept(place, wanted)
    for _ in range(TRIES):
        if found is not None and found.disturbed is None:
            break
        check(SENDERS[sender])
        said = _perform(place, results.scenario_toml, SENDERS[sender], (seconds, start))
        note = {"digest": wanted, "load": os.getloadavg()[0], "said": said}
        (place / NOTE).write_text(json.dumps(note), encoding="utf-8")
        found = _kept(place, wanted)
    if found.disturbed is not None:
        raise NotCheckable(f"not checkable here: {found.disturbed}: the machine is too busy")
    return found


def _kept(place: Path, wanted: str) -> Passage | None:
    try:
        note, outcome = (json.loads((place / name).read_text(encoding="utf-8")) for name in (NOTE, "outcome.json"))
    except OSError:
        return None
    return Passage(outcome, note["load"]) if note["digest"] == wanted else None


def _perform(place: Path, scenario: str, sender: Sender, times: tuple[float, float]) -> str:
    """Runs it into a folder. What the command said on its standard output."""
    place.parent.mkdir(parents=True, exist_ok=True)
    file = place.with_name(f"{place.name}.toml")
    file.write_text(scenario, encoding="utf-8")
    python, thalweg = [sys.executable], [sys.executable, "-m", "thalweg"]
    send = [*python, str(TRAFFIC), "send", "{peer}", *map(str, times)]
    send = (
        [*thalweg, "attach", "--json", sender.congestion, "--", *send]
        if sender.attached
        else [*send, sender.congestion]
    )
    receive = " ".join([*python, str(TRAFFIC), "receive"])
    words = [
        *thalweg, "shell", str(file), "--port", ":".join(PORTS), "--quiet", "--out", str(place),
        "--at-both-ends", receive, "--", *send,
    ]  # fmt: skip
    ended = subprocess.run(words, capture_output=True, text=True, timeout=sum(times) + 60, check=False)
    if ended.returncode:
        lines = [line for line in ended.stderr.splitlines() if line.strip()]
        why = lines[-1] if lines else f"exit status {ended.returncode}"
        if REFUSED.search(why):
            raise NotCheckable(f"not checkable here: {why}")
        raise RuntimeError(why)
    return ended.stdout
