"""The signal and the algorithm: what a round trip holds (§3.1, §3.2.1), and Algorithm 1 (§3.3) against a
second hand."""

from __future__ import annotations

import numpy as np

from thalweg.study import jain, mean, measure, needs, run, seconds, seeds, slope

from .numbers import Algorithm1, decile_gaps, idle_rtt, on_wire, packets, serialization
from .outcome import Samples, pauses, throughput
from .settings import CLIENTS, LINE, SEEDS, but, connections, target, transport

TRACE = but(high=100)
HUNDRED = [(a, 0) for a in range(1, CLIENTS + 1) for _ in range(10)]
FIRST, STOPS = 0.3, 5.0  # ms: the fluid test looks at what happens after the first, and until the second sender stops


# Figure 3.2 with one thing changed at a time: bytes of a segment, and what is set. Without pauses: XOFF above
# all that may be outstanding, 20 segments per client.
NO_PAUSES = {"switch.inputs.shared": "90MB", "switch.pfc.threshold": {"kind": "static", "xoff": "4MB", "xon": "3.9MB"}}
QUEUE = "queue"
VIEWED = {
    QUEUE: (64_000, {}),
    "queue:no-pauses": (64_000, NO_PAUSES),
    "queue:T_low-200us": (64_000, NO_PAUSES | {"transport.congestion.t_low": "200us"}),
    "queue:16KB": (16_000, NO_PAUSES),
    "queue:4KB": (4_000, NO_PAUSES),
    "queue:one-packet": (1_442, NO_PAUSES),
}


def unequal() -> dict:
    """Two hosts with 0.8 and 0.2 of the line into one port as fast."""
    usual = transport("incast")
    less = usual | {"congestion": usual["congestion"] | {"initial_share": 0.2}}
    traffic = [{"kind": "backlogged", "src": a, "dst": 0, "transport": t} for a, t in ((1, "default"), (2, "less"))]
    return {
        "topology.hosts": 3,
        "topology.sink_rate": "10Gbps",
        "transport.congestion.initial_share": 0.8,
        "transports": {"less": less},
        "traffic": traffic,
        "measure.from": "0s",
        "measure.links.every": "50ms",
        "measure.controllers": {"every": "50ms", "flows": [0, 1]},
        "run.until": "1s",
    }


def runs(scale: str) -> list:
    made = [run("idle", "idle", {}, 1), run("fluid", "fluid", {}, 1)]  # nothing is random in them
    for seed in SEEDS[scale]:
        short = {"measure.from": "0s", "run.until": "200ms", "measure.links.every": "100ms"}
        looks = {"measure.controllers": {"every": "100ms", "flows": [0]}}
        made.append(run("trace", "incast", TRACE.set(seed) | short | looks, seed))
        made.append(run("two", "incast", unequal(), seed))
        for key, (segment, more) in VIEWED.items():
            set = {"traffic": connections(HUNDRED, seed), "measure.packets": {"hops": False}} | more
            if segment != 64_000:
                set["transport.segments.bytes"] = f"{segment}B"
            made.append(run(key, "queue", set, seed, keep=True))
    return made


# --- Round trips --------------------------------------------------------------------------------------------


@measure("TIM-F1-a", needs=["idle@1"])
def quiet_network(runs):
    rtt = Samples(runs["idle@1"]).rtt
    computed = idle_rtt(16_000, (LINE, LINE), 7.5e-6) * 1e6
    return {
        "max - min (us)": float(rtt.max() - rtt.min()),
        "min / computed": float(rtt.min()) / computed,
        "computed (us)": computed,
        "samples": len(rtt),
    }


@measure("TIM-M2-a", needs=[])
def times_of_segments(runs):
    return {
        "64 KB at 10 Gb/s / 51 us": serialization(64_000, 10e9) / 51e-6,
        "1500 B at 10 Gb/s / 1.2 us": serialization(1500, 10e9) / 1.2e-6,
        "64 KB at 1 Gb/s / 512 us": serialization(64_000, 1e9) / 512e-6,
        "16 KB on the wire (B)": on_wire(16_000),
    }


QUEUES = {
    "packets": "seen by packets as they come",
    "last": "seen by the last packets of segments",
    "time": "looked at every microsecond",
}


def queueing(results, segment: int = 64_000) -> dict[str, np.ndarray]:
    """us: round trips less the idle one, and the delay in the queue at 10 Gb/s in three views."""
    import polars as pl

    found = Samples(results)
    base = idle_rtt(segment, (LINE, LINE), 7.5e-6) * 1e6
    begin = round(seconds(results.scenario.to_dict()["measure"]["from"]) * 1e12)
    looks = results.tables["queues"].filter(pl.col("time_ps") >= begin)
    came = results.packets.filter((pl.col("forward") == 1) & (pl.col("ingress_ps") >= begin))
    waits = came.select("wire", "waited_ps").collect()
    sizes = packets(segment)  # the last packet is the only short one, or the only one
    waited, last = waits["waited_ps"].to_numpy() * 1e-6, waits["wire"].to_numpy() == sizes[-1]
    time = serialization(looks["bytes"].to_numpy().astype(float), LINE) * 1e6
    return {"RTT - base": found.rtt - base, "packets": waited, "last": waited[last], "time": time}


@measure("TIM-F2-a", needs=needs(*VIEWED))
def round_trips_and_queue(runs):
    seen = {key: [queueing(r, segment) for r in seeds(runs, key)] for key, (segment, _) in VIEWED.items()}
    views = seen[QUEUE]

    def gap(view: str, key: str = QUEUE) -> float:
        return float(np.mean([decile_gaps(v["RTT - base"], v[view]).max() for v in seen[key]]))

    out = {"largest gap of a decile / allowed": gap("packets")}
    out |= {f"the same, {QUEUES[view]}": gap(view) for view in ("last", "time")}
    for key in list(VIEWED)[1:]:
        name = key.removeprefix("queue:")
        out |= {f"{name}: gap": gap("packets", key), f"{name}: gap, {QUEUES['last']}": gap("last", key)}
    for level in (10, 50, 90):
        for what in ("RTT - base", *QUEUES):
            name = f"queue {QUEUES[what]}" if what in QUEUES else what
            out[f"p{level}, {name} (us)"] = float(np.mean([np.percentile(v[what], level) for v in views]))
    return out


# --- Algorithm 1 --------------------------------------------------------------------------------------------


def slopes(results) -> tuple[float, float, float]:
    """dRTT/dt by the time at which segments come to the queue: while both send, after one has stopped, once
    it is empty."""
    found = Samples(results)
    came = found.at - found.rtt * 1e-6  # up to a constant
    order = np.argsort(came)
    came, rtt = came[order] * 1e3, found.rtt[order] * 1e-3
    empty = rtt.min() + 0.02  # ms: within a segment's sampling of the idle round trip
    top = came[np.argmax(rtt)]
    dry = came[(came > top) & (rtt < empty)].min()
    grows = (came > FIRST) & (came < top - 0.1)
    shrinks = (came > top + 0.1) & (came < dry - 0.1)
    idle = came > dry + 0.1
    return tuple(slope(came[part], rtt[part]) for part in (grows, shrinks, idle))


@measure("TIM-M4-a", needs=["fluid@1"])
def gradient_of_the_queue(runs):
    grows, shrinks, idle = slopes(runs["fluid@1"])
    return {"y = 1.2 C": grows, "y = 0.6 C": shrinks, "y = 0.6 C, empty": idle, "pauses": pauses(runs["fluid@1"])}


def compared(results, algorithm: Algorithm1, first: dict[int, float] | float) -> tuple[float, dict]:
    """Largest relative difference between the engine's rates and those of Algorithm 1 on the same round trips."""
    found, worst, ran = Samples(results), 0.0, {}
    for flow in np.unique(found.flow):
        at, rtt, rate = found.of(flow)
        begin = first[flow] if isinstance(first, dict) else first
        expected, branches = algorithm.rates(at, rtt * 1e-6, begin, rate)
        worst = max(worst, float(np.max(np.abs(rate / expected - 1))))
        for name, times in branches.items():
            ran[name] = ran.get(name, 0) + times
    return worst, ran


BRANCHES = ("below T_low", "above T_high", "increase", "hyper", "decrease")


@measure("TIM-M4-b", needs=["trace@1", "two@1"])
def rates_of_algorithm_1(runs):
    worst, ran = compared(runs["trace@1"], Algorithm1(50e-6, 100e-6), LINE / 4)
    sender = dict(zip(runs["two@1"].flows["id"].to_list(), runs["two@1"].flows["src"].to_list(), strict=True))
    shares = {flow: {1: 0.8, 2: 0.2}[src] * LINE for flow, src in sender.items()}
    small, scaled = compared(runs["two@1"], Algorithm1(50e-6, 500e-6), shares)
    by_hand, _ = Algorithm1(50e-6, 500e-6).step(1e9, 1000e-6, gradient=0.0)
    return {
        "1 Gb/s, RTT 1000, T_high 500: factor": by_hand / 1e9,
        "largest difference from the trace": max(worst, small),
        "fewest runs of a branch": min(ran.get(b, 0) for b in BRANCHES),
        "scaled updates (f < 1)": scaled.get("scaled", 0),
    } | {b: ran.get(b, 0) for b in BRANCHES}


@measure("TIM-M4-c", needs=["timely:50-50us@1"])
def equal_thresholds(runs):
    found, rule, worst, gradient = Samples(runs["timely:50-50us@1"]), Algorithm1(50e-6, 50e-6), 0.0, 0
    for flow in np.unique(found.flow):
        at, rtt, rate = found.of(flow)
        for n in range(1, len(at)):
            f = min(1.0, (at[n] - at[n - 1]) / rule.min_rtt)
            expected, branch = rule.step(rate[n - 1], rtt[n] * 1e-6, np.nan, f)
            gradient += branch in ("increase", "hyper", "decrease")
            worst = max(worst, abs(rate[n] / expected - 1))
    return {"updates by the gradient": gradient, "largest difference": worst, "updates": len(found.at)}


assert target(50).key == "timely:50-50us"


@measure("TIM-M4-d", needs=needs("two"))
def unequal_shares(runs):
    def last(results) -> float:
        """Jain's index over the last tenth of the run."""
        rows = results.tables["controllers"].sort("time_ps")
        per_flow = [rows.filter(rows["flow"] == f)["delivered"].to_numpy().astype(float) for f in (0, 1)]
        return jain([d[-1] - d[-3] for d in per_flow])

    return {"Jain": mean(runs, "two", last), "throughput (Gb/s)": mean(runs, "two", throughput)}
