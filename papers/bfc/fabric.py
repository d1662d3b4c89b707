"""The Clos network (§3.6.2.1) and its traffic: what each run of Figures 3-9 to 3-22, E-1 and F-1 to F-6 is."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

from thalweg.study import Key, RunSpec, run

from .settings import LOAD_OF, scheme

SIZES = {"google": "google-rpc", "fb": "facebook-hadoop-fine"}
# Leaves, spines, hosts per leaf: 2:1 both. Google's many small flows among an incast's need the published
# number of queues per rack, so that they are run at the published size at both scales.
PUBLISHED = (8, 8, 16)
NETWORK = {"quick": {"google": PUBLISHED, "fb": (4, 4, 8)}, "full": {"google": PUBLISHED, "fb": PUBLISHED}}
# ms in which flows arrive.
WINDOW = {"quick": {"google": 2, "fb": 8}, "full": {"google": 5, "fb": 50}}
DRAIN = 12  # ms after it: flows that do not end then are counted as such
RATE = 100e9
BURST = 20e6  # B of an incast


def share(leaves: int, spines: int, hosts: int) -> float:
    """b/s that every host sends at load 1: the paper counts all flows against the capacity of the core (Traps
    10), of which 112 in 127 cross it. In a smaller network fewer do; it gets as much more traffic, so that
    its core carries as much as the published one."""
    n = leaves * hosts
    crossing = (n - hosts) / (n - 1) if leaves > 1 else 1.0
    counted = 112 / 127 if LOAD_OF == "all-flows" else 1
    return leaves * spines * RATE / n * counted / crossing


@dataclass(frozen=True)
class Point:
    """A run: sizes, load of the core (%) without the 5 % of incasts, degree of the incasts (0: none), and what else it
    is:

    - `local`: half of the flows stay in their rack;
    - `classes`: four of strict priority;
    - `rack`: all flows go to one host of a rack;
    - `waits`: it records how long every packet waits at each port;
    - `whole`: 128 hosts for a short while, at every scale."""

    workload: str
    scheme: str
    load: int = 60
    incast: int = 0
    kind: Literal["", "local", "classes", "rack", "waits", "whole"] = ""
    seed: int = 1

    @property
    def place(self) -> str:
        kind = f"-{self.kind}" if self.kind else ""
        return f"{self.workload}-{self.load}{f'-inc{self.incast}' if self.incast else ''}{kind}"

    @property
    def key(self) -> Key:
        return Key(self.place, self.scheme, self.seed)

    def with_(self, **keys) -> Point:
        return replace(self, **keys)

    def at(self, scale: str) -> RunSpec:
        leaves, spines, hosts = NETWORK[scale][self.workload]
        if self.kind == "rack":
            leaves, spines, hosts = 1, 1, 16
        if self.kind == "whole":
            leaves, spines, hosts = PUBLISHED
        longer = {"rack": 16, "classes": 2, "waits": 0.5, "whole": 0.25}.get(self.kind, 1)
        window = WINDOW[scale][self.workload] * longer
        traffic = self.background(window, share(leaves, spines, hosts))
        if self.incast:
            every = BURST * 8 / (0.05 * leaves * spines * RATE) * 1e6  # us
            events = max(1, round(window * 1e3 / every))
            traffic.append(
                {
                    "kind": "incast",
                    "fan_in": self.incast,
                    "size": f"{round(BURST / self.incast)}B",
                    "senders": "with-replacement",
                    "at": f"{round(every / 8)}us",
                }
                | ({"period": f"{round(every)}us", "repeat": events} if events > 1 else {})
                | ({"class": 1} if self.scheme == "label" else {})
            )
        set = scheme(self.scheme) | self.classes()
        if self.kind == "rack":
            set.pop("routing", None)  # there is one path
        set |= {
            "topology.leaves": leaves,
            "topology.spines": spines,
            "topology.hosts_per_leaf": hosts,
            "traffic": traffic,
            "measure.queues": {"every": "10us"} | ({"flows": True} if self.tells else {}),
            "run.until": f"{window + DRAIN:g}ms",
        }
        if self.kind == "waits":
            set["measure.packets"] = {"hops": True}
        return run(self.key, "clos", set, self.seed, keep=self.kind == "waits")

    @property
    def tells(self) -> bool:
        """Its switches know whose packets wait, and a claim needs it."""
        return self.scheme in ("bfc", "hashed", *GHOSTS)

    def background(self, window: float, each: float) -> list[dict]:
        plain = {
            "kind": "poisson",
            "sizes": SIZES[self.workload],
            "load": self.load / 100,
            "of": {"kind": "rate", "rate": f"{round(each)}bps"},
            "arrivals": "log-normal",
            "process": "global",
            "packet_payload": "1000B",
            "packet_header": "0B",
            "until": f"{window:g}ms",
        }
        if self.kind == "local":
            # As many flows inside the racks as between them: the core and the hosts' links have the same load.
            plain |= {"of": "core-links"}
            return [plain | {"pairs": "inter-rack"}, plain | {"pairs": "intra-rack"}]
        if self.kind == "classes":
            return [plain | {"load": self.load / 400, "class": c} for c in range(4)]
        if self.kind == "rack":
            # One receiver; 60 % of its link. The process is the one receiver's.
            rate = {"kind": "rate", "rate": "6666666667bps"}  # a fifteenth of it
            return [plain | {"pairs": "to-host-zero", "of": rate}]
        return [plain]

    def classes(self) -> dict:
        if self.kind != "classes":
            return {}
        made = scheme(self.scheme)["switch"]
        if made["scheduler"] == "fifo":
            return {"switch": made | {"scheduler": {"kind": "priority", "classes": 4}}}
        # 8 or 32 queues of each class, and that of control packets.
        return {"switch": made | {"scheduler": made["scheduler"] | {"classes": 4, "queues": 1 + 4 * self.queues}}}

    @property
    def queues(self) -> int:
        return 32 if self.scheme == "bfc128" else 8


FEASIBLE = ("bfc", "hpcc", "hpcc-pfc", "dcqcn", "dctcp")
MAIN = ("bfc", "ideal-fq", "hpcc", "hpcc-pfc", "dcqcn", "dctcp")
ALL = (*MAIN, "expresspass")  # whose memory is not looked at: 75 MB a port
SHORTEST = ("homa", "homa-ecmp", "bfc-srf", "ideal-srf")
INCAST_SHORTEST = ("homa", "bfc-srf")  # those that Figure F-3 compares


def plain(workload: str, s: str, **more) -> Point:
    """Without incasts."""
    return Point(workload, s, 60, **more)


def burst(workload: str, s: str, **more) -> Point:
    """55 % and incasts of 100 for the other 5 %."""
    return Point(workload, s, 55, 100, **more)


LOADS = {"quick": (70, 80, 90, 95), "full": (50, 70, 80, 90, 95)}
DEGREES = {"quick": (1000, 2000), "full": (10, 250, 1000, 2000)}
TABLES = (10, 30, 300, 1000)
GHOSTS = ("reserved", "bfc=pipelines,4")  # none, and fewer: queues are searched for in rotation
KMINS = ("20-80", "200-800")
ETAS = ("0.90", "0.98")
CREDITS = (8, 16, 32)
ALPHAS = (0.0625, 0.125, 0.25, 0.5)


def points(scale: str) -> list[Point]:
    made = [of(w, s) for w in ("google", "fb") for of in (plain, burst) for s in ALL]  # F9, F10, F11
    # F12
    made += [Point("fb", s, load) for load in LOADS[scale] for s in ("bfc", "bfc128", "ideal-fq", "dctcp")]
    made += [Point("fb", "hpcc", load) for load in (70, 80)]
    # F13, F5
    made += [Point("fb", s, 55, d) for d in DEGREES[scale] for s in ("bfc", "bfc128", "hpcc", "dctcp")]
    made += [Point("fb", "label", 55, 100)]
    # F15 to F17, F19, F21, F22, E1
    made += [of("fb", "bfc-cc") for of in (plain, burst)]
    made += [burst("fb", s) for s in ("hpcc-sfq", "hpcc-dqa", "dctcp-ss", "hashed", "no-nic", "bfc=sampling,0.5")]
    made += [plain("fb", "dctcp-ss")]
    made += [of("fb", "flow-id") for of in (plain, burst)]
    made += [burst("fb", f"bfc=table,{n}") for n in TABLES]
    made += [burst("fb", s) for s in GHOSTS]
    made += [plain("fb", s, kind="classes") for s in ("bfc", "bfc128", "hpcc", "dctcp")]
    # F18
    made += [of("fb", s, kind="local") for of in (plain, burst) for s in ("bfc", "ideal-fq", "hpcc", "dctcp")]
    # App. F.1
    made += [plain(w, s) for w in ("google", "fb") for s in SHORTEST]
    made += [burst(w, s) for w in ("google", "fb") for s in INCAST_SHORTEST]
    made += [plain(w, s, kind="rack") for w in ("google", "fb") for s in ("homa", "bfc-srf", "ideal-srf")]
    made += [plain("fb", s, kind="waits") for s in ("homa", "homa-ecmp")]
    made += [plain("fb", "bfc", kind="whole")]
    # App. F.2
    made += [plain("fb", f"hpcc={eta}") for eta in ETAS] + [plain("fb", f"dctcp={k}") for k in KMINS]
    made += [plain("fb", f"expresspass=credits,{n}") for n in CREDITS if n != 16]
    made += [plain("fb", f"expresspass=alpha,{x}") for x in ALPHAS if x != 0.5]
    return list(dict.fromkeys(made))


def runs(scale: str) -> list[RunSpec]:
    return [p.at(scale) for p in points(scale)]


def keys(*points: Point) -> list[str]:
    return [p.key for p in points]
