"""Next to the WAN workload: delays, shares, who loses to whom, and how long its own flows take (§4.7.1, §G.1, §G.2.1;
Figures 4-8, 4-9, 4-13, G-1, G-2)."""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from thalweg.study import mean, measure, needs, once, rank_correlation, seeds

from .outcome import delays, goodput, series, within
from .settings import BASIC, specs
from .workload import INITIAL_WINDOW, Crowd, offered, own_share

SECONDS = 360.0
SCHEMES = ("ncc", "cubic", "bbr", "vegas", "copa", "vivace")
COARSE = {"measure.queues.every": "20ms", "measure.controllers.every": "20ms"}
ALONE = {s: Crowd("f4.8", s, seconds=SECONDS, set=COARSE) for s in SCHEMES}
MIXED = {
    s: Crowd("f4.8m", s, seconds=SECONDS, set=COARSE, controllers=("cubic", "newreno", "bbr"))
    for s in ("ncc", "cubic", "bbr", "vegas", "copa")
}
THRESHOLDS = (1, 2, 3, 4, 5, 6)


def at_threshold(x: int) -> Crowd:
    detector = {"transport.congestion": BASIC | {"detector": {"threshold": float(x)}}}
    return Crowd(f"f4.13:{x}", seconds=SECONDS, set=COARSE | detector)


BY_THRESHOLD = {x: at_threshold(x) for x in THRESHOLDS if x != 2} | {2: ALONE["ncc"]}
ALL = (*ALONE.values(), *MIXED.values(), *BY_THRESHOLD.values())


def runs(scale: str) -> list:
    return specs(dict.fromkeys(ALL), scale)


# --- What the cross traffic does ----------------------------------------------------------------------------


@once
def others(results):
    """The workload's flows: start, end (s), bytes, controller."""
    table = results.tables["flows"]
    table = table.filter((table["id"] != 0) & table["start_ps"].is_not_null())
    start = table["start_ps"].to_numpy() * 1e-12
    last = table["fct_ps"].fill_null(round(SECONDS * 1e12)).to_numpy() * 1e-12
    return start, np.minimum(start + last, SECONDS), table["size"].to_numpy().astype(float)


STEP = 0.01  # s


def over_time(start, end, each) -> np.ndarray:
    """The sum of what each has while it is there, at instants [`STEP`] apart."""
    edges = np.zeros(round(SECONDS / STEP) + 2)
    for when, sign in ((start, 1), (end, -1)):
        at = np.minimum(np.ceil(np.maximum(when, 0) / STEP).astype(int), len(edges) - 1)
        np.add.at(edges, at, sign * each)
    return np.cumsum(edges)[: round(SECONDS / STEP)]


def grouped(values: np.ndarray, seconds: float) -> np.ndarray:
    """Means of so many seconds."""
    width = round(seconds / STEP)
    return values[: len(values) // width * width].reshape(-1, width).mean(axis=1)


@once
def crowd(results) -> tuple[np.ndarray, np.ndarray]:
    """By instants: elastic flows, those larger than the initial window, and Mb/s of all others."""
    start, end, size = others(results)
    large = size > INITIAL_WINDOW
    rate = size * 8e-6 / np.maximum(end - start, STEP) * 1500 / 1448
    last = np.maximum(end, start + STEP)
    return over_time(start[large], end[large], np.ones(large.sum())), over_time(
        start[~large], last[~large], rate[~large]
    )


@once
def fraction(results) -> np.ndarray:
    """The elastic part of the cross traffic's bytes over the last 5 s, by instants: of flows that take longer than a
    round trip."""
    start, end, size = others(results)
    elastic = (size > INITIAL_WINDOW) & (end - start > 0.05)
    last = np.maximum(end, start + STEP)
    window = round(5 / STEP)

    def smooth(some):
        rate = over_time(start[some], last[some], (size / (last - start))[some])
        total = np.cumsum(np.concatenate([np.zeros(window), rate]))
        return total[window:] - total[:-window]

    return smooth(elastic) / np.maximum(smooth(np.ones(len(size), bool)), 1)


# --- What the tested flow gets ------------------------------------------------------------------------------

PERIOD = 5.0  # s


@once
def got(results) -> np.ndarray:
    """Mb/s of each period, on the wire; the first two left out."""
    at, bytes = series(results, "arrived")
    edges = np.arange(10, SECONDS - 1e-9, PERIOD)
    return np.diff(np.interp(edges, at, bytes)) * 8e-6 / PERIOD * 1500 / 1448


@once
def due(results) -> np.ndarray:
    count, inelastic = crowd(results)
    calm = np.repeat(grouped(inelastic, PERIOD), round(PERIOD / STEP))
    share = grouped(own_share(count[: len(calm)], calm), PERIOD)
    return share[2 : 2 + len(got(results))]


@once
def deviation(results) -> np.ndarray:
    """From its fair share, by periods."""
    return got(results) / due(results) - 1


def pooled(runs, point, of) -> np.ndarray:
    return np.concatenate([of(r) for r in seeds(runs, point)])


def spread(runs, point) -> dict[str, float]:
    found = pooled(runs, point, deviation)
    return dict(zip(("p10", "p25", "median", "p75", "p90"), np.percentile(found, (10, 25, 50, 75, 90)), strict=True))


def median_delay(runs, point) -> float:
    return float(np.median(pooled(runs, point, delays)))


@measure("NIM-F4.8a", needs=needs(*(ALONE[s] for s in ("ncc", "cubic", "bbr"))))
def delays_of_cubic_and_bbr(runs):
    ms = {s: median_delay(runs, ALONE[s]) for s in ("ncc", "cubic", "bbr")}
    return {"Cubic less NimbusCC (ms)": ms["cubic"] - ms["ncc"], "BBR less NimbusCC (ms)": ms["bbr"] - ms["ncc"],
            "NimbusCC (ms)": ms["ncc"]}  # fmt: skip


@measure("NIM-F4.8b", needs=needs(ALONE["ncc"], ALONE["vegas"]))
def delay_over_vegas(runs):
    return median_delay(runs, ALONE["ncc"]) - median_delay(runs, ALONE["vegas"])


@measure("NIM-F4.8c", needs=needs(ALONE["ncc"], ALONE["copa"]))
def delay_over_copa(runs):
    return median_delay(runs, ALONE["copa"]) - median_delay(runs, ALONE["ncc"])


def worse(runs, points, schemes) -> dict[str, float]:
    """What NimbusCC's spread and offset are of Cubic's, and the least of the others' over NimbusCC's."""
    of = {s: spread(runs, points[s]) for s in ("ncc", "cubic", *schemes)}
    width = {s: d["p75"] - d["p25"] for s, d in of.items()}
    off = {s: abs(d["median"]) for s, d in of.items()}
    both = {s: width[s] + off[s] for s in of}
    return {
        "NimbusCC / Cubic": both["ncc"] / both["cubic"],
        "least other / NimbusCC": min(both[s] for s in schemes) / both["ncc"],
    } | {f"{s}: {k}": d[k] for s, d in of.items() for k in ("p25", "median", "p75")}


@measure("NIM-F4.8d", needs=needs(*ALONE.values()))
def deviation_from_the_share(runs):
    return worse(runs, ALONE, ("bbr", "vivace", "vegas", "copa"))


def below(runs, points) -> dict[str, float]:
    p10 = {s: spread(runs, points[s])["p10"] for s in ("ncc", "copa", "vegas")}
    return {"Copa less NimbusCC": p10["copa"] - p10["ncc"], "Vegas less NimbusCC": p10["vegas"] - p10["ncc"],
            "NimbusCC": p10["ncc"]}  # fmt: skip


@measure("NIM-F4.8e", needs=needs(*(ALONE[s] for s in ("ncc", "copa", "vegas"))))
def below_the_share(runs):
    return below(runs, ALONE)


@once
def elastic_periods(results) -> np.ndarray:
    """Where half of the cross traffic is elastic."""
    return grouped(fraction(results), PERIOD)[2 : 2 + len(got(results))] > 0.5


@measure("NIM-F4.8g", needs=needs(*(ALONE[s] for s in ("ncc", "copa"))))
def elastic_stretches(runs):
    def of(s):
        return float(np.mean(pooled(runs, ALONE[s], got)[pooled(runs, ALONE[s], elastic_periods)]))

    return {"Copa / NimbusCC": of("copa") / of("ncc"), "NimbusCC (Mb/s)": of("ncc"), "Copa (Mb/s)": of("copa")}


@measure("NIM-F4.8h", needs=needs(*(ALONE[s] for s in ("ncc", "copa"))))
def steadiness(runs):
    ours, copa = (pooled(runs, ALONE[s], got) for s in ("ncc", "copa"))
    return {
        "deviation, Copa / NimbusCC": float(copa.std() / ours.std()),
        "least, Copa / NimbusCC": float(copa.min() / ours.min()),
        "over their means": float(copa.std() / copa.mean() / (ours.std() / ours.mean())),
    }


@measure("NIM-F4.8i", needs=needs(*(ALONE[s] for s in ("ncc", "copa"))))
def same_throughput(runs):
    ours, copa = (mean(runs, ALONE[s], goodput) for s in ("ncc", "copa"))
    return {"|apart|": abs(copa / ours - 1), "NimbusCC (Mb/s)": ours, "Copa (Mb/s)": copa}


@measure("NIM-F4.8j", needs=needs(ALONE["copa"]))
def elastic_time(runs):
    """A flow that is older than two seconds."""

    def part(results):
        start, end, _ = others(results)
        old = end - start > 2
        return float((over_time(start[old] + 2, end[old], np.ones(old.sum())) > 0).mean())

    return mean(runs, ALONE["copa"], part)


@measure("NIM-F4.8k", needs=needs(*ALONE.values()))
def next_to_vivace(runs):
    ms = {s: median_delay(runs, ALONE[s]) for s in SCHEMES}
    slow = completion(runs, ALONE["vivace"]) / completion(runs, ALONE["ncc"])
    return {"Vivace less NimbusCC (ms)": ms["vivace"] - ms["ncc"], "p95 of completion / NimbusCC's": float(np.nanmax(slow)),
            "Vivace less any other (ms)": ms["vivace"] - max(v for s, v in ms.items() if s != "vivace")}  # fmt: skip


@measure("NIM-F4.8l", needs=[])
def load_of_the_workload(runs):
    found = [offered(seed, SECONDS) for seed in range(1, 21)]
    return {"mean (Mb/s)": float(np.mean(found))}


# --- The detector (Figures 4-9, 4-13) ------------------------------------------------------------------------


@once
def seen(results) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Elastic part, mode, η, by instants after 10 s."""
    at = np.arange(round(SECONDS / STEP)) * STEP
    mode, eta = (np.interp(at, *series(results, column)) for column in ("competes", "eta"))
    late = at >= 10
    return fraction(results)[late], mode[late] > 0.5, eta[late]


@measure("NIM-F4.9a", needs=needs(ALONE["ncc"]))
def competes_when_elastic(runs):
    def accuracy(results):
        part, competes, _ = seen(results)
        return float(competes[part > 0.3].mean())

    return mean(runs, ALONE["ncc"], accuracy)


@measure("NIM-F4.9b", needs=needs(ALONE["ncc"]))
def mode_follows_the_traffic(runs):
    part, competes, eta = (np.concatenate(a) for a in zip(*(seen(r) for r in seeds(runs, ALONE["ncc"])), strict=True))
    return {
        "elastic part, competing less not": float(part[competes].mean() - part[~competes].mean()),
        "correlation with η": float(np.corrcoef(part, np.minimum(eta, 20))[0, 1]),
    }


@measure("NIM-F4.13a", needs=needs(*BY_THRESHOLD.values()))
def by_threshold(runs):
    calm = [
        mean(runs, BY_THRESHOLD[x], lambda r: 1 - within(*series(r, "competes"), 10, SECONDS).mean())
        for x in THRESHOLDS
    ]
    p10 = {x: spread(runs, BY_THRESHOLD[x])["p10"] for x in (2, 6)}
    return {
        "rank correlation": rank_correlation(calm, THRESHOLDS),
        "p10 at 6 less at 2": p10[6] - p10[2],
    } | {f"low delays at {x}": c for x, c in zip(THRESHOLDS, calm, strict=True)}


# --- How long its flows take (Figure G-1) --------------------------------------------------------------------

BINS = (0, 15e3, 50e3, 150e3, 1e6, 10e6, np.inf)


def completion(runs, point) -> np.ndarray:
    """The 95th percentile by size, s, of 20 flows at least; one that is not complete counts with what has passed."""
    found = [others(r) for r in seeds(runs, point)]
    start, end, size = (np.concatenate([f[n] for f in found]) for n in range(3))
    old = start < SECONDS - 20
    out = []
    for low, high in pairwise(BINS):
        some = old & (size > low) & (size <= high)
        out.append(np.percentile((end - start)[some], 95) if some.sum() >= 20 else np.nan)
    return np.array(out)


def ratios(runs, schemes) -> dict[str, np.ndarray]:
    ours = completion(runs, ALONE["ncc"])
    enough = ~np.isnan(ours)
    return {s: (completion(runs, ALONE[s]) / ours)[enough] for s in schemes}


@measure("NIM-FG1a", needs=needs(*(ALONE[s] for s in ("ncc", "bbr"))))
def completion_next_to_bbr(runs):
    of = ratios(runs, ["bbr"])["bbr"]
    return {"least": float(np.nanmin(of))} | {
        f"above {low / 1e3:g} KB": float(x) for low, x in zip(BINS, of, strict=False)
    }


@measure("NIM-FG1b", needs=needs(*(ALONE[s] for s in ("ncc", "cubic"))))
def small_flows_next_to_cubic(runs):
    return float(ratios(runs, ["cubic"])["cubic"][0])


@measure("NIM-FG1c", needs=needs(*(ALONE[s] for s in ("ncc", "cubic", "vegas", "copa"))))
def completion_by_scheme(runs):
    of = ratios(runs, ["cubic", "vegas", "copa"])
    return {
        "Vegas / Copa, most": float(np.nanmax(of["vegas"] / of["copa"])),
        "Copa / NimbusCC, most": float(np.nanmax(of["copa"])),
        "NimbusCC / Cubic above 15 KB, most": float(np.nanmax(1 / of["cubic"][1:])),
    }


@measure("NIM-FG1d", needs=needs(*ALONE.values()))
def completion_of_the_worst(runs):
    of = ratios(runs, SCHEMES)
    most = np.nanmax([of[s] for s in ("ncc", "cubic", "vegas", "copa")], axis=0)
    return {
        "BBR / largest other": float(np.nanmin(of["bbr"] / most)),
        "Vivace / largest other": float(np.nanmin(of["vivace"] / most)),
    }


# --- Several controllers in the crowd (Figure G-2) -----------------------------------------------------------


@measure("NIM-F4.8m", needs=needs(*MIXED.values()))
def mixed_crowd(runs):
    ms = {s: median_delay(runs, MIXED[s]) for s in ("ncc", "cubic", "bbr")}
    return {
        "Cubic less NimbusCC (ms)": ms["cubic"] - ms["ncc"],
        "BBR less NimbusCC (ms)": ms["bbr"] - ms["ncc"],
    } | {
        k: v
        for k, v in (worse(runs, MIXED, ("bbr", "vegas", "copa")) | below(runs, MIXED)).items()
        if "/" in k or "less" in k
    }
