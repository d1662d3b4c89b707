"""Other ways to start fast, and who else is on the network (§2.4.1, Figures 2.13; §2.4.2; §2.5)."""

from __future__ import annotations

import numpy as np

from thalweg.study import RunSpec, measure, measure_each

from . import lists
from .outcome import S1, S3, S5, S40, S267, S2107, SIZES, Pair, averages, flows, pair
from .settings import PRIORITY, SCHEMES, at, seeds_of

ALONE = (1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000)  # packets; CHOICE
FAST = {"topology.rate": "10Gbps", "switch.buffer": "24999999B"}


def alone(place: str, scheme: str, set: dict, gap: float) -> RunSpec:
    """One flow of each size, one after the other, on an empty path of 20 ms, initial window 10."""

    def prepare(runs, folder) -> dict:
        found = ({"src": 0, "dst": 1, "size": 1460 * n, "start_ps": round(k * gap * 1e12)} for k, n in enumerate(ALONE))
        return {"traffic": [{"kind": "list", "file": lists.write(folder, f"{place}-{scheme}", found)}]}

    given = {"name": f"{place}:{scheme}", "run.until": f"{gap * len(ALONE):g}s"} | set | SCHEMES[scheme]
    given["transport.initial_window"] = "10pkts"
    return RunSpec(f"{place}:{scheme}@1", "scenarios/link.toml", given, prepare=prepare)


def streams(key: str, sources: tuple[int, int]) -> RunSpec:
    """Two streams at line rate with fixed priorities; the important one begins later."""
    pace = {"kind": "udp", "pace": {"kind": "constant", "rate": "10Gbps"}}
    low = {"kind": "flow", "src": sources[0], "dst": 1, "size": "50MB", "class": 1}
    high = {"kind": "flow", "src": sources[1], "dst": 1, "size": "12500KB", "start": "10ms", "class": 0}
    set = {
        "topology.rate": "10Gbps",
        "topology.delay": "1us",
        "switch.buffer": "unlimited",
        "transport": pace,
        "traffic": [low, high],
    } | PRIORITY
    return RunSpec(key, "scenarios/link.toml", {"name": key, "run.until": "200ms"} | set)


def runs(scale: str) -> list:
    windows = [at("i2-30", s, scale, 1) for s in ("iw10", "iw50")]
    rated = [at("i2-30-settled", s, scale, 1) for s in ("tcp", "rc3", "rcp")]
    both = [
        at(p, s, scale, seed)
        for p in ("down", "datacenter", "datacenter-20us")
        for seed in seeds_of(p, scale)
        for s in ("tcp", "rc3")
    ]
    partly = ("part-50", *(("part-20",) if scale == "full" else ()))
    both += [at(p, "rc3", scale, 1) for p in partly]
    linux = [alone("alone-10g", s, FAST, 1.0) for s in ("tcp", "rc3")]
    linux += [alone("alone-1g", s, {}, 1.0) for s in ("tcp", "rc3", "cubic")]
    ports = [streams("ports:host@1", (0, 0)), streams("ports:switch@1", (0, 2))]
    return windows + rated + both + lists.runs(scale) + linux + ports


@measure("RC3-DOWN-a", needs=["down:*"])
def downlinks(runs):
    return averages(pair(runs, "down"))


@measure("RC3-DC-a", needs=["datacenter:*", "datacenter-20us:*"])
def datacenter(runs):
    far = pair(runs, "datacenter-20us")
    return averages(pair(runs, "datacenter")) | {
        "flows %, 20 us per link": far.flows(),
        "bytes %, 20 us per link": far.bytes(),
    }


ONE = ["i2-30:tcp@1", "i2-30:rc3@1"]


@measure("RC3-F13a-a", needs=[*ONE, "i2-30:iw10@1", "i2-30:iw50@1"])
def initial_windows(runs):
    found = {s: Pair((runs["i2-30:tcp@1"], runs[f"i2-30:{s}@1"])) for s in ("iw10", "iw50", "rc3")}
    gain = {s: p.flows() for s, p in found.items()}
    return {
        "IW 10 %": gain["iw10"],
        "IW 50 %": gain["iw50"],
        "RC3 %": gain["rc3"],
        "RC3 - IW 50": gain["rc3"] - gain["iw50"],
        "flows that decide": found["rc3"].count,
    }


@measure("RC3-F13a-b", needs=[*ONE, "i2-30:iw10@1", "i2-30:iw50@1"])
def smallest_flows(runs):
    found = {s: Pair((runs["i2-30:tcp@1"], runs[f"i2-30:{s}@1"])) for s in ("iw10", "iw50", "rc3")}
    one = {s: 1 - p.sized(S1) / 100 for s, p in found.items()}
    return {
        "IW 50 / TCP, 1 packet": one["iw50"],
        "IW 10 / TCP, 1 packet": one["iw10"],
        "RC3 / TCP, 1 packet": one["rc3"],
        "flows that decide": found["rc3"].number(S1),
    }


RATED = ["i2-30-settled:*"]


def against(runs) -> dict[str, Pair]:
    """RC3 and RCP, each against TCP: flows that ended in both runs."""
    return {s: pair(runs, "i2-30-settled", s) for s in ("rc3", "rcp")}


@measure("RC3-F14-a", needs=RATED)
def against_rcp_by_size(runs):
    found = against(runs)
    large = [s for s in SIZES if s >= S40]
    off = {s: abs(found["rc3"].sized(s) - found["rcp"].sized(s)) for s in large}
    return {
        "largest |RC3 - RCP|, 40 packets and more (points)": max(off.values()),
        "RCP / TCP, 3 packets": 1 - found["rcp"].sized(S3) / 100,
        "RCP / TCP, 1 packet": 1 - found["rcp"].sized(S1) / 100,
        "flows of 3 packets": found["rcp"].number(S3),
        "flows of the rarest size": min(found["rcp"].number(s) for s in large),
    } | {f"{p}, {s // 1460} packets (%)": found[p].sized(s) for p in found for s in large}


@measure("RC3-SUM-b", needs=RATED)
def against_rcp_on_average(runs):
    both = pair(runs, "i2-30-settled", "rc3", base="rcp")
    means = both.means()
    return {
        "RC3 / RCP": means["after"] / means["before"],
        "RC3 (s)": means["after"],
        "RCP (s)": means["before"],
        "RC3 / RCP, bytes": means["after, bytes"] / means["before, bytes"],
        "flows that decide": both.count,
    }


def crossed(runs, key: str, group: int) -> Pair:
    """The flows of one section of a mixed run against the same flows in the run where all have TCP."""
    base, mixed = flows(runs["i2-30:tcp@1"]), flows(runs[key])
    chosen = mixed.group == group
    if not np.array_equal(base.who, mixed.who):
        raise ValueError("the two runs do not have the same flows")
    return Pair((runs["i2-30:tcp@1"], runs[key]), keep=lambda _: chosen)


@measure("RC3-MIX-a", needs=["i2-30:tcp@1", "mix:rc3@1"])
def half_of_the_hosts(runs):
    rc3, tcp = crossed(runs, "mix:rc3@1", 0), crossed(runs, "mix:rc3@1", 1)
    return {
        "RC3 hosts / all TCP": 1 - rc3.flows() / 100,
        "TCP hosts / all TCP": 1 - tcp.flows() / 100,
        "flows of RC3 hosts": rc3.count,
        "flows of TCP hosts": tcp.count,
    }


CRITICAL = {"RC3-F13b-a": "critical:qos@1", "RC3-F13b-b": "critical:rc3@1"}


@measure_each(CRITICAL, needs=lambda key: ["i2-30:tcp@1", key])
def critical(runs, key: str):
    some, others = crossed(runs, key, 0), crossed(runs, key, 1)
    m = some.means()
    return {
        "critical %": some.flows(),
        "others' worsening %": -others.flows(),
        "TCP (s)": m["before"],
        "critical (s)": m["after"],
        "critical flows": some.count,
        "other flows": others.count,
    }


@measure("RC3-PART-b", needs=["part-50:rc3@1", "i2-30:tcp@1"])
def half_of_the_routers(runs):
    p = Pair((runs["i2-30:tcp@1"], runs["part-50:rc3@1"]))  # FIFOs are what TCP has anyway
    medium = [s for s in SIZES if S267 <= s <= S2107]
    return {
        "up to 3 packets %": p.of(p.size <= S3),
        "5 packets %": p.sized(S5),
        "smallest %, 267 packets and more": min(p.by_size(medium).values()),
        "flows up to 3 packets": int((p.size <= S3).sum()),
        "flows of the rarest size": min(p.number(s) for s in medium),
    }


def progress(results, bytes_: int) -> list[float]:
    """When so many bytes of each video had been acknowledged, s after its start; interpolated between samples."""
    table = results.tables["controllers"]
    starts = dict(zip(results.flows["id"], results.flows["start_ps"], strict=True))
    out = []
    for flow in sorted(set(table["flow"])):
        rows = table.filter(table["flow"] == flow)
        at_, acked = rows["time_ps"].to_numpy() / 1e12, rows["delivered"].to_numpy()
        there = np.flatnonzero(acked >= bytes_)
        if len(there):
            out.append(float(at_[there[0]] - starts[flow] / 1e12))
    return out


@measure("RC3-YT-a", needs=["video:*"])
def buffering(runs):
    tcp, rc3 = (progress(runs[f"video:{s}@1"], lists.BUFFERED) for s in ("tcp", "rc3"))
    return {
        "reduction %": 100 * (1 - np.mean(rc3) / np.mean(tcp)),
        "TCP (s)": float(np.mean(tcp)),
        "RC3 (s)": float(np.mean(rc3)),
        "sessions": min(len(tcp), len(rc3)),
    }


@measure("RC3-YT-b", needs=["video:*"])
def whole_sessions(runs):
    def whole(results):
        f = flows(results)
        return f.fct[f.done & (f.size == lists.SESSION)]

    tcp, rc3 = (whole(runs[f"video:{s}@1"]) for s in ("tcp", "rc3"))
    return {"|RC3 / TCP - 1|": float(abs(rc3.mean() / tcp.mean() - 1)), "sessions": min(len(tcp), len(rc3))}


@measure("RC3-F15a-a", needs=["alone-10g:*"])
def alone_at_10_gbps(runs):
    p = Pair((runs["alone-10g:tcp@1"], runs["alone-10g:rc3@1"]))
    return {"smallest %, 100 packets and more": min(p.sized(1460 * n) for n in ALONE if n >= 100), "sizes": p.count}


@measure("RC3-F15b-a", needs=["alone-1g:*"])
def cubic_and_newreno_alone(runs):
    p = Pair((runs["alone-1g:tcp@1"], runs["alone-1g:cubic@1"]))
    slow_start = [n for n in ALONE if n <= 1000]  # a pipe of 1667 packets
    return {
        "largest |CUBIC / NewReno - 1|": max(abs(p.sized(1460 * n)) / 100 for n in slow_start),
        "sizes": len(slow_start),
    }


@measure_each({"RC3-F16-a": "ports:host@1", "RC3-F17-a": "ports:switch@1"}, needs=lambda key: [key])
def two_streams(runs, key: str):
    f = flows(runs[key])
    high, low = f.size == 12_500_000, f.size == 50_000_000
    wire = 1500 / 1460 * 8
    both = (f.size.sum() * wire) / 1e10
    return {
        "important, share of the line": float((f.size[high] * wire / f.fct[high] / 1e10)[0]),
        "the rest ends when the line has carried both": float(f.fct[low][0] / both),
    }
