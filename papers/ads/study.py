"""Which runs the study needs, and what every claim measures in them.

A run's key is `POINT:RATE+SCHEDULER`: a point of the experiment's parameter space, and the scheme under test.
At one point all schemes get the same flows on the same paths.
"""

from __future__ import annotations

from functools import partial

from thalweg.study import Key, RunSpec, measure, places

from .outcome import completion, slowdown
from .settings import (
    ADS_QUEUES,
    COLLAPSING,
    HOSTS,
    INITIAL_WINDOWS,
    INTERVALS,
    LOADS,
    MAPS,
    MORE_RATES,
    RATES,
    RTO_MIN,
    SCHEDULERS,
    SWITCHES_ONLY,
    WINDOWS,
    WORKLOADS,
    ads,
    clock,
    early,
    main,
    recording,
    rto_min,
    scheme,
    side,
    small,
    static_map,
)


def run(point: str, rate: str, name: str, set: dict, **more) -> RunSpec:
    key = Key(point, f"{rate}+{name}")
    return RunSpec(key, "scenarios/fabric.toml", {"name": str(key)} | set, **more)


def twelve(point: str, base: dict, until, extra=lambda rate: {}) -> list[RunSpec]:
    """Every rate setting with every scheduler. `until(rate, scheduler)`: what is set where a run ends early."""
    return [run(point, r, s, base | scheme(r, s) | extra(r) | until(r, s)) for r in RATES for s in SCHEDULERS]


def variants(point: str, base: dict, source: str, queues=ADS_QUEUES, maps=MAPS, rates=RATES) -> list[RunSpec]:
    """ADS with k queues, by a dynamic map or by the static one recorded in the run `map-SOURCE:RATE`."""
    made = []
    for r in rates:
        for k in queues:
            if "dynamic" in maps:
                made.append(run(point, r, f"ads-{k}-dynamic", base | ads(r, k, {"kind": "dynamic"})))
            if "static" in maps:
                key = f"map-{source}:{r}"
                table = {"kind": "static"}
                more = {"after": (key,), "prepare": static_map(key)}
                made.append(run(point, r, f"ads-{k}-static", base | ads(r, k, table), **more))
    return made


def runs(scale: str) -> list[RunSpec]:
    default, made = main(scale), []
    figures, robustness = (partial(early, scale, what) for what in COLLAPSING)
    # Figures 1 and 2.
    made += twelve("heavy-tailed", default, figures)
    only = {"nic.marking": "none"}
    made += [run(SWITCHES_ONLY, "dctcp", s, default | scheme("dctcp", s) | only) for s in ("fifo", "srpt")]
    made += [run(SWITCHES_ONLY, "rcp", s, default | scheme("rcp", s) | only) for s in SCHEDULERS]
    made += [run("heavy-tailed", r, s, default | scheme(r, s)) for r in MORE_RATES for s in SCHEDULERS]
    made += [recording(scale, r, "heavy-tailed", default) for r in RATES]
    made += variants("heavy-tailed", default, "heavy-tailed")
    # Robustness: workloads (with Figures 3 and 4), loads, initial windows, RTOmin.
    for w in WORKLOADS[1:]:
        made += twelve(w, side(scale, w), robustness)
    for w in ("uniform", "facebook"):
        made += [recording(scale, r, w, side(scale, w)) for r in HOSTS]
        made += variants(w, side(scale, w), w, queues=(2, 8), rates=HOSTS)
    for load in LOADS[scale]:
        made += twelve(f"load-{100 * load:.0f}", side(scale) | {"traffic.0.load": load}, robustness)
    for iw in INITIAL_WINDOWS[scale]:
        made += twelve(f"iw-{iw}", side(scale) | {"transport.initial_window": f"{iw}pkts"}, robustness)
    for us in RTO_MIN[scale]:
        made += twelve(f"rtomin-{us}us", side(scale), robustness, lambda r, us=us: rto_min(r, us))
    made += foreign(scale) + dynamics(scale) + sockets(scale)
    return made


def foreign(scale: str) -> list[RunSpec]:
    """§3.3.2: the map of the heavy-tailed workload under other workloads. Port numbers must agree: so must
    the fabric."""
    made = []
    source = "heavy-tailed"
    if scale == "quick":
        source = "heavy-tailed-small"
        made.append(recording(scale, "tcp", source, side(scale)))
    for w in WORKLOADS[1:]:
        made += variants(f"foreign-{w}", side(scale, w), source, queues=(8,), maps=("static",), rates=("tcp",))
        if w not in ("uniform", "facebook"):
            made += variants(w, side(scale, w), w, queues=(8,), maps=("dynamic",), rates=("tcp",))
    return made


def dynamics(scale: str) -> list[RunSpec]:
    """§3.3.2: interval I and window W of the dynamic map under TCP, measured once the map has converged; at
    quick scale behind the slowest setting's second interval."""
    # Full: behind W · I of every setting: 100 ms times 10, and 5 ms times 50.
    base = clock("1.05s", "1.15s", "2.5s") if scale == "full" else small() | clock("40ms", "50ms", "65ms")
    points = {"published": {}}
    points |= {f"i-{i}": {"interval": i} for i in INTERVALS[scale]}
    points |= {f"w-{w}": {"window": w} for w in WINDOWS[scale]}
    return [
        run(point, "tcp", f"ads-{k}-dynamic", base | ads("tcp", k, {"kind": "dynamic"} | table))
        for point, table in points.items()
        for k in (2, 8)
    ]


def sockets(scale: str) -> list[RunSpec]:
    """§3.2: remaining size estimated from the socket's send buffer instead of known."""
    rank = {"transport.rank": {"kind": "socket-buffer", "buffer": "3MB"}}
    made = []
    for r in HOSTS:
        made.append(run("socket-buffer", r, "srpt", main(scale) | scheme(r, "srpt") | rank))
        made.append(run("socket-buffer", r, "ads-8-dynamic", main(scale) | ads(r, 8, {"kind": "dynamic"}) | rank))
    return made


def cut(runs) -> dict:
    """The largest number of censored flows in one run, to be reported with what was measured."""
    return {"most censored flows of a run": max(completion(r).censored for r in runs.values())}


def over_best(runs, point: str, rate: str) -> float:
    """SRPT's average slowdown over that of the best scheduler: 1 if SRPT is the best."""
    values = {s: slowdown(runs, f"{point}:{rate}+{s}") for s in SCHEDULERS}
    return values["srpt"] / min(values.values())


def grid(*names: str) -> list[str]:
    """The twelve runs of each point whose name is given; a name may hold `*`."""
    return [f"{p}:{r}+{s}" for p in names for r in RATES for s in SCHEDULERS]


HEAVY = "heavy-tailed"


@measure("ADS-F1a.1", needs=[f"{HEAVY}:tcp+{s}" for s in SCHEDULERS])
def schedulers_with_tcp(runs):
    s = {k: slowdown(runs, f"{HEAVY}:tcp+{k}") for k in SCHEDULERS}
    return {"FIFO/SRPT": s["fifo"] / s["srpt"], "FQ/SRPT": s["fq"] / s["srpt"]} | cut(runs)


@measure("ADS-F1a.2", needs=[f"{p}:dctcp+{s}" for p in (HEAVY, SWITCHES_ONLY) for s in ("fifo", "srpt")])
def schedulers_with_dctcp(runs):
    ratio = {p: slowdown(runs, f"{p}:dctcp+fifo") / slowdown(runs, f"{p}:dctcp+srpt") for p in (HEAVY, SWITCHES_ONLY)}
    return {"FIFO/SRPT": ratio[HEAVY], "FIFO/SRPT, only switches mark": ratio[SWITCHES_ONLY]} | cut(runs)


@measure("ADS-F1a.3", needs=[f"{HEAVY}:mintcp+{s}" for s in SCHEDULERS])
def schedulers_with_mintcp(runs):
    values = [slowdown(runs, f"{HEAVY}:mintcp+{s}") for s in SCHEDULERS]
    return {"max/min": max(values) / min(values)} | cut(runs)


@measure("ADS-F1a.4", needs=[*(f"{HEAVY}:{r}+srpt" for r in RATES), f"{SWITCHES_ONLY}:dctcp+srpt"])
def rates_with_srpt(runs):
    values = {r: slowdown(runs, f"{HEAVY}:{r}+srpt") for r in RATES}
    other = values | {"dctcp": slowdown(runs, f"{SWITCHES_ONLY}:dctcp+srpt")}
    spread = {
        name: max(v.values()) / min(v.values()) - 1
        for name, v in (("max/min - 1", values), ("max/min - 1, only switches mark", other))
    }
    return spread | values | cut(runs)


@measure("ADS-F1a.5", needs=[f"{HEAVY}:{r}+{s}" for r in ("tcp", "dctcp") for s in ("sjf", "srpt")])
def sjf_and_srpt(runs):
    return {
        f"{name} SJF/SRPT - 1": slowdown(runs, f"{HEAVY}:{r}+sjf") / slowdown(runs, f"{HEAVY}:{r}+srpt") - 1
        for name, r in (("TCP", "tcp"), ("DCTCP", "dctcp"))
    } | cut(runs)


@measure("ADS-F1b", needs=grid(HEAVY))
def best_average_completion(runs):
    out = {}
    for r in RATES:
        values = {s: completion(runs[f"{HEAVY}:{r}+{s}"]).average for s in SCHEDULERS}
        out[f"{r} SRPT/best"] = values["srpt"] / min(values.values())
    return out | cut(runs)


@measure("ADS-F1c.1", needs=[f"{HEAVY}:{r}+{s}" for r in ("mintcp", "dctcp") for s in SCHEDULERS])
def best_tail(runs):
    out = {}
    for r in ("mintcp", "dctcp"):
        values = {s: completion(runs[f"{HEAVY}:{r}+{s}"]).p99 for s in SCHEDULERS}
        out[f"{r} SRPT/best"] = values["srpt"] / min(values.values())
    return out | cut(runs)


@measure("ADS-F1c.2", needs=[f"{HEAVY}:tcp+{s}" for s in SCHEDULERS])
def best_tail_with_tcp(runs):
    values = {s: completion(runs[f"{HEAVY}:tcp+{s}"]).p99 for s in SCHEDULERS}
    ratios = {"SRPT/FIFO": values["srpt"] / values["fifo"], "FIFO/best": values["fifo"] / min(values.values())}
    return ratios | cut(runs)


def robust(runs) -> dict:
    """SRPT over the best scheduler, at the worst point, for each rate setting; and the points where it is beaten."""
    out, beaten = {}, {}
    for r in RATES:
        found = {p: over_best(runs, p, r) for p in places(runs)}
        out[f"{r} worst SRPT/best"] = max(found.values())
        beaten |= {f"{r} at {p}": x for p, x in found.items() if x > 1.05}
    return out | beaten


@measure("ADS-R.workload", needs=grid(*WORKLOADS))
def robust_to_workloads(runs):
    return robust(runs)


@measure("ADS-R.load", needs=grid(HEAVY, "load-*"))
def robust_to_loads(runs):
    return robust(runs)


@measure("ADS-R.iw", needs=grid(HEAVY, "iw-*"))
def robust_to_initial_windows(runs):
    return robust(runs)


@measure("ADS-R.rto", needs=grid(HEAVY, "rtomin-*"))
def robust_to_timeouts(runs):
    return robust(runs)


def against(runs, rate: str, name: str, other: str) -> float:
    return slowdown(runs, f"{HEAVY}:{rate}+{name}") / slowdown(runs, f"{HEAVY}:{rate}+{other}")


def ads_runs(*names: str) -> list[str]:
    return [f"{HEAVY}:{r}+{n}" for r in RATES for n in names]


@measure("ADS-F2.1", needs=ads_runs("ads-8-static", "ads-8-dynamic", "srpt"))
def eight_queues_and_srpt(runs):
    return {f"{r} {m}": against(runs, r, f"ads-8-{m}", "srpt") - 1 for r in RATES for m in MAPS}


@measure("ADS-F2.2", needs=ads_runs("ads-2-static", "ads-2-dynamic", "ads-8-static", "ads-8-dynamic"))
def two_queues_and_eight(runs):
    return {f"{r} {m}": against(runs, r, f"ads-2-{m}", f"ads-8-{m}") for r in RATES for m in MAPS}


@measure("ADS-F2.4", needs=ads_runs("ads-2-static", "ads-2-dynamic", "ads-8-static", "ads-8-dynamic"))
def static_and_dynamic_maps(runs):
    out = {}
    for r in RATES:
        out[f"{r} 8 queues |dynamic/static - 1|"] = abs(against(runs, r, "ads-8-dynamic", "ads-8-static") - 1)
        out[f"{r} 2 queues dynamic/static"] = against(runs, r, "ads-2-dynamic", "ads-2-static")
    return out


@measure("ADS-F2.5", needs=ads_runs("ads-2-dynamic", "fifo"))
def two_queues_and_fifo(runs):
    return {r: against(runs, r, "fifo", "ads-2-dynamic") for r in RATES}


def sweep_of(runs, swept: str) -> list[str]:
    """The points of a sweep of I or W: the published setting belongs to both."""
    return [p for p in places(runs) if p.startswith((f"{swept}-", "published"))]


@measure("ADS-X2", needs=["published:*", "i-*", "w-*"])
def intervals_and_windows(runs):
    out = {}
    for swept in ("i", "w"):
        for scheme_name in dict.fromkeys(Key.of(k).scheme for k in runs):
            values = [slowdown(runs, f"{p}:{scheme_name}") for p in sweep_of(runs, swept)]
            out[f"{swept.upper()}, {scheme_name}"] = max(values) / min(values) - 1
    return out
