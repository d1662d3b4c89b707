"""Several flows: over the cellular link (Figure 2-11), and fairness over a wired one (Figure 2-3, §2.7.5,
Theorem 1)."""

from __future__ import annotations

import numpy as np

from thalweg.study import RunSpec, floored_percentile, jain, link_list, measure, seeds

from .outcome import delays, shares, summary, utilisation
from .settings import COUNTS, NAMES, PUBLISHED_BASELINES, SINGLE, XCP_ROUTER, need_traces, several, wired

MANY = ("abc", "cubic", "cubic-codel", "copa", "bbr")
# The other schemes alone and sixteen at a time.
ENDS = [several(s, n) for s in PUBLISHED_BASELINES if s not in MANY for n in (COUNTS[0], COUNTS[-1])]
JAIN = (2, 4, 8, 16, 32)
PHASE, PHASES, FLOWS = 30, 9, 5
DELTAS = (20, 60, 133)
TRIPS = (20, 40, 60, 80, 100, 120)
ROUTER = {"kind": "abc"}
NO_GAIN = SINGLE | {"additive": 0.0}


def starts(count: int, seed: int = 1, within: float = 1.0) -> list[dict]:
    at = np.random.default_rng(seed).random(count) * within
    return [{"kind": "backlogged", "src": 0, "dst": 1, "start": f"{1e3 * t:.3f}ms"} for t in at]


def joining(gain: bool) -> RunSpec:
    """Flow n is there from phase n to phase 8 − n."""
    jitter = np.random.default_rng(1).random((FLOWS, 2)) * 0.1
    flows = [
        {"kind": "backlogged", "src": 0, "dst": 1}
        | {"start": f"{1e3 * (PHASE * n + jitter[n, 0]):.0f}ms"}
        | {"until": f"{1e3 * (PHASE * (PHASES - n) - jitter[n, 1]):.0f}ms"}
        for n in range(FLOWS)
    ]
    controller = SINGLE if gain else NO_GAIN
    what = "joining" + ("" if gain else ":no-gain")
    return wired(what, traffic=flows, run__until=f"{PHASE * PHASES}s", transport__congestion=controller)


def equal(count: int) -> RunSpec:
    return wired(f"n{count}", traffic=starts(count))


def without_gain(count: int, delta: int) -> RunSpec:
    marking = ROUTER | {"drain": f"{delta}ms"}
    return wired(
        f"no-gain:n{count}:{delta}ms", traffic=starts(count), switch__marking=marking, transport__congestion=NO_GAIN,
    )  # fmt: skip


def few(scheme: str, count: int) -> RunSpec:
    marking = XCP_ROUTER if scheme == "xcp" else "abc"
    return wired(
        f"{scheme}:few{count}", traffic=starts(count, within=0.0), switch__marking=marking,
        transport__congestion="xcp" if scheme == "xcp" else SINGLE,
    )  # fmt: skip


def far(what: str, trips: tuple[int, ...], seed: int) -> RunSpec:
    """A flow for each round trip (ms): the wait is before the router."""

    def prepare(_, folder):
        links = [(f"h{n}", "near", "10Gbps", f"{rtt / 2}ms") for n, rtt in enumerate(trips)]
        links += [("near", "far", "24Mbps", "0ns"), ("receiver", "far", "10Gbps", "0ns")]
        return {"topology": link_list(folder / f"{what}.csv", links)}

    at = np.random.default_rng(seed).random(len(trips))
    flows = [
        {"kind": "backlogged", "src": f"h{n}", "dst": "receiver", "start": f"{1e3 * t:.3f}ms"} for n, t in enumerate(at)
    ]
    spec = wired(f"{what}@{seed}", traffic=flows, measure__links={"every": "500ms"})
    return RunSpec(spec.key, spec.scenario, spec.set, prepare=prepare, keep=True)


def pair(rtt: int, seed: int) -> RunSpec:
    """Next to a flow whose round trip is 20 ms."""
    return far(f"pair{rtt}", (rtt, TRIPS[0]), seed)


SEEDS = {"quick": (1, 2), "full": (1, 2, 3, 4, 5)}


def runs(scale: str) -> list:
    out = [several(s, n).spec() for s in MANY for n in COUNTS] + [cell.spec() for cell in ENDS]
    out += [
        joining(True),
        joining(False),
        *map(equal, JAIN),
        *(few(s, n) for s in ("abc", "xcp") for n in (1, 2, 4, 8)),
    ]
    return [
        *out,
        *(without_gain(n, d) for n in (1, 16) for d in DELTAS),
        *(far("six", TRIPS, n) for n in SEEDS[scale]),
        *(pair(t, n) for t in TRIPS for n in SEEDS[scale]),
    ]


@measure("ABC-F2.11a", needs=[several("abc", n).key for n in COUNTS])
def more_flows_of_abc(runs):
    need_traces()
    found = [summary(runs[several("abc", n).key]) for n in COUNTS]
    u = [f[0] for f in found]
    return {
        "smallest step of utilisation": float(np.diff(u).min()),
        "utilisation, 16 - 1": u[-1] - u[0],
        "p95, 16 / 1": found[-1][1] / found[0][1],
    }


@measure("ABC-F2.11b", needs=[several(s, n).key for s in PUBLISHED_BASELINES for n in (COUNTS[0], COUNTS[-1])])
def more_flows_of_others(runs):
    need_traces()
    found = {s: [summary(runs[several(s, n).key]) for n in (COUNTS[0], COUNTS[-1])] for s in PUBLISHED_BASELINES}
    apart = {s: many[0] - one[0] for s, (one, many) in found.items()}
    return (
        {"smallest utilisation, 16 - 1": min(apart.values())}
        | {f"{NAMES[s]}, 16 - 1": v for s, v in apart.items()}
        | {f"{NAMES[s]}, p95, 16 / 1": many[1] / one[1] for s, (one, many) in found.items()}
    )


def phases(results) -> list[tuple[int, float]]:
    """Of the last half of each phase with company: how many flows, Jain's index."""
    out = []
    for phase in range(PHASES):
        there = min(phase, PHASES - 1 - phase) + 1
        if there > 1:
            mine = shares(results, PHASE * phase + PHASE / 2, PHASE * (phase + 1) - 0.2, FLOWS)[:there]
            out.append((there, jain(mine)))
    return out


@measure("ABC-F2.3a", needs=["wired:joining", "wired:joining:no-gain"])
def fairness_without_gain(runs):
    three = [np.mean([j for n, j in phases(runs[k]) if n >= 3]) for k in ("wired:joining:no-gain", "wired:joining")]
    return {"Jain without the gain, three flows and more": three[0], "less than with it by": three[1] - three[0]}


@measure("ABC-F2.3b", needs=["wired:joining"])
def fairness_with_gain(runs):
    found = phases(runs["wired:joining"])
    return {
        "least, three flows and more": min(j for n, j in found if n >= 3),
        "least, two flows": min(j for n, j in found if n == 2),
    }


@measure("ABC-T2.1a", needs=["wired:six@*"])
def six_round_trips(runs):
    published = np.array([6.62, 4.94, 4.27, 3.0, 2.75, 2.40])
    found = trips(runs.values())
    return {
        "furthest from the published (%)": float(np.abs(found / published - 1).max() * 100),
        "smallest step down": float((-np.diff(found)).min()),
    } | {f"{rtt} ms (Mb/s)": x for rtt, x in zip(TRIPS, found, strict=True)}


@measure("ABC-T2.1b", needs=["wired:six@*"])
def farthest_over_nearest(runs):
    found = trips(runs.values())
    return float(found[-1] / found[0])


def trips(seeds) -> np.ndarray:
    """Mb/s of payload per flow, mean over these runs."""
    return np.mean([r.flows.sort("src")["delivered"].to_numpy() * 8e-6 / 60 for r in seeds], axis=0)


@measure("ABC-F2.12a", needs=["wired:pair*"])
def share_by_round_trip(runs):
    """The near flow's share over the far one's, against their round trips."""
    x = np.array(TRIPS) / TRIPS[0]
    y = np.array([near / distant for distant, near in (trips(seeds(runs, f"wired:pair{rtt}")) for rtt in TRIPS)])
    slope = np.polyfit(x, y, 1)[0]
    out = {"slope": float(slope), "ratio of equals": float(y[0]), "correlation": float(np.corrcoef(x, y)[0, 1])}
    return out | {f"{rtt} / {TRIPS[0]} ms": float(r) for rtt, r in zip(TRIPS, y, strict=True)}


@measure("ABC-D10", needs=[f"wired:{s}:few{n}" for s in ("abc", "xcp") for n in (1, 2, 4, 8)])
def against_xcp_on_fixed_links(runs):
    u = {s: [utilisation(runs[f"wired:{s}:few{n}"]) for n in (1, 2, 4, 8)] for s in ("abc", "xcp")}
    waits = max(summary(runs[f"wired:abc:few{n}"])[2] for n in (1, 2, 4, 8))
    apart = float(np.abs(np.subtract(u["abc"], u["xcp"])).max())
    return {"least utilisation": min(u["abc"]), "furthest from XCP's": apart, "largest mean delay (ms)": waits}


@measure("ABC-THM1b", needs=[f"wired:n{n}" for n in JAIN])
def delay_at_rest(runs):
    """x* = max(0, Aδ + d_t) with A = η − 1 + N / (μ l): l is the round trip with the queue."""
    mu, worst, out = 24e6 / 8 / 1504, 0.0, {}
    for n in JAIN:
        found = delays(runs[f"wired:n{n}"])
        x = float(found.ms[found.left > 20].mean())
        a = 0.98 - 1 + n / (mu * (0.1 + x / 1e3))
        settles = max(0.0, a * 133 + 50) if a > 0 else 0.0
        out[f"N = {n}: x, model (ms)"] = settles
        out[f"N = {n}: x (ms)"] = x
        worst = max(worst, abs(x - settles))
    return {"largest |x - model| (ms)": worst} | out


@measure("ABC-THM1d", needs=[f"wired:no-gain:n{n}:{d}ms" for n in (1, 16) for d in DELTAS])
def stable_without_gain(runs):
    late, used = [], []
    for n in (1, 16):
        for d in DELTAS:
            results = runs[f"wired:no-gain:n{n}:{d}ms"]
            found = delays(results)
            inside = found.left > 50
            late.append(floored_percentile(found.ms[inside], 95))
            used.append(float(found.wire[inside].sum() * 8 / (24e6 * 10)))
    return {"largest p95 of the last 10 s (ms)": max(late), "least utilisation then": min(used)}
