"""One flow over a cellular link (Figures 2-1, 2-2, 2-7, 2-8, 2-14, 2-16, B-1, B-3 to B-5), and what the
router's variants change."""

from __future__ import annotations

import numpy as np

from thalweg.study import measure, measure_each

from .outcome import p95, rate, summary, utilisation
from .settings import (
    DOWN,
    FIVE,
    MORE,
    NAMES,
    SCHEMES,
    UP,
    XCP_ROUTER,
    Cell,
    distant,
    need_traces,
    recorded,
    router,
)  # fmt: skip

ETAS = (0.8, 0.85, 0.9, 0.95, 0.98, 1.0)
FAR = (20, 50, 100, 200)
DISTANT = ("abc", "cubic-codel", "cubic-pie")
EQ = router("enqueue", compared="arrivals")
PK = router("foresight", UP, foresight="100ms", threshold="20ms")
ARTIFACT = Cell("abc", DOWN, "artifact", {"switch.marking": {"kind": "abc", "arithmetic": "artifact"}})
PACED = Cell(
    "abc", DOWN, "artifact+paced",
    {"switch.marking": {"kind": "abc", "arithmetic": "artifact"}, "transport.congestion": {"kind": "abc", "dual": False, "paced": True}},
)  # fmt: skip
# Routers that learn round trips from senders, as published.
TOLD = Cell("xcp", DOWN, "told", {"switch.marking": XCP_ROUTER})
DUAL = Cell("abc", DOWN, "dual", {"transport.congestion": "abc"})
HYSTART = Cell("cubic-codel", DOWN, "hystart", {"transport.congestion": "cubic"})
SQUARE = {
    "link": [
        {"which": "core-links", "direction": "forward"}
        | {"transmitter": {"kind": "square-wave", "first": "24Mbps", "second": "12Mbps", "half_period": "500ms"}}
    ]
}
WAVES = {s: Cell(s, "square", "", SQUARE) for s in ("abc", "rcp", "xcpw")}


def aims(eta: float) -> Cell:
    return router(f"eta{eta:g}", utilisation=eta) if eta != 0.98 else Cell()


def traces() -> tuple[str, ...]:
    return (*FIVE, *MORE) if recorded() else (DOWN, UP)


def every(scheme: str) -> list[Cell]:
    return [Cell(scheme, trace) for trace in traces()]


def runs(scale: str) -> list:
    cells = [c for s in SCHEMES for c in every(s)]
    cells += [EQ, PK, ARTIFACT, PACED, TOLD, DUAL, HYSTART, *WAVES.values(), *map(aims, ETAS)]
    cells += [distant(s, rtt) for s in DISTANT for rtt in FAR]
    return [c.spec() for c in dict.fromkeys(cells)]


def keys(*cells: Cell) -> list[str]:
    return [c.key for c in cells]


def both(*schemes: str) -> list[str]:
    return [f"*:{s}" for s in schemes]


def average(runs, scheme: str) -> np.ndarray:
    """Utilisation, p95 and mean (ms), over the traces."""
    need_traces()
    return np.mean([summary(runs[c.key]) for c in every(scheme)], axis=0)


def against(runs, scheme: str) -> dict[str, float]:
    """A scheme's averages over ABC's."""
    ours, theirs = average(runs, "abc"), average(runs, scheme)
    return {"utilisation / ABC's": theirs[0] / ours[0], "p95 / ABC's": theirs[1] / ours[1]}


RATIOS = {"ABC-T0c": "cubic-codel", "ABC-T0d": "copa", "ABC-T0f": "vivace", "ABC-T0g": "bbr", "ABC-T0i": "verus"}
measure_each(RATIOS, needs=lambda scheme: both("abc", scheme))(against)


@measure("ABC-A1", needs=both("abc", "cubic", "cubic-codel"))
def against_deployed_schemes(runs):
    abc, cubic, codel = (average(runs, s) for s in ("abc", "cubic", "cubic-codel"))
    return {
        "utilisation, ABC / CoDel": abc[0] / codel[0],
        "p95, Cubic / ABC": cubic[1] / abc[1],
        "utilisation, ABC / Cubic": abc[0] / cubic[0],
    }


@measure("ABC-A3", needs=both("abc", "cubic-codel", "xcp"))
def against_codel_and_xcp(runs):
    abc, codel, xcp = (average(runs, s) for s in ("abc", "cubic-codel", "xcp"))
    return {"utilisation, ABC / CoDel": abc[0] / codel[0], "p95, XCP / ABC": xcp[1] / abc[1]}


@measure("ABC-T0a", needs=both("abc"))
def averages_of_abc(runs):
    abc = average(runs, "abc")
    return {"utilisation": abc[0], "p95 (ms)": abc[1]}


@measure("ABC-F1.1a", needs=[Cell().key])
def capacity_within_a_second(runs):
    import gzip

    from .settings import TRACES

    need_traces()
    ms = np.array(gzip.decompress((TRACES / f"{DOWN}.gz").read_bytes()).split(), dtype=np.int64)
    bins = np.bincount(ms[ms < 140_000] // 250, minlength=560).reshape(-1, 4)
    twice = [b.max() >= 2 * max(b.min(), 1e-9) for b in bins]
    return float(np.mean(twice))


@measure("ABC-F2.1a", needs=keys(Cell("cubic")))
def cubic_over_time(runs):
    need_traces()
    u, late, _ = summary(runs[Cell("cubic").key])
    return {"utilisation": u, "p95 (ms)": late}


@measure("ABC-F2.1b", needs=keys(Cell(), Cell("verus")))
def verus_over_time(runs):
    need_traces()

    def varies(scheme: str) -> float:
        _, carried, offered = rate(runs[Cell(scheme).key])
        used = (carried / np.maximum(offered, 1e-9))[offered > 0]
        return float(used.std() / used.mean())

    return {
        "p95, Verus / ABC": p95(runs[Cell("verus").key]) / p95(runs[Cell().key]),
        "variation of use, Verus / ABC": varies("verus") / varies("abc"),
    }


@measure("ABC-F2.1c", needs=keys(Cell("cubic"), Cell("cubic-codel"), HYSTART))
def codel_over_time(runs):
    need_traces()
    cubic, codel = (summary(runs[Cell(s).key]) for s in ("cubic", "cubic-codel"))
    other = utilisation(runs[HYSTART.key])
    return {"mean, Cubic / CoDel": cubic[2] / codel[2], "utilisation, CoDel": codel[0], "the same with HyStart": other}


@measure("ABC-F2.1d", needs=keys(Cell(), Cell("cubic-codel")))
def abc_over_time(runs):
    need_traces()
    abc, codel = (summary(runs[Cell(s).key]) for s in ("abc", "cubic-codel"))
    return {"utilisation": abc[0], "p95, ABC / CoDel": abc[1] / codel[1]}


@measure("ABC-F2.2a", needs=keys(Cell(), EQ, ARTIFACT, PACED, DUAL))
def enqueue_rates(runs):
    need_traces()
    out = {"p95, enqueue / dequeue": p95(runs[EQ.key]) / p95(runs[Cell().key])}
    for name, cell in {
        "arithmetic of the artifact": ARTIFACT,
        "and its paced sender": PACED,
        "two windows": DUAL,
    }.items():
        u, late, _ = summary(runs[cell.key])
        out |= {f"{name}: utilisation": u, f"{name}: p95 (ms)": late}
    return out


# Careful schemes: the larger of two links; greedy ones: the smaller.
EXTREMES = {
    "ABC-F2.7c": (max, ("cubic-codel", "cubic-pie", "copa", "sprout")),
    "ABC-F2.7d": (min, ("cubic", "bbr", "vivace")),
}


@measure_each(EXTREMES, needs=lambda kind: [f"{t}:{s}" for t in (DOWN, UP) for s in ("abc", *kind[1])])
def careful_and_greedy_schemes(runs, kind):
    need_traces()
    extreme, names = kind
    out = {}
    for s in names:
        pairs = [(summary(runs[Cell(s, t).key]), summary(runs[Cell("abc", t).key])) for t in (DOWN, UP)]
        out[f"{NAMES[s]}: p95 / ABC's"] = extreme(a[1] / b[1] for a, b in pairs)
        out[f"{NAMES[s]}: utilisation / ABC's"] = extreme(a[0] / b[0] for a, b in pairs)
    return out


@measure("ABC-F2.8a", needs=both("abc", "cubic-codel", "copa"))
def against_codel_and_copa(runs):
    out = {}
    for s in ("cubic-codel", "copa"):
        found = against(runs, s)
        out[f"utilisation, ABC / {NAMES[s]}"] = 1 / found["utilisation / ABC's"]
        out[f"p95, ABC / {NAMES[s]}"] = 1 / found["p95 / ABC's"]
    return out


@measure("ABC-F2.8b", needs=both("abc", "vivace", "cubic"))
def against_vivace_and_cubic(runs):
    return {f"{NAMES[s]}: {what}": v for s in ("vivace", "cubic") for what, v in against(runs, s).items()}


@measure("ABC-F2.8c", needs=both("abc", "bbr", "verus", "sprout"))
def against_bbr_verus_and_sprout(runs):
    return {f"{NAMES[s]}: {what}": v for s in ("bbr", "verus", "sprout") for what, v in against(runs, s).items()}


@measure("ABC-F2.8d", needs=[*both("abc", "xcp"), TOLD.key])
def against_xcp(runs):
    out, one = against(runs, "xcp"), p95(runs[Cell("xcp").key])
    return out | {"one trace, p95 (ms)": one, "with the senders' round trips (ms)": p95(runs[TOLD.key])}


@measure("ABC-F2.8e", needs=both("abc", "xcp", "xcpw"))
def against_xcpw(runs):
    abc, xcp, xcpw = (average(runs, s) for s in ("abc", "xcp", "xcpw"))
    return {
        "p95, XCPw / XCP": xcpw[1] / xcp[1],
        "p95, XCPw / ABC": xcpw[1] / abc[1],
        "utilisation, XCPw - ABC": xcpw[0] - abc[0],
    }


@measure("ABC-PKa", needs=keys(Cell("abc", UP), PK))
def foresight(runs):
    need_traces()
    abc, pk = summary(runs[Cell("abc", UP).key]), summary(runs[PK.key])
    return {"p95, PK / ABC": pk[1] / abc[1], "|utilisation apart|": abs(pk[0] - abc[0]), "p95 (ms)": pk[1]}


@measure("ABC-F2.14b", needs=keys(*(distant(s, r) for s in DISTANT for r in FAR)))
def utilisation_by_round_trip(runs):
    need_traces()
    u = {(s, r): utilisation(runs[distant(s, r).key]) for s in DISTANT for r in FAR}
    return {"CoDel, 20 - 200 ms": u["cubic-codel", 20] - u["cubic-codel", 200]} | {
        f"{NAMES[s]}, {r} ms": u[s, r] for s in DISTANT for r in FAR
    }


@measure("ABC-F2.16a", needs=keys(*map(aims, ETAS)))
def utilisation_aimed_at(runs):
    need_traces()
    found = [summary(runs[aims(eta).key]) for eta in ETAS]
    u, late = (np.diff([f[n] for f in found]) for n in (0, 1))
    return {"smallest step of utilisation": u.min(), "smallest step of p95 (ms)": late.min()}


@measure("ABC-FB.1a", needs=keys(Cell(), Cell("bbr")))
def bbr_overshoots(runs):
    need_traces()
    return p95(runs[Cell("bbr").key]) / p95(runs[Cell().key])


@measure("ABC-FB.3a", needs=both("abc", "cubic", "cubic-codel", "bbr"))
def mean_delays(runs):
    abc, cubic, codel, bbr = (average(runs, s)[2] for s in ("abc", "cubic", "cubic-codel", "bbr"))
    return {"mean, ABC / CoDel": abc / codel, "mean, Cubic / ABC": cubic / abc, "mean, BBR / ABC": bbr / abc}


@measure("ABC-FB.4a", needs=both("abc", "xcpw"))
def xcpw_on_average(runs):
    abc, xcpw = average(runs, "abc"), average(runs, "xcpw")
    return {"|utilisation apart|": abs(abc[0] - xcpw[0]), "p95, XCPw / ABC": xcpw[1] / abc[1]}


@measure("ABC-FB.4b", needs=both("abc", "rcp"))
def rcp_on_average(runs):
    return average(runs, "abc")[0] / average(runs, "rcp")[0]


@measure("ABC-FB.4c", needs=both("abc", "vcp"))
def vcp_on_average(runs):
    abc, vcp = average(runs, "abc"), average(runs, "vcp")
    return {"utilisation, ABC / VCP": abc[0] / vcp[0], "p95, ABC / VCP": abc[1] / vcp[1]}


@measure("ABC-FB.5a", needs=keys(*WAVES.values()))
def square_wave(runs):
    u = {s: utilisation(runs[c.key]) for s, c in WAVES.items()}
    return {"ABC": u["abc"], "XCPw": u["xcpw"], "RCP / ABC": u["rcp"] / u["abc"]} | {
        f"p95, {NAMES[s]} (ms)": p95(runs[c.key]) for s, c in WAVES.items()
    }
