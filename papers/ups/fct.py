"""Mean flow completion time (§3.1, Figure 2): slack = flow size × D makes LSTF serve like SJF."""

from __future__ import annotations

from thalweg.study import mean, measure, measure_each, run, spread, steps

from .outcome import average, cut
from .settings import LETTERS, NAMES, NETWORKS, ONE, SCHEMES, SEEDS, counted, rows, split

FOUR = ("fifo", "srpt", "sjf", "lstf-size")
# Figure 2, s: FIFO, SRPT, SJF, LSTF.
PUBLISHED = {
    "i2-30": (0.189, 0.183, 0.182, 0.182),
    "i2-50": (0.212, 0.189, 0.185, 0.185),
    "i2-70": (0.288, 0.208, 0.194, 0.195),
    "1g-1g-70": (0.252, 0.209, 0.202, 0.202),
    "tenth-70": None,  # in the figure, not among its numbers
    "rocketfuel-70": (0.305, 0.240, 0.228, 0.228),
    "datacenter-70": (0.058, 0.018, 0.016, 0.015),
}
QUICK = ("i2-30", "i2-70", "datacenter-70")


def window(place: str, scale: str) -> dict:
    """Flows that start in [0.5, 2) s of 10 s count."""
    if scale == "full":
        first, last, end = "0.5s", "2s", "10s"
    elif place.startswith("datacenter"):
        first, last, end = "100ms", "150ms", "500ms"
    else:
        first, last, end = "0.5s", "0.65s", "1.5s"
    return counted(first, last, end, fct="sender")


def buffer(place: str) -> dict:
    """5 MB; 500 KB in the datacenter; in packets of any kind, as the artifact counts."""
    return {"switch.buffer": "342pkts" if place.startswith("datacenter") else "3425pkts"}


def at(key: str, place: str, set: dict, scale: str, seed: int):
    network, percent = split(place)
    base = NETWORKS[network].set("tcp") | {"traffic.0.load": percent / 100} | buffer(place) | window(place, scale)
    return run(key, NETWORKS[network].of("tcp"), base | set, seed)


def runs(scale: str) -> list:
    there = PUBLISHED if scale == "full" else QUICK
    return [at(f"fct-{p}:{s}", p, SCHEMES[s], scale, seed) for p in there for seed in SEEDS[scale][:ONE] for s in FOUR]


def times(runs, place: str) -> dict[str, float]:
    """Mean FCT of the four schemes, s."""
    return {s: mean(runs, f"fct-{place}:{s}", average) for s in FOUR}


def ratios(t: dict[str, float]) -> dict[str, float]:
    return {"LSTF/SJF": t["lstf-size"] / t["sjf"], "SJF/FIFO": t["sjf"] / t["fifo"], "SRPT/FIFO": t["srpt"] / t["fifo"]}


def row(runs, place: str) -> dict[str, float]:
    t = times(runs, place)
    out = ratios(t) | {f"{NAMES[s]} (s)": t[s] for s in FOUR}
    if PUBLISHED[place]:
        out |= {f"{NAMES[s]} / published": t[s] / p for s, p in zip(FOUR, PUBLISHED[place], strict=True)}
    for s in FOUR:
        out |= spread(runs, f"fct-{place}:{s}", average, f"{NAMES[s]} (s)")
    return out | cut(runs)


CLAIMS = {place: f"UPS-F2{letter}" for place, letter in LETTERS.items()}
measure_each({claim: place for place, claim in CLAIMS.items()}, needs=lambda place: [f"fct-{place}:*"])(row)


@measure("UPS-F2h", needs=["fct-*"], rows=CLAIMS.values())
def orders_of_fct(runs):
    found = rows(runs, "fct", CLAIMS, row)
    t = {place: {s: r[f"{NAMES[s]} (s)"] for s in FOUR} for place, r in found.items()}
    by_load = [t[p]["sjf"] / t[p]["fifo"] for p in ("i2-30", "i2-50", "i2-70") if p in t]
    return {
        "largest SJF/SRPT": max(x["sjf"] / x["srpt"] for x in t.values()),
        "largest 1.02 SRPT/FIFO": max(1.02 * x["srpt"] / x["fifo"] for x in t.values()),
        "largest step of SJF/FIFO with load": max(steps(by_load)),
        "rows": len(t),
        **beside(t),
        "most censored flows of a run": max(r["most censored flows of a run"] for r in found.values()),
    }


def beside(times_of) -> dict[str, float]:
    """The ratios that are judged as orders, over the published ones."""
    out = {}
    for place, t in times_of.items():
        if PUBLISHED[place]:
            p = dict(zip(FOUR, PUBLISHED[place], strict=True))
            for a, b in (("sjf", "srpt"), ("srpt", "fifo")):
                out[f"{NAMES[a]}/{NAMES[b]} / published, {place}"] = (t[a] / t[b]) / (p[a] / p[b])
    return out
