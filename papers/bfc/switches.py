"""A few switches: the testbed (Figures 3-7, 3-8), a ring (App. D), frames that are lost."""

from __future__ import annotations

import itertools

import numpy as np

from thalweg.study import RunSpec, measure, run

from .link import ALL_LONE, DRAIN, empty, lone
from .outcome import flows
from .settings import FULL, HRTT, LINE, PACKET, order, scheme

# --- The testbed (§3.6.1) -----------------------------------------------------------------------------------

# Hosts: 0 receives G1, 1 receives G2 and G3; 2 to 9 send G3, those behind G1 and G2. CHOICE: a sender of its
# own for every flow. With one for a group nothing would wait at SW1 as flows begin, each would find all
# queues empty, and even dynamic assignment would draw blindly.
FACTORS = (0.25, 0.5, 1.0, 2.0)
BED = "testbed.csv"
QUEUES = 17  # 16 and that of control packets
TO_R2 = 3  # the port towards host 1: the second link, from the switch's side


def bed(key: str, traffic, scheduler, **more) -> RunSpec:
    set = scheme("bfc") | {"switch": scheme("bfc")["switch"] | {"scheduler": scheduler}}
    set |= {"topology.file": BED, "traffic": traffic} | more
    return run(key, "graph", set)


def two(factor: float) -> str:
    return f"two-{factor:g}:bfc@1"


GROUP = (4, 8, 12, 16, 20)
FEW = (4, 8, 12)  # fewer than queues
SEEDS = (1, 2, 3, 4)


# What the testbed's switches do late (§3.4); CHOICE: neither places nor times are published.
LATE = {"post4": {"post_queue": 4}, "post16": {"post_queue": 16}, "recirc": {"recirc_delay": "500ns"}}
# Without index collisions; without ghosts; without either; and with the rotating search of several pipelines.
LARGE = {"table": 20_000}
MEETINGS = {
    "large": LARGE,
    "reserved": {"assignment": "reserved"},
    "alone": LARGE | {"assignment": "reserved"},
    "pipelines": LARGE | {"pipelines": 2},
}


def late(name: str) -> str:
    return f"two-1:{name}@1"


def bed_runs() -> list[RunSpec]:
    out = []
    for factor, name, keys in [(f, "bfc", {}) for f in FACTORS] + [(1.0, *own) for own in LATE.items()]:
        traffic = [
            {"kind": "backlogged", "src": 10, "dst": 1},
            {"kind": "backlogged", "src": 2, "dst": 1, "start": "371ns"},
        ]
        more = {"run.until": "1ms", "run.stop_when_done": False, "measure.queues": {"every": "100ns", "ports": [TO_R2]}}
        scheduler = order(queues=QUEUES, threshold=factor, **keys)
        out.append(bed(f"two-{factor:g}:{name}", traffic, scheduler, **more))
    kinds = {"single": {"queues": 2}, "hashed": {"queues": QUEUES, "assignment": "hashed"}, "bfc": {"queues": QUEUES}}
    kinds |= {name: keys | {"queues": QUEUES} for name, keys in MEETINGS.items()}
    for name, keys in kinds.items():
        for n in FEW if name in MEETINGS else GROUP:
            for seed in SEEDS:
                flow = {"kind": "flow", "size": "1500KB"}
                traffic = [flow | {"src": 10 + i, "dst": 0} for i in range(2)]
                traffic += [flow | {"src": 2 + i, "dst": 1} for i in range(8)]
                traffic += [flow | {"src": 12 + i, "dst": 1} for i in range(n)]
                set = scheme("bfc") | {"switch": scheme("bfc")["switch"] | {"scheduler": order(**keys)}}
                set |= {"topology.file": BED, "traffic": traffic, "run.until": "20ms"}
                out.append(run(f"g1-{n}:{name}", "graph", set, seed))
    return out


@measure("BFC-F7-a", needs=[two(1.0)])
def overshoot(runs):
    q = runs[two(1.0)].tables["queues"]
    held = q["bytes"].to_numpy().astype(float)
    # Both queues: twice Th = HRTT C / 2, and what each still receives.
    most = HRTT * LINE / 8 + 2 * LINE / 8 * (HRTT + 4 * PACKET)
    return {"largest (KB)": held.max() / 1e3, "largest / bound": held.max() / most}


@measure("BFC-F7-b", needs=[lone(1.0, 2.0)])
def runs_dry(runs):
    _, spells = empty(runs[lone(1.0, 2.0)], DRAIN * 1e9)
    # The flow's last packets are no spell.
    extra = (spells - HRTT) / (FULL * 8 / (DRAIN * 1e9))
    return {
        "dry spells": len(spells),
        "shortest beyond HRTT (packets)": extra.min(),
        "longest beyond HRTT (packets)": extra.max(),
    }


def bed_used(results) -> tuple[float, float]:
    """Utilisation of the link to R2 and the mean queue (KB), after the first 100 us."""
    ports = results.tables["ports"].sort("port")
    q = results.tables["queues"]
    held = q.filter(q["time_ps"] > 100e6)["bytes"].to_numpy()
    return float(ports["utilisation"][TO_R2]), float(held.mean()) / 1e3


@measure("BFC-F7-c", needs=[two(1.0), *map(late, LATE)])
def threshold_of_two_us(runs):
    share, held = bed_used(runs[two(1.0)])
    out = {"utilisation": share, "mean queue (KB)": held}
    return out | {f"utilisation, {name}": bed_used(runs[late(name)])[0] for name in LATE}


@measure("BFC-F7-d", needs=[two(f) for f in FACTORS])
def lower_thresholds(runs):
    idle = [1 - bed_used(runs[two(f)])[0] for f in FACTORS]
    out = {"idle, largest step to a larger Th": max(b - a for a, b in itertools.pairwise(idle))}
    return out | {f"idle, {f * 2:g} us": v for f, v in zip(FACTORS, idle, strict=True)}


def g1(runs, name: str, n: int) -> np.ndarray:
    """us: completion of the two G1 flows, of all repetitions."""
    out = []
    for seed in SEEDS:
        f = runs[f"g1-{n}:{name}@{seed}"]
        fct = f.seconds("received") - f.seconds("start")
        out += fct[f.flows["dst"].to_numpy() == 0].tolist()
    return np.array(out) * 1e6


G1 = ["g1-*"]


@measure("BFC-F8-a", needs=G1)
def first_group(runs):
    v = {name: np.concatenate([g1(runs, name, n) / (n + 8) for n in GROUP]) for name in ("single", "hashed", "bfc")}
    spread = {name: np.mean([g1(runs, name, n).std() for n in GROUP]) for name in ("hashed", "bfc")}
    out = {"mean, dynamic / stochastic": v["bfc"].mean() / v["hashed"].mean()}
    out["mean, stochastic / single"] = v["hashed"].mean() / v["single"].mean()
    return out | {"σ, dynamic / stochastic": spread["bfc"] / spread["hashed"]}


@measure("BFC-F8-b", needs=G1)
def dynamic_assignment(runs):
    def share(name: str, n: int) -> float:
        return g1(runs, name, n).std() / g1(runs, name, n).mean()

    largest = {name: max(share(name, n) for n in FEW) for name in ("bfc", *MEETINGS)}
    out = {"largest σ/mean, n ≤ 12": largest.pop("bfc")}
    out["σ/mean, 20 / 12"] = share("bfc", 20) / max(share("bfc", 12), 1e-9)
    return out | {f"largest σ/mean, {name}": v for name, v in largest.items()}


@measure("BFC-F8-c", needs=G1)
def ideal_first_group(runs):
    off = {n: abs(g1(runs, "bfc", n).mean() / (30 * (n + 8)) - 1) for n in FEW}
    return {"largest distance from 30 (n + 8) us": max(off.values())}


# --- A ring (App. D), and frames that are lost --------------------------------------------------------------


# Queues, that of control packets among them, and whether pauses that could close the circle are elided.
RING = {"one": (2, "none"), "many": (33, "none"), "elided": (2, "cycles")}


def ring_runs() -> list[RunSpec]:
    """Three switches; host i sends over all of them."""
    # Hosts 0 to 2 send to 3 to 5, which are behind the second switch after theirs.
    traffic = [{"kind": "flow", "src": i, "dst": 3 + (i + 2) % 3, "size": "2500KB"} for i in range(3)]
    out = []
    for name, (queues, elide) in RING.items():
        own = {"scheduler": order(queues=queues)} | ({"backpressure": {"elide": elide}} if elide != "none" else {})
        set = scheme("bfc") | {"switch": scheme("bfc")["switch"] | own}
        set |= {"topology.file": "ring.csv", "routing": {"kind": "pinned", "file": "ring-paths.csv"}}
        out.append(run(f"ring-{name}:bfc", "graph", set | {"traffic": traffic, "run.until": "4ms"}))
    return out


@measure("BFC-D1-a", needs=["ring-*:bfc@1", *ALL_LONE, "lost-frames:bfc@1"])
def acyclic_networks_drain(runs):
    """Networks without a cycle always drain; the ring does with many queues, or a way elided, and not with
    one queue."""
    left = {k: int((runs[k].flows["status"] != "completed").sum()) for k in runs if not k.startswith("herd")}
    acyclic = sum(v for k, v in left.items() if not k.startswith("ring"))
    return {
        "flows stuck without a cycle": acyclic,
        "stuck in the ring, one queue": left["ring-one:bfc@1"],
        "stuck in the ring, 32 queues": left["ring-many:bfc@1"],
        "stuck in the ring, one queue, elided": left["ring-elided:bfc@1"],
    }


def lossy_runs(scale: str) -> list[RunSpec]:
    traffic = [
        {"kind": "incast", "fan_in": 60, "size": "100KB", "at": "10us", "senders": "with-replacement"},
        {
            "kind": "poisson",
            "sizes": "facebook-hadoop-fine",
            "load": 0.5,
            "of": "core-links",
            "arrivals": "log-normal",
            "process": "global",
            "until": "500us",
        },
    ]
    set = scheme("bfc") | {"traffic": traffic, "run.until": "30ms"}
    set |= {"incident": [{"kind": "pause-loss", "from": "0us", "until": "600us", "probability": 1.0}]}
    return [run("lost-frames:bfc", "clos", set)]


@measure("BFC-M-d", needs=["lost-frames:bfc@1"])
def lost_frames(runs):
    results = runs["lost-frames:bfc@1"]
    ports = results.tables["ports"]
    # What waits at the end is nothing; flows whose queue had stayed paused would not have ended.
    return {"flows without end": int((~flows(results).done).sum()), "frames": float(ports["pauses"].sum())}


def runs(scale: str) -> list[RunSpec]:
    return bed_runs() + ring_runs() + lossy_runs(scale)
