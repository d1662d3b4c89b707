"""What TIMELY's open constants do to the claims that hang on them (IRN-F5a, F9a, F9b, X6a, X7a, X7c,
T2-70-t): the weight of the newest difference, 0.064 (0.08 with a minRTT of 30 us, with which the study of
TIMELY reproduces most, at the 24 us of this one) or 0.875 of later analyses, and the least rate, 10 or 100
Mb/s. Neither paper states either; claims are judged with the study's own, and nothing is judged here. At full
scale only.
"""

from __future__ import annotations

from thalweg.study import run, schemes

from . import incast
from .outcome import m3, ratio
from .settings import BASELINES, NAMES, POINTS, SEEDS, TIMELY_BAND, Point, scheme

OTHERS = tuple(cc for cc in TIMELY_BAND if cc != "timely")
ROW, CROSS = "band-default", "band-cross"
SENDERS = (10, 30, 50)
# CHOICE: of what X6a varies, the one at which it fails.
RATE = 100
FAST = f"band-incast-{RATE}G"


def runs(scale: str) -> list:
    if scale != "full":
        return []
    point, fast = POINTS["default"], Point(rate=RATE)
    made = [
        run(f"{ROW}:{n}.{cc}", "fat-tree", point.set(scale) | scheme(n, cc, point), seed)
        for cc in OTHERS
        for n in BASELINES
        for seed in SEEDS[scale]
    ]
    for fan_in in SENDERS:
        set = incast.events(fan_in, point, scale)
        made += incast.at(f"band-incast-{fan_in}", point, set, BASELINES, scale, controls=OTHERS)
    made += incast.at(FAST, fast, incast.events(incast.VARIED, fast, scale), BASELINES[:2], scale, controls=OTHERS)
    made += incast.at(CROSS, point, incast.cross(scale), BASELINES, scale, scenario="cross", controls=OTHERS)
    return made


def place(name: str, cc: str) -> str:
    """Where a variant was run; the study's own stands among the other runs."""
    return name.removeprefix("band-") if cc == "timely" else name


# Patterns that match the study's own runs at either scale, and the others' at full.
PLACES = {"default": BASELINES, "incast-[135]0": BASELINES, f"incast-{RATE}G": BASELINES[:2], "cross": BASELINES}
NEEDS = [f"*{place}:{name}.timely*@*" for place, names in PLACES.items() for name in names]


def over(runs, name: str, cc: str, other: str) -> float:
    """IRN's mean request time over another scheme's."""
    key = place(name, cc)
    return incast.rct(runs, f"{key}:irn.{cc}") / incast.rct(runs, f"{key}:{other}.{cc}")


def values(runs, cc: str) -> dict[str, float]:
    """What the claims judge, of one variant: IRN over the other scheme."""
    row = place(ROW, cc)
    irn = m3(runs, f"{row}:irn.{cc}")
    r1, r2 = (ratio(irn, m3(runs, f"{row}:{n}.{cc}")) for n in ("roce-pfc", "irn-pfc"))
    out = {"F5a: largest R2": max(r2.values())}
    for claim, other in (("F9a", "roce-pfc"), ("F9b", "irn-pfc")):
        out[f"{claim}: largest RCT"] = max(over(runs, f"band-incast-{n}", cc, other) for n in SENDERS)
    out[f"X6a: RCT at {RATE} Gb/s"] = over(runs, FAST, cc, "irn-pfc")
    out["X7a: RCT"] = over(runs, CROSS, cc, "roce-pfc")
    out["X7c: RCT"] = over(runs, CROSS, cc, "irn-pfc")
    return out | {f"T2-70-t: R1 {m}": x for m, x in r1.items()}


def band(runs) -> dict[str, dict[str, float]]:
    """The values of every variant that was run, by what it is called."""
    ran = [cc for cc in TIMELY_BAND if f"irn.{cc}" in schemes(runs, place(ROW, cc))]
    return {NAMES[cc]: values(runs, cc) for cc in ran}
