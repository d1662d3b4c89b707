"""Explicit feedback in closed loop."""

import pytest

import thalweg

XCP = """
topology = {{ kind = "dumbbell", pairs = 1, bottleneck_rate = "{rate}", host_rate = "10Gbps", base_rtt = "{rtt}" }}
switch = {{ buffer = "4bdp", marking = {{ kind = "xcp", computed = "{computed}" }} }}
transport = {{ congestion = "xcp" }}
traffic = [{{ kind = "backlogged", src = 0, dst = 1 }}]
measure = {{ from = "2s" }}
run = {{ until = "5s" }}
"""


@pytest.mark.parametrize("computed", ["intervals", "sliding"])
@pytest.mark.parametrize(("rate", "rtt"), [("50Mbps", "50ms"), ("100Mbps", "20ms"), ("1Gbps", "10ms")])
def test_a_flow_of_xcp_alone_takes_its_link_and_no_more(rate, rtt, computed):
    """Katabi et al., §3.5.2: what is given falls as the window grows. All packets alike, the window of a flow alone
    grew by N' / N of φ per round trip, and it had 3 to 19 % of these links and many thousand drops."""
    text = XCP.format(rate=rate, rtt=rtt, computed=computed)
    summary = thalweg.run(thalweg.Scenario.from_toml(text), progress=False).summary
    assert summary["bottleneck"]["utilisation"] > 0.93
    assert summary["drops"] == 0 and summary["timeouts"] == 0
    # No queue persists.
    assert summary["endless"]["queueing_us"]["mean"] < 0.1 * summary["base_rtt_us"]


RING = """
topology = { kind = "star", hosts = 4 }
[[traffic]]
kind = "ring-all-reduce"
size = "4MB"
iterations = 3
[measure]
from = "2ms"
until = "4ms"
[run]
"""


def test_flows_that_can_no_longer_start_in_the_measured_window_are_not_measured():
    short, long = (
        thalweg.run(thalweg.Scenario.from_toml(RING, {"run.until": until}), progress=False).summary
        for until in ("9ms", "60ms")
    )
    assert short["flows"]["not_started"] > 0 == long["flows"]["not_started"]
    for summary in (short, long):
        assert (summary["measured"]["completed"], summary["measured"]["censored"]) == (8, 0)
    # Of a run that ends with the window, those that have not started are censored: they might have.
    whole = {"run.until": "4ms"}
    cut = thalweg.run(thalweg.Scenario.from_toml(RING, whole), progress=False).summary
    assert cut["measured"]["censored"] >= cut["flows"]["not_started"] > 0
