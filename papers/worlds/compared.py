"""A run in two worlds, side by side."""

from __future__ import annotations

from thalweg.results import Results

from .emulated import Passage

# Bounds stated beforehand: a median delay may differ by 10 %, or by 2 ms.
PART, LEAST = 0.1, 2.0
BOTTLENECK = 4  # the port from the first switch to the second


def simulated(results: Results, seconds: float) -> tuple[float, float]:
    """Mb/s on the bottleneck in so many seconds, and the median wait in ms."""
    ports = results.tables["ports"]
    sent = int(ports.filter(ports["port"] == BOTTLENECK)["bytes"][0])
    return 8e-6 * sent / seconds, results.summary["packet_queueing_us"]["p50"] / 1e3


def apart(here: float, there: float) -> float:
    """How far a median delay is from the simulated one, in parts of what is allowed."""
    return (there - here) / max(PART * here, LEAST)


def side_by_side(results: Results, there: Passage, seconds: float) -> dict[str, float]:
    rate, delay = simulated(results, seconds)
    return {
        "rate, emulated / simulated": there.rate(seconds) / rate,
        "delay apart / allowed": apart(delay, there.delay()),
        "simulated Mb/s": rate,
        "simulated ms": delay,
        "emulated ms": there.delay(),
        "late p99 us": there.late[1],
        "load": there.load,
    }
