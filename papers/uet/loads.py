"""Traffic that several chapters have: web search at a load, collective operations, an all-to-all in windows."""

from __future__ import annotations

import random
from collections.abc import Callable
from functools import partial
from pathlib import Path


def web_search(load: float, us: int) -> dict:
    """Poisson arrivals between any two hosts for so long; all flows count."""
    return {
        "traffic": [
            {"kind": "poisson", "load": load, "sizes": "web-search", "until": f"{us}us"}
            | {"packet_payload": "4096B", "packet_header": "64B"}
        ]
    }


def ring(hosts: int, flow: int, seed: int = 1) -> dict:
    """All-reduce around half of the hosts, drawn: in each of its steps each sends that much to the next."""
    chosen = random.Random(seed).sample(range(hosts), hosts // 2)
    return {"traffic": [{"kind": "ring-all-reduce", "hosts": chosen, "size": f"{flow * len(chosen)}B"}]}


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


def doubling(hosts: int, size: int) -> str:
    """GOAL: recursive doubling: pairs at twice the distance in every step, the same bytes each time."""
    ranks, steps = [], hosts.bit_length() - 1
    for a in range(hosts):
        lines = []
        for t in range(steps):
            lines.append(f"s{t}: send {size}b to {a ^ 1 << t} tag {t}")
            lines.append(f"r{t}: recv {size}b from {a ^ 1 << t} tag {t}")
        lines += [f"s{t} requires r{t - 1}" for t in range(1, steps)]
        ranks.append(f"rank {a} {{\n" + "\n".join(lines) + "\n}")
    return f"num_ranks {hosts}\n" + "\n".join(ranks) + "\n"


def _written(runs, folder: Path, *, name: str, text: Callable[[], str]) -> dict:
    Path(folder).mkdir(parents=True, exist_ok=True)
    file = Path(folder) / f"{name}.goal"
    file.write_text(text(), encoding="utf-8")
    return {"traffic": [{"kind": "goal", "file": str(file)}]}


def all_to_all(hosts: int, window: int, size: int):
    """What prepares such a run."""
    return partial(_written, name=f"exchange-{hosts}-{window}-{size}", text=partial(exchange, hosts, window, size))


def butterfly(hosts: int, size: int):
    """What prepares such a run."""
    return partial(_written, name=f"doubling-{hosts}-{size}", text=partial(doubling, hosts, size))
