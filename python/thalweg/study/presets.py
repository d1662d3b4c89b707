"""Congestion control of datacenters as published: tables for `transport.congestion` and `switch.marking`, with sources.

What a paper leaves open is not a preset: a study sets it, and says so (`CHOICE`). Keys that are not here have the
controllers' own defaults (`thalweg explain transport.congestion.KIND`)."""

from __future__ import annotations

from typing import Any

# Zhu et al.: Congestion control for large-scale RDMA deployments, SIGCOMM 2015, §3.1 and §4: gain, timers, byte
# counter, fast recovery, R_AI.
# CHOICE DCQCN §4: R_HAI and the least rate are not given; those of the authors' public simulator.
DCQCN = {
    "kind": "dcqcn",
    "gain": 1 / 256,
    "fast_recovery": 5,
    "alpha_timer": "55us",
    "rate_timer": "55us",
    "byte_counter": "10MB",
    "additive": "40Mbps",
    "hyper": "200Mbps",
    "min_rate": "100Mbps",
}
# As in the simulator that the authors of HPCC published (`simulation/mix/config.txt`).
DCQCN_OF_HPCC = {"kind": "dcqcn", "rate_timer": "60us", "byte_counter": "300KB"}
K_MIN, K_MAX, P_MAX = 5_000, 200_000, 0.01  # B, B, 1: of 40 Gb/s


def dcqcn_marking(share: float = 1.0) -> dict[str, Any]:
    """What marks for DCQCN at 40 Gb/s (SIGCOMM 2015, §4). `share`: of both thresholds, where links are faster or
    memories smaller."""
    low, high = round(K_MIN * share), round(K_MAX * share)
    return {"kind": "red-ecn", "min": f"{low}B", "max": f"{high}B", "max_probability": P_MAX, "at": "arrival"}


# Mittal et al.: TIMELY, SIGCOMM 2015, §4.3 and Algorithm 1, in the dissertation (UCB/EECS-2018-103) §3.5: thresholds,
# β, steps of 10 Mb/s and, from the fifth decrease of the gradient on, five of them at once. The least round trip and
# the weight of the newest difference are not published: a study sets them.
TIMELY = {
    "kind": "timely",
    "t_low": "50us",
    "t_high": "500us",
    "beta": 0.8,
    "additive": "10Mbps",
    "hyper": {"after": 5, "step": "50Mbps"},
}


def hpcc(flows: int, gbps: float, rtt_us: float, eta: float = 0.95) -> dict[str, Any]:
    """Li et al.: HPCC, SIGCOMM 2019, §3.3: W_AI = W_init (1 − η) / N, where W_init is what a host's link of `gbps`
    carries in a round trip, and N how many flows are expected to share a link."""
    return {"kind": "hpcc", "additive": f"{max(1, round(gbps * 125 * rtt_us * (1 - eta) / flows))}B"}


# Kumar et al.: Swift, SIGCOMM 2020, Algorithm 1.
# CHOICE Swift §3.5: the paper has no table of parameters. Those of csg-htsim, whose authors call them guesses.
SWIFT = {
    "kind": "swift",
    "base_target": "20us",
    "hop_target": "3us",
    "flow_range": "100us",
    "flow_min": 0.1,
    "flow_max": 100.0,
    "additive": 1.0,
    "beta": 0.8,
    "max_decrease": 0.5,
}
