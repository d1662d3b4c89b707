"""Window-based congestion control on RDMA (§4.3.4), and iWARP's TCP next to it (§4.3.6, Figure 4.11)."""

from __future__ import annotations

from thalweg.study import measure

from .outcome import METRICS, m3, named, ratio, unfinished
from .settings import BASELINES, NAMES, at, needs

PLACE = "default"
WINDOWS = ("aimd", "dctcp")


def runs(scale: str) -> list:
    made = [r for cc in WINDOWS for n in BASELINES for r in at(PLACE, n, cc, scale)]
    return made + at(PLACE, "iwarp", "newreno", scale)


def over(runs, a: str, b: str) -> dict[str, float]:
    """Ratio of two `SCHEME.CONTROL`."""
    return ratio(m3(runs, f"{PLACE}:{a}"), m3(runs, f"{PLACE}:{b}"))


@measure("IRN-X8a", needs=[*needs(PLACE, BASELINES, WINDOWS), *needs(PLACE, ("irn", "irn-pfc"), ("none",))])
def aimd_and_dctcp(runs):
    r2 = {cc: over(runs, f"irn.{cc}", f"irn-pfc.{cc}") for cc in ("none", *WINDOWS)}
    r1 = {cc: over(runs, f"irn.{cc}", f"roce-pfc.{cc}") for cc in WINDOWS}
    out = {"largest R2(AIMD) - R2(no CC)": max(r2["aimd"][m] - r2["none"][m] for m in METRICS)}
    for cc in WINDOWS:
        out |= named(f"R1 {NAMES[cc]}", r1[cc]) | named(f"R2 {NAMES[cc]}", r2[cc])
    return out | unfinished(runs)


TCP = f"{PLACE}:iwarp.newreno@*"


@measure("IRN-F11a", needs=[TCP, *needs(PLACE, ("irn",), ("none",))])
def against_iwarp(runs):
    return named("IRN / iWARP", over(runs, "irn.none", "iwarp.newreno")) | unfinished(runs)


@measure("IRN-F11b", needs=[TCP, *needs(PLACE, ("irn",), ("aimd",))])
def with_aimd_against_iwarp(runs):
    return named("IRN+AIMD / iWARP", over(runs, "irn.aimd", "iwarp.newreno")) | unfinished(runs)


@measure("IRN-F11c", needs=needs(PLACE, ("irn",), ("none", "aimd")))
def aimd_over_irn(runs):
    return named("IRN+AIMD / IRN", over(runs, "irn.aimd", "irn.none"))
