"""Networks, flow control and runs. A run's key is `PLACE:SCHEME@SEED`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from thalweg import study
from thalweg.study import RunSpec, path_list, presets
from thalweg.study.lists import from_scenarios

SCENARIOS = Path(__file__).parent / "scenarios"
MTU, HEADER = 1000, 48
WIRE = MTU + HEADER
TELEMETRY = 42  # bytes in a packet where HPCC is the controller
NAMES = {"pfc": "PFC only", "escape": "Escape", "gfc": "GFC", "lb": "LB", "dlb": "DLB"}
# CHOICE: XOFF of Chapter 3 at 40 and 100 Gb/s (§4.6 refers to DeTail), XON half of it.
XOFF, XON = 500_000, 250_000
POOL = 16  # CHOICE: T_cap; the paper gives none


def headroom(gbps: float, more: int, us: float = 1.0) -> int:
    """What one link holds both ways, three packets and a frame, and what relief may send besides (1 us of cable)."""
    return round(2 * us * gbps * 125) + (3 + more) * (WIRE + TELEMETRY) + 64


def scheme(name: str, gbps: float = 40, xoff: int = XOFF, xon: int | None = None, **escape) -> dict:
    """Flow control, where the fastest link has so many Gb/s."""
    xon = xoff // 2 if xon is None else xon
    if name == "ideal":
        return {"switch.inputs.memory": "4GB"}
    if name == "gfc":
        # B_1 = XOFF, B_m = XOFF + 2 C τ + a packet, τ = both ways and two packets.
        tau = 2 * gbps * 125 + 2 * WIRE  # bytes at C
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
        return out

    return study.run(key, "graph", set, seed, prepare=made if prepare or paths is not None else None)


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
