"""What PFC's headroom is computed for."""

import pytest

import thalweg

# A packet on its way, one under way at the neighbour, one that crosses the threshold, 2 us of 40 Gb/s, a frame.
JUMBO = """
topology = { kind = "star", hosts = 3, rate = "40Gbps", delay = "1us" }
[switch]
inputs = { memory = "100KB" }
pfc = {}
[nic]
buffer = "2MB"
"""
SECTION = """
[[traffic]]
kind = "udp"
src = {src}
dst = 2
rate = "40Gbps"
payload = "{payload}B"
size = "1MB"
"""


@pytest.mark.parametrize("payload", [1000, 8900])
def test_datagrams_of_sections_are_packets_like_others(payload):
    sections = "".join(SECTION.format(src=src, payload=payload) for src in (0, 1))
    scenario = thalweg.Scenario.from_toml(JUMBO + sections + '[run]\nuntil = "2ms"\n')
    largest = max(payload + 40, 1500)
    assert scenario.to_dict()["switch"]["pfc"]["headroom"] == f"{10_000 + 3 * largest + 64}B"
    assert thalweg.run(scenario, progress=False).summary["drops"] == 0
