"""Traffic that several chapters have: web search at a load, collective operations, an all-to-all in windows."""

from __future__ import annotations

from functools import partial
from pathlib import Path

from .settings import MIB


def web_search(load: float, us: int) -> dict:
    """Poisson arrivals between any two hosts for so long; all flows count."""
    return {
        "traffic": [
            {"kind": "poisson", "load": load, "sizes": "web-search", "until": f"{us}us"}
            | {"packet_payload": "4096B", "packet_header": "64B"}
        ]
    }


def ring(mib: float) -> dict:
    return {"traffic": [{"kind": "ring-all-reduce", "size": f"{round(mib * MIB)}B"}]}


def butterfly(mib: float) -> dict:
    return {"traffic": [{"kind": "halving-doubling-all-reduce", "size": f"{round(mib * MIB)}B"}]}


def exchange(hosts: int, window: int, size: int) -> str:
    """GOAL: every host sends to the next one, the one after it, and so on; a host's t-th flow waits for the one that
    it received `window` flows before."""
    ranks = []
    for a in range(hosts):
        lines = []
        for t in range(1, hosts):
            lines.append(f"s{t}: send {size}b to {(a + t) % hosts} tag {t}")
            lines.append(f"r{t}: recv {size}b from {(a - t) % hosts} tag {t}")
        lines += [f"s{t} requires r{t - window}" for t in range(window + 1, hosts)]
        ranks.append(f"rank {a} {{\n" + "\n".join(lines) + "\n}")
    return f"num_ranks {hosts}\n" + "\n".join(ranks) + "\n"


def _written(runs, folder: Path, *, hosts: int, window: int, size: int) -> dict:
    Path(folder).mkdir(parents=True, exist_ok=True)
    file = Path(folder) / f"exchange-{hosts}-{window}-{size}.goal"
    file.write_text(exchange(hosts, window, size), encoding="utf-8")
    return {"traffic": [{"kind": "goal", "file": str(file)}]}


def all_to_all(hosts: int, window: int, size: int):
    """What prepares such a run."""
    return partial(_written, hosts=hosts, window=window, size=size)
