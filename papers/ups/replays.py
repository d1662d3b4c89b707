"""Replay (§2.3, Table 1, Figure 1): a schedule is recorded, slacks are made from its exit times, and LSTF tries to keep them.

The original runs any scheduler; `>CANDIDATE` in a key is its replay. UDP, all of a flow's packets at once, no drops.
"""

from __future__ import annotations

from thalweg.papers import measure

from .settings import NAMES, NETWORKS, SCHEMES, SEEDS, mean, run, seeds, split, spread

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
# Simulated from an empty network; CHOICE: 10 s for I2 / 10, where as many packets take ten times as long.
DURATION = {"tenth": "10s", "datacenter": "100ms"}


def of(place: str, original: str) -> str:
    return f"udp-{place}:{original}"


def runs(scale: str) -> list:
    """The same at both scales but for the number of seeds: shorter runs would measure how an empty network fills."""
    made = []
    for seed in SEEDS[scale]:
        for place, original in TABLE:
            made += recorded_and_replayed(place, original, seed)
    return made
