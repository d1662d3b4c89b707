"""Networks, flow control and runs. A run's key is `PLACE:SCHEME@SEED`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from thalweg import study
from thalweg.study import RunSpec, path_list, presets
from thalweg.study.lists import from_scenarios

from . import choices

SCENARIOS = Path(__file__).parent / "scenarios"
MTU, HEADER = 1000, 48
WIRE = MTU + HEADER
TELEMETRY = 42  # bytes in a packet where HPCC is the controller
NAMES = {"pfc": "PFC only", "escape": "Escape", "gfc": "GFC", "lb": "LB", "dlb": "DLB"}
# What choices.toml says of them: bytes at 40 Gb/s, us of every link, the order of a port, bytes of an ACK.
XOFF, LINK_US = choices["xoff"], choices["link_delay"]
ARBITER, ACK = choices["arbiter"], choices["ack_size"]
WRITTEN_US = 1  # of the links in scenarios/*.csv
POOL = 16  # CHOICE: T_cap; the paper gives none


def headroom(gbps: float, more: int) -> int:
    """What one link holds both ways, three packets and a frame, and what relief may send besides."""
    return round(2 * LINK_US * gbps * 125) + (3 + more) * (WIRE + TELEMETRY) + 64


def scheme(name: str, gbps: float = 40, xoff: int = XOFF, xon: int | None = None, **escape) -> dict:
    """Flow control, where the fastest link has so many Gb/s."""
    # What relieves a switch lifts packets out of the middle of a queue, which is a FIFO's.
    order = {"switch.scheduler": ARBITER} if name in ("pfc", "gfc", "ideal") and ARBITER != "fifo" else {}
    return order | flow_control(name, gbps, xoff, xoff // 2 if xon is None else xon, **escape)


def flow_control(name: str, gbps: float, xoff: int, xon: int, **escape) -> dict:
    if name == "ideal":
        return {"switch.inputs.memory": "4GB"}
    if name == "gfc":
        # B_1 = XOFF, B_m = XOFF + 2 C τ + a packet, τ = both ways and two packets.
        tau = 2 * LINK_US * gbps * 125 + 2 * WIRE  # bytes at C
        last = xoff + 2 * tau + WIRE
        return {
            "switch.gfc": {"first": f"{xoff}B", "last": f"{round(last)}B"},
            "switch.inputs.memory": f"{round(last) + 400_000}B",
        }
    relief: dict | None = {
        "pfc": None,
        "escape": {"kind": "escape", "pool": POOL} | escape,
        "lb": {"kind": "loop-breaker"},
        "dlb": {"kind": "deadlock-breaker"},
    }[name]
    more = 0 if relief is None else relief.get("pool", 2)
    out = {
        "switch.pfc": {"threshold": {"kind": "static", "xoff": f"{xoff}B", "xon": f"{xon}B"}},
        "switch.inputs.memory": f"{xoff + headroom(gbps, more)}B",
    }
    if relief is not None:
        out["switch.relief"] = relief
    if name == "lb":
        # What is dropped is sent again: CHOICE, 1 ms.
        out["transport.timer"] = {"kind": "fixed", "value": "1ms"}
    return out


def run(key: str, set: Mapping, seed: int = 1, paths: Sequence[Sequence[int]] | None = None, prepare=None) -> RunSpec:
    """`paths`: of every flow, by its number, the switches from source to destination."""

    def made(runs, folder: Path) -> dict:
        out = dict(prepare(runs, folder)) if prepare else {}
        if paths is not None and "routing" not in out:
            out["routing"] = pinned(f"{key}-{seed}", paths, folder)
        if LINK_US != WRITTEN_US:
            out["topology.file"] = stretched(set["topology.file"], folder)
        return out

    set = {"transport.ack_size": f"{ACK}B"} | dict(set)
    return study.run(key, "graph", set, seed, prepare=made)


def stretched(file: str, folder: Path) -> str:
    """The network of a file with the delay of the study's links."""
    made = folder / f"{LINK_US}us" / file
    made.parent.mkdir(parents=True, exist_ok=True)
    made.write_text((SCENARIOS / file).read_text().replace(f",{WRITTEN_US}us\n", f",{LINK_US}us\n"))
    return from_scenarios(__file__, made)


def pinned(key: str, paths: Sequence[Sequence[int]], folder: Path) -> dict:
    file = path_list(folder / f"paths-{key.replace(':', '-')}.csv", paths)
    return {"kind": "pinned", "file": from_scenarios(__file__, file)}


def hpcc(flows: int, gbps: float = 40, rtt_us: float = 10) -> dict:
    """CHOICE: a round trip of 10 us."""
    return {"transport.congestion": presets.hpcc(flows, gbps, rtt_us)}


def backlogged(
    pairs: Sequence[tuple[int, int]], start_us: float = 0, until_us: float | None = None, apart_ns: int = 130
) -> list[dict]:
    """Flows without end, one shortly after the other."""
    stop = {} if until_us is None else {"until": f"{until_us}us"}
    at = (f"{round(start_us * 1000) + n * apart_ns}ns" for n in range(len(pairs)))
    return [{"kind": "backlogged", "src": a, "dst": b, "start": s} | stop for (a, b), s in zip(pairs, at, strict=True)]


def sampled(flows: int, ms: float, every: str = "100us") -> dict:
    return {
        "measure.controllers": {"every": every, "flows": list(range(flows))},
        "measure.links": {"every": every},
        "measure.memory": True,
        "run.until": f"{round(ms * 1000)}us",
    }
