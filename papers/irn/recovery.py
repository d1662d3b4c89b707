"""Loss recovery on constructed cases (§4.2.1, §4.3.2, §4.3.3). Those of verbs (§4.4): `verbs.py`."""

from __future__ import annotations

import numpy as np

from thalweg.study import measure, run

from . import numbers

PS = 1e-12
PACKET = numbers.WIRE * 8 / 40e9  # s on the wire at 40 Gb/s
FIRST, HOLES = 20, 3  # packets 20, 21 and 22 are lost
FLOW, OTHER = 0, 1  # numbers of the flows in scenarios/holes.toml
RTO_LOW = 100e-6


def down(link: list[int], packet: int) -> dict:
    """A failure of 10 ns in the middle of the transmission of the packet with this number, and of nothing else."""
    at = round((packet + 0.5) * PACKET * 1e9)
    return {"kind": "link-failure", "at": f"{at}ns", "until": f"{at + 10}ns", "link": link}


def runs(scale: str) -> list:
    """Links: host 0 of the star is linked to switch 3, host 0 of the dumbbell to switch 4."""
    lone = [
        run(f"lone:{k}", "lone", s, 1) for k, s in {"fault-free": {}, "lost": {"incident": [down([0, 3], 0)]}}.items()
    ]
    lost = [down([0, 4], FIRST + n) for n in range(HOLES)]
    cases = {
        "fault-free": {},
        "one": {"incident": lost[:1]},
        "several": {"incident": lost},
        "several-nosack": {"incident": lost, "transport.recovery": {"kind": "irn", "sack": False}},
    }
    return lone + [run(f"holes:{k}", "holes", s, 1, keep=True) for k, s in cases.items()]


def fct(results, flow: int = FLOW) -> float:
    return float(results.seconds("fct")[flow])


@measure("IRN-V2g", needs=["lone:*"])
def lost_single_packet(runs):
    free, lost = fct(runs["lone:fault-free@1"]), fct(runs["lone:lost@1"])
    return {"|FCT - RTO_low - fault-free FCT| (packets)": abs(lost - RTO_LOW - free) / PACKET, "FCT (us)": 1e6 * lost}


class Packets:
    """What a recording says about one flow, times in s."""

    def __init__(self, results, flow: int = FLOW):
        import polars as pl

        mine = results.packets.filter(pl.col("flow") == flow).sort("ingress_ps").collect()
        data, acks = mine.filter(pl.col("forward") == 1), mine.filter(pl.col("forward") == 0)
        self.psn = data["seq"].to_numpy().astype(np.int64) // numbers.MTU
        self.sent, self.arrived = (data[c].to_numpy().astype(float) * PS for c in ("ingress_ps", "exit_ps"))
        self.cumulative = -(-acks["seq"].to_numpy().astype(np.int64) // numbers.MTU)
        self.heard = acks["exit_ps"].to_numpy().astype(float) * PS
        # What is lost is not in the recording: a packet is sent again if a higher one was sent before.
        self.again = self.psn < np.maximum.accumulate(self.psn)

    def round_trip(self) -> float:
        """From the start of the first packet to its acknowledgement: propagation, and transmissions at every hop."""
        return float(self.heard[self.cumulative >= 1].min() - self.sent[0])


@measure("IRN-V2h", needs=["holes:fault-free@1", "holes:one@1"])
def two_round_trips(runs):
    free, one = (Packets(runs[f"holes:{k}@1"]) for k in ("fault-free", "one"))
    rtt = free.round_trip()
    trigger = one.arrived[one.psn == FIRST + 1][0]
    repaired = one.arrived[(one.psn == FIRST) & one.again][0]
    found = repaired - trigger
    others = [fct(runs[f"holes:{k}@1"], OTHER) for k in ("one", "fault-free")]
    return {
        "repaired after the trigger (RTT)": found / rtt,
        "beyond one RTT (packets)": (found - rtt) / PACKET,
        "packets sent again": int(one.again.sum()),
        "other flow's FCT - fault-free (ps)": round((others[0] - others[1]) / PS),
    }


@measure("IRN-X2c", needs=["holes:*"])
def several_losses(runs):
    """From the first packet sent again until the acknowledgement that covers all holes."""
    rtt = Packets(runs["holes:fault-free@1"]).round_trip()

    def repair(key: str) -> tuple[float, int]:
        p = Packets(runs[f"holes:{key}@1"])
        last = FIRST + HOLES - 1
        return float(p.heard[p.cumulative > last].min() - p.sent[p.again].min()), int(p.again.sum())

    (without, n), (with_, m) = repair("several-nosack"), repair("several")
    return {
        "without SACK (RTT)": without / rtt,
        "with SACK, beyond one RTT (packets)": (with_ - rtt) / PACKET,
        "sent again without SACK": n,
        "sent again with SACK": m,
    }
