"""Defaults of transports follow from the network that they run on."""

from typing import Any

import pytest

import thalweg
from thalweg import Scenario
from thalweg.errors import ScenarioError


def star(transport: dict[str, Any], rate: str = "100Gbps", delay: str = "1us", **more: Any) -> Scenario:
    return Scenario.from_dict(
        {
            "topology": {"kind": "star", "hosts": 3, "rate": rate, "delay": delay},
            "transport": transport,
            "traffic": [{"kind": "flow", "src": 1, "dst": 0, "size": "100KB"}],
            **more,
        }
    )


def seconds(time: str) -> float:
    scales = (("ps", 1e-12), ("ns", 1e-9), ("us", 1e-6), ("ms", 1e-3), ("s", 1.0))
    unit, scale = next((unit, scale) for unit, scale in scales if time.endswith(unit))
    return float(time.removesuffix(unit)) * scale


# What the switches of receiver-driven transports have.
SWITCHES: dict[str, dict[str, Any]] = {
    "homa": {"scheduler": {"kind": "priority", "classes": 8}, "buffer": "1MB"},
    "phost": {"scheduler": "priority", "buffer": "1MB"},
    "ndp": {"scheduler": "ndp", "buffer": "8 packets"},
    "expresspass": {"scheduler": "expresspass", "buffer": "1MB"},
    "uet": {"scheduler": "ndp", "buffer": "100KB"},
}


def receiving(kind: str, rate: str, delay: str, **more: Any) -> Scenario:
    nic = {"scheduler": "expresspass"} if kind == "expresspass" else {"order": "round-robin"}
    return star({"kind": kind}, rate, delay, switch=SWITCHES[kind], nic=nic, **more)


def keys_of(kind: str, rate: str, delay: str) -> dict[str, Any]:
    return receiving(kind, rate, delay).to_dict()["transport"]


def resolved(transport: dict[str, Any]) -> dict[str, Any]:
    """The transport's keys, in a star."""
    return star(transport).to_dict()["transport"]


@pytest.mark.parametrize("congestion", ["swift", "vegas", "copa"])
def test_controllers_get_a_round_trip_from_every_ack(congestion: str) -> None:
    rtt = resolved({"kind": "rdma", "congestion": congestion})["rtt"]
    assert (rtt["segment"], rtt["resent"]) == (1, True)


@pytest.mark.parametrize("congestion", ["timely", "aimd"])
def test_timely_gets_one_per_segment_and_who_uses_none_is_not_concerned(congestion: str) -> None:
    rtt = resolved({"kind": "rdma", "congestion": congestion})["rtt"]
    assert (rtt["segment"], rtt["resent"]) == (16, False)


def test_what_is_written_stays() -> None:
    rtt = resolved({"kind": "rdma", "congestion": "swift", "rtt": {"segment": 8, "resent": False}})["rtt"]
    assert (rtt["segment"], rtt["resent"]) == (8, False)


def test_times_without_news_are_as_published_or_25_base_round_trips() -> None:
    keys = [("homa", "resend", "5ms"), ("ndp", "retry", "1ms"), ("expresspass", "retry", "1ms")]
    near = {kind: keys_of(kind, "100Gbps", "1us")[key] for kind, key, _ in keys}
    assert near == {kind: published for kind, _, published in keys}
    # Two links of 10 ms each way, and a packet of 12 ms and its answer on them.
    for kind, key, _ in keys:
        assert seconds(keys_of(kind, "1Mbps", "10ms")[key]) > 25 * 0.040, kind


@pytest.mark.parametrize("kind", ["homa", "ndp", "expresspass"])
def test_a_slow_link_carries_data_and_not_the_same_again_and_again(kind: str) -> None:
    run = thalweg.run(receiving(kind, "1Mbps", "1ms", run={"until": "20s"}), progress=False)
    flow = run.flows.row(0, named=True)
    assert flow["status"] == "completed"
    assert flow["retransmissions"] <= 0.05 * flow["packets"], flow


def test_phosts_window_is_a_product_and_its_times_grow_with_it() -> None:
    near, far = (keys_of("phost", "100Gbps", delay) for delay in ("100ns", "10us"))
    assert (near["window"], near["free_tokens"]) == (8, 8)
    assert far["window"] == far["free_tokens"] > 300
    packet = 1500 * 8 / 100e9

    assert [seconds(near[key]) / packet for key in ("again", "patience")] == pytest.approx([9, 25])
    assert seconds(far["again"]) / packet == pytest.approx(far["window"] + 1)
    run = thalweg.run(receiving("phost", "100Gbps", "10us").with_({"traffic.0.size": "10MB"}), progress=False)
    assert run.flows["slowdown"][0] < 1.1, "8 tokens per round trip would be a slowdown of 24"


def test_an_ack_of_ultra_ethernet_is_due_after_half_a_product_at_most() -> None:
    assert keys_of("uet", "100Gbps", "10us")["ack_every"] == "16KiB"
    run = thalweg.run(receiving("uet", "10Gbps", "1us").with_({"traffic.0.size": "10MB"}), progress=False)
    assert run.flows["slowdown"][0] < 1.1, "with 16 KiB it would stop and wait: 1.56"


def test_rack_is_refused_where_segments_have_any_size() -> None:
    with pytest.raises(ScenarioError, match="segments have any size"):
        star({"kind": "tcp", "congestion": "sprout", "loss": "rack"})
