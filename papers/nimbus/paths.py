"""Other paths: link rates, shares and heights of pulses (Figure 4-11), elastic flows of several round trips (§4.7.2),
two bottlenecks in a row (Table 4.4), what fair shares come to where buffers differ (§G.4), and a queue that Copa cannot
drain (§G.1)."""

from __future__ import annotations

from itertools import product

import numpy as np

from thalweg.study import link_list, mean, measure, measure_each, needs, seeds

from .outcome import accuracy, competes, goodput, series, waits, within
from .robust import BUFFER, CATEGORIES, MODEST, TRIP, TRIPS
from .settings import BASIC, PAIRS, RATE, Cross, Point, distant, specs

# --- Rates, shares, pulses (Figure 4-11) --------------------------------------------------------------------

GRID = {
    "quick": ((96, 384), (0.125, 0.25, 0.5, 0.75), (1 / 16, 1 / 4)),
    "full": ((96, 192, 384), (0.125, 0.25, 0.5, 0.75), (1 / 16, 1 / 8, 1 / 4, 1 / 2)),
}


def crowd(category: str, mbps: int, share: float) -> tuple[Cross, ...]:
    """What leaves the tested flow this share, as nearly as equal flows can."""
    if category == "inelastic":
        return (Cross("poisson", (1 - share) * mbps),)
    if category == "elastic":
        return (Cross("newreno", count=max(1, round(1 / share) - 1)),)
    if share >= 0.5:
        return (Cross("poisson", 0.25 * mbps), Cross("newreno"))
    count = max(1, round((1 - share) / (2 * share)))
    rest = max(0.0, mbps * (1 - (count + 1) * share))
    return ((Cross("poisson", rest),) if rest else ()) + (Cross("newreno", count=count),)


def square(category: str, mbps: int, share: float, pulse: float) -> Point:
    set = {
        "topology.bottleneck_rate": f"{mbps}Mbps",
        "switch.buffer": f"{mbps * 12_500}B",
        "transport.congestion": BASIC | {"link_rate": f"{mbps}Mbps", "pulse": pulse},
    }
    return Point(
        f"f4.11:{category}-{mbps}-{share:g}-{pulse:g}", cross=crowd(category, mbps, share), seconds=60, set=set
    )


GRIDS = {scale: {(c, *at): square(c, *at) for c in CATEGORIES for at in product(*axes)} for scale, axes in GRID.items()}

# --- Elastic flows of several round trips (§4.7.2) -----------------------------------------------------------

APART = {
    (n, calm): Point(
        f"r2:{n}{'-mix' if calm else ''}",
        cross=(Cross("newreno"),) * n + ((Cross("poisson", 32),) if calm else ()),
        prepare=distant(*(20.0 * k for k in range(1, n + 1))),
    )
    for n in range(1, 6) for calm in (False, True)
}  # fmt: skip

# --- Two bottlenecks (Table 4.4) ----------------------------------------------------------------------------

FIRST, SECOND = 192, 96  # Mb/s


def row_of_two(_, folder) -> dict:
    """Three switches: the tested flow crosses both links, each of which has cross traffic of its own; all 50 ms."""
    a, b, c = range(2 * PAIRS, 2 * PAIRS + 3)
    at = {0: (a, 0), 1: (a, 12.5), 2: (b, 12.5), PAIRS: (c, 0), PAIRS + 1: (b, 0), PAIRS + 2: (c, 0)}
    hosts = {host: at.get(host, (a if host < PAIRS else c, 0)) for host in range(2 * PAIRS)}
    links = [(host, switch, "1Gbps", f"{ms:g}ms") for host, (switch, ms) in hosts.items()]
    links += [(a, b, f"{FIRST}Mbps", "12.5ms"), (b, c, f"{SECOND}Mbps", "12.5ms")]
    return {"topology": link_list(folder / "two-links.csv", links)}


def of(link: int, elastic: bool) -> Cross:
    return Cross("newreno") if elastic else Cross("poisson", link / 2)


BOTH = {"switch.buffer": "2.4MB", "measure.queues.ports": [4 * PAIRS, 4 * PAIRS + 2]}
TWO = {
    (s, x, y): Point(
        f"t4.4:{'elastic' if x else 'inelastic'}-{'elastic' if y else 'inelastic'}", s,
        (of(FIRST, x), of(SECOND, y)), set=BOTH, prepare=row_of_two,
    )
    for s in ("ncc", "cubic") for x in (True, False) for y in (True, False)
}  # fmt: skip

# --- A queue that cannot be drained (§G.1) -------------------------------------------------------------------

BURST = Cross("cbr", 900, begin=30, end=30 + 0.6 * 8 / 900)  # 600 KB, all that the path holds
FILLED = {x: Point(f"eg1:{x}", "copa", (Cross("cbr", x), BURST), 40) for x in (24, 80)}


def runs(scale: str) -> list:
    points = (*GRIDS[scale].values(), *APART.values(), *TWO.values(), *FILLED.values())
    return specs(points, scale)


# --- Measures -----------------------------------------------------------------------------------------------


def right(runs, point: Point, category: str) -> float:
    return mean(runs, point, lambda r: accuracy(r, category != "inelastic"))


def grid(runs) -> dict[tuple, float]:
    return {at: right(runs, p, at[0]) for at, p in GRIDS[runs.scale].items()}


ALL = ["f4.11:*"]


@measure("NIM-F4.11a", needs=ALL)
def elastic_over_the_grid(runs):
    found = {at: acc for at, acc in grid(runs).items() if at[0] == "elastic"}
    worst = sorted(found.items(), key=lambda item: item[1])[:3]
    return {"least": min(found.values()), "mean": float(np.mean(list(found.values())))} | {
        f"{mbps} Mb/s, {share:g}, {pulse:g}": acc for (_, mbps, share, pulse), acc in worst
    }


@measure("NIM-F4.11b", needs=ALL)
def mixed_and_inelastic_over_the_grid(runs):
    found = grid(runs)
    by = {c: float(np.mean([acc for at, acc in found.items() if at[0] == c])) for c in ("mix", "inelastic")}
    return {"mean": float(np.mean(list(by.values())))} | by


def mean_of(found: dict, **at) -> float:
    names = ("category", "mbps", "share", "pulse")
    chosen = [acc for key, acc in found.items() if all(key[names.index(n)] == v for n, v in at.items())]
    return float(np.mean(chosen))


@measure("NIM-F4.11c", needs=ALL)
def accuracy_by_share(runs):
    found = grid(runs)
    by = {f"{share:g}": mean_of(found, share=share, pulse=1 / 4) for share in GRID[runs.scale][1]}
    return {"spread": max(by.values()) - min(by.values())} | by


@measure("NIM-F4.11d", needs=ALL)
def accuracy_by_pulse_and_rate(runs):
    found = grid(runs)
    return {
        "pulses of 1/4 less of 1/16": mean_of(found, pulse=1 / 4) - mean_of(found, pulse=1 / 16),
        "384 Mb/s less 96": mean_of(found, mbps=384) - mean_of(found, mbps=96),
    }


@measure("NIM-R2a", needs=needs(*APART.values()))
def several_round_trips(runs):
    acc = {at: mean(runs, p, lambda r: accuracy(r, True)) for at, p in APART.items()}
    return {
        "least, pure": min(a for (_, calm), a in acc.items() if not calm),
        "least, mix": min(a for (_, calm), a in acc.items() if calm),
    } | {f"{n}{', mix' if calm else ''}": a for (n, calm), a in acc.items()}


def line(values: np.ndarray) -> np.ndarray:
    """The magnitude at 5 Hz, by windows of 5 s."""
    windows = values[: len(values) // 500 * 500].reshape(-1, 500)
    return np.abs(np.fft.rfft(windows - windows.mean(axis=1, keepdims=True), axis=1)[:, 25])


def gain(results) -> tuple[float, float]:
    """The 5 Hz line of the cross traffic over that of S, and a, the elastic part of the link."""
    (_, z), (_, s) = (series(results, name) for name in ("cross_rate", "sent_rate"))
    late = slice(1000, None)
    return float(np.median(line(z[late]) / line(s[late]))), float(np.mean(z[late]) * 1e-6 / RATE)


@measure("NIM-R1c", needs=needs(*(TRIP["elastic", ms] for ms in TRIPS)))
def height_of_the_response(runs):
    of = {ms: gain(seeds(runs, TRIP["elastic", ms])[0]) for ms in TRIPS}
    return {
        "least, of a / (2 − a)": min(g / (a / (2 - a)) for g, a in of.values()),
        "most": max(g for g, _ in of.values()),
    } | {f"{ms} ms": g for ms, (g, _) in of.items()}


FAIR = {"inelastic": RATE - 48, "elastic": RATE / 2, "mix": (RATE - 32) / 2}


@measure("NIM-SG4d", needs=needs(*(BUFFER[k] for k in MODEST)))
def fair_at_all_buffers(runs):
    share = {k: mean(runs, BUFFER[k], goodput) / FAIR[k[0]] for k in MODEST}
    # The target is a quarter of the round trip; buffers are so many of them.
    delay = {(c, ms, b): mean(runs, BUFFER[c, ms, b], waits) / ms for c, ms, b in MODEST}
    return {
        "least throughput / fair": min(share.values()),
        "most delay / target, inelastic": max(4 * d for (c, _, _), d in delay.items() if c == "inelastic"),
    } | {f"{c}, {ms} ms, {b:g} BDP": s for (c, ms, b), s in share.items()}


def both_delays(results) -> float:
    """Mean queueing delay of the two queues together, ms."""
    table = results.tables["queues"]
    table = table.filter(table["time_ps"] >= 10 * 10**12)
    ports = {4 * PAIRS: FIRST, 4 * PAIRS + 2: SECOND}
    return sum(float(table.filter(table["port"] == port)["bytes"].mean()) * 8e-3 / mbps for port, mbps in ports.items())


# Whether the cross traffic of the first and of the second link is elastic.
ROWS = {"NIM-T4.4a": (True, True), "NIM-T4.4b": (False, True), "NIM-T4.4d": (False, False)}


@measure_each(ROWS, needs=lambda at: needs(TWO["ncc", *at], TWO["cubic", *at]))
def row(runs, at: tuple[bool, bool]):
    ours, cubic = (mean(runs, TWO[s, *at], goodput) for s in ("ncc", "cubic"))
    return {
        "throughput, against Cubic": ours / cubic - 1,
        "delay (ms)": mean(runs, TWO["ncc", *at], both_delays),
        "Cubic's delay (ms)": mean(runs, TWO["cubic", *at], both_delays),
    }


@measure("NIM-T4.4e", needs=needs(*(p for (s, _, _), p in TWO.items() if s == "ncc")))
def mode_at_two_bottlenecks(runs):
    by = {(x, y): mean(runs, p, competes) for (s, x, y), p in TWO.items() if s == "ncc"}
    some = {k: v for k, v in by.items() if any(k)}
    return {"competes, any elastic, least": min(some.values()), "low delays, none": 1 - by[False, False]} | {
        f"{'elastic' if x else 'inelastic'}, {'elastic' if y else 'inelastic'}": v for (x, y), v in by.items()
    }


@measure("NIM-EG1a", needs=needs(*FILLED.values()))
def filled_queue(runs):
    """Whether it competes within a second of the queue being filled."""

    def turns(point):
        return mean(runs, point, lambda r: within(*series(r, "competes"), 30.25, 31.25).max())

    return {"83 % inelastic": turns(FILLED[80]), "25 % inelastic": turns(FILLED[24])}
