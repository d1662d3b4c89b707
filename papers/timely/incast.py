"""The incast test-bed: gradient against queue size (§3.3.4), Table 3.1, and connections over time (§3.5.1)."""

from __future__ import annotations

import numpy as np

from thalweg.study import extremes, mean, measure, needs, once, percentile, seeds, variation

from .outcome import Samples, average_rtt, drops, fairness, p99_rtt, pauses, pauses_later, throughput
from .settings import DCTCP, PFC, PFC3, TIMELY, Incast, but, every, target

LOW, HIGH = target(50), target(500)
# Variants of what the paper leaves open (README): reported, not judged.
TWO_PORTS, LINE_START, CAP3 = but(ports=2), but(start="line"), but(cap=3)
VARIANTS = (TWO_PORTS, LINE_START, CAP3)
# Table 3.1: total throughput (Gb/s), mean and 99th percentile round trip (us).
TABLE = {DCTCP: (19.5, 598, 1490), PFC: (19.5, 658, 1036), TIMELY: (19.4, 61, 116)}


def runs(scale: str) -> list:
    return every((TIMELY, LOW, HIGH, PFC, PFC3, DCTCP, *VARIANTS), scale)


def row(runs, what: Incast, name: str) -> dict[str, float]:
    out = {
        f"{name}: throughput (Gb/s)": mean(runs, what, throughput),
        f"{name}: mean RTT (us)": mean(runs, what, average_rtt),
        f"{name}: p99 RTT (us)": mean(runs, what, p99_rtt),
    }
    for unit, value in ((f"{name}: throughput", throughput), (f"{name}: p99 RTT", p99_rtt)):
        out |= extremes(runs, what, value, unit)
    return out


# --- Figures 3.7 and 3.8: gradient against queue size -------------------------------------------------------


@measure("TIM-F7-a", needs=needs(TIMELY, LOW, HIGH))
def gradient_and_targets(runs):
    tp, avg = ({p: mean(runs, p, value) for p in (TIMELY, LOW, HIGH)} for value in (throughput, average_rtt))
    return (
        {
            "throughput, target 50 / gradient": tp[LOW] / tp[TIMELY],
            "mean RTT, target 500 / gradient": avg[HIGH] / avg[TIMELY],
            "throughput, target 500 / gradient": tp[HIGH] / tp[TIMELY],
        }
        | row(runs, LOW, "target 50")
        | row(runs, HIGH, "target 500")
    )


@measure("TIM-F7-b", needs=needs(TIMELY, LOW, HIGH))
def best_of_both_targets(runs):
    return {
        "throughput, gradient / target 500": mean(runs, TIMELY, throughput) / mean(runs, HIGH, throughput),
        "p99 RTT, gradient / target 50": mean(runs, TIMELY, p99_rtt) / mean(runs, LOW, p99_rtt),
    } | row(runs, TIMELY, "gradient")


@once
def rate_variation(results) -> float:
    found = Samples(results)
    return variation(found.flow, found.rate)


@measure("TIM-F8-a", needs=needs(TIMELY, LOW))
def smoothness(runs):
    cov = {p: mean(runs, p, rate_variation) for p in (TIMELY, LOW)}
    return {"CoV, gradient / target 50": cov[TIMELY] / cov[LOW], "gradient": cov[TIMELY], "target 50": cov[LOW]}


# --- Table 3.1 ----------------------------------------------------------------------------------------------


@measure("TIM-T1-a", needs=needs(*TABLE, PFC3, *VARIANTS))
def total_throughput(runs):
    tp = {p: mean(runs, p, throughput) for p in TABLE}
    out = {"TIMELY / PFC": tp[TIMELY] / tp[PFC], "smallest (Gb/s)": min(tp.values())}
    out |= {"DCTCP": tp[DCTCP], "PFC": tp[PFC], "TIMELY": tp[TIMELY], "PFC, cap 3": mean(runs, PFC3, throughput)}
    names = {TWO_PORTS: "TIMELY, two ports", LINE_START: "TIMELY, line-rate start", CAP3: "TIMELY, cap 3"}
    return out | {name: mean(runs, p, throughput) for p, name in names.items()}


def against_pfc(runs, value) -> dict[str, float]:
    x = {p: mean(runs, p, value) for p in (DCTCP, PFC, PFC3, TIMELY)}
    out = {"TIMELY (us)": x[TIMELY], "PFC / TIMELY": x[PFC] / x[TIMELY], "PFC (us)": x[PFC]}
    return (
        out
        | {"PFC, cap 3 (us)": x[PFC3], "DCTCP, no host stack (us)": x[DCTCP]}
        | extremes(runs, TIMELY, value, "TIMELY (us)")
    )


@measure("TIM-T1-b", needs=needs(*TABLE, PFC3, *VARIANTS))
def mean_round_trips(runs):
    names = {TWO_PORTS: "TIMELY, two ports", LINE_START: "TIMELY, line-rate start", CAP3: "TIMELY, cap 3"}
    return against_pfc(runs, average_rtt) | {f"{name} (us)": mean(runs, p, average_rtt) for p, name in names.items()}


@measure("TIM-T1-c", needs=needs(*TABLE, PFC3))
def tails_of_round_trips(runs):
    return against_pfc(runs, p99_rtt)


@measure("TIM-T1-d", needs=needs(TIMELY, PFC))
def pauses_and_losses(runs):
    return {
        "pauses": max(pauses_later(r) for r in seeds(runs, TIMELY)),
        "drops": max(drops(r) for r in seeds(runs, TIMELY)),
        "pauses while connections start": mean(runs, TIMELY, lambda r: pauses(r) - pauses_later(r)),
        "pauses, PFC": mean(runs, PFC, pauses_later),
    }


@measure("TIM-T1-e", needs=needs(*TABLE))
def jain_of_connections(runs):
    return {f"Jain, {n}": mean(runs, p, fairness) for n, p in (("TIMELY", TIMELY), ("PFC", PFC), ("DCTCP", DCTCP))}


@measure("TIM-S-a", needs=needs(PFC, TIMELY))
def tail_over_pfc(runs):
    return {"p99 RTT, PFC / TIMELY": mean(runs, PFC, p99_rtt) / mean(runs, TIMELY, p99_rtt)}


# --- Figure 3.12: connections over time ---------------------------------------------------------------------


@once
def connections(results) -> tuple[np.ndarray, np.ndarray]:
    """Mean rate (Mb/s) and 99th percentile round trip (us) of each connection."""
    found = Samples(results)
    parts = [found.of(f) for f in np.unique(found.flow)]
    return np.array([rate.mean() / 1e6 for _, _, rate in parts]), np.array([percentile(rtt, 99) for _, rtt, _ in parts])


@measure("TIM-F12-a", needs=needs(TIMELY))
def single_connections(runs):
    found = [connections(r) for r in seeds(runs, TIMELY)]
    rates, tails = np.concatenate([f[0] for f in found]), np.concatenate([f[1] for f in found])
    return {
        "smallest mean rate (Mb/s)": float(rates.min()),
        "largest mean rate (Mb/s)": float(rates.max()),
        "largest p99 RTT (us)": float(tails.max()),
    }
