"""Networks that are published by name only (Table 2.1), as stand-ins with the same rules as Internet2:
`python networks.py` writes them.

Ten hosts on every router at 1 Gb/s and 1 ms. A core link is as fast as uniform traffic between different
routers needs: the number of ordered pairs whose way leads over it (fewest hops, then the lowest-numbered next
router), the busier direction, times 10 Gb/s / (n - 1), rounded up to 1 Mb/s. One core delay for all links,
such that the mean round trip over all pairs of hosts is 40 ms.
"""

from __future__ import annotations

import math
import random
from collections import deque
from collections.abc import Iterable
from pathlib import Path

HOSTS = 10  # per router
REDCLARA = (
    *((0, 1), (0, 5), (0, 8), (0, 11), (1, 2), (2, 3), (3, 4), (4, 5), (5, 6)),
    *((5, 7), (5, 11), (7, 8), (8, 9), (8, 11), (9, 10), (9, 11), (11, 12)),
)
INTERNET2 = (
    *((0, 1), (0, 2), (0, 3), (1, 2), (2, 4), (1, 5), (4, 5), (3, 5)),
    *((3, 4), (5, 6), (3, 6), (3, 7), (7, 8), (6, 8), (8, 9), (7, 9)),
)


def esnet() -> list[tuple[int, int]]:
    """CHOICE: a ring of 20 routers and 5 evenly spaced chords."""
    return [(r, (r + 1) % 20) for r in range(20)] + [(2 * c, 2 * c + 10) for c in range(5)]


def telstra(seed: int = 1) -> list[tuple[int, int]]:
    """CHOICE: preferential attachment, 44 routers with one link each, and 8 random chords: a few hubs with
    many leaves."""
    draw = random.Random(seed)
    links, ends = [(0, 1)], [0, 1]
    for new in range(2, 44):
        old = draw.choice(ends)
        links.append((old, new))
        ends += [old, new]
    while len(links) < 43 + 8:
        a, b = sorted(draw.sample(range(44), 2))
        if (a, b) not in links:
            links.append((a, b))
    return links


def hops(links: Iterable[tuple[int, int]], n: int) -> list[list[int]]:
    """Hops between all routers."""
    near = [[] for _ in range(n)]
    for a, b in links:
        near[a].append(b)
        near[b].append(a)
    out = []
    for root in range(n):
        far = [n] * n
        far[root], queue = 0, deque([root])
        while queue:
            at = queue.popleft()
            for to in near[at]:
                if far[to] == n:
                    far[to] = far[at] + 1
                    queue.append(to)
        out.append(far)
    return out


def carried(links: list[tuple[int, int]], n: int) -> list[int]:
    """Ordered pairs of routers over each link, in the busier direction."""
    far = hops(links, n)
    near = [sorted({b for a, b in links if a == r} | {a for a, b in links if b == r}) for r in range(n)]
    count: dict[tuple[int, int], int] = {}
    for src in range(n):
        for dst in range(n):
            at = src
            while at != dst:
                to = next(x for x in near[at] if far[x][dst] == far[at][dst] - 1)
                count[at, to] = count.get((at, to), 0) + 1
                at = to
    return [max(count.get((a, b), 0), count.get((b, a), 0), 1) for a, b in links]


def graph(links: list[tuple[int, int]], factors: list[float] | None = None, delay: int = 0) -> str:
    """The network as `a,b,rate,delay`. Host h is on router h mod n, as on Internet2."""
    n = 1 + max(max(link) for link in links)
    mean = sum(map(sum, hops(links, n))) / n**2
    us = delay or round(18 / mean * 1000)  # 2 (2 + delay · mean) ms = 40 ms
    out = ["a,b,rate,delay"]
    out += [f"h{h},r{h % n},1Gbps,1ms" for h in range(HOSTS * n)]
    for (a, b), pairs, factor in zip(links, carried(links, n), factors or [1.0] * len(links), strict=True):
        rate = math.ceil(pairs * 10_000 / (n - 1) * factor)
        out.append(f"r{a},r{b},{rate}Mbps,{us}us")
    return "\n".join(out) + "\n"


def networks() -> dict[str, str]:
    """Every file, by its name."""
    draw = random.Random(1)
    # CHOICE T1f: 500 Mb/s to 2 Gb/s for all core links, as the text has it, contradicts the rates of the
    # artifact; each is taken that many times as fast instead.
    factors = [draw.uniform(0.5, 2) for _ in INTERNET2]
    return {
        "telstra": graph(telstra()),
        "redclara": graph(list(REDCLARA)),
        "esnet": graph(esnet()),
        "heterogeneous": graph(list(INTERNET2), factors, 10_000),
    }


if __name__ == "__main__":
    for name, text in networks().items():
        (Path(__file__).parent / "scenarios" / f"{name}.csv").write_text(text, encoding="utf-8")
