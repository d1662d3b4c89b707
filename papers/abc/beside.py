"""ABC's flows next to others at one router: two queues, and who sets their shares (§2.4.3, Figure 2-13)."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from thalweg.study import RunSpec, flow_list, measure, seeds

from .settings import NO_HYSTART, STARTS, transport, wired

POLICIES = {"max-min": "max-min", "zombie-list": "zombie-list"}
# CHOICE §2.7.5: the loads are read off no text; long flows count from 5 s on.
LOADS, RATE, FROM, END = (0, 6.25, 12.5, 25, 50), 96e6, 5, 40
LONG, SHORT = 3, 10_000
SEEDS = {"quick": (1, 2, 3), "full": tuple(range(1, 11))}


def beside(policy: str, load: float, seed: int) -> RunSpec:
    """Three flows of ABC, three of CUBIC, and short ones of CUBIC that come at random."""

    def prepare(_, folder: Path):
        # Flows are numbered by their starts.
        numbers = [int(np.searchsorted(starts, t) + np.searchsorted(np.sort(at), t)) for t in at]
        watch = {"measure": {"controllers": {"every": f"{FROM}s", "flows": sorted(numbers)}}}
        if not starts:
            return watch
        file = flow_list(folder / f"short-{load:g}-{seed}.csv", ((round(t * 1e9), 0, 1, SHORT) for t in starts))
        short = {"kind": "list", "file": str(file.resolve()), "transport": "cubic"}
        return watch | {"traffic": [*long, short]}

    starts = arrivals(load, seed)
    at = STARTS * np.random.default_rng(seed).random(2 * LONG)
    flow = {"kind": "backlogged", "src": 0, "dst": 1}
    long = [flow | {"start": f"{1e3 * t:.3f}ms", "class": 1} for t in at[:LONG]]
    long += [flow | {"start": f"{1e3 * t:.3f}ms", "transport": "cubic"} for t in at[LONG:]]
    spec = wired(
        f"beside:{policy}:{load:g}@{seed}",
        topology__bottleneck_rate="96Mbps",
        switch__scheduler=POLICIES[policy],
        switch__buffer="1600pkts",  # a bandwidth-delay product for each queue
        nic__scheduler="fifo",
        transports={"cubic": transport(NO_HYSTART)},
        traffic=long,
        run__until=f"{END}s",
    )
    return RunSpec(spec.key, spec.scenario, spec.set, prepare=prepare)


def arrivals(load: float, seed: int) -> list[float]:
    """Starts of short flows (s), at so many per cent of the link."""
    if not load:
        return []
    draw = np.random.default_rng([seed, int(100 * load)])
    per_second = RATE * load / 100 / SHORT / 8
    times = np.cumsum(draw.exponential(1 / per_second, int(1.2 * END * per_second)))
    return [float(t) for t in times if t < END - 0.5]


def runs(scale: str) -> list:
    return [beside(p, load, seed) for p in POLICIES for load in LOADS for seed in SEEDS[scale]]


def rates(results) -> np.ndarray:
    """Mb/s of payload of each long flow: ABC's, then CUBIC's."""
    seen = results.tables["controllers"].sort("time_ps")
    long = results.flows.filter(results.flows["size"].is_null()).sort("class", descending=True)
    out = []
    for n in long["id"]:
        own = seen.filter(seen["flow"] == n)
        at, delivered = own["time_ps"].to_numpy() * 1e-12, own["delivered"].to_numpy().astype(float)
        out.append((delivered[-1] - delivered[0]) * 8e-6 / (at[-1] - at[0]))
    return np.array(out)


def outcome(runs, policy: str) -> dict[float, tuple[float, float, float]]:
    """For each load CUBIC over ABC, std over mean of ABC's flows and of CUBIC's, over flows and runs."""
    out = {}
    for load in LOADS:
        found = np.array([rates(r) for r in seeds(runs, f"wired:beside:{policy}:{load:g}")])
        abc, cubic = found[:, :LONG], found[:, LONG:]
        out[load] = (cubic.mean() / abc.mean(), abc.std() / abc.mean(), cubic.std() / cubic.mean())
    return out


@measure("ABC-F2.13a", needs=["wired:beside:max-min:*"])
def cubic_over_abc_with_max_min(runs):
    found = {load: ratio - 1 for load, (ratio, _, _) in outcome(runs, "max-min").items()}
    return {"furthest of CUBIC / ABC - 1": max(map(abs, found.values()))} | {
        f"at {load:g} %": x for load, x in found.items()
    }


@measure("ABC-F2.13b", needs=["wired:beside:zombie-list:*"])
def cubic_over_abc_with_zombie_list(runs):
    found = {load: ratio - 1 for load, (ratio, _, _) in outcome(runs, "zombie-list").items()}
    return {
        "CUBIC / ABC - 1 at 6.25 %": found[6.25],
        "at 50 %": found[50],
        "smallest step with load": float(np.diff([found[load] for load in LOADS]).min()),
    } | {f"at {load:g} %": found[load] for load in (0, 12.5, 25)}


@measure("ABC-F2.13c", needs=["wired:beside:max-min:*"])
def deviation_of_flows_with_max_min(runs):
    found = np.array([spread for _, *spread in outcome(runs, "max-min").values()])
    return {
        "largest std / mean of ABC": float(found[:, 0].max()),
        "of ABC - of CUBIC, mean over loads": float((found[:, 0] - found[:, 1]).mean()),
    }
