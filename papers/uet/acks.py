"""ACKs that answer for several packets (Figures 12 and 13)."""

from __future__ import annotations

from thalweg.study import mean, measure

from .outcome import last
from .settings import EXIT_AFTER, LARGE, MEDIUM, TRIMMING, broken, cables, drawn, marks, permutation, point, reps

RATIOS = (1, 2, 4, 8, 16)
BOTH = ("reps", "ops")
SEEDS = {"quick": (1, 2, 3), "full": (1,)}
PLACES = {"acks": "symmetric", "acks-dead": "8 % of the cables dead"}


def after(packets: int) -> dict:
    """An ACK for so many packets."""
    return {"transport.ack_every": f"{4000 * packets}B"}


def runs(scale: str) -> list:
    where, sides = (LARGE, (32, 32)) if scale == "full" else (MEDIUM, (16, 8))
    made = []
    kinds = {"carry": {"transport.ack_values": "all"}, "reuse": reps(TRIMMING, exit_after=EXIT_AFTER, uses=16)}
    for place in PLACES:
        fault = broken(drawn(cables(*sides), 0.08, 1)) if place == "acks-dead" else {}
        for n in RATIOS:
            set = where | marks(25, 76) | {"traffic": permutation("8MiB"), "run.until": "1s"} | fault | after(n)
            for seed in SEEDS[scale]:
                made += [point(f"{place}-{n}", s, set, seed, trimming=TRIMMING) for s in BOTH]
                if n == 16:
                    more = ((s, {"transport.path_selection": "reps"} | set | kind) for s, kind in kinds.items())
                    made += [point(f"{place}-{n}", s, given, seed, trimming=TRIMMING) for s, given in more]
    return made


def gains(runs, place: str) -> dict[int, float]:
    found = {n: {s: mean(runs, f"{place}-{n}:{s}", last) for s in BOTH} for n in RATIOS}
    return {n: x["ops"] / x["reps"] for n, x in found.items()}


def shown(runs, place: str) -> dict[str, float]:
    return {f"{n}:1, {s} (us)": mean(runs, f"{place}-{n}:{s}", last) for n in RATIOS for s in BOTH}


@measure("REPS-F12-a", needs=[f"acks-{n}:*" for n in RATIOS])
def acks_for_several(runs):
    gain = gains(runs, "acks")
    out = {"smallest OPS / REPS up to 8:1": min(gain[n] for n in RATIOS[:-1])}
    out["gain at 16:1 / at 1:1"] = (gain[16] - 1) / (gain[1] - 1)
    return out | {f"{n}:1, OPS / REPS": x for n, x in gain.items()} | shown(runs, "acks")


@measure("REPS-F13-a", needs=[f"acks-dead-{n}:*" for n in RATIOS])
def acks_for_several_with_dead_cables(runs):
    gain = gains(runs, "acks-dead")
    out = {"16:1, OPS / REPS": gain[16], "smallest OPS / REPS": min(gain.values())}
    return out | {f"{n}:1, OPS / REPS": x for n, x in gain.items()} | shown(runs, "acks-dead")


@measure("REPS-F13-b", needs=["acks-1:reps@*", "acks-16:*", "acks-dead-1:reps@*", "acks-dead-16:*"])
def restored(runs):
    """With an ACK for 16 packets, over an ACK per packet: how a value comes back."""
    out = {}
    for place, words in PLACES.items():
        best = mean(runs, f"{place}-1:reps", last)
        for s, name in (("carry", "carried"), ("reuse", "reused"), ("reps", "neither")):
            out[f"{words}, {name}"] = mean(runs, f"{place}-16:{s}", last) / best
    return {"symmetric, better of carried and reused": min(out["symmetric, carried"], out["symmetric, reused"])} | out
