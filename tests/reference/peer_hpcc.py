"""The HPCC authors' simulator: which scenario replays which of its lists."""

from __future__ import annotations

import gzip
from pathlib import Path

import replay
from replay import DATA, Outcome, by_flow, read


def hpcc_star(flows: str) -> Outcome:
    results = replay.run("hpcc.toml", "hpcc-star", {"traffic.0.file": f"flows_{flows}.csv"})
    return by_flow(results, read("hpcc-star", f"fct_{flows}_dctcp.csv"))


def hpcc_pfc() -> Outcome:
    overrides = {"traffic.0.file": "flows_pfc.csv", "switch.shared_buffer.total": "2MiB"}
    return by_flow(replay.run("hpcc.toml", "hpcc-incast", overrides), read("hpcc-incast", "fct_pfc_dctcp.csv"))


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
# What CC_MODE 3 changes: telemetry of 42 B in every packet (an ACK without is 46 B, padded to 60 in the other
# modes), no marks, ACKs that a pause holds, one round trip for all. `base_rtt` is the peer's, of payloads of
# 1000 B.
HPCC = {
    "transport.ack_size": "46B",
    "transport.nack_size": "46B",
    "transport.telemetry": "42B",
    "transport.notification": "off",
    "switch.marking": "none",
    "nic.order": "hpcc-simulator",
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
        results = replay.run("hpcc-rdma.toml", folder, changed)
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
    results = replay.run("hpcc-rdma.toml", "hpcc-star", RATES[scheme] | {"traffic.0.file": "flows_lone.csv"})
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
    results = replay.run(
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
