"""Set-up, NIC state and published hardware figures (§4.1.3, §4.3.1, §4.4.3, §4.5): arithmetic and the state
machines' own fields, no runs."""

from __future__ import annotations

from thalweg import verbs
from thalweg.study import measure

from . import numbers as n

# Table 4.1: Mpps and µs of 64 B Writes on one queue pair.
IWARP, ROCE = (3.24, 2.89), (14.7, 0.94)
# Table 4.9: FF %, LUT %, Mpps.
MODULES = {
    "receiveData": (0.62, 1.93, 45.45),
    "txFree": (0.32, 0.95, 47.17),
    "receiveAck": (0.40, 1.05, 46.99),
    "timeout": (0.01, 0.08, 318.47),
}
GIGA = 1e9


@measure("IRN-T1b", needs=[])
def iwarp_nic(runs):
    return {"latency iWARP / RoCE": IWARP[1] / ROCE[1], "rate RoCE / iWARP": ROCE[0] / IWARP[0]}


@measure("IRN-P0a", needs=[])
def default_network(runs):
    hosts, switches, pods = n.fat_tree(6)
    return {
        "BDP (B)": n.bdp(40 * GIGA),
        "cap (packets)": n.cap(40 * GIGA),
        "servers": hosts,
        "switches": switches,
        "pods": pods,
    }


@measure("IRN-P0b", needs=[])
def default_memory(runs):
    memory = 2 * n.bdp(40 * GIGA)
    return {
        "memory (B)": memory,
        "threshold (B)": n.threshold(memory, 40 * GIGA),
        "RTO_high by the formula / 320 us": n.rto_high(6, memory, 40 * GIGA) / 320,
        "RTO_high by the formula (us)": n.rto_high(6, memory, 40 * GIGA),
        "headroom that is lossless (B)": n.headroom(40 * GIGA),
    }


PAIRS, ELEMENTS = (
    2000,
    20_000,
)  # CHOICE §4.5.1: "a couple of thousand" queue pairs, "tens of thousands" of work queue elements


def nic(rate: float) -> dict:
    """What the state machines keep for a cap at this rate."""
    return verbs.nic_state(n.cap(rate), PAIRS, ELEMENTS)


@measure("IRN-S1f", needs=[])
def packets_kept_in_the_nic(runs):
    return {"buffered out of order, 1000 flows (MB)": n.cap(40 * GIGA) * 1000 * 1000 / 1e6}


@measure("IRN-S1a", needs=[])
def transport_state(runs):
    found = nic(40 * GIGA)
    return {"bits at each end": found["end_bits"], "bits per QP": found["transport_bits"]}


@measure("IRN-S1b", needs=[])
def bitmaps(runs):
    return {"bits in bitmaps": nic(40 * GIGA)["bitmap_bits"], "BDP in MTUs": n.bdp(40 * GIGA) / n.MTU}


@measure("IRN-S1c", needs=[])
def work_queue_elements(runs):
    found = nic(40 * GIGA)
    more = {"share of a 64 B WQE": found["wqe_bytes"] / 64}
    return {"bytes per WQE": found["wqe_bytes"], "bytes for all QPs": found["shared_bytes"]} | more


@measure("IRN-S1d", needs=[])
def share_of_the_cache(runs):
    # Less what all queue pairs share (IRN-S1c).
    at40, at100 = (nic(r * GIGA)["nic_bytes"] - nic(r * GIGA)["shared_bytes"] for r in (40, 100))
    return {
        "40 Gb/s (KB)": at40 / 1e3,
        "100 Gb/s (KB)": at100 / 1e3,
        "share of 2.6 MB at 40 Gb/s": at40 / 2.6e6,
        "share of 8.7 MB at 40 Gb/s": at40 / 8.7e6,
        "share of 5 MB at 100 Gb/s": at100 / 5e6,
    }


@measure("IRN-T9d", needs=[])
def timeout_module(runs):
    """The module of the timer against the others, in words of bitmap that one event touches at most."""
    words = nic(40 * GIGA)["words"]
    others = [x for name, x in words.items() if name != "timeout"]
    return {"timeout (words)": words["timeout"], "fewest of the others (words)": min(others)} | {
        f"{name} (words)": x for name, x in words.items() if name != "timeout"
    }


@measure("IRN-T9e", needs=[])
def all_modules(runs):
    slowest = min(MODULES, key=lambda m: MODULES[m][2])
    return {
        "FF (%)": round(sum(m[0] for m in MODULES.values()), 2),
        "LUT (%)": round(sum(m[1] for m in MODULES.values()), 2),
        "slowest is receiveData": float(slowest == "receiveData"),
        "slowest (Mpps)": MODULES[slowest][2],
    }


@measure("IRN-T9f", needs=[])
def packet_rates(runs):
    return {
        "Gb/s of MTU packets": round(MODULES["receiveData"][2] * 1e6 * n.MTU * 8 / 1e9),
        "Mpps - 39.5": MODULES["receiveData"][2] - 39.5,
    }
