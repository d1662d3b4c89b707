"""RC3 over LSTF (NSDI appendix B, Figure 10): slack by the class of RC3's packets does what priorities do."""

from __future__ import annotations

from thalweg.study import mean, measure_each, run, spread

from .outcome import average
from .settings import NETWORKS, ONE, SEEDS, TCP, counted, point, split

# CHOICE: RC3's own set-up (ns-3): an initial window of 4, SACK, no delayed ACKs, five classes, 5 MB at every
# port of a switch.
TRANSPORT = TCP | {
    "header": "40B",
    "initial_window": "4pkts",
    "timestamps": False,
    "sack": {"kind": "blocks", "blocks": 3, "on_wire": True},
    "limited_transmit": False,
}
PRIORITY = {"kind": "priority", "classes": 5, "control": "by-class"}
# The more important class always first: a class is worth more slack than any packet waits.
STRICT = {"kind": "constant", "value": "1s", "class_offset": "1000s"}
SCHEMES = {
    "tcp": {"switch.scheduler": "fifo", "transport": TRANSPORT},
    "rc3": {"switch.scheduler": PRIORITY, "nic.scheduler": PRIORITY, "transport": TRANSPORT | {"rc3": {}}},
    "rc3-lstf": {
        "switch.scheduler": "lstf",
        "nic.scheduler": PRIORITY,
        "slack": STRICT,
        "transport": TRANSPORT | {"rc3": {}},
    },
}
# Figure 10, s: TCP, RC3 with priorities, RC3 with LSTF.
PUBLISHED = {
    "i2-30": (0.145, 0.083, 0.082),
    "i2-50": (0.159, 0.094, 0.089),
    "i2-70": (0.180, 0.107, 0.102),
    "1g-1g-30": (0.134, 0.075, 0.073),
    "tenth-30": (0.32, 0.215, 0.233),
    "rocketfuel-30": (0.171, 0.102, 0.101),
}
QUICK = ("i2-30", "1g-1g-30", "tenth-30")


def at(place: str, scheme: str, scale: str, seed: int):
    network, percent = split(place)
    base = {k: v for k, v in NETWORKS[network].set("tcp").items() if k != "transport"}
    window = ("2s", "5s", "8s") if scale == "full" else ("0.3s", "0.5s", "1.3s")
    if network == "tenth":
        window = ("2s", "15s", "20s") if scale == "full" else ("0.5s", "3s", "6s")
    base |= {"traffic.0.load": percent / 100, "switch.buffer": "4999999B"} | counted(*window, fct="receiver")
    if scale != "full":
        base["traffic.0.until"] = "3.5s" if network == "tenth" else "0.7s"
    return run(f"rc3-{place}:{scheme}", NETWORKS[network].of("tcp"), base | SCHEMES[scheme], seed)


def runs(scale: str) -> list:
    there = PUBLISHED if scale == "full" else QUICK
    return [at(p, s, scale, seed) for p in there for seed in SEEDS[scale][:ONE] for s in SCHEMES]


ROWS = {
    "UPS-F10a": point("i2", 30),
    "UPS-F10b": point("i2", 50),
    "UPS-F10c": point("i2", 70),
    "UPS-F10d": point("1g-1g", 30),
    "UPS-F10e": point("tenth", 30),
    "UPS-F10f": point("rocketfuel", 30),
}


@measure_each(ROWS, needs=lambda place: [f"rc3-{place}:*"])
def rc3_over_lstf(runs, place: str):
    t = {s: mean(runs, f"rc3-{place}:{s}", average) for s in SCHEMES}
    out = {"LSTF/priorities": t["rc3-lstf"] / t["rc3"], "LSTF/TCP": t["rc3-lstf"] / t["tcp"]}
    for s, p in zip(SCHEMES, PUBLISHED[place], strict=True):
        out[f"{s} / published"] = t[s] / p
        out |= spread(runs, f"rc3-{place}:{s}", average, f"{s} (s)")
    return out
