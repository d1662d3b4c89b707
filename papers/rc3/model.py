"""The analytical model of §2.2, in the form that reproduces the "model" bars of Figure 2.7 (the authors' table)."""

from __future__ import annotations

import math

PACKET = 12_000  # bit on the wire
PAYLOAD = 1460
# Bytes -> reduction in %, from the authors' table; links of 1 Gb/s used to 30 %, 40 ms, an initial window of 4.
PUBLISHED = {
    1460: 0.0,
    2920: 0.0,
    4380: 0.0,
    7300: 39.94,
    10220: 39.92,
    58400: 66.34,
    105120: 72.20,
    200020: 76.05,
    389820: 78.50,
    1733020: 79.02,
    3076220: 77.18,
}


def completion(packets: int, i: int = 4, rate: float = 0.7e9, rtt: float = 0.040) -> tuple[float, float]:
    """FCT (s) of RC3 and of TCP with an initial window of i, for what is left of the link; the handshake included."""
    pipe = rate * rtt / PACKET
    rounds, window, sent = 0, i, i
    while sent < packets and window < pipe:
        rounds += 1
        window *= 2
        sent += window
    last = packets - (sent - window)
    rc3 = 1.5 * rtt + packets * PACKET / rate
    tcp = (1.5 + rounds) * rtt + (last + 1.2 * rounds) * PACKET / rate if rounds else rc3
    return rc3, tcp


def gain(packets: int, **network) -> float:
    """Reduction in %."""
    rc3, tcp = completion(packets, **network)
    return 100 * (1 - rc3 / tcp)


def idealised(packets: float, i: int = 4, rate: float = 0.7e9, rtt: float = 0.040) -> float:
    """The gain as §2.2 states it, in round trips or parts of the transfer: nothing up to i; then TCP needs
    log2(N / i) round trips and RC3 one; beyond A·RTT slow start weighs less and less in N / A."""
    pipe = rate * rtt / PACKET
    if packets <= i:
        return 0.0
    return math.log2(packets / i) if packets < pipe else math.log2(pipe / i) * pipe / packets


def curve(rate: float, rtt: float, points: int = 400, most: float = 1e7) -> list[tuple[int, float]]:
    """Gain over the flow's packets, evenly spaced in the logarithm."""
    sizes = sorted({round(most ** (k / points)) for k in range(points + 1)})
    return [(n, gain(n, rate=rate, rtt=rtt)) for n in sizes]


def peak(rate: float, rtt: float) -> tuple[int, float]:
    """The flow that gains most."""
    return max(curve(rate, rtt), key=lambda point: point[1])
