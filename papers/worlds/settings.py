"""Runs of the study: one flow over a path, by who sends. A run's key is `PATH:SENDER`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from thalweg.study import Key

# Of each run, from its first data: long enough for several rounds of the slowest path.
SECONDS = 12
PACKET = 1500  # bytes on the wire


@dataclass(frozen=True)
class Path:
    """A bottleneck: Mb/s, ms of round trip, and how many products of both its buffer holds."""

    rate: int
    rtt: int
    buffer: float

    @property
    def name(self) -> str:
        return f"{self.rate}-{self.rtt}-{self.buffer:g}"

    @property
    def keys(self) -> Mapping:
        bdp = self.rate * self.rtt * 1000 / 8
        return {
            "topology.bottleneck_rate": f"{self.rate}Mbps",
            "topology.delay": f"{self.rtt / 2:g}ms",
            "switch.buffer": f"{round(self.buffer * bdp)}B",
            "run.until": f"{1000 * SECONDS + self.rtt}ms",  # behind the handshake
        }


PATHS = {p.name: p for p in (Path(r, t, b) for r in (10, 50, 100) for t in (20, 80) for b in (0.5, 2.0))}
# Those of the quick scale: a short and a long round trip, a deep and a shallow buffer.
QUICK = ("100-20-2", "10-80-0.5")


@dataclass(frozen=True)
class Sender:
    """Who sends: `attached`, a controller of ours in the kernel's TCP, or one of the kernel's own."""

    congestion: str
    attached: bool
    # The kernel paces windows only for those who ask for it; the datapath does so for controllers without a pace.
    paced: bool | None

    @property
    def keys(self) -> Mapping:
        # What Linux, and the datapath, do for windows and not for controllers with a pace of their own. Linux grows in
        # recovery only on ACKs that show no further loss (tcp_cwnd_reduction), as RFC 9937.
        window = {} if self.paced is None else {"transport.pacing": self.paced, "transport.prr": "rfc9937"}
        return {"transport.congestion": self.congestion} | window


SENDERS = {
    "cubic": Sender("cubic", True, True),
    "newreno": Sender("newreno", True, True),
    "bbr": Sender("bbr", True, None),
    "copa": Sender("copa", True, None),
    "nimbus": Sender("nimbus", True, None),
    "kernel-cubic": Sender("cubic", False, False),
    "kernel-bbr": Sender("bbr", False, None),
}
NAMES = {
    "cubic": "CUBIC", "newreno": "NewReno", "bbr": "BBR", "copa": "Copa", "nimbus": "NimbusCC",
    "kernel-cubic": "the kernel's CUBIC", "kernel-bbr": "the kernel's BBR",
}  # fmt: skip


def key(path: str, sender: str) -> Key:
    return Key(path, sender)
