"""Runs of the study: a scheme over a trace, with what differs. A run's key is `TRACE:SCHEME[:WHAT]`."""

from __future__ import annotations

import gzip
import os
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from thalweg.study import Key, NotCheckable, RunSpec

from . import choices

# Recorded traces have licences of their own and are not part of this repository: see README.md.
TRACES = Path(os.environ.get("THALWEG_TRACES", Path(__file__).parents[2] / "../shared/traces"))
# Five of the paper's eight, and two more of the same collection instead of those that could not be had.
FIVE = (
    "Verizon-LTE-short.down", "Verizon-LTE-short.up", "ATT-LTE-driving-2016.down", "ATT-LTE-driving-2016.up",
    "TMobile-LTE-driving.down",
)  # fmt: skip
MORE = ("TMobile-LTE-short.down", "TMobile-LTE-short.up")
DOWN, UP = FIVE[:2]

CODEL = {"kind": "codel", "target": "50ms", "interval": "100ms", "mtu": "1504B"}
PIE = {"kind": "pie", "variant": "mahimahi", "target": "50ms", "burst": "100ms", "mean_packet": "1504B"}
# §2.7.3: gains larger than the original's.
XCP_ROUTER = {"kind": "xcp", "alpha": 0.55, "beta": 0.4, "sharing": choices["xcp_sharing"]}
# The authors' queue takes for a packet's round trip that of the way and its wait.
XCP = XCP_ROUTER | {"round_trips": "waits"}
SINGLE = {"kind": "abc", "dual": False}
# How senders infer losses. That of the scenarios is RFC 6298's timer and duplicate ACKs; the paper's are Linux modules.
SENDERS = {
    "rfc": {},
    "linux-timer": {"rto": "linux"},
    "linux": {"rto": "linux", "loss": "rack"},
}[choices["senders"]]
# s: §2.7.5, within which long flows start.
STARTS = choices["long_flow_starts"]
# §2.7.2: "the authors' code": what their program does that their paper does not say is on.
PROGRAM = {"kind": "sprout", "independent": True, "any_size": True, "bytes": True}
NO_HYSTART = {"kind": "cubic", "hystart": False}
# A scheme: its controller, its marking.
SCHEMES: dict[str, tuple] = {
    "abc": (SINGLE, "abc"),
    "cubic": (NO_HYSTART, "none"),
    "cubic-codel": (NO_HYSTART, CODEL),
    "cubic-pie": (NO_HYSTART, PIE),
    "copa": ("copa", "none"),
    "vegas": ("vegas", "none"),
    "bbr": ("bbr", "none"),
    "vivace": ("vivace", "none"),
    "verus": ("verus", "none"),
    "sprout": (PROGRAM, "none"),
    "xcp": ("xcp", XCP),
    "xcpw": ("xcp", XCP | {"computed": "sliding"}),
    "rcp": ("rcp", "rcp"),
    "vcp": ("vcp", "vcp"),
}
NAMES = {
    "abc": "ABC", "cubic": "Cubic", "cubic-codel": "Cubic+CoDel", "cubic-pie": "Cubic+PIE", "copa": "Copa", "vegas": "Vegas",
    "bbr": "BBR", "vivace": "PCC Vivace", "verus": "Verus", "sprout": "Sprout", "xcp": "XCP", "xcpw": "XCPw", "rcp": "RCP", "vcp": "VCP",
}  # fmt: skip
PUBLISHED_BASELINES = (
    "cubic",
    "cubic-codel",
    "cubic-pie",
    "copa",
    "vegas",
    "bbr",
    "vivace",
    "verus",
    "sprout",
    "xcp",
    "xcpw",
)
COUNTS = (1, 2, 4, 8, 16)


def recorded() -> bool:
    """The traces are here."""
    return all((TRACES / f"{name}.gz").is_file() for name in (*FIVE, *MORE))


def need_traces() -> None:
    if not recorded():
        raise NotCheckable(f"needs the recorded traces in {TRACES.name}/, which are not here: see papers/abc/README.md")


def unpacked(name: str):
    """What `RunSpec.prepare` calls: the trace, unpacked for the run; without it a made-up link."""

    def prepare(_, folder: Path) -> Mapping:
        transmitter = unpack(name, folder)
        link = {"which": "core-links", "direction": "forward"}
        return {"link": [link | {"transmitter": transmitter}]} if transmitter else {}

    return prepare


def unpack(name: str, folder: Path) -> Mapping | None:
    """The trace as a transmitter, if it is here."""
    packed = TRACES / f"{name}.gz"
    if not packed.is_file():
        return None
    folder.mkdir(parents=True, exist_ok=True)
    (folder / name).write_bytes(gzip.decompress(packed.read_bytes()))
    return {"kind": "traced", "file": str((folder / name).resolve())}


def traced(ports: Mapping[int, str]):
    """Likewise, for links by their ports; those without a trace are made up."""

    def prepare(_, folder: Path) -> Mapping:
        made_up = {"kind": "cellular", "length": "140s"}
        return {
            "link": [
                {"which": {"kind": "ports", "ports": [port]}, "transmitter": unpack(name, folder) or made_up}
                for port, name in ports.items()
            ]
        }

    return prepare


def transport(controller) -> dict:
    """What `scenarios/*.toml` have as `[transport]`, with another controller."""
    return {
        "kind": "tcp",
        "congestion": controller,
        "mss": "1448B",
        "header": "56B",
        "ack_size": "56B",
        "initial_window": "10pkts",
        "rto": {"kind": "rfc6298", "initial": "1s", "min": "200ms"},
        "delayed_acks": {"kind": "on", "every": 2, "delay": "40ms"},
        "timestamps": True,
    } | SENDERS


def sent(spec: RunSpec) -> RunSpec:
    """The run with the senders of the study."""
    return replace(spec, set={f"transport.{k}": v for k, v in SENDERS.items()} | dict(spec.set))


@dataclass(frozen=True)
class Cell:
    """A scheme over a trace."""

    scheme: str = "abc"
    trace: str = DOWN
    what: str = ""  # what differs, as part of the key
    set: Mapping = field(default_factory=dict, compare=False)

    @property
    def key(self) -> Key:
        return Key(self.trace, ":".join(x for x in (self.scheme, self.what) if x))

    def spec(self) -> RunSpec:
        controller, marking = SCHEMES[self.scheme]
        chosen = {"name": str(self.key), "transport.congestion": controller, "switch.marking": marking} | dict(self.set)
        return RunSpec(self.key, "scenarios/cellular.toml", chosen, prepare=unpacked(self.trace), keep=True)


def several(scheme: str, count: int) -> Cell:
    """So many flows at once."""
    return Cell(scheme, DOWN, f"n{count}" if count > 1 else "", {"traffic.0.count": count} if count > 1 else {})


def distant(scheme: str, rtt: int) -> Cell:
    """With another round trip, ms."""
    return Cell(scheme, UP, f"rtt{rtt}" if rtt != 100 else "", {"topology.delay": f"{rtt / 2}ms"} if rtt != 100 else {})


def router(what: str, trace: str = DOWN, **keys) -> Cell:
    """ABC with another router."""
    return Cell("abc", trace, what, {"switch.marking": {"kind": "abc"} | keys})


def wired(what: str, **set) -> RunSpec:
    """A run over the wired link; underscores of keys are dots."""
    return RunSpec(
        f"wired:{what}",
        "scenarios/wired.toml",
        {"name": what, "transport.congestion": SINGLE} | {k.replace("__", "."): v for k, v in set.items()},
        keep=True,
    )
