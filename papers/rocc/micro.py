"""The star (§3.5.1a to d): convergence, changes of N, comparison with other schemes; and what the mechanism's
parts do."""

from __future__ import annotations

import numpy as np

from thalweg import ScenarioError
from thalweg.study import Recorded, jain, measure, rank_correlation, run, seconds

from .fluid import Fluid, convergence
from .settings import APART, MTU, NAMES, ON_WIRE, backlogged, rocc_point, scheme, star

COUNTS, SPEEDS = (2, 10, 100), (40, 100)
SET_POINT = {40: 150e3, 100: 300e3}
# Every 10 ms so many flows send (Figure 3.6).
STEPS = (3, 6, 12, 24, 48, 96, 100, 50, 25, 12, 6, 3)
STEP = 0.01
SCHEMES = tuple(NAMES)
COMPARED, AFTER = 0.04, 0.02  # s: length of the comparison, and from where it counts
HPCC_WIRE = (MTU + 48 + 42) / MTU
BASE = scheme("rocc")


def key(n: int, gbps: int) -> str:
    return f"star-{n}-{gbps}:rocc"


def changing() -> list[dict]:
    """Flow i sends while more than i flows do."""
    out = []
    for i in range(max(STEPS)):
        on = [step for step, n in enumerate(STEPS) if n > i]
        last = on[-1] + 1 == len(STEPS)
        out += backlogged([(i + 1, 0)], on[0] * 10_000 + i * APART, None if last else (on[-1] + 1) * 10_000)
    return out


def runs(scale: str) -> list:
    made = [run(key(n, b), "star", star(n, b) | scheme("rocc", b)) for n in COUNTS for b in SPEEDS]
    made.append(run("changes:rocc", "star", star(100, 40, 10 * len(STEPS), changing()) | BASE))
    long = round(COMPARED * 1e3)
    made += [run(f"compare:{s}", "star", star(10, 40, long) | scheme(s, flows=10)) for s in SCHEMES]
    ten = star(10, 40)
    three = star(3, 40)
    swapped = rocc_point(growth="80KB", limit="100KB", any_order=True)
    made += [run("ordered:rocc", "star", three | BASE), run("swapped:rocc", "star", three | BASE | swapped)]
    fine = rocc_point(queue_step="150B", alpha=0.3 / 4, beta=1.5 / 4)
    made.append(run("finer:rocc", "star", ten | BASE | fine))
    hundred = star(100, 40)
    trap = rocc_point(recipients={"kind": "elephant-trap"})
    made += [run(f"elephants-{n}:rocc", "star", s | BASE | trap) for n, s in ((10, ten), (100, hundred))]
    for periods in (2, 3, 10):
        timer = {"transport.congestion": {"kind": "rocc", "recovery": f"{40 * periods}us"}}
        made.append(run(f"timer-{periods}T:rocc", "star", hundred | BASE | timer))
    made.append(run("no-decrease:rocc", "star", ten | BASE | rocc_point(decrease=False)))
    rising = star(100, 40, 10 * len(STEPS), changing())
    made.append(run("changes-no-decrease:rocc", "star", rising | BASE | rocc_point(decrease=False)))
    return made


def of(runs, name: str) -> Recorded:
    return Recorded(runs[f"{name}@1"])


def converged(runs, n: int, gbps: int) -> float:
    """ms until F stays within 10 % of its share."""
    return of(runs, key(n, gbps)).pace().settled(gbps / n, 0.1) * 1e3


@measure("ROCC-E3.1", needs=[key(n, 40) + "@1" for n in COUNTS])
def fair_rate(runs):
    gaps = {}
    for n in COUNTS:
        fair = of(runs, key(n, 40)).pace().within(0.015).mean()
        gaps[n] = abs(fair - 40 / n) / (40 / n)
    return {"largest gap": max(gaps.values())} | {f"gap, N={n}": g for n, g in gaps.items()}


@measure("ROCC-E3.1b", needs=[key(n, b) + "@1" for n in COUNTS for b in SPEEDS])
def queue_at_rest(runs):
    out = {}
    for n in COUNTS:
        for b in SPEEDS:
            queue = of(runs, key(n, b)).queue().within(0.015).mean()
            out[f"gap, N={n} at {b}"] = abs(queue - SET_POINT[b]) / SET_POINT[b]
    return {"largest gap": max(out.values())} | out


@measure("ROCC-F3.5a", needs=[key(n, b) + "@1" for n in COUNTS for b in SPEEDS])
def convergence_times(runs):
    out = {f"N={n} at {b} (ms)": converged(runs, n, b) for n in COUNTS for b in SPEEDS}
    longest = max(out.values())
    model = {f"fluid, N={n} (ms)": convergence(Fluid.at(40), n) * 1e3 for n in COUNTS}
    calm = {f"fluid without decrease, N={n} (ms)": convergence(Fluid.at(40, decreases=False), n) * 1e3 for n in COUNTS}
    return {"longest (ms)": longest} | out | model | calm


@measure("ROCC-F3.5b", needs=[key(n, 40) + "@1" for n in COUNTS])
def convergence_by_flows(runs):
    t = [converged(runs, n, 40) for n in COUNTS]
    return {"N=2 - N=10 (ms)": t[0] - t[1], "N=10 - N=100 (ms)": t[1] - t[2]}


@measure("ROCC-F3.5c", needs=[key(n, b) + "@1" for n in COUNTS for b in SPEEDS])
def stable_queue(runs):
    off, std = [], []
    for n in COUNTS:
        for b in SPEEDS:
            queue = of(runs, key(n, b)).queue().within(0.015)
            off.append(abs(queue.mean() - SET_POINT[b]) / SET_POINT[b])
            std.append(queue.std() / SET_POINT[b])
    return {"largest gap": max(off), "largest deviation": max(std)}


@measure("ROCC-F3.5e", needs=[key(n, b) + "@1" for n in COUNTS for b in SPEEDS])
def equal_shares(runs):
    found = {
        f"N={n} at {b}": jain(of(runs, key(n, b)).throughput(0.015, 0.02, ON_WIRE)) for n in COUNTS for b in SPEEDS
    }
    return {"smallest Jain index": min(found.values())} | found


# --- Figure 3.6 ---------------------------------------------------------------------------------------------


def plateau(runs, step: int) -> float:
    """Gb/s: F of the flow that always sends, in the last quarter of a step."""
    return float(of(runs, "changes:rocc").pace().within((step + 0.75) * STEP, (step + 1) * STEP - 1e-5).mean())


CHANGES = ["changes:rocc@1"]


@measure("ROCC-F3.6a", needs=CHANGES)
def rates_up_to_100(runs):
    return {"F at N=3 (Gb/s)": plateau(runs, 0), "F at N=100 (Gb/s)": plateau(runs, STEPS.index(100))}


@measure("ROCC-F3.6b", needs=CHANGES)
def rate_in_the_end(runs):
    return {"F (Gb/s)": plateau(runs, len(STEPS) - 1)}


def took(runs) -> list[float]:
    """ms that F needs after each change of N."""
    pace = of(runs, "changes:rocc").pace()
    return [pace.settled(40 / n, 0.1, i * STEP, (i + 1) * STEP) * 1e3 for i, n in enumerate(STEPS)]


def longest_fall(runs) -> float:
    return max(took(runs)[STEPS.index(100) + 1 :])


@measure("ROCC-F3.6c", needs=CHANGES)
def times_after_changes(runs):
    each, peak = took(runs), STEPS.index(100)
    out = {
        "longest, N falls (ms)": longest_fall(runs),
        "longest, N rises (ms)": max(each[1 : peak + 1]),
        "longest, N rises to 24 and more (ms)": max(each[3 : peak + 1]),
    }
    return out | {f"step {i}, N={n} (ms)": t for (i, n), t in zip(enumerate(STEPS), each, strict=True)}


@measure("ROCC-F3.6d", needs=[*CHANGES, "changes-no-decrease:rocc@1"])
def decreases_and_drains(runs):
    """PI alone lowers F too: how far, says the run without decreases."""
    series, alone = of(runs, "changes:rocc"), of(runs, "changes-no-decrease:rocc")
    missed, deeper, peak = 0, [], STEPS.index(100)
    for i in range(1, peak):
        if 40 / STEPS[i - 1] <= 40 / 8:
            continue  # F is not above F_max/8
        # Two updates, and the way to the source.
        begin = i * STEP
        end = begin + 2 * 40e-6 + 3 * 40e-6
        lowest = series.pace().within(begin, end).min()
        missed += int(lowest / (40 / STEPS[i - 1]) > 0.55)
        deeper.append(lowest / alone.pace().within(begin, end).min())
    lowest = [series.queue().within(i * STEP, i * STEP + 0.002).min() for i in range(peak + 1, len(STEPS))]
    return {
        "doublings without a decrease": missed,
        "lowest F after a doubling, over that of PI alone": float(min(deeper)),
        "highest minimum after a halving (KB)": max(lowest) / 1e3,
    }


# --- Figure 3.8 ---------------------------------------------------------------------------------------------


def shares(runs, name: str) -> np.ndarray:
    """Gb/s on the wire of the ten flows."""
    wire = HPCC_WIRE if name == "hpcc" else ON_WIRE
    return of(runs, f"compare:{name}").throughput(AFTER, COMPARED, wire)


def queue(runs, name: str) -> np.ndarray:
    return of(runs, f"compare:{name}").queue().within(AFTER) / 1e3


def used(runs, name: str) -> np.ndarray:
    return of(runs, f"compare:{name}").utilisation(40).within(AFTER)


def compared(*names: str) -> list[str]:
    return [f"compare:{n}@1" for n in names]


@measure("ROCC-F3.8a1", needs=compared("rocc"))
def shares_of_rocc(runs):
    return {"largest gap": float(np.abs(shares(runs, "rocc") / 4 - 1).max())}


@measure("ROCC-F3.8a2", needs=compared("rocc", "timely"))
def shares_of_timely(runs):
    std = {s: float(shares(runs, s).std()) for s in ("timely", "rocc")}
    return {"deviation, TIMELY / RoCC": std["timely"] / std["rocc"], "TIMELY (Gb/s)": std["timely"]}


@measure("ROCC-F3.8a3", needs=compared("dcqcn", "hpcc"))
def shares_of_dcqcn_and_hpcc(runs):
    dcqcn, hpcc = shares(runs, "dcqcn"), shares(runs, "hpcc")
    return {"Jain, DCQCN": jain(dcqcn), "Jain, HPCC": jain(hpcc), "mean, HPCC (Gb/s)": float(hpcc.mean())}


@measure("ROCC-F3.8b1", needs=compared("rocc"))
def queue_of_rocc(runs):
    return {"mean (KB)": float(queue(runs, "rocc").mean())}


@measure("ROCC-F3.8b3", needs=compared("rocc", "timely"))
def queue_of_timely(runs):
    timely = queue(runs, "timely")
    return {"mean (KB)": float(timely.mean()), "deviation / RoCC's": float(timely.std() / queue(runs, "rocc").std())}


@measure("ROCC-F3.8b4", needs=compared("dcqcn", "dcqcn-pi"))
def queue_of_dcqcn_with_pi(runs):
    pi, plain = queue(runs, "dcqcn-pi"), queue(runs, "dcqcn")
    out = {"deviation, DCQCN+PI / DCQCN": float(pi.std() / plain.std())}
    return out | {"mean, DCQCN+PI (KB)": float(pi.mean()), "mean, DCQCN (KB)": float(plain.mean())}


@measure("ROCC-F3.8c2", needs=compared("hpcc"))
def utilisation_of_hpcc(runs):
    return {"utilisation": float(used(runs, "hpcc").mean())}


@measure("ROCC-F3.8c3", needs=compared(*SCHEMES))
def rates_and_utilisation(runs):
    rate, use = [], []
    for s in SCHEMES:
        series = of(runs, f"compare:{s}")
        cov = [series.pace(f).within(AFTER) for f in series.flows()]
        rate.append(float(np.mean([r.std() / r.mean() for r in cov])))
        use.append(float(used(runs, s).std() / used(runs, s).mean()))
    out = {"rank correlation": rank_correlation(rate, use)}
    return out | {f"rates, {s}": r for s, r in zip(SCHEMES, rate, strict=True)}


# --- The mechanism's parts ----------------------------------------------------------------------------------


@measure("ROCC-P1", needs=["swapped:rocc@1", "ordered:rocc@1"])
def order_of_thresholds(runs):
    try:
        runs["swapped:rocc@1"].scenario.with_({"switch.congestion_point.any_order": False})
        refused = 0.0
    except ScenarioError:
        refused = 1.0
    std = {n: float(of(runs, n).queue().within(0.015).std()) for n in ("swapped:rocc", "ordered:rocc")}
    ratio = std["swapped:rocc"] / std["ordered:rocc"]
    return {"refused": refused, "deviation of the queue, swapped / in order": ratio}


@measure("ROCC-P2", needs=["finer:rocc@1", key(10, 40) + "@1"])
def finer_steps(runs):
    (_, a), (_, b) = (of(runs, n).pace() for n in ("finer:rocc", key(10, 40)))
    n = min(len(a), len(b))
    return {"mean difference / fair share": float(np.abs(a[:n] - b[:n]).mean() / 4)}


LOADED = "large-web-70:rocc@1"  # where a source receives many messages; on the star, one


@measure("ROCC-P5", needs=[key(100, 40) + "@1", key(2, 40) + "@1", LOADED])
def bandwidth_of_messages(runs):
    shares = {}
    for name, sources in ((key(2, 40) + "@1", range(1, 3)), (key(100, 40) + "@1", range(1, 101)), (LOADED, range(60))):
        results = runs[name]
        ports = results.tables["ports"]
        # Nothing is acknowledged: towards sources only messages travel.
        back = ports.filter(ports["to"].is_in(list(sources)))
        took = seconds(results.scenario.to_dict()["run"]["until"])
        shares[name] = float((back["bytes"].to_numpy() * 8 / (back["rate_bps"].to_numpy() * took)).max())
    return {"largest share of a link": max(shares.values())} | {f"of {k}": x for k, x in shares.items()}


@measure("ROCC-P6", needs=["elephants-10:rocc@1", "elephants-100:rocc@1", key(10, 40) + "@1"])
def elephants_alone(runs):
    found = {
        n: of(runs, n).queue().within(0.015) / 1e3 for n in ("elephants-10:rocc", "elephants-100:rocc", key(10, 40))
    }
    ratio = float(found["elephants-10:rocc"].std() / found[key(10, 40)].std())
    out = {"deviation, elephants / all": ratio, "longest queue (KB)": float(found["elephants-10:rocc"].max())}
    # 100 flows do not fit into 64 places: those that are never notified send as fast as they can.
    return out | {"longest queue, N=100 (KB)": float(found["elephants-100:rocc"].max())}
