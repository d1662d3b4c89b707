"""ns-3: which scenario replays which of its lists and series."""

from __future__ import annotations

import math

import replay
from replay import Outcome, read

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
    """The peer's discipline stands above a device queue of one packet, thalweg's ends at the wire: a packet
    that leaves the first has one packet's time left in the second, and what is nearly empty holds that
    packet. `model`: 1/√count in fixed point, as there."""
    target = 5e6 + (PACKET + 2) * 8000 / mbps
    law = f'target = "{target:.0f}ns", interval = "100ms", mtu = "{PACKET + 2}B", law = "{"linux" if model else "rfc8289"}"'
    if aqm == "pie":
        # Less than two packets there, the one in the device besides here; no more than so many bytes here.
        target += 10e6
        return {"switch.marking": f'{{ kind = "pie", target = "{target:.0f}ns", mean_packet = "{2 * PACKET - 1}B" }}'}
    if aqm == "codel":
        return {"switch.marking": f'{{ kind = "codel", {law} }}'}
    return {
        "switch.scheduler": f'{{ kind = "fq-codel", bins = 1024, quantum = "{PACKET + 2}B", {law} }}',
        "nic.scheduler": "fifo",
    }


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
    """Flows of unlimited data, the second 10 s later: a series of the peer next to ours, a sample every 100
    ms. `shape`: shares and windows too, and from t = 15 s on."""
    import numpy as np

    peer = read("ns3-bottleneck", name)
    overrides = overrides | {
        "measure.queues": '{ every = "100ms", ports = [8] }',
        "measure.controllers": '{ every = "100ms" }',
    }
    traffic = "".join(FLOW.format(src=i, dst=2 + i, size=10**10, start=10 * i) for i in range(flows))
    results = replay.run("ns3.toml", "ns3-bottleneck", overrides, traffic)
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
    results = replay.run("ns3.toml", "ns3-bottleneck", overrides, traffic)
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
