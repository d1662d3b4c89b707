"""Tables 4.2 to 4.8 (§4.3.4): the three schemes with three kinds of congestion control, one parameter at a
time off its default."""

from __future__ import annotations

from thalweg.study import mean, measure, measure_each, places, schemes, seeds, steps

from .outcome import METRICS, drop_rate, m3, named, pauses, ratio, unfinished
from .settings import BASELINES, CONTROLS, ONE, POINTS, at, judged, needs

# Published per scenario and congestion control: slowdown, average FCT and 99 % FCT (ms) of IRN; R1 = IRN /
# (RoCE+PFC) and R2 = IRN / (IRN+PFC) of the three. What could not be read is not here: 10 Gb/s, 128 and 250
# servers, 60 KB.
PUBLISHED = {
    ("default", "none"): ((8.24, 0.9, 15.3), (0.269, 0.350, 0.301), (0.513, 0.640, 0.612)),
    ("default", "timely"): ((4.73, 1.2, 18.5), (0.626, 0.625, 0.594), (0.995, 0.976, 0.968)),
    ("default", "dcqcn"): ((5.19, 1.0, 20.7), (0.484, 0.509, 0.453), (1.009, 1.005, 0.966)),
    ("load-30", "none"): ((1.85, 0.2, 2.4), (0.335, 0.743, 0.852), (0.990, 1.000, 0.995)),
    ("load-30", "timely"): ((1.70, 0.3, 5.9), (0.890, 0.756, 0.789), (0.996, 0.993, 0.999)),
    ("load-30", "dcqcn"): ((1.69, 0.2, 2.9), (0.904, 0.909, 0.936), (1.003, 1.005, 1.010)),
    ("load-50", "none"): ((3.38, 0.3, 4.6), (0.186, 0.344, 0.335), (0.868, 0.931, 0.930)),
    ("load-50", "timely"): ((2.55, 0.6, 10.1), (0.801, 0.755, 0.776), (0.996, 0.993, 0.989)),
    ("load-50", "dcqcn"): ((2.65, 0.4, 5.7), (0.746, 0.771, 0.626), (1.001, 1.000, 1.015)),
    ("load-90", "none"): ((14.03, 1.9, 33.4), (0.359, 0.475, 0.468), (0.483, 0.572, 0.484)),
    ("load-90", "timely"): ((7.84, 1.9, 32.1), (0.501, 0.518, 0.487), (0.930, 0.868, 0.761)),
    ("load-90", "dcqcn"): ((8.13, 1.9, 46.4), (0.534, 0.592, 0.697), (1.004, 0.990, 0.964)),
    ("rate-100", "none"): ((7.92, 0.4, 6.4), (0.408, 0.476, 0.413), (0.629, 0.728, 0.705)),
    ("rate-100", "timely"): ((4.84, 0.6, 9.1), (0.385, 0.489, 0.432), (0.988, 0.986, 0.964)),
    ("rate-100", "dcqcn"): ((5.44, 0.7, 18.7), (0.424, 0.597, 0.658), (1.011, 1.022, 1.051)),
    ("uniform", "none"): ((18.93, 11.6, 42.8), (0.213, 0.231, 0.156), (0.313, 0.334, 0.170)),
    ("uniform", "timely"): ((18.91, 12.3, 33.7), (0.584, 0.576, 0.496), (0.955, 0.957, 0.919)),
    ("uniform", "dcqcn"): ((16.06, 10.9, 55.7), (0.600, 0.553, 0.647), (0.993, 0.988, 0.974)),
    ("memory-120", "none"): ((8.87, 1.2, 19.1), (0.320, 0.411, 0.353), (0.343, 0.410, 0.340)),
    ("memory-120", "timely"): ((4.99, 1.2, 19.2), (0.603, 0.578, 0.562), (0.863, 0.821, 0.794)),
    ("memory-120", "dcqcn"): ((5.68, 1.4, 32.4), (0.689, 0.697, 0.692), (0.951, 0.945, 0.932)),
    ("memory-480", "none"): ((8.63, 0.8, 12.7), (0.223, 0.315, 0.285), (0.853, 0.953, 0.945)),
    ("memory-480", "timely"): ((4.66, 1.2, 18.5), (0.621, 0.657, 0.614), (1.005, 1.004, 1.004)),
    ("memory-480", "dcqcn"): ((4.99, 1.0, 20.6), (0.310, 0.442, 0.405), (1.003, 1.001, 0.955)),
    ("rto-640", "none"): ((8.38, 1.0, 16.2), (0.274, 0.369, 0.319), (0.522, 0.675, 0.649)),
    ("rto-640", "timely"): ((4.77, 1.2, 18.8), (0.631, 0.631, 0.605), (1.003, 0.987, 0.987)),
    ("rto-640", "dcqcn"): ((5.23, 1.0, 20.6), (0.488, 0.503, 0.452), (1.018, 0.995, 0.964)),
    ("rto-1280", "none"): ((8.74, 1.1, 19.4), (0.285, 0.426, 0.382), (0.544, 0.779, 0.776)),
    ("rto-1280", "timely"): ((4.79, 1.2, 19.4), (0.634, 0.644, 0.623), (1.008, 1.007, 1.016)),
    ("rto-1280", "dcqcn"): ((5.24, 1.0, 20.7), (0.489, 0.510, 0.453), (1.020, 1.007, 0.968)),
    ("few-10", "none"): ((8.26, 1.0, 15.7), (0.270, 0.356, 0.310), (0.515, 0.651, 0.629)),
    ("few-10", "timely"): ((4.75, 1.2, 18.7), (0.628, 0.629, 0.600), (0.999, 0.983, 0.979)),
    ("few-10", "dcqcn"): ((5.13, 1.0, 20.8), (0.478, 0.500, 0.456), (0.997, 0.989, 0.974)),
    ("few-15", "none"): ((8.25, 1.0, 15.4), (0.270, 0.357, 0.303), (0.514, 0.653, 0.616)),
    ("few-15", "timely"): ((4.72, 1.2, 18.7), (0.624, 0.628, 0.602), (0.992, 0.981, 0.981)),
    ("few-15", "dcqcn"): ((5.22, 1.0, 21.8), (0.487, 0.516, 0.477), (1.015, 1.019, 1.019)),
}
# The rows of each table, in the paper's order.
TABLES = {
    "4.2": ("load-30", "load-50", "default", "load-90"),
    "4.3": ("rate-10", "default", "rate-100"),
    "4.4": ("default", "k-8", "k-10"),
    "4.5": ("default", "uniform"),
    "4.6": ("memory-60", "memory-120", "default", "memory-480"),
    "4.7": ("default", "rto-640", "rto-1280"),
    "4.8": ("default", "few-10", "few-15"),
}
ROWS = tuple(dict.fromkeys(p for rows in TABLES.values() for p in rows))
# Rows that differ from the default in timers only: none of their baselines has any (§4.3.1).
TIMERS = ("rto-640", "rto-1280", "few-10", "few-15")
ONLY_FULL = ("xoff-160", "xoff-100")
# 54 hosts under load for as long as more of them are: schemes grow apart with time.
AS_LONG = {"k-8": "as-k-8", "k-10": "as-k-10"}
# Where DCQCN's thresholds, 5 and 200 KB by default, are also run as parts of the memory: it is smaller there.
SCALED = ("rate-10", "memory-60", "memory-120")
THRESHOLDS = {220: "default", 160: "xoff-160", 100: "xoff-100", 40: "xoff-40"}

# What the claims are called.
NAMES = {
    "IRN-T2-70": "default",
    "IRN-T2-30": "load-30",
    "IRN-T2-50": "load-50",
    "IRN-T2-90": "load-90",
    "IRN-T3-100": "rate-100",
    "IRN-T5-unif": "uniform",
    "IRN-T6-120": "memory-120",
    "IRN-T6-480": "memory-480",
    "IRN-T7-640": "rto-640",
    "IRN-T7-1280": "rto-1280",
    "IRN-T8-10": "few-10",
    "IRN-T8-15": "few-15",
}
LETTERS = {"n": "none", "t": "timely", "d": "dcqcn"}


def there(place: str, scale: str) -> bool:
    return scale == "full" or place not in ONLY_FULL


def runs(scale: str) -> list:
    made = []
    for place in ROWS:
        if place != "default" and there(place, scale):
            names = ("irn",) if place in TIMERS else BASELINES
            made += [r for cc in CONTROLS for n in names for r in at(place, n, cc, scale)]
    for place in AS_LONG.values():
        made += [r for cc in CONTROLS for n in BASELINES for r in at(place, n, cc, scale)]
    for place in SCALED:
        made += [r for n in BASELINES for r in at(place, n, "dcqcn-scaled", scale)]
    for place in THRESHOLDS.values():
        if place != "default" and there(place, scale):
            made += [r for n in ("irn-pfc", "roce-pfc") for r in at(place, n, "none", scale)]
    return made


def baseline(place: str) -> str:
    """Where a row's baselines with flow control were run."""
    return "default" if place in TIMERS else place


def judged_at(place: str, cc: str) -> str:
    """Where a row is judged by itself: the default row without congestion control on more flows."""
    return "long" if (place, cc) == ("default", "none") else place


def row_needs(place: str, controls=CONTROLS, seed: int | str | None = None) -> list[str]:
    """All seeds that the place has, or one."""
    seed = seed or POINTS[place].seeds or "*"
    return [*needs(place, ("irn",), controls, seed), *needs(baseline(place), BASELINES[1:], controls, seed)]


def row(runs, place: str, cc: str) -> tuple[dict, dict, dict]:
    """A row as published: the three metrics of IRN (s), R1, R2."""
    irn = m3(runs, f"{place}:irn.{cc}")
    r1, r2 = (ratio(irn, m3(runs, f"{baseline(place)}:{n}.{cc}")) for n in ("roce-pfc", "irn-pfc"))
    return irn, r1, r2


def reported(runs, place: str, cc: str) -> dict[str, float]:
    irn, r1, r2 = row(runs, place, cc)
    absolute = {"slow": irn["slow"], "fct (ms)": 1e3 * irn["fct"], "p99 (ms)": 1e3 * irn["p99"]}
    return named("R1", r1) | named("R2", r2) | absolute


# A row is judged twice: its orders, and its numbers.
JUDGED = {
    f"{name}-{letter}{suffix}": (judged_at(place, cc), cc)
    for name, place in NAMES.items()
    for letter, cc in LETTERS.items()
    for suffix in ("", ".ratio")
}


@measure_each(JUDGED, needs=lambda at: row_needs(at[0], at[1:]))
def row_of_table(runs, at: tuple[str, str]):
    place, cc = at
    more = {
        "drop rate": mean(runs, f"{place}:irn.{cc}", drop_rate),
        "pauses, IRN+PFC": mean(runs, f"{baseline(place)}:irn-pfc.{cc}", pauses),
    }
    return reported(runs, place, cc) | more | unfinished(runs)


def scaled_needs(place: str) -> list[str]:
    return [*row_needs(place, ("none", "dcqcn")), *needs(place, BASELINES, ("dcqcn-scaled",), ONE)]


def marked(runs, place: str) -> dict[str, float]:
    """A row with DCQCN, with the published thresholds and with the same parts of the memory (`scaled`); and
    how far its average FCT is from that without congestion control, where equal means that DCQCN does not
    act."""
    free = m3(runs, f"{place}:irn.none")["fct"]
    out = {}
    for cc, name in (("dcqcn", ""), ("dcqcn-scaled", ", scaled")):
        irn, r1, r2 = row(runs, place, cc)
        out |= {f"{k}{name}": x for k, x in (named("R1", r1) | named("R2", r2)).items()}
        out[f"average FCT, DCQCN{name} / no CC"] = irn["fct"] / free
    return out


@measure("IRN-T3-10-d", needs=list(dict.fromkeys(k for p in SCALED for k in scaled_needs(p))))
def ten_gigabit_with_dcqcn(runs):
    """Judged with the published thresholds; next to them the scaled ones, and both with small memories."""
    first, *others = SCALED
    more = {f"{k}, {POINTS[p].title}": x for p in others for k, x in marked(runs, p).items()}
    return marked(runs, first) | more | unfinished(runs)


# --- Trends over a table, at the seed that all its rows have ------------------------------------------------


def needs_of(places, controls=CONTROLS) -> list[str]:
    return list(dict.fromkeys(k for p in places for k in row_needs(p, controls, ONE)))


def over(runs, places, cc: str = "none") -> tuple[dict, dict]:
    """R1 and R2 of each metric along a table: `{metric: [value per row]}`."""
    rows = [row(runs, p, cc) for p in places]
    return tuple({m: [r[n][m] for r in rows] for m in METRICS} for n in (1, 2))


def listed(name: str, values: dict, places) -> dict[str, float]:
    return {f"{name} {m}, {POINTS[p].title}": x for m, v in values.items() for p, x in zip(places, v, strict=True)}


def falls(values: dict) -> float:
    """The largest step up along the table."""
    return max(s for v in values.values() for s in steps(v))


def rises(values: dict) -> float:
    """The largest step down along the table."""
    return -min(s for v in values.values() for s in steps(v))


@measure("IRN-T2x", needs=needs_of(TABLES["4.2"], ("none",)))
def over_loads(runs):
    r1, r2 = over(runs, TABLES["4.2"])
    out = {"largest step up of R2": falls(r2)}
    return out | listed("R2", r2, TABLES["4.2"]) | listed("R1", r1, TABLES["4.2"])


@measure("IRN-T3x", needs=needs_of(TABLES["4.3"], ("none",)))
def over_rates(runs):
    r1, r2 = over(runs, TABLES["4.3"])
    out = {
        "largest step down of R1": rises(r1),
        "largest step down of R2": rises(r2),
        "largest R1 at 100 Gb/s": max(v[-1] for v in r1.values()),
    }
    return out | listed("R1", r1, TABLES["4.3"]) | listed("R2", r2, TABLES["4.3"])


@measure("IRN-T4x", needs=needs_of((*AS_LONG, *AS_LONG.values())))
def over_networks(runs):
    off = {}
    for cc in CONTROLS:
        for place, shorter in AS_LONG.items():
            _, *base = row(runs, shorter, cc)
            _, *here = row(runs, place, cc)
            for name, a, b in zip(("R1", "R2"), here, base, strict=True):
                off |= {f"{name} {m} {cc}, {POINTS[place].title} / 54": x for m, x in ratio(a, b).items()}
    return {"smallest": min(off.values()), "largest": max(off.values())} | off


@measure("IRN-T5x", needs=row_needs("uniform"))
def uniform_sizes(runs):
    found = {cc: row(runs, "uniform", cc) for cc in CONTROLS}
    return {
        "largest R1": max(x for _, r1, _ in found.values() for x in r1.values()),
        "largest R2, no CC": max(found["none"][2].values()),
    } | unfinished(runs)


@measure("IRN-T6x", needs=needs_of(TABLES["4.6"], ("none",)))
def over_memories(runs):
    r1, r2 = over(runs, TABLES["4.6"])
    out = {"largest step down of R2": rises(r2), "largest step up of R1": falls(r1)}
    return out | listed("R2", r2, TABLES["4.6"]) | listed("R1", r1, TABLES["4.6"])


@measure(
    "IRN-X5a",
    needs=[*needs("default", ("irn", "irn-pfc", "roce-pfc"), ("none",), ONE), "xoff-*"],
)
def over_thresholds(runs):
    irn = m3(runs, "default:irn.none")
    ran = {t: p for t, p in THRESHOLDS.items() if p in places(runs)}
    r2 = {t: ratio(irn, m3(runs, f"{p}:irn-pfc.none")) for t, p in ran.items()}
    r1 = {t: ratio(irn, m3(runs, f"{p}:roce-pfc.none")) for t, p in ran.items()}
    out = {"largest R2(40 KB) / R2(220 KB)": max(r2[40][m] / r2[220][m] for m in METRICS)}
    out |= {f"R2 {m}, {t} KB": x for t, v in r2.items() for m, x in v.items()}
    return out | {f"R1 {m}, {t} KB": x for t, v in r1.items() for m, x in v.items()}


def against_default(runs, places) -> dict[str, dict[str, float]]:
    """IRN's metrics at these points over those at the default, for every congestion control."""
    base = {cc: m3(runs, f"default:irn.{cc}") for cc in CONTROLS}
    return {
        p: {
            f"{m} {cc}, {POINTS[p].title}": x
            for cc in CONTROLS
            for m, x in ratio(m3(runs, f"{p}:irn.{cc}"), base[cc]).items()
        }
        for p in places
    }


@measure("IRN-T7x", needs=[k for p in TABLES["4.7"] for k in needs(p, ("irn",), seed=ONE)])
def over_timeouts(runs):
    found = against_default(runs, ("rto-640", "rto-1280"))
    out = {f"largest {POINTS[p].rto_high} / 320": max(v.values()) for p, v in found.items()}
    return out | found["rto-640"] | found["rto-1280"]


@measure("IRN-T8x", needs=[k for p in TABLES["4.8"] for k in needs(p, ("irn",), seed=ONE)])
def over_packets_in_flight(runs):
    found = {k: x for v in against_default(runs, ("few-10", "few-15")).values() for k, x in v.items()}
    return {"smallest": min(found.values()), "largest": max(found.values())} | found


# --- Summary (§4.3.4) ---------------------------------------------------------------------------------------


def complete(runs) -> list[tuple[str, str]]:
    """The rows whose three schemes were all run."""

    def has(place, name, cc):
        return f"{name}.{cc}" in schemes(runs, place)

    return [
        (p, cc)
        for p in ROWS
        for cc in CONTROLS
        if has(p, "irn", cc) and all(has(baseline(p), n, cc) for n in BASELINES[1:])
    ]


# Every place that a row has at either scale.
ALL = [*needs("[dlrkum]*", BASELINES, seed=ONE), *needs("few-*", ("irn",), seed=ONE)]


def all_rows(runs, n: int, controls) -> dict[str, float]:
    rows = [(p, cc) for p, cc in complete(runs) if cc in controls]
    return {f"{m} {cc}, {POINTS[p].title}": x for p, cc in rows for m, x in row(runs, p, cc)[n].items()}


@judged("IRN-SUMa", needs=ALL)
def always_better_than_roce(runs):
    found = all_rows(runs, 1, CONTROLS)
    out = {"largest R1": max(found.values()), "smallest R1": min(found.values()), "rows": len(found) / 3}
    return out | {f"R1 {k}": x for k, x in found.items() if x >= 1} | unfinished(runs)


@measure("IRN-SUMb", needs=ALL)
def pfc_without_control(runs):
    found = all_rows(runs, 2, ("none",))
    out = {"largest R2": max(found.values()), "smallest R2": min(found.values()), "rows": len(found) / 3}
    return out | {f"R2 {k}": x for k, x in found.items() if x > 1.02}


@measure("IRN-SUMc", needs=ALL)
def pfc_with_control(runs):
    found = all_rows(runs, 2, CONTROLS[1:])
    out = {"largest R2": max(found.values()), "rows": len(found) / 3}
    out |= {f"smallest R2, {cc}": min(x for k, x in found.items() if f" {cc}," in k) for cc in CONTROLS[1:]}
    return out | {f"R2 {k}": x for k, x in found.items() if x > 1.1}


# --- The tables themselves ----------------------------------------------------------------------------------

COLUMNS = (
    "table",
    "scenario",
    "congestion control",
    *(f"{what} {m}{of}" for what in ("IRN", "R1", "R2") for m in METRICS for of in ("", ", published")),
    "seeds",
)


def printed(runs) -> list[tuple]:
    """Tables 4.2 to 4.8, published next to measured: rows of `COLUMNS`; FCTs in ms. The default row comes in
    every table."""
    have = set(complete(runs))
    out = []
    for table, rows in TABLES.items():
        for place in rows:
            for cc in CONTROLS:
                if (place, cc) not in have:
                    continue
                irn, r1, r2 = row(runs, place, cc)
                measured = ({m: x * (1 if m == "slow" else 1e3) for m, x in irn.items()}, r1, r2)
                known = PUBLISHED.get((place, cc), ((None,) * 3,) * 3)
                cells = [
                    c
                    for a, b in zip(measured, known, strict=True)
                    for pair in zip(a.values(), b, strict=True)
                    for c in pair
                ]
                out.append((table, POINTS[place].title, cc, *cells, len(seeds(runs, f"{place}:irn.{cc}"))))
    return out


def _text(x) -> str:
    return "" if x is None else f"{x:.3g}" if isinstance(x, float) else str(x)


def csv(rows) -> str:
    quoted = [",".join(f'"{c}"' if "," in c else c for c in COLUMNS)]
    return "\n".join([*quoted, *(",".join(_text(x) for x in r) for r in rows)]) + "\n"


def markdown(rows) -> str:
    """Measured, and the published value in brackets."""
    head = ("scenario", "CC", *(f"{what} {m}" for what in ("IRN", "R1", "R2") for m in METRICS))
    out = []
    for table in dict.fromkeys(r[0] for r in rows):
        out += [f"Table {table}", "", f"| {' | '.join(head)} |", "|---" * len(head) + "|"]
        for _, place, cc, *cells, _ in (r for r in rows if r[0] == table):
            pairs = zip(cells[::2], cells[1::2], strict=True)
            texts = [_text(a) + (f" ({_text(b)})" if b is not None else "") for a, b in pairs]
            out.append(f"| {' | '.join((place, cc, *texts))} |")
        out.append("")
    return "\n".join(out)
