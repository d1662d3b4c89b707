"""The comparisons: which scenario replays which list of which peer."""

from __future__ import annotations

import csv
import gzip
import io
import math
import os
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

HERE = Path(__file__).parent
DATA = Path(os.environ.get("THALWEG_REFERENCE", HERE / "../../../shared/reference"))

# Upper edges of the size classes, bytes.
EDGES = [10_000, 100_000, 1_000_000, 10_000_000, math.inf]


@dataclass
class Outcome:
    """What came out. `flows`: (size, peer FCT, our FCT) in ns; `metrics`: (name, peer, ours)."""

    flows: list[tuple[float, float, float]] = field(default_factory=list)
    metrics: list[tuple[str, float, float]] = field(default_factory=list)
    seconds: float = 0.0


def read(folder: str, name: str) -> list[dict[str, str]]:
    path = DATA / folder / name
    text = path.read_text() if path.is_file() else gzip.decompress((DATA / folder / f"{name}.gz").read_bytes()).decode()
    return list(csv.DictReader(io.StringIO(text)))


def scenario(toml: str, folder: str, overrides: dict, traffic: str | None = None):
    """The scenario with the peer's files beside it; `traffic` replaces its traffic sections."""
    import thalweg

    text = (HERE / toml).read_text()
    if traffic is not None:
        text = re.sub(r"\[\[traffic\]\].*?\n\n", "", text, flags=re.S) + traffic
    return thalweg.Scenario(text, toml, DATA / folder, overrides)


def run(toml: str, folder: str, overrides: dict, traffic: str | None = None):
    """What comes out of it."""
    import thalweg

    return thalweg.run(scenario(toml, folder, overrides, traffic), progress=False)


def by_flow(results, peer: list[dict[str, str]]) -> Outcome:
    flows = results.flows
    ours = dict(zip(flows["id"], zip(flows["size"], flows["fct_ps"], strict=True), strict=True))
    out = Outcome(seconds=results.meta["seconds"])
    for row in peer:
        size, fct = ours[int(row["id"])]
        theirs = float(row["fct_ns"] or -1)
        if fct >= 0 and theirs > 0:  # complete in both
            out.flows.append((size, theirs, fct / 1000))
    return out


# ---- pFabric ------------------------------------------------------------------------------------------

SPRAY = '{ kind = "spray-round-robin", offsets = "spray_offsets.csv" }'
MINTCP = {
    "switch.scheduler.kind": "fifo",
    "transport.congestion": '{ kind = "mintcp", halve_threshold = false }',
    "run.until": "200ms",  # some flows of the peer never end
}


# Its pHost: control packets first, all data alike (`capability_prio_thresh` 0); a token per 1540 B. Its NIC has a queue; here it asks its flows.
PHOST = {
    "nic.order": "round-robin",
    "switch.scheduler": '{ kind = "priority", classes = 3 }',
    "transport": '{ kind = "phost", free_class = 2, token_class = 2, spacing = "1232ns" }',
}


def pfabric(flows: str, mode: str, **extra) -> Outcome:
    overrides = {"traffic.0.file": f"flows_{flows}.csv", **extra}
    if mode.endswith("spray"):
        overrides["routing"] = SPRAY
    if mode == "mintcp_hash":
        overrides |= MINTCP
    if mode.startswith("phost"):
        overrides |= PHOST
    return by_flow(run("pfabric.toml", "pfabric", overrides), read("pfabric", f"fct_{flows}_{mode}.csv"))


def pfabric_lone() -> Outcome:
    """The README's formula, for flows of n packets within a rack and across."""
    out = Outcome()
    sizes = [1, 2, 3, 12, 13, 50, 1000]
    for dst, rest in [(1, 2064), (16, 3480)]:
        traffic = "".join(
            f'[[traffic]]\nkind = "flow"\nsrc = 0\ndst = {dst}\nsize = "{1460 * n}B"\nstart = "{i * 10}ms"\n'
            for i, n in enumerate(sizes)
        )
        fcts = run("pfabric.toml", "pfabric", {}, traffic).flows["fct_ps"]
        out.flows += [(1460 * n, 1200 * n + rest, fct / 1000) for n, fct in zip(sizes, fcts, strict=True)]
    return out


# ---- HPCC fork ----------------------------------------------------------------------------------------


def hpcc_star(flows: str) -> Outcome:
    results = run("hpcc.toml", "hpcc-star", {"traffic.0.file": f"flows_{flows}.csv"})
    return by_flow(results, read("hpcc-star", f"fct_{flows}_dctcp.csv"))


def hpcc_pfc() -> Outcome:
    overrides = {"traffic.0.file": "flows_pfc.csv", "switch.shared_buffer.total": "2MiB"}
    return by_flow(run("hpcc.toml", "hpcc-incast", overrides), read("hpcc-incast", "fct_pfc_dctcp.csv"))


# What CC_MODE 7 changes in `hpcc-rdma.toml`.
TIMELY = {
    "transport.header": "56B",  # and the time stamp
    "transport.notification": "off",
    "transport.rtt": "{ segment = 1, less_serialization = false }",
    "switch.marking": "none",
    "transport.congestion": '{ kind = "timely", min_rtt = "20us", alpha = 0.875, beta = 0.8, additive = "100Mbps",'
    ' hyper = { after = 5, step = "500Mbps", below_t_low = true, count = "increase" }, scale_updates = false,'
    ' once_per_round = true, max_decrease = 1.0, min_rate = "1Gbps" }',
}
# What CC_MODE 3 changes: telemetry of 42 B in every packet (an ACK without is 46 B, padded to 60 in the other modes), no marks, ACKs
# that a pause holds, one round trip for all. `base_rtt` is the peer's, of payloads of 1000 B.
HPCC = {
    "transport.ack_size": "46B",
    "transport.nack_size": "46B",
    "transport.telemetry": "42B",
    "transport.notification": "off",
    "switch.marking": "none",
    "nic.order": "circle",
    "nic.pause_control": True,
    "transport.congestion": '{ kind = "hpcc", max_stage = 0, base_rtt = "4160ns",'
    ' variant = { kind = "simulator", additive = "40Mbps", min_rate = "1Gbps" } }',
}
RATES = {"dcqcn": {}, "timely": TIMELY, "hpcc": HPCC}
# Marking is random: other random numbers, the same flows.
RUNS = {"dcqcn": ("dcqcn", "dcqcn_run2", "dcqcn_run3"), "timely": ("timely",), "hpcc": ("hpcc",)}


def pauses(folder: str, name: str) -> int:
    """Times that somebody was told to stop."""
    return sum(int(r["pause"]) for r in read(folder, name))


def hpcc_rdma(folder: str, flows: str, scheme: str, suffix: str = "", **overrides) -> Outcome:
    """Flows of a list, and pauses. DCQCN: seed n and the peer's run n, one behind the other."""
    out = Outcome()
    stops = {"peer": 0, "ours": 0}
    for seed, theirs in enumerate(RUNS[scheme], start=1):
        changed = RATES[scheme] | {"traffic.0.file": f"flows{suffix}.csv", "seed": seed} | overrides
        results = run("hpcc-rdma.toml", folder, changed)
        list_of = f"{suffix[1:]}_" if suffix else ""
        one = by_flow(results, read(folder, f"fct_{list_of}{theirs}.csv"))
        events = "events" if flows == "pfc" else "pfc"
        stops["peer"] += pauses(folder, f"{events}_{list_of}{theirs}.csv")
        stops["ours"] += results.summary["pauses"]["frames"]
        out.flows += one.flows
        out.seconds += one.seconds
    out.metrics.append(("pauses", stops["peer"] / len(RUNS[scheme]), stops["ours"] / len(RUNS[scheme])))
    return out


def rdma_lone(scheme: str) -> Outcome:
    results = run("hpcc-rdma.toml", "hpcc-star", RATES[scheme] | {"traffic.0.file": "flows_lone.csv"})
    return by_flow(results, read("hpcc-star", f"fct_lone_{scheme}.csv"))


# The k = 4 fat-tree, on the peer's paths.
FAT_TREE = {
    "topology": '{ kind = "file", format = "links-csv", file = "links.csv", rate = "100Gbps", delay = "1us", time_quantum = "1ns" }',
    "routing": '{ kind = "pinned", file = "paths.csv" }',
}


def unpacked(folder: str, name: str) -> str:
    """Where a file that is kept compressed lies as it is."""
    import tempfile

    place = Path(tempfile.gettempdir()) / f"thalweg-{folder}-{name}"
    place.write_bytes(gzip.decompress((DATA / folder / f"{name}.gz").read_bytes()))
    return str(place)


def rdma_fat_tree(scheme: str) -> Outcome:
    paths = FAT_TREE["routing"].replace("paths.csv", unpacked("hpcc-fattree", "paths.csv"))
    overrides = FAT_TREE | {"routing": paths}
    if scheme == "hpcc":  # six links each way
        overrides["transport.congestion"] = HPCC["transport.congestion"].replace("4160ns", "12480ns")
    return hpcc_rdma("hpcc-fattree", "", scheme, **overrides)


def port_to(flows: list[dict[str, str]]) -> int:
    """The switch's port to the one receiver of all flows: in a star, host n hangs on link n, and ports are numbered by
    link, the host's end first."""
    (receiver,) = {int(row["dst"]) for row in flows}
    return 2 * receiver + 1


def hpcc_long(flows: str, end_ms: int, scheme: str = "dctcp") -> Outcome:
    """Long flows into one port: the last 40 % of the run."""
    import numpy as np

    peer = read("hpcc-incast", f"series_{flows}_{scheme}.csv")
    listed = read("hpcc-incast", f"flows_{flows}.csv")
    senders = len(listed)
    overrides = {
        "traffic.0.file": f"flows_{flows}.csv",
        "run.until": f"{end_ms}ms",
        "measure.queues": f'{{ every = "10us", ports = [{port_to(listed)}] }}',
        "measure.controllers": '{ every = "10us" }',
    }
    results = run(
        "hpcc.toml" if scheme == "dctcp" else "hpcc-rdma.toml", "hpcc-incast", overrides | RATES.get(scheme, {})
    )
    queues, flows_table = results.tables["queues"], results.tables["controllers"]
    begin, end = 0.6 * end_ms, float(end_ms)

    def window(ms, values):
        return np.array([v for t, v in zip(ms, values, strict=True) if begin <= t < end])

    theirs = window([int(r["time_ns"]) / 1e6 for r in peer], [int(r["queue_bytes"]) for r in peer])
    ours = window(queues["time_ps"] / 1e9, queues["bytes"])
    out = Outcome(seconds=results.meta["seconds"])
    out.metrics += [
        ("queue mean KB", theirs.mean() / 1e3, ours.mean() / 1e3),
        ("queue max KB", theirs.max() / 1e3, ours.max() / 1e3),
    ]
    sums = [0.0, 0.0]
    for flow in range(senders):
        acked = window([int(r["time_ns"]) / 1e6 for r in peer], [int(r[f"acked{flow}_bytes"] or 0) for r in peer])
        mine = flows_table.filter(flows_table["flow"] == flow)
        delivered = window(mine["time_ps"] / 1e9, mine["delivered"])
        rates = [(x[-1] - x[0]) * 8 / ((len(x) - 1) * 1e4) for x in (acked, delivered)]
        sums = [a + b for a, b in zip(sums, rates, strict=True)]
    out.metrics.append(("goodput Gb/s", *sums))
    return out


# ---- htsim --------------------------------------------------------------------------------------------

HTSIM = {"k4_10g": (4, 10, 250, 30), "k4_100g": (4, 100, 300, 65), "k8_100g": (8, 100, 300, 65)}
SEGMENT = 1500


def htsim(name: str, scheme: str) -> Outcome:
    k, gbps, limit, mark = HTSIM[name]
    overrides = {
        "topology.file": f"links_k{k}.csv",
        "topology.rate": f"{gbps}Gbps",
        "routing.file": f"paths_{name}.csv",
        "traffic.0.file": f"flows_{name}.csv",
        # The peer counts the packet on the wire against the limit, thalweg does not.
        "switch.buffer": f"{(limit - 1) * SEGMENT}B",
    }
    if scheme == "dctcp":
        overrides["transport.congestion"] = (
            '{ kind = "dctcp", initial_alpha = 0.0, growth = "room", cut_without_marks = true }'
        )
        # The peer looks when the last bit has left, a packet later than thalweg.
        overrides["switch.marking"] = (
            f'{{ kind = "step", threshold = "{(mark - 1) * SEGMENT}B", at = "departure", include_self = true }}'
        )
    if scheme == "swift":
        overrides |= {
            "transport": "{ mss = '1500B', header = '0B', ack_size = '40B', sack = 'off', limited_transmit = false, "
            "initial_window = '12pkts', max_window = '1000pkts', "
            "rto = { kind = 'rfc6298', initial = '1ms', min = '100us' }, "
            "congestion = { kind = 'swift', variant = 'htsim', min_window = 0.00667 } }",
            # A packet's delay begins as the NIC takes it, and those of a flow wait for their turn there.
            "nic": "{ order = 'round-robin' }",
        }
    results = run("htsim.toml", "htsim-permutation", overrides)
    return by_flow(results, read("htsim-permutation", f"fct_{name}_{scheme}.csv"))


def htsim_model(name: str, scheme: str, **rules) -> Outcome:
    """The peer's rules, written out: see `htsim_model.py`."""
    import time

    from htsim_model import Rules, replay

    k, gbps, limit, mark = HTSIM[name]
    flows = [tuple(int(r[c]) for c in ("src", "dst", "size_bytes", "start_ns")) for r in
             read("htsim-permutation", f"flows_{name}.csv")]  # fmt: skip
    paths = [
        tuple([int(n) for n in r[c].split("-")] for c in ("data_path", "ack_path"))
        for r in read("htsim-permutation", f"paths_{name}.csv")
    ]
    begun = time.monotonic()
    asked = Rules(dctcp=scheme == "dctcp", **rules)
    fcts = replay(asked, gbps * 10**9, limit * SEGMENT, mark * SEGMENT, 10**6, k**3 // 4, flows, paths)
    peer = read("htsim-permutation", f"fct_{name}_{scheme}.csv")
    triples = [(f[2], float(p["fct_ns"]), t) for f, p, t in zip(flows, peer, fcts, strict=True)]
    return Outcome(flows=triples, seconds=time.monotonic() - begun)


# ---- ns-3 ---------------------------------------------------------------------------------------------

PACKET = 1500
FLOW = '[[traffic]]\nkind = "flow"\nsrc = {src}\ndst = {dst}\nsize = "{size}B"\nstart = "{start}s"\n'


def bottleneck(mbps: int, rtt: int, limit: int) -> dict:
    return {
        "topology.bottleneck_rate": f"{mbps}Mbps",
        "topology.delay": f"{rtt // 2 - 1}ms",
        # The peer keeps one more packet in the device below its queue.
        "switch.buffer": f"{limit + 1}pkts",
    }


def bdp(mbps: int, rtt: int) -> float:
    return mbps * 1e3 * rtt / 8 / PACKET


def half_up(x: float) -> int:
    """The nearest whole number as the peer rounds: halves upwards, where Python's `round` takes the even one."""
    return math.floor(x + 0.5)


def ns3_aqm(mbps: int, aqm: str, model: bool = False) -> dict:
    """The peer's discipline stands above a device queue of one packet, thalweg's ends at the wire: a packet that leaves the first has one
    packet's time left in the second, and what is nearly empty holds that packet. `model`: 1/√count in fixed point, as there."""
    target = 5e6 + (PACKET + 2) * 8000 / mbps
    law = f'target = "{target:.0f}ns", interval = "100ms", mtu = "{PACKET + 2}B", law = "{"linux" if model else "rfc8289"}"'
    if aqm == "pie":
        # Less than two packets there, the one in the device besides here.
        target += 10e6
        return {"switch.marking": f'{{ kind = "pie", target = "{target:.0f}ns", mean_packet = "{2 * PACKET}B" }}'}
    if aqm == "codel":
        return {"switch.marking": f'{{ kind = "codel", {law} }}'}
    return {"switch.scheduler": f'{{ kind = "fq-codel", bins = 1024, {law} }}', "nic.scheduler": "fifo"}


def ns3_long(mbps: int, rtt: int, scheme: str, flows: int, growth: str = "gradual-cwr") -> Outcome:
    """Unlimited data through a drop-tail queue; averages over t = 30 .. 60 s."""
    overrides = bottleneck(mbps, rtt, math.ceil(bdp(mbps, rtt)))
    if scheme == "dctcp":
        mark = max(5, half_up(bdp(mbps, rtt) / 4))
        # Marked above K in the queue: above K + 1 with the packet in the device, so from K + 2 on.
        overrides["switch.marking"] = f'{{ kind = "step", threshold = "{mark + 2}pkts" }}'
        overrides["transport.congestion"] = f'{{ kind = "dctcp", growth = "{growth}" }}'
    event = "marks" if scheme == "dctcp" else "drops"
    return ns3_series(f"long_{mbps}mbps_{rtt}ms_{scheme}_{flows}.csv", overrides, flows, event)


def ns3_rules(scheme: str, **rules: bool) -> dict:
    """The peer's controller, rule by rule, but for those that are switched off: see `ns3_model.py`."""
    import ns3_model  # noqa: F401 (registers the controllers)

    off = ", ".join(f"{name} = {str(on).lower()}" for name, on in rules.items())
    return {"transport.congestion": f'{{ kind = "custom", name = "ns3-{scheme}", params = {{ {off} }} }}'}


def ns3_newreno(mbps: int, rtt: int, flows: int, **rules: bool) -> Outcome:
    overrides = bottleneck(mbps, rtt, math.ceil(bdp(mbps, rtt))) | ns3_rules("newreno", **rules)
    return ns3_series(f"long_{mbps}mbps_{rtt}ms_newreno_{flows}.csv", overrides, flows, "drops", shape=True)


def ns3_cubic(mbps: int, rtt: int, flows: int, aqm: str | None = None, model: bool = False, **rules: bool) -> Outcome:
    """The same for CUBIC, through a drop-tail queue or an `aqm`. `model`: with the peer's rules."""
    name = f"aqm_{mbps}mbps_{rtt}ms_cubic_{aqm}_{flows}.csv" if aqm else f"long_{mbps}mbps_{rtt}ms_cubic_{flows}.csv"
    overrides = bottleneck(mbps, rtt, 1000 if aqm else math.ceil(bdp(mbps, rtt))) | {"transport.congestion": "cubic"}
    if aqm:
        overrides |= ns3_aqm(mbps, aqm, model)
    if model:
        overrides |= ns3_rules("cubic", **rules)
    return ns3_series(name, overrides, flows, "drops", shape=True)


def ns3_series(name: str, overrides: dict, flows: int, event: str, shape: bool = False) -> Outcome:
    """Flows of unlimited data, the second 10 s later: a series of the peer beside ours, a sample every 100 ms. `shape`: shares and
    windows too, and from t = 15 s on."""
    import numpy as np

    peer = read("ns3-bottleneck", name)
    overrides = overrides | {
        "measure.queues": '{ every = "100ms", ports = [8] }',
        "measure.controllers": '{ every = "100ms" }',
    }
    traffic = "".join(FLOW.format(src=i, dst=2 + i, size=10**10, start=10 * i) for i in range(flows))
    results = run("ns3.toml", "ns3-bottleneck", overrides, traffic)
    queues, table = results.tables["queues"], results.tables["controllers"]
    counted = queues["marked" if event == "marks" else "dropped"].to_numpy()
    seconds = queues["time_ps"].to_numpy() / 1e12
    theirs = np.array([float(r["time_s"]) for r in peer])
    # Without the packet in the device.
    waiting = np.maximum(queues["packets"].to_numpy().astype(int) - 1, 0)

    def column(name):
        return np.array([float(r[name]) for r in peer])

    def gained(times, values, since):
        return float(np.diff(np.interp([since, 60], times, values))[0])

    def of(flow, name):
        mine = table.filter(table["flow"] == flow)
        return mine["time_ps"].to_numpy() / 1e12, mine[name].to_numpy()

    def goodput(flow, since):
        each = gained(theirs, column(f"delivered{flow}_bytes"), since), gained(*of(flow, "delivered"), since)
        return np.array(each) * 8e-6 / (60 - since)

    def since(begin, label):
        last = {"theirs": theirs >= begin - 1e-9, "ours": seconds >= begin - 1e-9}
        queue = column("queue_pkts")[last["theirs"]], waiting[last["ours"]]
        out.metrics += [
            (f"goodput Mb/s{label}", *sum(goodput(flow, begin) for flow in range(flows))),
            (f"queue mean pkts{label}", queue[0].mean(), queue[1].mean()),
            (f"queue max pkts{label}", queue[0].max(), queue[1].max()),
            (f"{event}{label}", gained(theirs, column(event), begin), gained(seconds, counted, begin)),
        ]

    out = Outcome(seconds=results.meta["seconds"])
    since(30, "")
    if shape:
        since(15, " 15 s")
        if flows > 1:
            out.metrics.append(("flow 0 Mb/s", *goodput(0, 30)))
        for flow in range(flows):
            windows = column(f"cwnd{flow}"), np.interp(theirs, *of(flow, "window")) / 1448
            for q in (0, 10, 50, 90, 100):
                out.metrics.append((f"window{flow} p{q}", *(np.percentile(w[theirs >= 15 - 1e-9], q) for w in windows)))
    return out


# What ns-3's controllers do otherwise: see README.md.
# Where its Vegas leaves slow start, segments (the series' ssthresh).
VEGAS_LEAVES = {(10, 20): 30, (10, 80): 35, (100, 20): 71, (100, 80): 143}
AS_THERE = {"vegas": 'difference = "ns3"', "bbr": "quantum = 1, policer = false, high_gain = 2.89"}


def ns3_kind(mbps: int, rtt: int, scheme: str, flows: int, **more) -> Outcome:
    """The same for a built-in controller, with the peer's choices where it has several."""
    overrides = bottleneck(mbps, rtt, math.ceil(bdp(mbps, rtt)))
    overrides["transport.congestion"] = f'{{ kind = "{scheme}", {AS_THERE[scheme]} }}'
    if scheme == "vegas":
        overrides["transport.initial_threshold"] = f"{VEGAS_LEAVES[mbps, rtt]}pkts"
    return ns3_series(f"long_{mbps}mbps_{rtt}ms_{scheme}_{flows}.csv", overrides | more, flows, "drops", shape=True)


def ns3_short(mbps: int, rtt: int, queue: str, congestion: dict | None = None) -> Outcome:
    """One flow at a time, to the last byte at the receiver."""
    peer = read("ns3-bottleneck", f"short_{mbps}mbps_{rtt}ms_newreno_{queue}.csv")
    limit = 10_000 if queue == "deep" else math.ceil(bdp(mbps, rtt))
    traffic = "".join(
        FLOW.format(src=0, dst=2, size=1448 * int(r["packets"]), start=20 * i) for i, r in enumerate(peer)
    )
    overrides = bottleneck(mbps, rtt, limit) | {"run.until": "10000s", "run.stop_when_done": True}
    overrides |= congestion or {}
    results = run("ns3.toml", "ns3-bottleneck", overrides, traffic)
    # The peer's third segment of the handshake (54 B) leaves before the data; thalweg's data carries that ACK.
    # It delays them by its own time on the access link, and by what the bottleneck still needs for it then.
    access, narrow = 54 * 8, 54 * 8000 / mbps
    third = access + max(0.0, narrow - 1502 * 8)
    out = Outcome(seconds=results.meta["seconds"])
    for row, fct in zip(peer, results.flows["fct_ps"], strict=True):
        out.flows.append((1448 * int(row["packets"]), float(row["fct_rx_us"]) * 1000, fct / 1000 + third))
    return out


def ns3_model_short(mbps: int, rtt: int) -> Outcome:
    return ns3_short(mbps, rtt, "bdp", ns3_rules("newreno"))


# ---- Mahimahi -----------------------------------------------------------------------------------------

TRACES = DATA / "../traces"
LTE = ("Verizon-LTE-short.down", "Verizon-LTE-short.up", "TMobile-LTE-driving.down", "ATT-LTE-driving-2016.down")
OPPORTUNITY, RUN_MS = 1504, 140_000
CODEL = '{ kind = "codel", target = "50ms", interval = "100ms", mtu = "1504B" }'
PIE = '{ kind = "pie", variant = "mahimahi", target = "50ms", burst = "100ms", mean_packet = "1504B" }'
# Of each scheme there: congestion control, marking, and what else its sender does otherwise.
EMULATED = {
    "cubic": ("cubic", "none", {}),
    "cubic-codel": ("cubic", CODEL, {}),
    "cubic-pie": ("cubic", PIE, {}),
    "reno": ("newreno", "none", {}),
    "bbr": ("bbr", "none", {}),
    # The peer's queue is the authors' own.
    "abc": ('{ kind = "abc", dual = false }', '{ kind = "abc", arithmetic = "artifact" }', {}),
    # Its own sender over UDP: an ACK per packet of 1472 B.
    "copa": ("copa", "none", {"transport.mss": "1416B", "transport.delayed_acks": "off"}),
    "copa05": (
        '{ kind = "copa", mode_switching = false }',
        "none",
        {"transport.mss": "1416B", "transport.delayed_acks": "off"},
    ),
}


def mahimahi(trace: str, scheme: str, seed: int = 1, **more) -> Outcome:
    """140 s of one flow: utilisation and queueing delays, all packets. The peer's value is the mean of its runs; `yardstick` their range."""
    import tempfile

    import numpy as np

    import thalweg

    peer = [
        r
        for r in read("mahimahi", "summary.csv")
        if (r["trace"], r["scheme"]) == (trace, scheme) and r["run"][-1].isdigit()
    ]
    begin = int(peer[0]["flow_start_ms"])
    ms = np.array(gzip.decompress((TRACES / f"{trace}.gz").read_bytes()).split(), dtype=np.int64)
    congestion, marking, own = EMULATED[scheme]
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / trace).write_bytes(gzip.decompress((TRACES / f"{trace}.gz").read_bytes()))
        text = (HERE / "mahimahi.toml").read_text().replace("Verizon-LTE-short.down", trace)
        text += f'[[traffic]]\nkind = "flow"\nsrc = 0\ndst = 1\nsize = "10GB"\nstart = "{begin}ms"\n'
        overrides = {
            "run.until": f"{begin + RUN_MS}ms", "transport.congestion": congestion, "switch.marking": marking, "seed": seed,
        } | own | more  # fmt: skip
        results = thalweg.run(
            thalweg.Scenario(text, "mahimahi.toml", folder, overrides),
            Path(folder) / "run",
            record="hops",
            progress=False,
        )
        packets = results.packets.collect()
    data = packets.filter(packets["forward"] == 1)
    came = data["arrivals_ps"].list.first().to_numpy().astype(float)
    left = data["starts_ps"].list.first().to_numpy().astype(float)
    sent = (left > 0) & (left < (begin + RUN_MS) * 1e9)
    delay = np.sort((left[sent] - came[sent]) / 1e9)
    laps = np.concatenate([ms + lap * ms[-1] for lap in range(1 + (begin + RUN_MS) // int(ms[-1]))])
    chances = int(((laps >= begin) & (laps < begin + RUN_MS)).sum())

    def quantile(p):
        return delay[int(p * len(delay))]

    ours = {
        "util": data["wire"].to_numpy()[sent].sum() / (OPPORTUNITY * chances), "qdelay_mean_ms": delay.mean(),
        "p50": quantile(0.5), "p95": quantile(0.95), "p99": quantile(0.99),
    }  # fmt: skip
    out = Outcome(seconds=results.meta["seconds"])
    for name, value in ours.items():
        theirs = [float(r[name]) for r in peer]
        out.metrics.append((name, sum(theirs) / len(theirs), float(value)))
    return out


# ---- all ----------------------------------------------------------------------------------------------


def all_sets() -> dict[str, Callable[[], Outcome]]:
    sets: dict[str, Callable[[], Outcome]] = {"pfabric/lone": pfabric_lone}
    for flows in ("aditya_60", "aditya_80", "dctcp_60", "dctcp_80"):
        for mode in ("pfabric_hash", "pfabric_spray"):
            sets[f"pfabric/{flows}/{mode}"] = partial(pfabric, flows, mode)
    for flows in ("aditya_60", "aditya_80", "dctcp_60", "dctcp_80"):
        sets[f"pfabric/{flows}/phost_hash"] = partial(pfabric, flows, "phost_hash")
    for flows in ("aditya_60", "aditya_80"):
        sets[f"pfabric/{flows}/phost_spray"] = partial(pfabric, flows, "phost_spray")
    sets["pfabric/aditya_60/mintcp_hash"] = partial(pfabric, "aditya_60", "mintcp_hash")
    for flows in ("lone", "websearch", "hadoop"):
        sets[f"hpcc-star/{flows}"] = partial(hpcc_star, flows)
    sets["hpcc-incast/pfc"] = hpcc_pfc
    sets["hpcc-incast/two"] = partial(hpcc_long, "two", 10)
    sets["hpcc-incast/eight"] = partial(hpcc_long, "eight", 20)
    for scheme in RATES:
        sets[f"hpcc-rdma/lone/{scheme}"] = partial(rdma_lone, scheme)
        for flows in ("websearch", "hadoop"):
            sets[f"hpcc-rdma/{flows}/{scheme}"] = partial(hpcc_rdma, "hpcc-star", flows, scheme, f"_{flows}")
        sets[f"hpcc-rdma/fat-tree/{scheme}"] = partial(rdma_fat_tree, scheme)
        small = {"switch.inputs.shared": "2MiB"}
        sets[f"hpcc-rdma/pfc/{scheme}"] = partial(hpcc_rdma, "hpcc-incast", "pfc", scheme, "_pfc", **small)
        sets[f"hpcc-rdma/two/{scheme}"] = partial(hpcc_long, "two", 10, scheme)
        sets[f"hpcc-rdma/eight/{scheme}"] = partial(hpcc_long, "eight", 20, scheme)
    for name in HTSIM:
        sets[f"htsim/{name}/swift"] = partial(htsim, name, "swift")
        for scheme in ("tcp", "dctcp"):
            sets[f"htsim/{name}/{scheme}"] = partial(htsim, name, scheme)
            sets[f"htsim-model/{name}/{scheme}"] = partial(htsim_model, name, scheme)
    for mbps in (10, 100):
        for rtt in (20, 80):
            for queue in ("deep", "bdp"):
                sets[f"ns3/short/{mbps}mbps_{rtt}ms/{queue}"] = partial(ns3_short, mbps, rtt, queue)
            for scheme in ("newreno", "dctcp"):
                for flows in (1, 2):
                    sets[f"ns3/long/{mbps}mbps_{rtt}ms/{scheme}_{flows}"] = partial(ns3_long, mbps, rtt, scheme, flows)
            for scheme in AS_THERE:
                for flows in (1, 2):
                    sets[f"ns3/long/{mbps}mbps_{rtt}ms/{scheme}_{flows}"] = partial(ns3_kind, mbps, rtt, scheme, flows)
            sets[f"ns3-model/short/{mbps}mbps_{rtt}ms/bdp"] = partial(ns3_model_short, mbps, rtt)
            for flows in (1, 2):
                sets[f"ns3-model/long/{mbps}mbps_{rtt}ms/newreno_{flows}"] = partial(ns3_newreno, mbps, rtt, flows)
            for name, model in (("ns3", False), ("ns3-model", True)):
                for flows in (1, 2):
                    sets[f"{name}/long/{mbps}mbps_{rtt}ms/cubic_{flows}"] = partial(
                        ns3_cubic, mbps, rtt, flows, model=model
                    )
                for aqm in ("codel", "fqcodel", "pie"):
                    sets[f"{name}/aqm/{mbps}mbps_{rtt}ms/{aqm}_2"] = partial(ns3_cubic, mbps, rtt, 2, aqm, model)
    for trace in LTE:
        for scheme in EMULATED:
            sets[f"mahimahi/{trace}/{scheme}"] = partial(mahimahi, trace, scheme)
    return sets
