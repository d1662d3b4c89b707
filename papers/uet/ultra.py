"""Ultra Ethernet itself, as its consortium's simulator shows it: orders of ways to spray, incasts."""

from __future__ import annotations

import random
from itertools import pairwise
from typing import NamedTuple

from thalweg.study import Key, mean, measure, run

from .outcome import average, finish, last

SEEDS = {"quick": (1, 2, 3), "full": tuple(range(1, 11))}
DRAWS = range(1, 11)  # senders and starts of incasts
VALUES = 64  # entropies in the peer's runs
ACKS = {"transport.ack_every": "16KiB"}


def select(kind: str, **more) -> dict:
    return {"transport.path_selection": {"kind": kind, "values": VALUES} | more}


# Where receivers hand out credits the last hop does not mark.
QUIET = {"link": [{"which": "host-links", "direction": "backward", "marking": "none"}]}
SCHEMES = {
    "reps1": select("reps", exit_after="10ms"),
    "reps": select("reps", exit_after="10ms") | ACKS,
    "mixed": select("mixed") | ACKS,
    "bitmap": select("bitmap") | ACKS,
    "oblivious": select("oblivious") | ACKS,
    "ecmp": select("ecmp") | ACKS,
    "adaptive": {"routing.kind": "adaptive"} | select("oblivious") | ACKS,
    "rccc": {"scheme": "rccc+spray"} | select("oblivious") | ACKS | QUIET,
    "dropping": select("oblivious") | ACKS | {"switch.scheduler.trim": False, "switch.buffer": "603200B"},
}
SPEED = 0.25


def slow_spine() -> list[dict]:
    """All links of the first spine at a quarter of the speed, of the buffer and of the thresholds."""
    marking = {"kind": "red-ecn", "min": "6240B", "max": "24960B", "max_probability": 1.0, "at": "departure"}
    made = {"transmitter": {"kind": "fixed", "rate": "25Gbps"}, "buffer": "30160B", "marking": marking}
    return [{"which": {"kind": "between", "ends": [f"leaf{n}", "spine0"]}} | made for n in range(8)]


DEAD = {
    "incident": [{"kind": "link-failure", "link": ["leaf0", "spine1"], "at": "60us", "until": "600us"}],
    "routing.convergence": "10s",
}
PLACES = {
    "uet-permutation": {"traffic": [{"kind": "permutation", "size": "2MB"}]},
    "uet-slow": {"traffic": [{"kind": "permutation", "size": "2MB"}]} | {"link": slow_spine()},
    "uet-dead": {"traffic": [{"kind": "permutation", "size": "4MB"}]} | DEAD,
}
PATHS = ("oblivious", "ecmp", "adaptive")
INCASTS = {"nscc": "nscc+spray", "rccc": "rccc+spray", "both": "uet+spray"}
PACKET, PAYLOAD = 4160, 4096


class Incast(NamedTuple):
    """One of the peer's incasts: how many flows of how many bytes to which host, in which network."""

    fan_in: int
    flow: int  # B
    receiver: int
    rate: float  # b/s
    topology: str

    @property
    def place(self) -> str:
        return f"uet-incast-{self.fan_in}"

    def at(self, seed: int) -> dict:
        """As in the peer's lists, senders are in other racks, and flows start within a microsecond."""
        draw = random.Random(seed)
        hosts = NETWORKS[self.topology][0]
        senders = draw.sample([h for h in range(hosts) if h // RACK != self.receiver // RACK], self.fan_in)
        starts = draw.sample(range(1, 1000), self.fan_in)
        traffic = [
            {"kind": "flow", "src": h, "dst": self.receiver, "size": f"{self.flow}B", "start": f"{ns}ns"}
            for h, ns in zip(senders, starts, strict=True)
        ]
        return {"topology": NETWORKS[self.topology][1], "traffic": traffic}


RACK = 4  # hosts, in both networks
NETWORKS = {
    "leaves": (
        32,
        {"kind": "leaf-spine", "leaves": 8, "spines": 4, "hosts_per_leaf": 4, "delay": "500ns"}
        | {"host_rate": "400Gbps", "spine_rate": "400Gbps"},
    ),
    "three-tiers": (128, {"kind": "fat-tree", "k": 8, "rate": "200Gbps", "delay": "500ns"}),
}
DEGREES = (Incast(8, 1_000_000, 0, 400e9, "leaves"), Incast(32, 300_000, 5, 200e9, "three-tiers"))


def runs(scale: str) -> list:
    made = []
    for seed in SEEDS[scale]:
        for place, here in PLACES.items():
            for s, set in SCHEMES.items():
                links = [*set.get("link", []), *here.get("link", [])]
                given = dict(set) | here | ({"link": links} if links else {})
                made.append(run(Key(place, s), "ultra", given, seed))
    for seed in DRAWS:
        for n in DEGREES:
            for name, scheme in INCASTS.items():
                quiet = {} if name == "nscc" else QUIET
                set = {"scheme": scheme} | SCHEMES["oblivious"] | quiet | n.at(seed)
                made.append(run(Key(n.place, name), "ultra", set, seed))
            made += [run(Key(n.place, s), "ultra", SCHEMES[s] | n.at(seed), seed) for s in PATHS]
    return made


# --- Orders -------------------------------------------------------------------------------------------------


def means(runs, place: str, schemes=tuple(SCHEMES)) -> dict[str, float]:
    return {s: mean(runs, f"{place}:{s}", average) for s in schemes}


def ranked(found: dict[str, float], *order) -> dict[str, float]:
    """From one to the next: the fastest of the next over the slowest of the one. An entry may be several."""
    groups = [(o,) if isinstance(o, str) else o for o in order]
    out = {}
    for one, other in pairwise(groups):
        step = min(found[s] for s in other) / max(found[s] for s in one)
        out[f"{'|'.join(other)} / {'|'.join(one)}"] = step
    return {"smallest step of the order": min(out.values())} | out


def shown(found: dict[str, float]) -> dict[str, float]:
    return {f"{s}, mean (us)": x for s, x in found.items()}


@measure("UE-O-a", needs=["uet-permutation:*"])
def order_of_a_permutation(runs):
    found = means(runs, "uet-permutation")
    out = ranked(found, "reps1", "mixed", "oblivious", "ecmp")
    return out | {"ecmp / oblivious": found["ecmp"] / found["oblivious"]} | shown(found)


@measure("UE-O-b", needs=["uet-slow:*"])
def order_with_a_slow_spine(runs):
    found = means(runs, "uet-slow")
    out = {"adaptive / reps1": found["adaptive"] / found["reps1"]}
    best = ("adaptive", "reps1")
    return out | ranked(found, best, ("mixed", "bitmap", "rccc"), "reps", "oblivious", "dropping") | shown(found)


@measure("UE-O-c", needs=["uet-dead:*"])
def order_with_a_dead_link(runs):
    found = means(runs, "uet-dead")
    out = ranked(found, "reps1", "reps", "rccc", "mixed", ("oblivious", "bitmap", "adaptive"))
    alike = [found[s] for s in ("oblivious", "bitmap", "adaptive")]
    return out | {"oblivious, bitmap, adaptive: slowest / fastest": max(alike) / min(alike)} | shown(found)


@measure("UE-O-d", needs=[f"{n.place}:*" for n in DEGREES])
def paths_of_an_incast(runs):
    out = {}
    for n in DEGREES:
        found = [mean(runs, f"{n.place}:{s}", last) for s in PATHS]
        out[f"{n.fan_in}:1, slowest / fastest"] = max(found) / min(found)
    return {"largest, slowest / fastest": max(out.values())} | out


# --- Incasts ------------------------------------------------------------------------------------------------

CONTROLLED = [f"{n.place}:{s}@*" for n in DEGREES for s in INCASTS]


def late(n: Incast):
    """Round trips from the time that the link needs to the last flow's end."""
    busy = n.fan_in * n.flow * 8 / n.rate * PACKET / PAYLOAD * 1e6
    return lambda results: (finish(results) - busy) / results.summary["base_rtt_us"]


@measure("UE-I-a", needs=CONTROLLED)
def end_of_an_incast(runs):
    out = {f"{n.fan_in}:1, {s} (RTT)": mean(runs, f"{n.place}:{s}", late(n)) for n in DEGREES for s in INCASTS}
    return {"earliest (RTT)": min(out.values()), "latest (RTT)": max(out.values())} | out


def uneven(results) -> float:
    return last(results) / average(results)


@measure("UE-I-b", needs=CONTROLLED)
def who_ends_when(runs):
    found = {(n, s): mean(runs, f"{n.place}:{s}", uneven) for n in DEGREES for s in INCASTS}
    nscc = [found[n, "nscc"] for n in DEGREES]
    out = {"RCCC, largest last / mean": max(found[n, "rccc"] for n in DEGREES)}
    out |= {"NSCC, smallest last / mean": min(nscc), "NSCC, largest last / mean": max(nscc)}
    return out | {f"{n.fan_in}:1, {s}": x for (n, s), x in found.items()}


def overshoot(n: Incast, rtt_us: float) -> float:
    """Packets of all first windows that find no place: what comes in a round trip, less what leaves meanwhile and what
    the queue holds, which is as much."""
    product = n.rate * rtt_us * 1e-6 / 8 / PACKET
    first = min(n.flow / PAYLOAD, 1.5 * product)
    return n.fan_in * first - 2 * product


def trimmed(n: Incast):
    return lambda r: float(r.summary["trims"]) / overshoot(n, r.summary["base_rtt_us"])


@measure("UE-I-c", needs=[f"{n.place}:nscc@*" for n in DEGREES])
def trims_of_an_incast(runs):
    out = {f"{n.fan_in}:1, trims / overshoot": mean(runs, f"{n.place}:nscc", trimmed(n)) for n in DEGREES}
    return {"smallest": min(out.values()), "largest": max(out.values())} | out
