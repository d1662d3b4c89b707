"""Tail packet delay (§3.2, Figure 3): equal slacks make LSTF FIFO+, which serves first what has waited upstream."""

from __future__ import annotations

import numpy as np

from thalweg.study import mean, measure, measure_each, run, spread

from .numbers import percentile_of_bins
from .settings import LETTERS, NAMES, NETWORKS, SCHEMES, SEEDS, counted, rows, split

TWO = ("fifo", "fifo+")
# Figure 3, s: mean of FIFO and LSTF, 99th percentile of FIFO and LSTF.
PUBLISHED = {
    "i2-30": (0.0411, 0.0411, 0.0911, 0.0868),
    "i2-50": (0.0516, 0.0517, 0.1288, 0.1195),
    "i2-70": (0.0780, 0.0786, 0.2142, 0.1958),
    "1g-1g-70": (0.0771, 0.0771, 0.2163, 0.216),
    "tenth-70": None,  # in the figure, not among its numbers
    "rocketfuel-70": (0.1891, 0.1883, 3.8139, 3.7199),
    "datacenter-70": (0.0250, 0.0240, 0.1352, 0.1100),
}
QUICK = ("i2-30", "i2-50", "i2-70", "1g-1g-70", "datacenter-70")


def window(place: str, scale: str) -> dict:
    """Packets of flows that start in (0.5, 2) s of 5 s count; the run ends when the last of them has arrived."""
    if scale == "quick" and place.startswith("datacenter"):
        first, last, end = "50ms", "100ms", "200ms"
    else:
        first, last, end = "0.5s", "2s", "5s"
    return counted(first, last, end, packets={"hops": False})


def runs(scale: str) -> list:
    made = []
    for place in PUBLISHED if scale == "full" else QUICK:
        network, percent = split(place)
        base = NETWORKS[network].set("udp") | {"traffic.0.load": percent / 100} | window(place, scale)
        for seed in SEEDS[scale]:
            for s in TWO:
                key = f"tail-{place}:{s}"
                made.append(run(key, NETWORKS[network].of("udp"), base | SCHEMES[s], seed))
    return made


def average(results) -> float:
    """Mean delay (s) of the packets of the flows that count: from the flow's arrival, when all its packets
    are handed to the source's NIC, until the last bit has reached the destination."""
    return results.summary["packets"]["delay_us"]["mean"] * 1e-6


def p99(results) -> float:
    """From the table of delays, whose bins are 0.8 % wide, evenly spread inside each bin."""
    table = results.tables["delays"].sort("to_ps")
    columns = (table[name].to_numpy() for name in ("from_ps", "to_ps", "packets"))
    return percentile_of_bins(*columns, 99) * 1e-12


def above(results) -> tuple[np.ndarray, np.ndarray]:
    """Complementary distribution of the same: (s, fraction of packets above)."""
    table = results.tables["delays"].sort("to_ps")
    counts = table["packets"].to_numpy().astype(float)
    return table["to_ps"].to_numpy() * 1e-12, 1 - np.cumsum(counts) / counts.sum()


def row(runs, place: str) -> dict[str, float]:
    keys = {s: f"tail-{place}:{s}" for s in TWO}
    d = {s: mean(runs, keys[s], average) for s in TWO}
    d99 = {s: mean(runs, keys[s], p99) for s in TWO}
    out = {"d99 LSTF/FIFO": d99["fifo+"] / d99["fifo"], "d LSTF/FIFO": d["fifo+"] / d["fifo"]}
    out |= {f"{name}({NAMES[s]}) (s)": v[s] for name, v in (("d", d), ("d99", d99)) for s in TWO}
    if PUBLISHED[place]:
        was = dict(
            zip([("d", "fifo"), ("d", "fifo+"), ("d99", "fifo"), ("d99", "fifo+")], PUBLISHED[place], strict=True)
        )
        for (name, s), p in was.items():
            out[f"{name}({NAMES[s]}) / published"] = {"d": d, "d99": d99}[name][s] / p
    for s in TWO:
        out |= spread(runs, keys[s], p99, f"d99({NAMES[s]}) (s)")
    return out


CLAIMS = {place: f"UPS-F3{letter}" for place, letter in LETTERS.items()}
measure_each({claim: place for place, claim in CLAIMS.items()}, needs=lambda place: [f"tail-{place}:*"])(row)


@measure("UPS-F3h", needs=["tail-*"], rows=CLAIMS.values())
def mean_and_tail(runs):
    found = rows(runs, "tail", CLAIMS, row).values()
    largest = {f"largest {name}": max(r[name] for r in found) for name in ("d LSTF/FIFO", "d99 LSTF/FIFO")}
    return largest | {"rows": len(found)}
