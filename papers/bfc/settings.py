"""Schemes, networks and runs. A run's key is `PLACE:SCHEME@SEED`."""

from __future__ import annotations

from pathlib import Path

from thalweg.study.lists import from_scenarios

from . import choices

MTU, HEADER = 1000, 20
FULL = MTU + HEADER  # B on the wire
LINE = 100e9  # b/s
# What choices.toml says of them: DCQCN's byte counter and window, and what a load is a part of.
DCQCN, LOAD_OF = choices["dcqcn"], choices["load_of"]
HRTT = 2e-6  # s, of a hop
PACKET = FULL * 8 / LINE
# A window that lets one flow fill its link: 8 us, four packets and an ACK on the wire (§3.6.2.2: "1 BDP").
BDP = 105
HPCC_BDP = 113  # and telemetry in every packet
NAMES = {
    "bfc": "BFC",
    "bfc128": "BFC 128",
    "bfc-cc": "BFC (CC)",
    "flow-id": "BFC by flow",
    "hashed": "BFC + stochastic",
    "reserved": "BFC without ghosts",
    "single": "BFC + single",
    "no-nic": "BFC − NIC",
    "bfc=sampling,0.5": "BFC + sampling",
    "bfc-srf": "BFC-SRF",
    "label": "BFC + IncastLabel",
    "ideal-fq": "Ideal-FQ",
    "ideal-srf": "IdealSRF",
    "hpcc": "HPCC",
    "hpcc-pfc": "HPCC−PFC",
    "hpcc-sfq": "HPCC−PFC+SFQ",
    "hpcc-dqa": "HPCC−PFC+DQA",
    "dcqcn": "DCQCN",
    "dctcp": "DCTCP",
    "dctcp-ss": "DCTCP+SS",
    "expresspass": "ExpressPass",
    "homa": "Homa",
    "homa-ecmp": "Homa ECMP",
}
SHARED = {"shared": "12MB", "release": "start"}


def order(**keys) -> dict:
    """The scheduler of BFC's switches."""
    return {"kind": "bfc", "hop_rtt": "2us", "quantum": "1020B"} | keys


def bfc(**keys) -> dict:
    return {"scheduler": order(**keys), "inputs": SHARED, "backpressure": {}, "control_first": True}


def unbounded(scheduler) -> dict:
    return {"scheduler": scheduler, "buffer": "unlimited", "control_first": True}


def pfc(scheduler="fifo", **more) -> dict:
    """As in the HPCC authors' simulator: at an eighth of what is free, headroom apart."""
    return {"scheduler": scheduler, "inputs": SHARED, "pfc": {"threshold": "dynamic"}} | more


def ecn(low: int = 100, high: int = 400) -> dict:
    return {"kind": "red-ecn", "min": f"{low}KB", "max": f"{high}KB", "max_probability": 0.2, "at": "departure"}


def pair(**keys) -> dict:
    """A queue pair: go-back-N, an ACK every 256 packets and at the end."""
    plain = {
        "kind": "rdma",
        "mtu": f"{MTU}B",
        "header": f"{HEADER}B",
        "ack_size": "60B",
        "recovery": {"kind": "go-back-n", "repeat_nack": "500us"},
        "acks": "per-segment",
        "timer": {"kind": "fixed", "value": "10ms"},  # CHOICE: longer than any pause; the paper names none
        "rtt": {"segment": 256},
    }
    return plain | keys


def each(**keys) -> dict:
    """The same with an ACK per packet."""
    out = pair(acks="per-packet") | keys
    del out["rtt"]
    return out


def capped(**keys) -> dict:
    return each(cap=BDP, **keys)


def hpcc(eta: float = 0.95, **keys) -> dict:
    """CHOICE: W_AI and the least rate of the authors' simulator, whose arithmetic this is; INT of 80 B (§3.6.3)."""
    variant = {"kind": "simulator", "additive": "40Mbps", "min_rate": "1Gbps"}
    return each(congestion={"kind": "hpcc", "eta": eta, "max_stage": 5, "variant": variant}, telemetry="80B") | keys


def dctcp(first: int) -> dict:
    """DCTCP's window, over TCP in the NIC: 1 BDP at once, or slow start from ten packets."""
    return {
        "kind": "tcp",
        "congestion": "dctcp",
        "mss": f"{MTU}B",
        "header": f"{HEADER}B",
        "ack_size": "60B",
        "initial_window": f"{first}pkts",
        "max_window": f"{BDP}pkts",
        "rto": {"kind": "rfc6298", "initial": "10ms", "min": "10ms"},
    }


def expresspass(key: str = "", value: str = "") -> dict:
    """Credits on the data's way in reverse; 75 MB a port and no PFC (§3.6.2.1). A setting: `alpha`, or
    `credits` that may wait at a port."""
    alpha = float(value) if key == "alpha" else 0.5
    waiting = int(value) if key == "credits" else 16
    order = {"kind": "expresspass", "credits": waiting, "packet": f"{FULL}B"}
    transport = {"kind": "expresspass", "payload": f"{MTU}B", "header": f"{HEADER}B", "alpha": alpha, "w_init": 0.0625}
    return {
        "switch": {"scheduler": order, "buffer": "75MB"},
        "nic.order": "queue",
        "routing": "ecmp-symmetric",
        "transport": transport,
    }


def homa(routing: str) -> dict:
    """32 levels, cut by the sizes of the traffic; grants and ACKs before all data; no limits (App. F.1)."""
    # CHOICE: 1 BDP is the window that lets one message fill its link, as everywhere here; a grant has the
    # size of a credit.
    transport = {"kind": "homa", "payload": f"{MTU}B", "header": f"{HEADER}B", "control_size": "84B"}
    return {
        "switch": unbounded({"kind": "priority", "classes": 32}),
        "routing": routing,
        "transport": transport | {"rtt_bytes": f"{BDP * MTU}B"},
    }


def scheme(name: str) -> dict:
    """What a scheme sets: switches, NICs, transport."""
    base, _, detail = name.partition("=")
    nic = "shortest" if base.endswith("-srf") else "round-robin"
    made = {"nic.order": nic, "switch": bfc(), "transport": pair()}
    if base == "bfc" and detail:  # "bfc=table,30": a key of the order and its value
        key, value = detail.split(",")
        made["switch"] = bfc(**{key: float(value) if "." in value else int(value)})
    elif base == "bfc128":
        made["switch"] = bfc(queues=128)
    elif base == "bfc-cc":
        made["transport"] = pair(
            acks="per-packet", congestion="rtt-target", rtt={"segment": 1, "less_serialization": False}
        )
    elif base == "hashed":
        made["switch"] = bfc(assignment="hashed")
    elif base == "reserved":
        made["switch"] = bfc(assignment="reserved")
    elif base == "single":
        made["switch"] = bfc(queues=2)
    elif base == "flow-id":
        made["switch"] = bfc(sticky=0.0) | {"backpressure": {"pauses": "flow"}}
    elif base == "no-nic":
        made["switch"] = bfc() | {"backpressure": {"nics": False}}
        made["transport"] = capped()
    elif base == "bfc-srf":
        made["switch"] = bfc(service="shortest")
        del made["switch"]["scheduler"]["quantum"]
    elif base == "label":
        made["switch"] = bfc(classes=2, incast_class=1)
    elif base == "ideal-fq":
        made |= {"switch": unbounded({"kind": "drr", "quantum": "1020B"}), "transport": capped()}
    elif base == "ideal-srf":
        # CHOICE: 255 queues, more than flows ever wait at a port but for incasts', in place of one for every
        # flow; what is served is the flow whose first packet says the least. (`srpt`, pFabric's order, looks
        # at a flow's last packet too: once that waits, the flow goes before shorter ones.)
        shortest = order(queues=256, service="shortest")
        del shortest["quantum"]
        made |= {"switch": unbounded(shortest), "transport": capped()}
    elif base == "hpcc":
        made |= {"switch": pfc(), "transport": hpcc(float(detail or 0.95))}
    elif base in ("hpcc-pfc", "hpcc-sfq", "hpcc-dqa"):
        # CHOICE: switches notify senders of every drop in no more than the propagation delay. The timer is for
        # the last ACK of a flow, which may be dropped, too.
        queues = {"hpcc-sfq": order(assignment="hashed"), "hpcc-dqa": order()}.get(base, "fifo")
        made["switch"] = {"scheduler": queues, "inputs": SHARED}
        made["transport"] = hpcc(recovery="drop-notified", cap=4 * HPCC_BDP, timer={"kind": "fixed", "value": "1ms"})
    elif base == "dcqcn":
        # CHOICE: timers of the DCQCN authors' simulator.
        counter, _, window = DCQCN.partition("-")
        rates = {"kind": "dcqcn", "rate_timer": "60us", "byte_counter": counter}
        transport = capped(congestion=rates) if window else pair(congestion=rates)
        made |= {"switch": pfc(marking=ecn(), control_first=True), "transport": transport}
    elif base == "dctcp":
        low, _, high = detail.partition("-")
        marking = ecn(int(low or 100), int(high or 400))
        made |= {"switch": pfc(marking=marking), "transport": dctcp(BDP)}
    elif base == "dctcp-ss":
        made |= {"switch": pfc(marking=ecn()), "transport": dctcp(10)}
    elif base == "expresspass":
        made |= expresspass(*detail.split(",")) if detail else expresspass()
    elif base == "homa":
        made |= homa("spray-random")
    elif base == "homa-ecmp":
        made |= homa("ecmp")
    elif base != "bfc":
        raise ValueError(name)
    return made


def listed(file: Path) -> dict:
    """Traffic: the flows of a list."""
    return {"kind": "list", "file": from_scenarios(__file__, file)}
