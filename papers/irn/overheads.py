"""What an implementation may cost at worst (§4.5.3, Figure 4.12): 2 µs to fetch what is sent again, 16 B more
on every packet."""

from __future__ import annotations

from thalweg.study import measure

from .outcome import m3, ratio, unfinished
from .settings import CONTROLS, NAMES, at, judged, needs

PLACE = "default"
KINDS = ("fetch", "longer", "overheads")


def runs(scale: str) -> list:
    return [r for n in KINDS for cc in CONTROLS for r in at(PLACE, n, cc, scale)]


def compared(runs, a: str, b: str) -> dict[str, float]:
    """Ratios of the three metrics for each congestion control."""
    found = {cc: ratio(m3(runs, f"{PLACE}:{a}.{cc}"), m3(runs, f"{PLACE}:{b}.{cc}")) for cc in CONTROLS}
    return {f"{NAMES[cc]} {m}": x for cc in CONTROLS for m, x in found[cc].items()}


@measure("IRN-F12a", needs=needs(PLACE, (*KINDS, "irn")))
def worst_overheads(runs):
    found = compared(runs, "overheads", "irn")
    out = {"smallest": min(found.values()), "largest": max(found.values())} | found
    for n in KINDS[:2]:
        out |= {f"{NAMES[n]} / IRN, {k}": x for k, x in compared(runs, n, "irn").items()}
    return out | unfinished(runs)


@judged("IRN-F12b", needs=needs(PLACE, ("overheads", "roce-pfc")))
def worst_overheads_over_roce(runs):
    found = compared(runs, "overheads", "roce-pfc")
    return {"smallest": min(found.values()), "largest": max(found.values())} | found
