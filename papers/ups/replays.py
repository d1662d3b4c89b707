"""Replay (§2.3, Table 1, Figure 1): a schedule is recorded, slacks are made from its exit times, and LSTF
tries to keep them.

The original runs any scheduler; `>CANDIDATE` in a key is its replay. UDP, all of a flow's packets at once, no drops.
"""

from __future__ import annotations

import numpy as np

from thalweg.study import RunSpec, mean, measure, measure_each, run, seeds, spread

from .settings import NAMES, NETWORKS, SCHEMES, SEEDS, split

# Place and original -> published fraction overdue, and overdue by more than T.
TABLE = {
    ("i2-70", "random"): (0.0021, 0.0002),
    ("i2-10", "random"): (0.0007, 0.0),
    ("i2-30", "random"): (0.0281, 0.0017),
    ("i2-50", "random"): (0.0221, 0.0002),
    ("i2-90", "random"): (0.0008, None),
    ("1g-1g-70", "random"): (0.0204, 8e-6),
    ("10g-10g-70", "random"): (0.0631, 0.0448),
    ("tenth-70", "random"): (0.0127, 1e-5),
    ("rocketfuel-70", "random"): (0.0246, 0.0063),
    ("datacenter-70", "random"): (0.0164, 0.0154),
    ("datacenter-pairs-70", "random"): (0.0164, 0.0154),
    ("i2-70", "fifo"): (0.0143, 0.0006),
    ("i2-70", "fq"): (0.0271, 0.0002),
    ("i2-70", "sjf"): (0.1833, 0.0019),
    ("i2-70", "lifo"): (0.1477, 0.0067),
    ("i2-70", "fq-fifo+"): None,
    ("i2-70", "sjf-fifo"): (0.0297, 0.0003),
}
DEFAULT = ("i2-70", "random")
ORIGINALS = tuple(s for place, s in TABLE if place == "i2-70")  # of Figure 1: all of the table's
# §2.3 (5) and (7): other candidates.
PREEMPTIVE = {("i2-70", "sjf"): 0.0024, ("i2-70", "lifo"): 0.0025}
PRIORITIES = {DEFAULT: (0.21, 0.2069)}
# §5: switches that sort by buckets of slack, as a bucket queue in hardware does; for easy, harder and hardest
# originals and where a packet lasts a microsecond only. CHOICE: the paper gives no width.
WIDTHS = ("1us", "10us", "100us", "1ms")
# Nothing is judged by them: at quick scale the widest that costs next to nothing, and the next.
DRAWN = {"quick": ("10us", "100us"), "full": WIDTHS}
BUCKETS = {
    "quick": (DEFAULT,),
    "full": (DEFAULT, ("i2-70", "fifo"), ("i2-70", "sjf"), ("datacenter-70", "random")),
}
# Simulated from an empty network; CHOICE: 10 s for I2 / 10, where as many packets take ten times as long.
DURATION = {"tenth": "10s", "datacenter": "100ms", "datacenter-pairs": "100ms"}


# One second of heavy-tailed traffic decides a row: seeds of T1f differ by a factor of 4. The datacenter's, a
# tenth of that, take twice as many.
DRAWS = {"quick": 1, "full": 10}


def draws(place: str, scale: str) -> range:
    """Seeds of a row of Table 1."""
    twice = scale == "full" and place.startswith("datacenter")
    return range(1, DRAWS[scale] * (1 + twice) + 1)


# How the engine calls the candidates.
CANDIDATES = {
    "lstf": {"scheduler": "lstf"},
    "preemptive": {"scheduler": "lstf", "preemptive": True},
    "priorities": {"scheduler": "priority"},
    **{f"lstf-{width}": {"scheduler": "lstf", "bucket": width} for width in WIDTHS},
}


def of(place: str, original: str) -> str:
    """A recorded run."""
    return f"udp-{place}:{original}"


def replayed(place: str, original: str, candidate: str = "lstf") -> str:
    """Its replay."""
    return f"{of(place, original)}>{candidate}"


def runs(scale: str) -> list:
    """The same at both scales but for the number of seeds and the rows that are replayed by bucket queues:
    shorter runs would measure how an empty network fills."""
    made = []
    for place, original in TABLE:
        for seed in draws(place, scale):
            drawn = (place, original) in BUCKETS[scale] and seed in SEEDS[scale]
            made += recorded_and_replayed(place, original, seed, DRAWN[scale] if drawn else ())
    return made


def recorded_and_replayed(place: str, original: str, seed: int, widths: tuple) -> list:
    network, percent = split(place)
    end = DURATION.get(network, "1s")
    clock = {"measure": {"until": end, "packets": {"hops": False}}, "traffic.0.until": end, "run.until": end}
    base = NETWORKS[network].set("udp") | {"traffic.0.load": percent / 100} | clock
    key = of(place, original)
    made = [run(key, NETWORKS[network].of("udp"), base | SCHEMES[original], seed)]
    kinds = ["lstf"]
    kinds += ["preemptive"] if (place, original) in PREEMPTIVE else []
    kinds += ["priorities"] if (place, original) in PRIORITIES else []
    kinds += [f"lstf-{width}" for width in widths]
    t = NETWORKS[network].late  # None: the engine takes the slowest link
    threshold = f"{t}ps" if t else None
    for kind in kinds:
        name = f"{replayed(place, original, kind)}@{seed}"
        made.append(RunSpec(name, replay=f"{key}@{seed}", threshold=threshold, **CANDIDATES[kind]))
    return made


# --- Table 1 ------------------------------------------------------------------------------------------------


def overdue(replay) -> float:
    return replay.summary["overdue"]


def overdue_by_t(replay) -> float:
    return replay.summary["overdue_beyond_threshold"]


def waits_less(replay) -> float:
    """Fraction of packets that wait no longer in the replay than in the original."""
    return replay.summary["not_slower"]


def ratio_cdf(replay, column: str) -> tuple[np.ndarray, np.ndarray]:
    """Distribution of (Q' + 1 ns) / (Q + 1 ns), Q the queueing delay: at routers (`router`) or from the
    flow's arrival on (`with_nic`, the wait at the source's NIC included in both)."""
    table = replay.tables["ratios"].sort("to")
    counts = table[column].to_numpy().astype(float)
    return table["to"].to_numpy(), np.cumsum(counts) / counts.sum()


def late(runs, place: str, original: str, candidate: str = "lstf") -> tuple[float, float]:
    """Fractions overdue and overdue by more than T: means over the seeds."""
    key = replayed(place, original, candidate)
    return mean(runs, key, overdue), mean(runs, key, overdue_by_t)


def needs(rows, candidate: str = "lstf") -> list[str]:
    return [f"{replayed(*row, candidate)}@*" for row in rows]


ROWS = {
    "UPS-T1a": ("i2-70", "random"),
    "UPS-T1b": ("i2-10", "random"),
    "UPS-T1c": ("i2-30", "random"),
    "UPS-T1d": ("i2-50", "random"),
    "UPS-T1f": ("1g-1g-70", "random"),
    "UPS-T1g": ("10g-10g-70", "random"),
    "UPS-T1h": ("tenth-70", "random"),
    "UPS-T1j": ("datacenter-70", "random"),
    "UPS-T1j.pairs": ("datacenter-pairs-70", "random"),
    "UPS-T1k": ("i2-70", "fifo"),
    "UPS-T1l": ("i2-70", "fq"),
    "UPS-T1m": ("i2-70", "sjf"),
    "UPS-T1n": ("i2-70", "lifo"),
    "UPS-T1p0": ("i2-70", "sjf-fifo"),
}


@measure_each(ROWS, needs=lambda row: needs([row]))
def overdue_in_replay(runs, row: tuple[str, str]):
    (ov, ov_t), key = late(runs, *row), replayed(*row)
    out = {"ov": ov, "ovT": ov_t} | ({"ovT / ov": ov_t / ov} if ov else {})
    return out | spread(runs, key, overdue, "ov") | spread(runs, key, overdue_by_t, "ovT")


ROCKETFUEL = ("rocketfuel-70", "random")
HARD = (("i2-70", "sjf"), ("i2-70", "lifo"), ("10g-10g-70", "random"))
LATE_BY_T = (("10g-10g-70", "random"), ("datacenter-70", "random"), ("datacenter-pairs-70", "random"))


@measure("UPS-T1i", needs=needs([DEFAULT, ROCKETFUEL]))
def rocketfuel_replay(runs):
    ov, ov_t = late(runs, *ROCKETFUEL)
    return {"ov": ov, "ovT": ov_t, "ov / ov(default)": ov / late(runs, *DEFAULT)[0]}


@measure("UPS-T1q0", needs=needs(TABLE))
def hard_originals(runs):
    ov = {row: late(runs, *row)[0] for row in TABLE}
    others = max(x for row, x in ov.items() if row not in HARD)
    ratio = min(ov[row] for row in HARD) / others
    return {"largest ov of the other rows": others, "smallest ov of the three / largest of the others": ratio}


@measure("UPS-T1r", needs=needs(TABLE))
def late_by_more_than_t(runs):
    found = {row: late(runs, *row)[1] for row in TABLE if row not in LATE_BY_T}
    return {"largest ovT of the other rows": max(found.values())} | {
        f"{p}, {NAMES[s]}": x for (p, s), x in found.items()
    }


@measure("UPS-T1s", needs=needs((f"i2-{u}", "random") for u in (10, 30, 50, 70, 90)))
def replay_by_load(runs):
    ov = {u: late(runs, f"i2-{u}", "random")[0] for u in (10, 30, 50, 70, 90)}
    pairs = ((10, 30), (50, 30), (70, 50), (90, 70))
    return {f"ov({a}) / ov({b})": ov[a] / ov[b] for a, b in pairs} | {f"ov({u})": x for u, x in ov.items()}


@measure("UPS-T1t", needs=needs((p, "random") for p in ("i2-70", "1g-1g-70", "10g-10g-70")))
def replay_by_edge(runs):
    default, slow, fast = (late(runs, p, "random") for p in ("i2-70", "1g-1g-70", "10g-10g-70"))
    return {
        "ovT(1G-1G) - ovT(default)": slow[1] - default[1],
        "ovT(10G-10G) - 20 ovT(default)": fast[1] - 20 * default[1],
        "ov(10G-10G) / ov(default)": fast[0] / default[0],
    }


@measure("UPS-T1u", needs=needs((p, "random") for p in ("1g-1g-70", "tenth-70")))
def replay_by_relative_rates(runs):
    return {"ov(1G-1G) / ov(I2/10)": late(runs, "1g-1g-70", "random")[0] / late(runs, "tenth-70", "random")[0]}


@measure("UPS-T1v", needs=needs(("i2-70", s) for s in ("random", "fifo", "fq", "sjf", "lifo")))
def sjf_and_lifo(runs):
    ov = {s: late(runs, "i2-70", s)[0] for s in ("random", "fifo", "fq", "sjf", "lifo")}
    return {
        "min(SJF, LIFO) / max(FIFO, FQ, Random)": min(ov["sjf"], ov["lifo"]) / max(ov["fifo"], ov["fq"], ov["random"])
    }


BOTH = {"UPS-T1pa": ("i2-70", "sjf"), "UPS-T1pb": ("i2-70", "lifo")}


@measure_each(BOTH, needs=lambda row: [*needs([row]), *needs([row], "preemptive")])
def preemptive_replay(runs, row: tuple[str, str]):
    plain, resumed = late(runs, *row)[0], late(runs, *row, "preemptive")[0]
    return {"ov, preemptive": resumed, "ov, non-preemptive": plain, "preemptive / non-preemptive": resumed / plain}


@measure("UPS-T1qa", needs=[*needs([DEFAULT]), *needs([DEFAULT], "priorities")])
def static_priorities(runs):
    (ov, ov_t), lstf = late(runs, *DEFAULT, "priorities"), late(runs, *DEFAULT)[0]
    return {"ov, priorities": ov, "ovT / ov, priorities": ov_t / ov, "priorities / LSTF": ov / lstf}


def late_in_buckets(runs, place: str, original: str) -> list[tuple[float, float]]:
    """As `late`, exact keys first and then the widths."""
    return [late(runs, place, original, c) for c in ("lstf", *(f"lstf-{width}" for width in DRAWN[runs.scale]))]


# --- What the originals looked like -------------------------------------------------------------------------

# Non-empty router queues met -> published fraction of packets.
POINTS = {
    of("i2-70", "random"): {2: 0.22, 3: 0.44, 4: 0.24},
    of("1g-1g-70", "random"): {1: 0.18, 2: 0.46, 3: 0.26},
}


def points(runs, key: str) -> np.ndarray:
    """Fraction of packets by number of non-empty router queues met in the original, 0 to 7: mean over the seeds."""
    found = []
    for replay in seeds(runs, f"{key}>lstf"):
        counts = np.array(replay.summary["congestion_points"], dtype=float)
        found.append(np.pad(counts, (0, 8))[:8] / counts.sum())
    return np.mean(found, axis=0)


@measure_each({"UPS-CPa": of(*DEFAULT), "UPS-CPb": of("1g-1g-70", "random")}, needs=lambda key: [f"{key}>lstf@*"])
def congestion_points(runs, key: str):
    return {f"{n} points": float(x) for n, x in enumerate(points(runs, key))}


@measure("UPS-CPc", needs=needs([DEFAULT]))
def routers_of_paths(runs):
    hops = [r.summary["hops"] for r in seeds(runs, replayed(*DEFAULT))]
    return {"fewest": min(h["min"] for h in hops), "most": max(h["max"] for h in hops)}


@measure("UPS-T1x", needs=[f"{of(*DEFAULT)}@1"])
def packet_time_of_the_run(runs):
    results = runs[f"{of(*DEFAULT)}@1"]
    wire = int(results.summary["packets"]["most_common_wire_bytes"])
    slowest = int(results.tables["ports"]["rate_bps"].min())  # the edge links: every core link is faster
    return {"T (ps)": -(-wire * 8 * 10**12 // slowest)}


@measure("UPS-F1a", needs=[f"{replayed('i2-70', s)}@*" for s in ORIGINALS])
def waits_less_in_replay(runs):
    return {NAMES[s]: mean(runs, replayed("i2-70", s), waits_less) for s in ORIGINALS}
