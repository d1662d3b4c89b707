"""The basic results (§4.3.2, Figures 4.1 to 4.6), by size and by tail (§4.3.4, Figure 4.8), and Resilient
RoCE (§4.3.5)."""

from __future__ import annotations

import numpy as np

from thalweg.study import mean, measure, percentile

from .outcome import CLASSES, METRICS, drop_rate, flows, m3, m3_of_class, named, pauses, ratio, unfinished
from .settings import BASELINES, CONTROLS, NAMES, at, judged, needs

FOUR = ("irn", "irn-pfc", "roce", "roce-pfc")
PLACE, LONG = "default", "long"  # Figures 4.1 and 4.2 are of the long one
WITH = CONTROLS[1:]


def runs(scale: str) -> list:
    made = [r for cc in CONTROLS for name in FOUR for r in at(PLACE, name, cc, scale)]
    return made + [r for name in BASELINES for r in at(LONG, name, "none", scale)]


def metrics(runs, name: str, cc: str = "none", place: str = PLACE) -> dict[str, float]:
    return m3(runs, f"{place}:{name}.{cc}")


def over(runs, a: str, b: str, cc: str = "none", place: str = PLACE) -> dict[str, float]:
    """Ratio of two schemes under the same congestion control."""
    return ratio(metrics(runs, a, cc, place), metrics(runs, b, cc, place))


def claim(name: str, schemes, controls=CONTROLS, by=measure, place: str = PLACE):
    return by(name, needs=needs(place, schemes, controls))


@claim("IRN-P0c", ("irn",), ("none",))
def what_dominates(runs):
    found = [flows(r) for r in runs.values()]
    size = np.concatenate([f.size for f in found])
    fct, slow = (np.concatenate([getattr(f, a) for f in found]) for a in ("fct", "slowdown"))
    large, small = size > 200_000, size <= 1024
    return {
        "share of flows above 200 KB in the FCT sum": fct[large].sum() / fct.sum(),
        "share of single packets, slowdown sum / FCT sum": slow[small].sum()
        / slow.sum()
        * fct.sum()
        / fct[small].sum(),
        "share of single packets in the slowdown sum": slow[small].sum() / slow.sum(),
    }


@claim("IRN-F1a", ("irn", "roce-pfc"), ("none",), judged, LONG)
def roce_over_irn(runs):
    return named("RoCE+PFC / IRN", over(runs, "roce-pfc", "irn", place=LONG)) | unfinished(runs)


@claim("IRN-F2a", ("irn", "irn-pfc"), ("none",), judged, LONG)
def irn_with_pfc_over_irn(runs):
    return named("IRN+PFC / IRN", over(runs, "irn-pfc", "irn", place=LONG)) | unfinished(runs)


@claim("IRN-F2b", ("irn", "irn-pfc"), ("none",), place=LONG)
def drops_of_irn(runs):
    return {
        "drop rate, IRN": mean(runs, f"{LONG}:irn.none", drop_rate),
        "drop rate, IRN+PFC": mean(runs, f"{LONG}:irn-pfc.none", drop_rate),
        "largest R2": max(over(runs, "irn", "irn-pfc", place=LONG).values()),
    }


@claim("IRN-F3a", ("roce", "roce-pfc"), ("none",), judged)
def roce_without_pfc(runs):
    found = over(runs, "roce", "roce-pfc")
    return named("RoCE / RoCE+PFC", found) | {"largest": max(found.values())} | unfinished(runs)


def both(runs, a: str, b: str) -> dict[str, float]:
    """Ratios with TIMELY and with DCQCN."""
    return {f"{NAMES[cc]} {m}": x for cc in WITH for m, x in over(runs, a, b, cc).items()}


@claim("IRN-F4a", ("irn", "roce-pfc"), WITH, judged)
def roce_over_irn_with_control(runs):
    found = both(runs, "roce-pfc", "irn")
    largest = {f"{NAMES[cc]} largest": max(x for k, x in found.items() if k.startswith(NAMES[cc])) for cc in WITH}
    return found | largest | unfinished(runs)


@claim("IRN-F5a", ("irn", "irn-pfc"), WITH)
def irn_with_pfc_and_control(runs):
    return both(runs, "irn", "irn-pfc") | unfinished(runs)


@claim("IRN-F5b", ("irn", "irn-pfc"))
def drops_and_pauses(runs):
    drops = {cc: mean(runs, f"{PLACE}:irn.{cc}", drop_rate) for cc in CONTROLS}
    frames = {cc: mean(runs, f"{PLACE}:irn-pfc.{cc}", pauses) for cc in CONTROLS}
    out = {f"drop rate, {NAMES[cc]} / no CC": drops[cc] / drops["none"] for cc in WITH}
    out |= {f"pauses, {NAMES[cc]} / no CC": frames[cc] / frames["none"] for cc in WITH}
    return out | {f"drop rate, {NAMES[cc]}": x for cc, x in drops.items()}


@claim("IRN-F6a", ("roce", "roce-pfc"), WITH, judged)
def roce_without_pfc_with_control(runs):
    found = both(runs, "roce", "roce-pfc")
    return found | {"largest": max(found.values())} | unfinished(runs)


@claim("IRN-F6b", FOUR)
def takeaways(runs):
    """The three takeaways as orders: what should be smaller over what should be larger, at its worst."""
    with_cc = [over(runs, "irn", "irn-pfc", cc) for cc in WITH]
    return {
        "worst IRN / RoCE+PFC": max(x for cc in CONTROLS for x in over(runs, "irn", "roce-pfc", cc).values()),
        "worst IRN / IRN+PFC, no CC": max(over(runs, "irn", "irn-pfc").values()),
        "worst IRN / IRN+PFC, with CC": max(x for found in with_cc for x in found.values()),
        "worst RoCE+PFC / RoCE": max(x for cc in CONTROLS for x in over(runs, "roce-pfc", "roce", cc).values()),
    } | unfinished(runs)


# --- By size (§4.3.4) ---------------------------------------------------------------------------------------


@claim("IRN-X4a", BASELINES)
def by_size(runs):
    out = {}
    for cc in CONTROLS:
        for c in CLASSES:
            m = {n: m3_of_class(runs, f"{PLACE}:{n}.{cc}", c) for n in BASELINES}
            for which, other in (("R1", "roce-pfc"), ("R2", "irn-pfc")):
                out |= {f"{which} {NAMES[cc]}, up to {c}, {k}": x for k, x in ratio(m["irn"], m[other]).items()}
    worst = {f"largest {w}": max(x for k, x in out.items() if k.startswith(w)) for w in ("R1", "R2")}
    return worst | {k: x for k, x in out.items() if x > (1 if k.startswith("R1") else 1.1)}


# --- Single packets (Figure 4.8) ----------------------------------------------------------------------------

QUANTILES = (0.90, 0.99, 0.999)


def single(results) -> np.ndarray:
    """Completion times (s) of flows of one packet."""
    found = flows(results)
    return found.fct[found.size <= 1024]


@claim("IRN-F8a", BASELINES)
def single_packets(runs):
    out = {}
    for cc in CONTROLS:
        for q in QUANTILES:
            t = {n: mean(runs, f"{PLACE}:{n}.{cc}", lambda r, q=q: percentile(single(r), 100 * q)) for n in BASELINES}
            at = f"{NAMES[cc]}, {100 * q:g} %"
            out |= {f"{at}, IRN / RoCE+PFC": t["irn"] / t["roce-pfc"], f"{at}, IRN / IRN+PFC": t["irn"] / t["irn-pfc"]}
    worst = {
        f"largest {p}": max(x for k, x in out.items() if k.endswith(p)) for p in ("IRN / RoCE+PFC", "IRN / IRN+PFC")
    }
    return worst | out


# --- Resilient RoCE (Figure 4.10) ---------------------------------------------------------------------------


@judged("IRN-F10a", needs=[*needs(PLACE, ("irn",), ("none",)), *needs(PLACE, ("roce",), ("dcqcn",))])
def resilient_roce(runs):
    found = ratio(metrics(runs, "roce", "dcqcn"), metrics(runs, "irn"))
    return (
        {f"Resilient RoCE / IRN {m}": found[m] for m in METRICS} | {"largest": max(found.values())} | unfinished(runs)
    )
