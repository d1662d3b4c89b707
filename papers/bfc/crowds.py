"""Elephants and mice (Figure 3-14), one incast on an idle network, two data centres (Figure 3-20)."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from thalweg.study import Key, NotCheckable, RunSpec, measure, once, run
from thalweg.study.lists import from_scenarios

from .outcome import flows, memory
from .settings import HRTT, LINE, PACKET, listed, scheme
from .workloads import MEAN, arrivals, sizes, write

# --- Elephants and mice (Figure 3-14) -----------------------------------------------------------------------

ELEPHANTS = {"quick": (8, 15, 124, 512), "full": (8, 15, 64, 124, 256, 512, 1024)}
HERD = {"quick": (4, 8, 8), "full": (8, 8, 16)}  # leaves, spines, hosts: eight links lead to the rack


def herd(n: int, s: str = "bfc") -> Key:
    return Key(f"herd-{n}", s, 1)


def herd_runs(scale: str) -> list[RunSpec]:
    leaves, spines, hosts = HERD[scale]
    others = (leaves - 1) * hosts

    def one(n: int, s: str) -> RunSpec:
        def prepare(_, folder: Path) -> dict:
            draw = np.random.default_rng([n, 14])
            rows = []
            for victim in (0, 1):
                at = arrivals(1e9 / 375e3, 1e6, draw)  # ns
                src = hosts + draw.integers(0, others, len(at))
                rows += [(200e3 + t, int(a), victim, 1000) for t, a in zip(at, src, strict=True)]
            file = write(rows, folder / f"mice-{n}-{scale}.csv")
            many = [
                {"kind": "backlogged", "src": hosts + i % others, "dst": 0, "start": f"{37 * i}ns"} for i in range(n)
            ]
            return {"traffic": [listed(file), *many]}

        set = scheme(s) | {
            "topology.leaves": leaves,
            "topology.spines": spines,
            "topology.hosts_per_leaf": hosts,
            "run.until": "1700us",
        }
        return run(herd(n, s), "clos", set, prepare=prepare)

    out = [one(n, "bfc") for n in ELEPHANTS[scale]]
    return out + [one(n, "bfc-cc") for n in (124,)]


def mice(results, victim: int) -> float:
    """Median slowdown."""
    f = flows(results)
    chosen = f.done & (f.group == 0) & (f.dst == victim)
    if chosen.sum() < 100:
        raise NotCheckable(f"{int(chosen.sum())} mice have ended, too few")
    return float(np.median(f.slowdown[chosen]))


@measure("BFC-F14-a", needs=[herd(15), herd(124)])
def direct_mice(runs):
    return {"up to half of the queues": mice(runs[herd(15)], 0), "four times the queues": mice(runs[herd(124)], 0)}


@measure("BFC-F14-b", needs=[herd(124), herd(512)])
def indirect_mice(runs):
    few, many = (mice(runs[herd(n)], 1) for n in (124, 512))
    return {"four times the queues": few, "16 times / four times": many / few}


@measure("BFC-M-k", needs=[herd(8), herd(124)])
def mice_below_all_queues(runs):
    return {"124 elephants / 8": mice(runs[herd(124)], 1) / mice(runs[herd(8)], 1)}


@measure("BFC-M-l", needs=[herd(n) for n in ELEPHANTS["quick"]])
def queue_by_elephants(runs):
    found = {}
    for n in ELEPHANTS["quick"]:
        ports = runs[herd(n)].tables["ports"].sort("port")
        most = float(ports["max_queue"][1])
        # All of the port's queues together: N times one hop's product, what comes within a hop and two
        # packets, and the mice.
        found[n] = most / (n * (HRTT * LINE / 8 + LINE / 8 * (HRTT + 2 * PACKET)))
    return {"largest queue / bound": max(found.values())} | {f"{n} elephants": v for n, v in found.items()}


# --- One incast on an idle network --------------------------------------------------------------------------


def lone_incast(s: str) -> Key:
    return Key("incast", s, 1)


def incast_runs() -> list[RunSpec]:
    out = []
    for s in ("bfc", "dctcp", "dcqcn"):
        set = scheme(s)
        if s != "bfc":
            # Without flow control, in memory that never fills: what would build up.
            switch = {k: v for k, v in set["switch"].items() if k != "pfc"}
            set |= {"switch": switch | {"inputs": {"shared": "60MB", "release": "start"}}}
        incast = {"kind": "incast", "fan_in": 100, "size": "200KB", "receiver": 0, "senders": "with-replacement"}
        set |= {"traffic": [incast | {"at": "1us"}], "measure.memory": True, "run.until": "20ms"}
        set |= {"topology.leaves": 8, "topology.spines": 8, "topology.hosts_per_leaf": 16}
        set |= {"measure.queues": {"every": "5us"}}
        out.append(run(lone_incast(s), "clos", set))
    return out


@once
def hottest(results) -> tuple[float, float]:
    """MB: peak of the switch that held most, and of all others together at any instant."""
    held = memory(results) / 1e6
    first = int(held.max(axis=0).argmax())
    return float(held[:, first].max()), float(np.delete(held, first, axis=1).sum(axis=1).max())


@measure("BFC-M-j", needs=[lone_incast("bfc"), lone_incast("dctcp")])
def pooled_buffers(runs):
    ours, other = (hottest(runs[lone_incast(s)]) for s in ("bfc", "dctcp"))
    return {
        "peak of the hottest, BFC / DCTCP": ours[0] / other[0],
        "all others, BFC / DCTCP": ours[1] / max(other[1], 1e-9),
    }


@measure("BFC-F9-m", needs=[lone_incast("dctcp"), lone_incast("dcqcn")])
def incast_before_feedback(runs):
    found = {s.upper(): hottest(runs[lone_incast(s)])[0] for s in ("dctcp", "dcqcn")}
    return {"smaller peak (MB)": min(found.values()), "larger peak (MB)": max(found.values())} | found


# --- Two data centres (Figure 3-20) -------------------------------------------------------------------------

CENTRE = {"quick": (2, 2, 8), "full": (4, 4, 16)}
WIDE = {"quick": 4, "full": 50}  # ms


def centres(scale: str) -> tuple[str, int, int]:
    """The links; hosts of one centre; the port of the first gateway into the long link."""
    leaves, spines, hosts = CENTRE[scale]
    n = 2 * leaves * hosts
    lines = ["a,b,rate,delay"]
    each = leaves + spines + 1
    for c in range(2):
        base = c * each
        lines += [f"h{c * leaves * hosts + h},s{base + h // hosts},100Gbps,1us" for h in range(leaves * hosts)]
    for c in range(2):
        base = c * each
        for spine in range(spines):
            lines += [f"s{base + leaf},s{base + leaves + spine},100Gbps,1us" for leaf in range(leaves)]
            lines.append(f"s{base + leaves + spine},s{base + leaves + spines},100Gbps,1us")
    port = 2 * (len(lines) - 1)
    lines.append(f"s{leaves + spines},s{2 * each - 1},200Gbps,200us")
    return "\n".join(lines) + "\n", n // 2, port


def wide_runs(scale: str) -> list[RunSpec]:
    text, n, port = centres(scale)
    leaves, spines, _ = CENTRE[scale]
    until = WIDE[scale]

    def one(s: str) -> RunSpec:
        def prepare(_, folder: Path) -> dict:
            folder.mkdir(parents=True, exist_ok=True)
            graph = folder / f"centres-{scale}.csv"
            graph.write_text(text, encoding="utf-8")
            draw = np.random.default_rng(20)
            pairs = [
                (a, n + b)
                for a, b in zip(
                    draw.permutation(n)[:20] if n >= 20 else draw.integers(0, n, 20),
                    draw.integers(0, n, 20),
                    strict=True,
                )
            ]
            long = [
                {"kind": "backlogged", "src": int(a), "dst": int(b), "start": f"{i}us"}
                for i, (a, b) in enumerate(pairs)
            ]
            long += [
                {"kind": "backlogged", "src": int(b), "dst": int(a), "start": f"{i}us"}
                for i, (a, b) in enumerate(pairs)
            ]
            rows = []
            gap = MEAN["fb"] * 8 / (0.6 * leaves * spines * LINE) * 1e9
            for c in range(2):
                at = arrivals(gap, until * 1e6, draw)
                size = sizes("fb", len(at), draw)
                src = draw.integers(0, n, len(at))
                dst = (src + draw.integers(1, n, len(at))) % n
                rows += [
                    (t, c * n + int(a), c * n + int(b), int(x)) for t, a, b, x in zip(at, src, dst, size, strict=True)
                ]
            file = write(rows, folder / f"wide-{scale}.csv")
            out = {"traffic": [listed(file), *long], "topology.file": from_scenarios(__file__, graph)}
            if s == "bfc":
                # 400 us at the gateways, which alone have an input of that round trip.
                gate = scheme("bfc")["switch"]["scheduler"] | {"hop_rtt": "400us"}
                nodes = [2 * n + leaves + spines, 2 * n + 2 * (leaves + spines) + 1]
                out["switch.mix"] = {"scheduler": gate, "nodes": {"kind": "listed", "nodes": nodes}}
            return out

        set = scheme(s)
        if "pfc" in set["switch"]:
            # CHOICE: headroom for links of 1 us; that of the long one would not fit into the memory.
            short = {"threshold": "dynamic", "headroom": "37500B", "lossy_ok": True}
            set["switch"] = set["switch"] | {"pfc": short}
        set |= {
            "run.until": f"{until}ms",
            "run.stop_when_done": False,
            "measure.links": {"every": "100us", "ports": [port, port + 1]},
        }
        return run(f"wide:{s}", "graph", set, prepare=prepare)

    return [one(s) for s in ("bfc", "hpcc", "dcqcn")]


def crossed(results) -> float:
    """Utilisation of the link between the centres in the second half."""
    links = results.tables["links"].sort("time_ps")
    out = []
    for port in links["port"].unique().to_list():
        one = links.filter(links["port"] == port)
        carried, at = one["bytes"].to_numpy().astype(float), one["time_ps"].to_numpy() * 1e-12
        half = len(at) // 2
        out.append((carried[-1] - carried[half]) * 8 / (200e9 * (at[-1] - at[half])))
    return float(np.mean(out))


@measure("BFC-F20-a", needs=["wide:*"])
def interconnect_utilisation(runs):
    v = {s: crossed(runs[f"wide:{s}@1"]) for s in ("bfc", "hpcc", "dcqcn")}
    return {"BFC": v["bfc"], "HPCC / BFC": v["hpcc"] / v["bfc"], "DCQCN / HPCC": v["dcqcn"] / v["hpcc"]}


def runs(scale: str) -> list[RunSpec]:
    return herd_runs(scale) + incast_runs() + wide_runs(scale)
