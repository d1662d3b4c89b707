"""An access point that sends batches (Figures 2-5, 2-6, 2-9, B-2): the estimate of its rate, one user and
two, MCS that alternate or walk.

The paper's is hardware in a crowded room; this is the minimal model of one (README.md).
"""

from __future__ import annotations

import numpy as np

from thalweg.study import RunSpec, floored_percentile, measure, measure_each, once

from .outcome import delays
from .settings import NAMES, SCHEMES, SINGLE

SCENARIO = "scenarios/wifi.toml"
# IEEE 802.11n, 20 MHz, one stream, Mb/s.
MCS = (6.5, 13, 19.5, 26, 39, 52, 58.5, 65)
M, WIRE, OVERHEAD, CONTENTION = 20, 1504, 0.5e-3, 1e-3
STEP, LASTS = 2, 45  # s
SEEDS = (1, 2, 3)
THRESHOLDS = (20, 60, 100)
BASELINES = ("cubic", "cubic-codel", "cubic-pie", "copa", "vegas", "vivace", "bbr")
ABC = tuple(f"abc-{t}" for t in THRESHOLDS)
NAMES_HERE = NAMES | {f"abc-{t}": f"ABC, {t} ms" for t in THRESHOLDS}
# Figure 2-6: three links, offered load as a part of what each carries.
LINKS, LOADS = (1, 4, 7), (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.2)
BUSY = 0.9  # Figure 2-5


def link(mcs: list[int], **more) -> dict:
    """From the first MCS on another one every 2 s."""
    steps = [(n, at) for n, at in enumerate(mcs) if n > 0 and at != mcs[n - 1]]
    transmitter = {"kind": "batched", "rate": f"{MCS[mcs[0]]}Mbps", "frames": M}
    transmitter |= {"overhead": f"{OVERHEAD * 1e6:g}us", "contention": f"{CONTENTION * 1e6:g}us"}
    if steps:
        transmitter |= {"steps": [{"at": f"{STEP * n}s", "rate": f"{MCS[at]}Mbps"} for n, at in steps]}
    return {"link": [{"which": "core-links", "direction": "forward", "transmitter": transmitter | more}]}


def walk(seed: int) -> list[int]:
    """CHOICE Appendix B.2: up, down or neither with equal chances every 2 s, from 5 on, reflected at 3 and 7."""
    rng, at = np.random.default_rng(seed), [5]
    while STEP * len(at) < LASTS:
        step = at[-1] + int(rng.integers(-1, 2))
        at.append(6 - step if step < 3 else 14 - step if step > 7 else step)
    return at


def cell(scheme: str, what: str, seed: int) -> RunSpec:
    """`what` is one user, two, or an MCS that walks."""
    if scheme in ABC:
        controller, marking = SINGLE, {"kind": "abc", "threshold": f"{scheme[4:]}ms"}
    else:
        controller, marking = SCHEMES[scheme]
    key = f"wifi:{what}:{scheme}@{seed}"
    set = {"name": key, "seed": seed, "transport.congestion": controller, "switch.marking": marking}
    set |= link(walk(seed)) if what == "walk" else link([1, 7], period=f"{2 * STEP}s", one_user=what == "two")
    if what == "two":
        users = [{"kind": "backlogged", "src": n, "dst": 2 + n} for n in range(2)]
        set |= {"topology.pairs": 2, "traffic": users, "measure.links.ports": [8]}
    return RunSpec(key, SCENARIO, set, keep=True)


def carries(mcs: int) -> float:
    """Mb/s of full batches."""
    bits = 8 * M * WIRE
    return bits / (bits / MCS[mcs] + (OVERHEAD + CONTENTION) * 1e6)


def offered(mcs: int, load: float, **set) -> RunSpec:
    """Datagrams of full length, Poisson. (A segment of ABC's makes the router's marks mean something.)"""
    rate = f"{load * carries(mcs) * 1e3:.0f}kbps"
    stream = {
        "kind": "udp",
        "src": 0,
        "dst": 1,
        "rate": rate,
        "spacing": "poisson",
        "payload": "1448B",
        "header": "56B",
    }
    flows = [stream, {"kind": "flow", "src": 0, "dst": 1, "size": "1448B"}]
    key = f"wifi:offered:mcs{mcs}:{load:g}"
    return RunSpec(
        key, SCENARIO, {"name": key, "traffic": flows, "switch.marking": "abc", "run.until": "30s"} | link([mcs]) | set, keep=True
    )  # fmt: skip


SCATTER = offered(1, BUSY, name="wifi:scatter")
SCATTER = RunSpec("wifi:scatter", SCATTER.scenario, SCATTER.set, keep=True)


def estimated(mcs: int, load: float) -> RunSpec:
    return offered(mcs, load, measure={"links": {"every": "2ms", "ports": [4]}})


def of(scheme: str, what: str) -> list[str]:
    return [f"wifi:{what}:{scheme}@{seed}" for seed in SEEDS]


def runs(scale: str) -> list:
    cells = [cell(s, what, n) for what in ("one", "two", "walk") for s in (*ABC, *BASELINES) for n in SEEDS]
    return [SCATTER, *(estimated(mcs, load) for mcs in LINKS for load in LOADS), *cells]


@once
def batches(results) -> tuple[np.ndarray, np.ndarray]:
    """Frames of each batch; T_IA (ms) of those that began with the block ACK before."""
    packets = results.packets.collect()
    data = packets.filter(packets["forward"] == 1)
    begun = data["starts_ps"].list.first().to_numpy()
    landed = data["arrivals_ps"].list.get(1, null_on_oob=True).fill_null(0).to_numpy()
    there = landed > 0
    begun, which, frames = np.unique(begun[there], return_inverse=True, return_counts=True)
    acked = np.zeros(len(begun), landed.dtype)
    acked[which] = landed[there] - 20 * 10**9  # the way
    at_once = begun[1:] == acked[:-1]
    return frames[1:][at_once], (acked[1:] - acked[:-1])[at_once] * 1e-9


@measure("ABC-F2.5a", needs=["wifi:scatter"])
def batches_and_acks(runs):
    frames, ms = batches(runs["wifi:scatter"])
    slope = np.polyfit(frames, ms, 1)[0]
    return {
        "slope / (S/R)": float(slope / (8e-3 * WIRE / MCS[1])),
        "full batches (ms)": float(ms[frames == M].mean()),
        "batches": len(ms),
    }


@once
def estimate(results) -> tuple[float, float]:
    """Mb/s: the estimate, mean over time, and what left."""
    links = results.tables["links"]
    mbps = links["estimate"].to_numpy() * 1e-6
    left = 8e-6 * float(links["bytes"][-1]) / (float(links["time_ps"][-1]) * 1e-12)
    return float(mbps[mbps > 0].mean()), left


def estimates(runs) -> dict[int, np.ndarray]:
    """For each link, for each load: the estimate and what left, as parts of the truth."""
    return {
        mcs: np.array([estimate(runs[f"wifi:offered:mcs{mcs}:{load:g}"]) for load in LOADS]) / carries(mcs)
        for mcs in LINKS
    }


@measure("ABC-F2.6a", needs=["wifi:offered:*"])
def estimated_rate(runs):
    loads, found = np.array(LOADS), estimates(runs)
    high = [np.abs(of[loads >= 0.6, 0] - 1).max() for of in found.values()]
    low = [np.abs(of[:, 0] / np.minimum(2 * of[:, 1], 1) - 1)[loads < 0.5].max() for of in found.values()]
    return {
        "loads of 60 % and more, furthest from the truth": float(max(high)),
        "loads below 50 %, furthest from the lesser of 2 cr and the truth": float(max(low)),
    }


@once
def outcome(results) -> tuple[float, float]:
    """Mb/s of payload of all users; p95 of the queueing delay (ms), mean over users."""
    found = delays(results)
    late = [floored_percentile(found.ms[found.flow == user], 95) for user in np.unique(found.flow)]
    return float(results.flows["delivered"].sum()) * 8e-6 / LASTS, float(np.mean(late))


def means(runs, what: str, schemes=(*ABC, *BASELINES)) -> dict[str, tuple[float, float]]:
    """Throughput and p95 of each scheme, means over runs."""
    return {s: tuple(np.mean([outcome(runs[k]) for k in of(s, what)], axis=0)) for s in schemes}


def needs(what: str, *schemes: str) -> list[str]:
    return [f"wifi:{what}:{s}@*" for s in schemes]


@measure_each({"ABC-F2.9a": "one", "ABC-FB.2a": "walk"}, needs=lambda what: needs(what, *ABC, *BASELINES))
def frontier(runs, what: str):
    """Of each threshold of ABC's: who has as much throughput, or more, at as little delay, or less?"""
    found = means(runs, what)
    better = [
        (ours, s) for ours in ABC for s in BASELINES if found[s][0] >= found[ours][0] and found[s][1] <= found[ours][1]
    ]  # fmt: skip
    out: dict[str, float] = {"baselines that dominate one of ABC's": len(better)}
    out |= {f"{NAMES_HERE[s]}: {unit}": found[s][n] for s in found for n, unit in enumerate(("Mb/s", "p95 (ms)"))}
    return out | {f"{NAMES[s]} dominates {NAMES_HERE[ours]}": 1 for ours, s in better}


def gains(runs, what: str) -> dict[str, float]:
    found = means(runs, what, ("abc-100", "cubic-codel", "copa", "vegas"))
    return {f"ABC, 100 ms / {NAMES[s]}": found["abc-100"][0] / found[s][0] for s in ("cubic-codel", "copa", "vegas")}


@measure("ABC-F2.9b", needs=needs("one", "abc-100", "cubic-codel", "copa", "vegas"))
def gains_of_one_user(runs):
    return gains(runs, "one")


@measure("ABC-F2.9e", needs=needs("two", "abc-100", "cubic-codel", "copa", "vegas"))
def gains_of_two_users(runs):
    return gains(runs, "two")


@measure("ABC-F2.9c", needs=needs("one", "abc-100", "vivace", "cubic", "bbr"))
def greedy_over_wifi(runs):
    found = means(runs, "one", ("abc-100", "vivace", "cubic", "bbr"))
    (rate, late), out = found["abc-100"], {}
    for s in ("vivace", "cubic", "bbr"):
        out |= {f"{NAMES[s]}, throughput / ABC's": found[s][0] / rate, f"{NAMES[s]}, p95 / ABC's": found[s][1] / late}
    return out


@measure("ABC-F2.9d", needs=needs("one", *ABC))
def by_threshold(runs):
    rates, late = np.array(list(means(runs, "one", ABC).values())).T
    out = {"smallest step of throughput (Mb/s)": float(np.diff(rates).min()), "of p95 (ms)": float(np.diff(late).min())}
    return out | {f"{NAMES_HERE[s]} (Mb/s)": float(x) for s, x in zip(ABC, rates, strict=True)}
