"""Fairness of long flows (§3.3, Figures 4, 11, 12): virtual-clock slacks make LSTF fair, whatever the
estimate of the share."""

from __future__ import annotations

from collections import deque

import numpy as np

from thalweg.study import jain, mean, measure, measure_each, run, seeds, spread, steps

from .numbers import binned, lead_settles, settles, weighted_shares
from .settings import SCHEMES, SEEDS, fair

MS = 10**9  # ps

# Figure 4.
ESTIMATES = (1000, 500, 100, 50, 10)  # Mb/s
BINS = 20

# Figure 11. CHOICE: of "smaller than 50 Mb/s" 25, 10 and 5.
NEWCOMERS = (50, 25, 10, 5)
LINK, FLOWS, ARRIVES = 10**9, 21, 5 * MS
SHARE = LINK / FLOWS / 1e6  # Mb/s
FULL_PACKET = 1500  # B
OBSERVED, LATER = 20, 10  # ms after the newcomer's start: seen at all; "later" is the last ten of them

# Figure 12: r_est of A, B, C in Mb/s, expected and achieved throughput.
WEIGHTS = {
    "2000-100-100": (4762, 238, 763),
    "900-100-100": (4499, 501, 500),
    "500-100-100": (4166, 501, 500),
    "200-100-100": None,
    "100-100-100": (2500, 500, 501),
    "100-100-500": None,
}
UNIT = 100  # Mb/s: r_est of a flow of weight 1


def weights(name: str) -> tuple[float, float, float]:
    return tuple(float(w) for w in name.split("-"))


def jitter(seed: int) -> dict:
    """Starts within the first millisecond."""
    begin = np.random.default_rng(seed).integers(0, 1_000_000, 3)
    return {f"traffic.{n}.start": f"{ns}ns" for n, ns in enumerate(begin)}


def runs(scale: str) -> list:
    made = []
    for seed in SEEDS[scale]:
        kinds = {"fifo": SCHEMES["fifo"], "fq": SCHEMES["fq"]} | {f"lstf-{r}": fair(r) for r in ESTIMATES}
        made += [recorded(f"long:{s}", "fair-share", set, seed) for s, set in kinds.items()]
        for name in WEIGHTS:
            set = {f"traffic.{n}.weight": w / UNIT for n, w in enumerate(weights(name))}
            made.append(recorded(f"weights:{name}", "weights", set | jitter(seed), seed))
    # Nothing is random here: one seed says it all.
    kinds = {"fq": SCHEMES["fq"]} | {f"lstf-{r}": fair(r) for r in NEWCOMERS}
    return made + [recorded(f"newcomer:{s}", "newcomer", set, 1) for s, set in kinds.items()]


def recorded(key: str, scenario: str, set: dict, seed: int):
    """A run whose packets stay on disk: measures look at them."""
    packets = {"measure.packets": {"hops": False}}
    return run(key, scenario, packets | set, seed, keep=True)


def data(results):
    """Of every packet with a flow's data (or its SYN) that arrived: flow, arrival of its last bit (ps), bytes
    on the wire."""
    import polars as pl

    arrived = results.packets.filter((pl.col("forward") == 1) & (pl.col("exit_ps") >= 0))
    table = arrived.select("flow", "exit_ps", "wire").collect()
    return table["flow"].to_numpy(), table["exit_ps"].to_numpy(), table["wire"].to_numpy().astype(np.int64)


# --- Figure 4: 90 flows over Internet2 ----------------------------------------------------------------------


def indices(results) -> list[float]:
    """Jain's index over all flows of the bytes received in each millisecond; a flow that has not started
    counts with 0."""
    flow, at, size = data(results)
    return [jain(row) for row in binned(flow, at, size, len(results.flows), MS, BINS)]


def t95(results) -> float:
    return settles(indices(results), 0.95)


@measure("UPS-F4a", needs=["long:fq@*"])
def fairness_of_fq(runs):
    every = [indices(r) for r in seeds(runs, "long:fq")]
    return {
        "smallest J from 7 ms": min(min(j[7:]) for j in every),
        "largest J before 4 ms": max(max(j[:4]) for j in every),
    }


@measure("UPS-F4b", needs=["long:lstf-10@*"])
def fairness_of_low_estimates(runs):
    last = {"J in the last bin": mean(runs, "long:lstf-10", lambda r: indices(r)[-1])}
    return {"t95, 10 Mb/s (ms)": mean(runs, "long:lstf-10", t95)} | last | spread(runs, "long:lstf-10", t95, "t95 (ms)")


@measure("UPS-F4c", needs=["long:lstf-*"])
def convergence_by_estimate(runs):
    t = {r: mean(runs, f"long:lstf-{r}", t95) for r in ESTIMATES}
    out = {"t95(1000) - t95(100) (ms)": t[1000] - t[100], "t95(100) - t95(10) (ms)": t[100] - t[10]}
    return out | {f"t95, {r} Mb/s (ms)": t[r] for r in ESTIMATES}


def next_hops(neighbours: dict[int, list[int]], to: int) -> dict[int, int]:
    """Towards one node by fewest hops, ties to the lowest-numbered neighbour."""
    far, todo = {to: 0}, deque([to])
    while todo:
        here = todo.popleft()
        for there in neighbours[here]:
            if there not in far:
                far[there] = far[here] + 1
                todo.append(there)
    return {a: min(b for b in neighbours[a] if far[b] == far[a] - 1) for a in far if a != to}


def flows_per_link(pairs, links) -> dict[tuple[int, int], int]:
    """How many of the (source, destination) pairs cross each directed link (from, to)."""
    neighbours: dict[int, list[int]] = {}
    for a, b in links:
        neighbours.setdefault(a, []).append(b)
    count = dict.fromkeys(links, 0)
    for source, to in pairs:
        hop, here = next_hops(neighbours, to), source
        while here != to:
            count[here, hop[here]] += 1
            here = hop[here]
    return count


@measure("UPS-F4d", needs=["long:fq@1"])
def shares_of_core_links(runs):
    results = runs["long:fq@1"]
    ports = results.tables["ports"]
    links = list(zip(ports["from"].to_list(), ports["to"].to_list(), strict=True))
    rate = dict(zip(links, ports["rate_bps"].to_list(), strict=True))
    pairs = list(zip(results.flows["src"].to_list(), results.flows["dst"].to_list(), strict=True))
    hosts = {a for a, _ in links if sum(a == x for x, _ in links) == 1}
    found = {link: k for link, k in flows_per_link(pairs, links).items() if k and not hosts & set(link)}
    share = [rate[link] / k / 1e6 for link, k in found.items()]
    return {
        "fewest flows": min(found.values()),
        "most flows": max(found.values()),
        "smallest share (Mb/s)": min(share),
        "largest share (Mb/s)": max(share),
        "core links, each direction": len(found),
    }


# --- Figure 11: a newcomer among twenty flows at one link ---------------------------------------------------


def rates(results) -> np.ndarray:
    """Mb/s on the wire of every flow in each millisecond from the newcomer's start on: [bin, flow]."""
    flow, at, size = data(results)
    return binned(flow, at, size, FLOWS, MS, OBSERVED, ARRIVES) * 8 / 1e3


def newcomer(results) -> np.ndarray:
    return rates(results)[:, FLOWS - 1]


def settling(results) -> float:
    """Milliseconds from the newcomer's start until it stops gaining on its fair share; sought in the first
    half of what is seen."""
    flow, at, size = data(results)
    mine = (flow == FLOWS - 1) & (at < ARRIVES + OBSERVED * MS // 2)
    return lead_settles((at[mine] - ARRIVES) / MS, size[mine], SHARE * 1e3 / 8, FULL_PACKET)


def off_share(results) -> float:
    """How far the newcomer and an old flow (the first) are from the fair share, over the last ten milliseconds."""
    late = rates(results)[-LATER:].mean(axis=0)
    return float(max(abs(late[f] / SHARE - 1) for f in (0, FLOWS - 1)))


def first_three(results) -> float:
    return float(newcomer(results)[:3].mean() / SHARE)


@measure("UPS-F11a", needs=["newcomer:lstf-50@*", "newcomer:fq@*"])
def newcomer_as_with_fq(runs):
    return {
        "LSTF 50 Mb/s / fair share": mean(runs, "newcomer:lstf-50", first_three),
        "FQ / fair share": mean(runs, "newcomer:fq", first_three),
    }


@measure("UPS-F11c", needs=["newcomer:lstf-50@1"])
def step_of_slack(runs):
    wire = int(data(runs["newcomer:lstf-50@1"])[2].max())
    return {"step of 1500 B at 50 Mb/s (ps)": wire * 8 * 10**12 // (NEWCOMERS[0] * 10**6)}


@measure("UPS-F11b", needs=["newcomer:lstf-*"])
def spikes_of_the_newcomer(runs):
    keys = {r: f"newcomer:lstf-{r}" for r in NEWCOMERS}
    peak = {r: mean(runs, k, lambda x: float(newcomer(x).max())) for r, k in keys.items()}
    settled = {r: mean(runs, k, settling) for r, k in keys.items()}
    out = {
        "smallest step of the peak as r_est falls (Mb/s)": min(steps(list(peak.values()))),
        "smallest step of the settling time as r_est falls (ms)": min(steps(list(settled.values()))),
        "farthest from the fair share later": max(mean(runs, k, off_share) for k in keys.values()),
    }
    out |= {f"peak, {r} Mb/s": x for r, x in peak.items()}
    return out | {f"settles, {r} Mb/s (ms)": x for r, x in settled.items()}


# --- Figure 12: weights over two bottlenecks ----------------------------------------------------------------


def throughput(results) -> np.ndarray:
    """Mb/s on the wire of A, B, C (the traffic sections; flows are numbered by start) over the last 15 ms of 30."""
    flow, at, size = data(results)
    section = results.flows["group"].to_numpy()
    return binned(section[flow], at, size, 3, 15 * MS, 1, 15 * MS)[0] * 8 / 15e3


ROWS = {
    "UPS-F12a": "2000-100-100",
    "UPS-F12b": "900-100-100",
    "UPS-F12c": "500-100-100",
    "UPS-F12e": "100-100-100",
}


@measure_each(ROWS, needs=lambda row: [f"weights:{row}@*"])
def weighted(runs, row: str):
    expected = weighted_shares(*weights(row))
    found = [mean(runs, f"weights:{row}", lambda r, n=n: float(throughput(r)[n])) for n in range(3)]
    out = {f"{f} / expected": x / e for f, x, e in zip("ABC", found, expected, strict=True)}
    return out | {f"{f} (Mb/s)": x for f, x in zip("ABC", found, strict=True)}
