"""Ultra Ethernet itself, as its consortium's simulator shows it: orders of ways to spray, incasts."""

from __future__ import annotations

from itertools import pairwise

from thalweg.study import Key, mean, measure, run

from .outcome import average, last

SEEDS = {"quick": (1, 2, 3), "full": tuple(range(1, 11))}
VALUES = 64  # entropies in the peer's runs
ACKS = {"transport.ack_every": "16KiB"}


def select(kind: str, **more) -> dict:
    return {"transport.path_selection": {"kind": kind, "values": VALUES} | more}


WINDOW_ONLY = {"transport.credits": None}
SCHEMES = {
    "reps1": select("reps", exit_after="10ms"),
    "reps": select("reps", exit_after="10ms") | ACKS,
    "mixed": select("mixed") | ACKS,
    "bitmap": select("bitmap") | ACKS,
    "oblivious": select("oblivious") | ACKS,
    "ecmp": select("ecmp") | ACKS,
    "adaptive": {"routing.kind": "adaptive"} | select("oblivious") | ACKS,
    "rccc": {"scheme": "rccc+spray"} | select("oblivious") | ACKS,
    "dropping": select("oblivious") | ACKS | {"switch.scheduler.trim": False, "switch.buffer": "603200B"},
}
SPEED = 0.25


def slow_spine() -> dict:
    """All links of the first spine at a quarter of the speed, of the buffer and of the thresholds."""
    marking = {"kind": "red-ecn", "min": "6240B", "max": "24960B", "max_probability": 1.0, "at": "departure"}
    made = {"transmitter": {"kind": "fixed", "rate": "25Gbps"}, "buffer": "30160B", "marking": marking}
    return {"link": [{"which": {"kind": "between", "ends": [f"leaf{n}", "spine0"]}} | made for n in range(8)]}


DEAD = {
    "incident": [{"kind": "link-failure", "link": ["leaf0", "spine1"], "at": "60us", "until": "600us"}],
    "routing.convergence": "10s",
}
PLACES = {
    "uet-permutation": {"traffic": [{"kind": "permutation", "size": "2MB"}]},
    "uet-slow": {"traffic": [{"kind": "permutation", "size": "2MB"}]} | slow_spine(),
    "uet-dead": {"traffic": [{"kind": "permutation", "size": "4MB"}]} | DEAD,
}
DEGREES = (8, 16, 31)
INCASTS = {"nscc": "nscc+spray", "rccc": "rccc+spray", "both": "uet+spray"}
FLOW = 1_000_000  # B
RATE, RTT_US, PACKET, PAYLOAD = 100e9, 9.35168, 4160, 4096


def runs(scale: str) -> list:
    made = []
    for seed in SEEDS[scale]:
        for place, here in PLACES.items():
            made += [run(Key(place, s), "ultra", dict(set) | here, seed) for s, set in SCHEMES.items()]
        for n in DEGREES:
            traffic = {"traffic": [{"kind": "incast", "fan_in": n, "size": f"{FLOW}B", "receiver": 0}]}
            for name, scheme in INCASTS.items():
                made.append(run(Key(f"uet-incast-{n}", name), "ultra", {"scheme": scheme} | traffic, seed))
            for s in ("oblivious", "ecmp", "adaptive"):
                made.append(run(Key(f"uet-incast-{n}", s), "ultra", SCHEMES[s] | traffic, seed))
    return made


# --- Orders -------------------------------------------------------------------------------------------------


def means(runs, place: str, schemes=tuple(SCHEMES)) -> dict[str, float]:
    return {s: mean(runs, f"{place}:{s}", average) for s in schemes}


def steps(found: dict[str, float], *order) -> dict[str, float]:
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
    out = steps(found, "reps1", "mixed", "oblivious", "ecmp")
    return out | {"ecmp / oblivious": found["ecmp"] / found["oblivious"]} | shown(found)


@measure("UE-O-b", needs=["uet-slow:*"])
def order_with_a_slow_spine(runs):
    found = means(runs, "uet-slow")
    out = {"adaptive / reps1": found["adaptive"] / found["reps1"]}
    best = ("adaptive", "reps1")
    return out | steps(found, best, ("mixed", "bitmap", "rccc"), "reps", "oblivious", "dropping") | shown(found)


@measure("UE-O-c", needs=["uet-dead:*"])
def order_with_a_dead_link(runs):
    found = means(runs, "uet-dead")
    out = steps(found, "reps1", "reps", "rccc", "mixed", ("oblivious", "bitmap", "adaptive"))
    alike = [found[s] for s in ("oblivious", "bitmap", "adaptive")]
    return out | {"oblivious, bitmap, adaptive: slowest / fastest": max(alike) / min(alike)} | shown(found)


@measure("UE-O-d", needs=[f"uet-incast-{n}:*" for n in DEGREES])
def paths_of_an_incast(runs):
    out = {}
    for n in DEGREES:
        found = [mean(runs, f"uet-incast-{n}:{s}", last) for s in ("oblivious", "ecmp", "adaptive")]
        out[f"{n}:1, slowest / fastest"] = max(found) / min(found)
    return {"largest, slowest / fastest": max(out.values())} | out


# --- Incasts ------------------------------------------------------------------------------------------------


def late(n: int):
    """Round trips from the time that the link needs to the last flow's end."""
    busy = n * FLOW * 8 / RATE * PACKET / PAYLOAD * 1e6
    return lambda results: (last(results) - busy) / RTT_US


@measure("UE-I-a", needs=[f"uet-incast-{n}:{s}@*" for n in DEGREES for s in INCASTS])
def end_of_an_incast(runs):
    out = {f"{n}:1, {s} (RTT)": mean(runs, f"uet-incast-{n}:{s}", late(n)) for n in DEGREES for s in INCASTS}
    return {"earliest (RTT)": min(out.values()), "latest (RTT)": max(out.values())} | out


def uneven(results) -> float:
    return last(results) / average(results)


@measure("UE-I-b", needs=[f"uet-incast-{n}:{s}@*" for n in DEGREES for s in INCASTS])
def who_ends_when(runs):
    found = {(n, s): mean(runs, f"uet-incast-{n}:{s}", uneven) for n in DEGREES for s in INCASTS}
    nscc = [found[n, "nscc"] for n in DEGREES]
    out = {"RCCC, largest last / mean": max(found[n, "rccc"] for n in DEGREES)}
    out |= {"NSCC, smallest last / mean": min(nscc), "NSCC, largest last / mean": max(nscc)}
    return out | {f"{n}:1, {s}": x for (n, s), x in found.items()}


def overshoot(n: int) -> float:
    """Packets of all first windows that find no place: what comes in a round trip, less what leaves meanwhile and what
    the queue holds."""
    product = RATE * RTT_US * 1e-6 / 8 / PACKET
    return n * 1.5 * product - product - 29


@measure("UE-I-c", needs=[f"uet-incast-{n}:rccc@*" for n in DEGREES])
def trims_of_an_incast(runs):
    found = {n: mean(runs, f"uet-incast-{n}:rccc", lambda r: float(r.summary["trims"])) / overshoot(n) for n in DEGREES}
    out = {f"{n}:1, trims / overshoot": x for n, x in found.items()}
    return {"smallest": min(found.values()), "largest": max(found.values())} | out
