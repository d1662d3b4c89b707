"""Factor analysis (§4.3.3, Figure 4.7): what selective retransmission, SACK, BDP-FC and static timeouts are
each good for."""

from __future__ import annotations

from thalweg.study import measure, places

from .outcome import METRICS, m3, ratio, unfinished
from .settings import CONTROLS, NAMES, ONE, POINTS, at, judged, needs

PLACE = "default"
WITH = CONTROLS[1:]
VARIANTS = ("gbn", "nobdp", "nosack", "dynamic")
# §4.3.3 compares "over scenarios". CHOICE: the default, and one of each of Tables 4.2, 4.3, 4.5 and 4.6.
ELSEWHERE = ("load-90", "rate-100", "uniform", "memory-60")


def runs(scale: str) -> list:
    made = [r for n in VARIANTS for cc in CONTROLS for r in at(PLACE, n, cc, scale, ONE)]
    made += [r for cc in WITH for r in at(PLACE, "gbn-backoff", cc, scale, ONE)]
    for place in ELSEWHERE:
        made += [r for cc in CONTROLS for n in ("gbn", "nosack") for r in at(place, n, cc, scale, ONE)]
        made += [r for cc in WITH for r in at(place, "gbn-backoff", cc, scale, ONE)]
    return made


def over(runs, a: str, b: str, cc: str, place: str = PLACE) -> dict[str, float]:
    return ratio(m3(runs, f"{place}:{a}.{cc}"), m3(runs, f"{place}:{b}.{cc}"))


def claim(name: str, *schemes: str, controls=CONTROLS, by=measure):
    return by(name, needs=needs(PLACE, schemes, controls, ONE))


@claim("IRN-F7a", "gbn", "irn")
def go_back_n(runs):
    return {NAMES[cc]: over(runs, "gbn", "irn", cc)["fct"] for cc in CONTROLS} | unfinished(runs)


@claim("IRN-F7b", "nobdp", "irn", by=judged)
def without_bdp_fc(runs):
    return {NAMES[cc]: over(runs, "nobdp", "irn", cc)["fct"] for cc in CONTROLS} | unfinished(runs)


@claim("IRN-F7c", "gbn", "nobdp")
def recovery_and_bdp_fc(runs):
    found = {NAMES[cc]: over(runs, "gbn", "nobdp", cc)["fct"] for cc in CONTROLS}
    return {"controls where go-back-N is worse": sum(x > 1 for x in found.values())} | found


@claim("IRN-F7d", "gbn", "nobdp", "irn")
def other_metrics(runs):
    out = {}
    for name in ("gbn", "nobdp"):
        for cc in CONTROLS:
            found = over(runs, name, "irn", cc)
            out |= {f"{NAMES[name]} / IRN, {NAMES[cc]} {m}": found[m] for m in ("slow", "p99")}
    return out


def everywhere(*names: str, controls=CONTROLS) -> list[str]:
    """These schemes wherever they are compared."""
    return [k for p in (PLACE, *ELSEWHERE) for k in needs(p, names, controls, ONE)]


@judged("IRN-X1a", needs=everywhere("gbn", "gbn-backoff", controls=WITH))
def backing_off(runs):
    found = {cc: {p: over(runs, "gbn-backoff", "gbn", cc, p)["fct"] for p in places(runs)} for cc in WITH}
    out = {f"{NAMES[cc]}, {POINTS[p].title}": x for cc in WITH for p, x in found[cc].items()}
    return {
        "TIMELY": found["timely"][PLACE],
        "DCQCN": found["dcqcn"][PLACE],
    } | out


@judged("IRN-X1b", needs=everywhere("gbn-backoff", "irn", controls=("timely",)))
def backing_off_and_sack(runs):
    found = {p: over(runs, "irn", "gbn-backoff", "timely", p)["fct"] for p in places(runs)}
    out = {"largest IRN / go-back-N, backing off": max(found.values()), "smallest": min(found.values())}
    return out | {POINTS[p].title: x for p, x in found.items()}


@measure("IRN-X2a", needs=everywhere("nosack", "gbn"))
def without_sack_over_go_back_n(runs):
    found = {(p, cc): over(runs, "nosack", "gbn", cc, p)["fct"] for p in places(runs) for cc in CONTROLS}
    return {"largest": max(found.values())} | {f"{NAMES[cc]}, {POINTS[p].title}": x for (p, cc), x in found.items()}


@judged("IRN-X2b", needs=everywhere("nosack", "irn"))
def without_sack_over_irn(runs):
    found = {(p, cc): over(runs, "nosack", "irn", cc, p)["fct"] for p in places(runs) for cc in CONTROLS}
    out = {"smallest": min(found.values()), "largest": max(found.values())}
    return out | {f"{NAMES[cc]}, {POINTS[p].title}": x for (p, cc), x in found.items()}


@claim("IRN-X3a", "dynamic", "irn")
def computed_timeouts(runs):
    found = {f"{NAMES[cc]} {m}": over(runs, "dynamic", "irn", cc)[m] for cc in CONTROLS for m in METRICS}
    return {"smallest": min(found.values())} | found
