"""Presets as published, and that the engine takes them as they are."""

from __future__ import annotations

import pytest

import thalweg
from thalweg.study import presets

NETWORK = """
name = "presets"
topology = { kind = "star", hosts = 3, rate = "40Gbps", delay = "1us" }
traffic = [{ kind = "flow", src = 0, dst = 2, size = "100KB" }, { kind = "flow", src = 1, dst = 2, size = "100KB" }]
run = { until = "10ms" }

[transport]
kind = "rdma"
mtu = "1000B"
header = "48B"
recovery = "go-back-n"
acks = "per-packet"
timer = "off"
"""
CONTROLLERS = {
    "DCQCN": {"transport.congestion": presets.DCQCN, "switch.marking": presets.dcqcn_marking()},
    "DCQCN of HPCC": {"transport.congestion": presets.DCQCN_OF_HPCC, "switch.marking": presets.dcqcn_marking()},
    "TIMELY": {"transport.congestion": presets.TIMELY | {"min_rtt": "8us"}},
    "HPCC": {"transport.congestion": presets.hpcc(10, 40, 8)},
    "Swift": {"transport.congestion": presets.SWIFT, "transport.cap": "auto"},
}


@pytest.mark.parametrize("name", CONTROLLERS)
def test_a_preset_is_a_table_that_the_engine_takes(name):
    scenario = thalweg.Scenario.from_toml(NETWORK).with_(CONTROLLERS[name])
    chosen = scenario.to_dict()["transport"]["congestion"]
    assert chosen["kind"] == CONTROLLERS[name]["transport.congestion"]["kind"]
    assert thalweg.run(scenario).summary["flows"]["completed"] == 2


def test_dcqcns_thresholds_scale_together():
    whole = presets.dcqcn_marking()
    assert (whole["min"], whole["max"]) == ("5000B", "200000B")
    half = presets.dcqcn_marking(0.5)
    assert (half["min"], half["max"], half["max_probability"]) == ("2500B", "100000B", 0.01)


def test_hpccs_increase_is_the_share_of_the_window_that_eta_leaves_free():
    # 40 Gb/s in 10 us: 50 KB; 5 % of that among 32 flows.
    assert presets.hpcc(32, 40, 10) == {"kind": "hpcc", "additive": "78B"}
    assert presets.hpcc(1_000_000, 40, 10)["additive"] == "1B"
    assert presets.hpcc(10, 100, 5, eta=0.9)["additive"] == "625B"
