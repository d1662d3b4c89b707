"""Next to a video in 4K (§4.7.1; Figure 4-10): a viewer that requests chunks over Cubic, on a link of 48 Mb/s."""

from __future__ import annotations

from thalweg.study import mean, measure, needs

from .outcome import goodput, waits
from .settings import BASIC, BOTTLENECK, Cross, Point, specs

LINK, SECONDS = 48, 80.0  # Mb/s, s
SCHEMES = ("ncc", "cubic", "bbr", "vegas", "copa", "vivace")
# No pause shrinks the window.
VIEWER = Cross("cubic", keys={"video": {}, "restart": "keep"})


def watched(scheme: str) -> Point:
    set = {"topology.bottleneck_rate": f"{LINK}Mbps", "switch.buffer": "600KB"}
    known = {"transport.congestion": BASIC | {"link_rate": f"{LINK}Mbps"}} if scheme == "ncc" else {}
    return Point("f4.10", scheme, (VIEWER,), SECONDS, set | known)


POINTS = {s: watched(s) for s in SCHEMES}


def runs(scale: str) -> list:
    return specs(POINTS.values(), scale)


def rate(runs, scheme: str) -> float:
    """Mb/s."""
    return mean(runs, POINTS[scheme], goodput)


def delay(runs, scheme: str) -> float:
    """Mean queueing delay, ms."""
    return mean(runs, POINTS[scheme], waits) * 96 / LINK


def used(results) -> float:
    ports = results.tables["ports"]
    return float(ports.filter(ports["port"] == BOTTLENECK)["bytes"][0]) * 8e-6 / SECONDS / LINK


@measure("NIM-F4.10a", needs=needs(POINTS["ncc"], POINTS["cubic"]))
def next_to_a_video(runs):
    ours, cubic = rate(runs, "ncc"), rate(runs, "cubic")
    return {
        "throughput / Cubic's": ours / cubic,
        "Cubic's delay less (ms)": delay(runs, "cubic") - delay(runs, "ncc"),
        "NimbusCC (Mb/s)": ours,
        "NimbusCC (ms)": delay(runs, "ncc"),
    }


@measure("NIM-F4.10b", needs=needs(*(POINTS[s] for s in ("ncc", "copa", "vegas"))))
def copa_and_vegas_next_to_a_video(runs):
    ours = rate(runs, "ncc")
    return {"Copa / NimbusCC": rate(runs, "copa") / ours, "Vegas / NimbusCC": rate(runs, "vegas") / ours}


@measure("NIM-F4.10c", needs=needs(*POINTS.values()))
def used_next_to_a_video(runs):
    found = {s: mean(runs, POINTS[s], used) for s in SCHEMES}
    return {"least": min(found.values())} | found
