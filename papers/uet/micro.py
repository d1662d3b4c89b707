"""A rack's uplinks under the microscope: symmetric (Figure 2), one of them slow (Figure 4), two failing (Figure 7).

As in the artifact only the hosts of the first rack send, each to a host half of the network away."""

from __future__ import annotations

import numpy as np

from thalweg.study import mean, measure, needs

from .outcome import last, lost, uplinks
from .settings import (
    FAILING_SIZE,
    KMIN,
    MEDIUM,
    PACKET,
    THREE_TIER_WINDOW,
    TRIMMING,
    dead,
    flows,
    point,
    reps,
    slow,
    uplink_ports,
)

SEEDS = {"quick": (1, 2, 3), "full": tuple(range(1, 11))}
PAIR = ("reps", "ops")
SYMMETRIC, SLOW, FAILING = "symmetric-rack", "slow-uplink", "failing-uplinks"
RACK = 8  # uplinks of a rack in two tiers; three tiers: 4
TIERS = {"transport.window.products": THREE_TIER_WINDOW}
SLOW_CABLE = ("edge0", "agg0")
FIRST, SECOND = ("edge0", "agg1"), ("edge0", "agg3")  # which fail, and when (us)
FIRST_DEAD, SECOND_DEAD = (100, 200), (350, 550)
RTO = 70  # us


def watched(ports: list[int]) -> dict:
    return {f"measure.{table}": {"every": "1us", "ports": ports} for table in ("queues", "links")}


def runs(scale: str) -> list:
    made = []
    for seed in SEEDS[scale]:
        for scheme in PAIR:
            rack = MEDIUM | {"traffic": flows(((i, 64 + i) for i in range(RACK)), "16MiB")}
            made.append(point(SYMMETRIC, scheme, rack | watched(uplink_ports(128, 0, RACK)), seed, trimming=TRIMMING))
            ports = watched(uplink_ports(128, 0, 4))
            there = {"scenario": "three-tiers", "trimming": TRIMMING}
            rack = TIERS | ports | {"traffic": flows(((i, 64 + i) for i in range(4)), "32MiB")}
            made.append(point(SLOW, scheme, rack | slow([SLOW_CABLE]), seed, **there))
            rack |= {"traffic": flows(((i, 64 + i) for i in range(4)), FAILING_SIZE)}
            first, second = (
                dead([c], f"{a}us", f"{b}us") for c, (a, b) in ((FIRST, FIRST_DEAD), (SECOND, SECOND_DEAD))
            )
            broken = first | {"incident": first["incident"] + second["incident"]}
            short = reps(TRIMMING, exit_after="100us") if scheme == "reps" else {}
            made.append(point(FAILING, scheme, rack | broken | short, seed, **there))
    return made


def second_half(results) -> slice:
    """Samples from half of the last flow's time to it."""
    found = uplinks(results)
    end = int(np.searchsorted(found.at, last(results)))
    return slice(end // 2, int(end * 0.95))


# --- Figure 2 -----------------------------------------------------------------------------------------------


def high_queue(results) -> float:
    """99th percentile of the samples of all uplinks in the second half, over Kmin."""
    return float(np.quantile(uplinks(results).queue[second_half(results)], 0.99)) / KMIN


def largest_queue(results) -> float:
    return float(uplinks(results).queue.max()) / KMIN


def largest_offer(results) -> float:
    """Gb/s that came to an uplink in 20 us."""
    return float(uplinks(results).offered(20).max())


def unrest(results) -> float:
    """Standard deviation of what comes to uplinks in 20 us of the second half, Gb/s."""
    half = second_half(results)
    return float(uplinks(results).offered(20)[half.start // 20 : half.stop // 20].std())


@measure("REPS-F2-a", needs=needs(f"{SYMMETRIC}:reps", f"{SYMMETRIC}:ops"))
def queues_of_a_rack(runs):
    out = {"OPS, largest queue / Kmin": mean(runs, f"{SYMMETRIC}:ops", largest_queue)}
    out["REPS, p99 of the queues in the second half / Kmin"] = mean(runs, f"{SYMMETRIC}:reps", high_queue)
    out["OPS, p99 of the queues in the second half / Kmin"] = mean(runs, f"{SYMMETRIC}:ops", high_queue)
    return out | {"REPS, largest queue / Kmin": mean(runs, f"{SYMMETRIC}:reps", largest_queue)}


@measure("REPS-F2-b", needs=needs(f"{SYMMETRIC}:reps", f"{SYMMETRIC}:ops"))
def rates_of_a_rack(runs):
    rest = {s: mean(runs, f"{SYMMETRIC}:{s}", unrest) for s in PAIR}
    out = {"OPS, most offered in 20 us (Gb/s)": mean(runs, f"{SYMMETRIC}:ops", largest_offer)}
    out["unrest of the second half, REPS / OPS"] = rest["reps"] / rest["ops"]
    return out | {f"unrest, {s} (Gb/s)": x for s, x in rest.items()}


@measure("REPS-F2-c", needs=needs(f"{SYMMETRIC}:reps", f"{SYMMETRIC}:ops"))
def completion_of_a_rack(runs):
    return against(runs, SYMMETRIC)


def against(runs, place: str) -> dict[str, float]:
    found = {s: mean(runs, f"{place}:{s}", last) for s in PAIR}
    out = {"last flow, OPS / REPS": found["ops"] / found["reps"]}
    return out | {"OPS (us)": found["ops"], "REPS (us)": found["reps"]}


# --- Figure 4 -----------------------------------------------------------------------------------------------


@measure("REPS-F4-a", needs=needs(f"{SLOW}:reps", f"{SLOW}:ops"))
def completion_with_a_slow_uplink(runs):
    return against(runs, SLOW)


def of_the_fast(results) -> float:
    """Gb/s of each of the three fast uplinks from a fifth of the run to four fifths."""
    found = uplinks(results)
    a, b = (int(np.searchsorted(found.at, last(results) * x)) for x in (0.2, 0.8))
    sent = found.sent[b] - found.sent[a]
    return float(sent[1:].mean() * 8e-3 / (found.at[b] - found.at[a]))


def of_the_slow(results) -> float:
    found = uplinks(results)
    a, b = (int(np.searchsorted(found.at, last(results) * x)) for x in (0.2, 0.8))
    return float((found.sent[b, 0] - found.sent[a, 0]) * 8e-3 / (found.at[b] - found.at[a]))


@measure("REPS-F4-b", needs=needs(f"{SLOW}:reps", f"{SLOW}:ops"))
def rates_with_a_slow_uplink(runs):
    out = {f"{s}, each fast uplink (Gb/s)": mean(runs, f"{SLOW}:{s}", of_the_fast) for s in PAIR}
    return out | {f"{s}, the slow uplink (Gb/s)": mean(runs, f"{SLOW}:{s}", of_the_slow) for s in PAIR}


# --- Figure 7 -----------------------------------------------------------------------------------------------


@measure("REPS-F7-a", needs=needs(f"{FAILING}:reps", f"{FAILING}:ops"))
def completion_with_failing_uplinks(runs):
    return against(runs, FAILING)


@measure("REPS-F7-b", needs=needs(f"{FAILING}:reps", f"{FAILING}:ops"))
def losses_with_failing_uplinks(runs):
    found = {s: mean(runs, f"{FAILING}:{s}", lost) for s in PAIR}
    return {"packets lost, OPS / REPS": found["ops"] / found["reps"]} | {f"{s} (packets)": x for s, x in found.items()}


def swallowed(results, uplink: int, begin: float, end: float) -> float:
    """Of what the rack sends between two instants (us) the share that a dead uplink swallows."""
    found = uplinks(results)
    a, b = np.searchsorted(found.at, (begin, end))
    b = min(b, len(found.at) - 1)
    into = float(found.dropped[b, uplink] - found.dropped[a, uplink]) * PACKET
    out = float((found.sent[b] - found.sent[a]).sum())
    return into / (into + out)


# Within one and a half timeouts; and then until the freeze of 100 us ends.
LEFT = SECOND_DEAD[0] + 1.5 * RTO
FROZEN = SECOND_DEAD[0] + RTO + 100


@measure("REPS-F7-c", needs=needs(f"{FAILING}:reps", f"{FAILING}:ops"))
def a_dead_uplink_is_left(runs):
    first = SECOND_DEAD[0]
    spans = {
        "share of the rack's bytes into the dead cable, after 1.5 RTO": (LEFT, FROZEN),
        "in the first RTO": (first, first + RTO),
        "once the freeze is over": (FROZEN, SECOND_DEAD[1]),
    }
    out = {}
    for s, name in (("reps", "REPS"), ("ops", "OPS")):
        for words, span in spans.items():
            out[f"{name}, {words}"] = mean(runs, f"{FAILING}:{s}", lambda r, span=span: swallowed(r, 3, *span))
    return out
