"""The two-level network (§3.5.4): 60 hosts send to 30, over 1800 queue pairs.

"70 % average link load" has two readings. B: of every source's link, which overloads uplinks and core: 933
Mb/s come per queue pair and 333 can go, so that in the long run all 1800 are backlogged, 300 at every link of
100 Gb/s from the core, as Table 3.3 says. That takes long, as most bytes are in few messages; Table 3.3 is
judged by runs that begin there (S): every pair has more waiting than it can send. A: of what the core can
carry. Everything else is judged by B; A is reported, too.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from thalweg.study import Key, NotCheckable, flow_list, in_all, measure, once, run, seconds
from thalweg.study.lists import from_scenarios
from thalweg.study.sizes import FB_HADOOP, WEB_SEARCH

from .settings import COUNTED, LARGE, scheme

SOURCES, SINKS, LINE, CORE = 60, 30, 40e9, 600e9
WINDOW = {"quick": (5, 20), "full": (20, 120)}  # ms: what counts, and the end
WORKLOADS = ("web", "hadoop")
WORDS = {"web": "WebSearch", "hadoop": "FB_Hadoop"}
SIZES = {"web": WEB_SEARCH, "hadoop": FB_HADOOP}
CORE_DOWN = list(range(205, 217, 2))  # core to edge 3
UPLINKS = [*range(180, 192, 2), *range(192, 204, 2)]  # edges 1 and 2 to the core
DOWNLINKS = list(range(121, 181, 2))  # edge 3 to its hosts
CLASSES = {"core": CORE_DOWN, "ingress edge": UPLINKS, "egress edge": DOWNLINKS}
# Who has to stop because of the class: its upstream neighbours' ports.
STOPPED = {"core": UPLINKS, "ingress edge": list(range(0, 120, 2)), "egress edge": CORE_DOWN}


@dataclass(frozen=True)
class Point:
    workload: str
    scheme: str
    load: int = 70
    reading: str = "B"
    pfc: bool = True

    @property
    def key(self) -> Key:
        reading = "" if self.reading == "B" else f"-{self.reading}"
        return Key(f"large-{self.workload}-{self.load}{reading}{'' if self.pfc else '-no-pfc'}", self.scheme)

    def at(self, scale: str):
        begin, end = WINDOW[scale]
        sizes = {"switch.inputs.shared": "32MB" if self.pfc else "16GB"}
        xoff = {"kind": "static", "xoff": "800KB", "xon": "797904B"}
        set = (
            scheme(self.scheme, 100)
            | sizes
            | {
                "topology.file": "two-level.csv",
                "routing": "ecmp-pairs",
                "measure.from": f"{begin}ms",
                "run.until": f"{end}ms",
                "measure.queues": {"every": "20us", "ports": CORE_DOWN + UPLINKS + DOWNLINKS},
            }
        )
        if self.pfc:
            set |= {"switch.pfc.threshold": xoff, "measure.pauses": True}

        def prepare(_, folder: Path) -> dict:
            file = from_scenarios(__file__, messages(self.workload, self.load, self.reading, end, folder))
            return {"traffic": [{"kind": "list", "file": file, "connection": "back-to-back"}]}

        scenario = "graph" if self.pfc else "graph-no-pfc"
        return run(self.key, scenario, set, prepare=prepare)


def messages(workload: str, load: int, reading: str, end_ms: int, folder: Path) -> Path:
    """Poisson per queue pair; with B each begins with a message. S: each has four times what its share of the
    core can carry."""
    draw = np.random.default_rng([load, WORKLOADS.index(workload)])
    offered = LINE * load / 100 if reading == "B" else CORE * load / 100 / SOURCES
    gap = SIZES[workload].mean * 8 * SINKS / offered  # s, per pair
    backlog = 4 * CORE / (SOURCES * SINKS) * end_ms * 1e-3 / 8  # B
    rows = []
    for src in range(SOURCES):
        for dst in range(SOURCES, SOURCES + SINKS):
            at = draw.exponential(gap) if reading == "A" else draw.uniform(0, 1e-3)
            waiting = 0
            while waiting < backlog if reading == "S" else at < end_ms * 1e-3:
                size = SIZES[workload].draw(draw)
                rows.append((round(at * 1e9), src, dst, size))
                waiting += size
                at += 0 if reading == "S" else draw.exponential(gap)
    return flow_list(folder / f"messages-{workload}-{load}-{reading}-{end_ms}ms.csv", sorted(rows))


def points(scale: str) -> list[Point]:
    made = [Point(w, s) for w in WORKLOADS for s in LARGE]
    made += [Point(w, s, 50) for w in (WORKLOADS if scale == "full" else ("web",)) for s in LARGE]
    made += [Point("hadoop", s, pfc=False) for s in LARGE]
    made += [Point("hadoop", s, reading="S") for s in LARGE]
    loads = (50, 60, 70, 80, 90) if scale == "full" else (70,)
    return made + [Point("web", s, load, "A") for load in loads for s in LARGE]


def runs(scale: str) -> list:
    return [p.at(scale) for p in points(scale)]


def keys(workload: str, schemes=LARGE, **more) -> list[str]:
    return [Point(workload, s, **more).key.at(1) for s in schemes]


# --- What a run says ----------------------------------------------------------------------------------------


def warm_up(results) -> float:
    """Its end, s."""
    return seconds(results.scenario.to_dict()["measure"]["from"])


class Messages:
    """Those that count: size (B), completion (s). `messages_counted`: from the first byte sent to the last received, of
    those that are sent after the warm-up and end; or from their arrival, of those that arrive after it and end; or of
    all of these, where those that do not end have taken as long as the run lasts."""

    def __init__(self, results):
        size = results.flows["size"].to_numpy()
        began, received = (results.seconds(c) for c in ("begun" if COUNTED == "sent" else "start", "received"))
        if COUNTED == "all":
            end = seconds(results.scenario.to_dict()["run"]["until"])
            received = np.where(np.isfinite(received), received, end)
        fct = received - began
        begun = began >= warm_up(results)
        ok = begun & np.isfinite(fct) & (fct > 0)
        self.size, self.fct = size[ok].astype(float), fct[ok]
        self.unfinished = int((begun & ~np.isfinite(fct)).sum())

    def bins(self, workload: str):
        """Indices of the messages of every size class."""
        return SIZES[workload].classes(self.size)


@once
def read(results) -> Messages:
    """The same, read once per run."""
    return Messages(results)


ENOUGH = 20  # messages in a size class before it decides


def tail(fct: np.ndarray) -> float:
    return np.percentile(fct, 99)


def p99(runs, workload: str, what=tail, **more) -> dict[str, dict[float, float]]:
    """By scheme and size class; only classes with enough messages under every scheme."""
    found = {s: read(of(runs, workload, s, **more)) for s in LARGE}
    bins = in_all({s: m.size for s, m in found.items()}, SIZES[workload].classes, ENOUGH)
    if not any(bins.values()):
        raise NotCheckable(f"no size class has {ENOUGH} messages under every scheme")
    return {s: {b: float(what(found[s].fct[which])) for b, which in bins[s].items()} for s in LARGE}


def best(runs, workload: str, against: str, **more) -> float:
    table = p99(runs, workload, **more)
    return max(table[against][b] / table["rocc"][b] for b in table["rocc"])


def lower(runs, workload: str, **more) -> float:
    """Share of the size classes in which RoCC's p99 is no more than 5 % above the others'."""
    table = p99(runs, workload, **more)
    held = [table["rocc"][b] <= 1.05 * min(table["dcqcn"][b], table["hpcc"][b]) for b in table["rocc"]]
    return float(np.mean(held))


def pauses(results, cls: str | None = None) -> int:
    table = results.tables["pauses"]
    if cls is None:
        return len(table)
    return int(table["port"].is_in(STOPPED[cls]).sum())


def queue(results, cls: str) -> float:
    """KB: mean over the ports of a class, after the warm-up."""
    table = results.tables["queues"]
    table = table.filter(table["port"].is_in(CLASSES[cls]) & (table["time_ps"] >= warm_up(results) * 1e12))
    return float(table["bytes"].mean()) / 1e3


def fct(runs, workload: str, s: str, **more) -> float:
    """ms: mean over all messages."""
    return float(read(of(runs, workload, s, **more)).fct.mean()) * 1e3


def of(runs, workload: str, s: str, **more):
    return runs[Point(workload, s, **more).key.at(1)]


@measure("ROCC-A1", needs=keys("web") + keys("hadoop"))
def fewer_pauses(runs):
    found = {
        f"{WORDS[w]}, {c}": pauses(of(runs, w, "dcqcn"), c) / max(1, pauses(of(runs, w, "rocc"), c))
        for w in WORKLOADS
        for c in CLASSES
    }
    return {"largest ratio": max(found.values())} | found


@measure("ROCC-A2", needs=keys("web") + keys("hadoop"))
def lower_tails(runs):
    return {f"largest p99, {s.upper()} / RoCC": max(best(runs, w, s) for w in WORKLOADS) for s in ("hpcc", "dcqcn")}


@measure("ROCC-F3.12a", needs=keys("web"))
def mean_completion(runs):
    mean = {s: fct(runs, "web", s) for s in LARGE}
    out = {"RoCC / best of the others": mean["rocc"] / min(mean["dcqcn"], mean["hpcc"])}
    return out | {f"{s} (ms)": v for s, v in mean.items()}


@measure("ROCC-F3.13a", needs=keys("web") + keys("hadoop"))
def lowest_tails(runs):
    found = {f"share of sizes, {WORDS[w]}": lower(runs, w) for w in WORKLOADS}
    return {"smallest share of sizes": min(found.values())} | found


@measure("ROCC-F3.13b", needs=keys("web"))
def tails_with_websearch(runs):
    return {f"largest p99, {s.upper()} / RoCC": best(runs, "web", s) for s in ("dcqcn", "hpcc")}


@measure("ROCC-F3.13c", needs=keys("hadoop"))
def tails_with_hadoop(runs):
    return {f"largest p99, {s.upper()} / RoCC": best(runs, "hadoop", s) for s in ("dcqcn", "hpcc")}


@measure("ROCC-F3.13d", needs=keys("web") + keys("hadoop"))
def large_flows_of_hpcc(runs):
    above, ratio = 0, 0.0
    for w in WORKLOADS:
        table = p99(runs, w)
        above += sum(table["hpcc"][b] > table["rocc"][b] for b in sorted(table["rocc"])[-3:])
    table = p99(runs, "hadoop")
    ratio = max(table["hpcc"][b] / table["dcqcn"][b] for b in sorted(table["rocc"])[-3:])
    return {"of the six largest classes, above RoCC's": above, "FB_Hadoop, large, HPCC / DCQCN": ratio}


@measure("ROCC-F3.13e", needs=keys("web") + keys("hadoop"))
def tail_over_mean(runs):
    worst = 0.0
    for w in WORKLOADS:
        tails, means = p99(runs, w), p99(runs, w, np.mean)
        spread = {s: {b: tails[s][b] / means[s][b] for b in tails[s]} for s in LARGE}
        for s in ("dcqcn", "hpcc"):
            worst = max(worst, max(spread["rocc"][b] / spread[s][b] for b in spread["rocc"]))
    return {"largest p99/mean, RoCC / other": worst}


@measure("ROCC-F3.12x", needs=keys("web", load=50))
def tails_at_50(runs):
    return {"share of sizes, WebSearch": lower(runs, "web", load=50)}


@measure("ROCC-T3.3a", needs=keys("hadoop", ("rocc",)))
def pairs_per_link(runs):
    results = of(runs, "hadoop", "rocc")
    ports = results.tables["ports"]
    used = ports.filter(ports["port"].is_in(CORE_DOWN))
    share = used["bytes"].to_numpy() / used["bytes"].sum()
    flows = results.flows
    pairs = len(set(zip(flows["src"].to_list(), flows["dst"].to_list(), strict=True)))
    return {
        "queue pairs": pairs,
        "pairs per link of the core": pairs / len(CORE_DOWN),
        "largest share of a link": float(share.max()),
    }


def rates(runs, s: str) -> np.ndarray:
    """Mb/s of every message at its source: its bytes in the time until the first packet of the next one
    leaves, which waits already."""
    results = of(runs, "hadoop", s, reading="S")
    flows = results.flows
    src, dst, size = (flows[c].to_numpy().astype(np.int64) for c in ("src", "dst", "size"))
    pair, begun = src * 1000 + dst, results.seconds("begun")
    order = np.lexsort((flows["id"].to_numpy(), pair))
    pair, begun, size = pair[order], begun[order], size[order]
    took = np.where(pair[1:] == pair[:-1], begun[1:] - begun[:-1], np.nan)
    counts = np.isfinite(took) & (took > 0) & (begun[:-1] >= warm_up(results))
    return size[:-1][counts] * 8 / took[counts] / 1e6


@measure("ROCC-T3.3b", needs=keys("hadoop", reading="S"))
def mean_rates(runs):
    mean = {s: float(rates(runs, s).mean()) for s in LARGE}
    out = {"RoCC (Mb/s)": mean["rocc"], "HPCC / RoCC": mean["hpcc"] / mean["rocc"]}
    out["DCQCN off / RoCC off"] = abs(mean["dcqcn"] - 333) / max(1e-9, abs(mean["rocc"] - 333))
    return out | {"HPCC (Mb/s)": mean["hpcc"], "DCQCN (Mb/s)": mean["dcqcn"]}


@measure("ROCC-T3.3c", needs=keys("hadoop", reading="S"))
def deviation_of_rates(runs):
    std = {s: float(rates(runs, s).std()) for s in LARGE}
    out = {"DCQCN / HPCC": std["dcqcn"] / std["hpcc"], "DCQCN / RoCC": std["dcqcn"] / std["rocc"]}
    return out | {"HPCC / RoCC": std["hpcc"] / std["rocc"], "RoCC (Mb/s)": std["rocc"]}


@measure("ROCC-F3.14a1", needs=keys("web"))
def queues_of_dcqcn(runs):
    return {f"{c} (KB)": queue(of(runs, "web", "dcqcn"), c) for c in CLASSES}


@measure("ROCC-F3.14a2", needs=keys("web"))
def queues_of_hpcc(runs):
    core = {s: queue(of(runs, "web", s), "core") for s in ("hpcc", "rocc")}
    edge = queue(of(runs, "web", "hpcc"), "ingress edge")
    return {"core, HPCC / RoCC": core["hpcc"] / core["rocc"], "HPCC, ingress edge / core": edge / core["hpcc"]}


@measure("ROCC-F3.14a3", needs=keys("web", ("rocc",)))
def queues_of_rocc(runs):
    return {f"{c} (KB)": queue(of(runs, "web", "rocc"), c) for c in CLASSES}


@measure("ROCC-F3.14a4", needs=keys("web"))
def queue_and_completion(runs):
    hpcc, rocc = (of(runs, "web", s) for s in ("hpcc", "rocc"))
    mean = fct(runs, "web", "hpcc") / fct(runs, "web", "rocc")
    return {"mean FCT, HPCC / RoCC": mean, "queue, HPCC / RoCC": queue(hpcc, "core") / queue(rocc, "core")}


def fewer(runs, workload: str) -> dict[str, float]:
    many = max(1, pauses(of(runs, workload, "dcqcn")))
    return {f"{s.upper()} / DCQCN": pauses(of(runs, workload, s)) / many for s in ("rocc", "hpcc")} | {"DCQCN": many}


@measure("ROCC-F3.14b", needs=keys("web"))
def pauses_with_websearch(runs):
    return fewer(runs, "web")


@measure("ROCC-F3.14c", needs=keys("hadoop"))
def pauses_with_hadoop(runs):
    rocc, hpcc = (of(runs, "hadoop", s) for s in ("rocc", "hpcc"))
    out = {"RoCC, core (KB)": queue(rocc, "core"), "core, HPCC / RoCC": queue(hpcc, "core") / queue(rocc, "core")}
    return fewer(runs, "hadoop") | out


def fold(runs, s: str) -> dict[float, float]:
    """By size class: mean completion without PFC over that with it."""
    one, two = (read(of(runs, "hadoop", s, pfc=pfc)) for pfc in (False, True))
    a, b = one.bins("hadoop"), two.bins("hadoop")
    shared = [k for k in a if min(len(a[k]), len(b[k])) >= ENOUGH]
    return {k: float(one.fct[a[k]].mean() / two.fct[b[k]].mean()) for k in shared}


NO_PFC = keys("hadoop") + keys("hadoop", pfc=False)


@measure("ROCC-F3.15a", needs=NO_PFC)
def dcqcn_without_pfc(runs):
    return {"largest ratio": max(fold(runs, "dcqcn").values())}


@measure("ROCC-F3.15b", needs=NO_PFC)
def hpcc_without_pfc(runs):
    hpcc = max(fold(runs, "hpcc").values())
    return {"largest ratio": hpcc, "HPCC / DCQCN": hpcc / max(fold(runs, "dcqcn").values())}


@measure("ROCC-F3.15c", needs=NO_PFC)
def rocc_without_pfc(runs):
    ratios = fold(runs, "rocc").values()
    return {"smallest ratio": min(ratios), "largest ratio": max(ratios)}


@measure("ROCC-F3.15d", needs=keys("hadoop", pfc=False))
def buffers_without_pfc(runs):
    mean = {s: queue(of(runs, "hadoop", s, pfc=False), "core") for s in LARGE}
    out = {"RoCC (KB)": mean["rocc"], "DCQCN / RoCC": mean["dcqcn"] / mean["rocc"]}
    return out | {"HPCC / RoCC": mean["hpcc"] / mean["rocc"], "DCQCN / HPCC": mean["dcqcn"] / mean["hpcc"]}


@measure("ROCC-A3", needs=NO_PFC)
def needs_no_pfc(runs):
    ratios = fold(runs, "rocc").values()
    return {
        "smallest ratio": min(ratios),
        "largest ratio": max(ratios),
        "RoCC (KB)": queue(of(runs, "hadoop", "rocc", pfc=False), "core"),
    }


SWEEP = (50, 60, 70, 80, 90)


@measure("ROCC-G2", needs=["large-web-*-A:*@1"])
def highest_load(runs):
    reached = {}
    for s in LARGE:
        reached[s] = 0
        for load in SWEEP:
            m = read(of(runs, "web", s, load=load, reading="A"))
            ideal = m.size * 1.048 * 8 / LINE + 10e-6
            if np.percentile(m.fct / ideal, 99) > 10:
                break
            reached[s] = load
    return {"RoCC - best of the others (points)": reached["rocc"] - max(reached["dcqcn"], reached["hpcc"])} | reached
