"""A viewer of a video, next to one of the test's own that goes by what packets were recorded."""

import polars as pl
import pytest

import thalweg

MSS = 1460
PAIR = """
topology = {{ kind = "pair", rate = "{rate}", delay = "{delay}" }}
[transport]
congestion = "newreno"
video = {video}
[nic]
buffer = "30KB"
[[traffic]]
kind = "flow"
src = 0
dst = 1
size = "{size}"
[run]
until = "60s"
"""


def pair(video: str, rate="100Mbps", delay="5ms", size="100KB", keys=None, out=None) -> thalweg.Results:
    scenario = thalweg.Scenario.from_toml(PAIR.format(rate=rate, delay=delay, video=video, size=size), keys or {})
    return thalweg.run(scenario, out=out, progress=False)


def requests(run: thalweg.Results, rate: int, chunk: int, buffer: int, size: int) -> list[tuple[int, int]]:
    """Of every chunk of `rate` bit/s and `chunk` ps, when its first byte was handed over and when it is requested, ps:
    a viewer that stores `buffer` ps and has a chunk when its last byte is acknowledged."""
    packets = run.packets.collect()
    forward = packets["forward"] == 1
    first = dict(packets.filter(forward).sort("handed_ps", descending=True).select("seq", "handed_ps").iter_rows())
    came = packets.filter(~forward & pl.col("exit_ps").is_not_null()).sort("exit_ps").select("exit_ps", "seq").rows()
    each = rate * chunk // (8 * 10**12)
    out, written, stored, last, now = [], 0, 0, 0, 0
    while True:
        begin = -(-written // MSS) * MSS
        written += each
        out.append((first[begin], now))
        end = -(-written // MSS) * MSS
        if end >= size:
            return out
        arrived = next(at for at, seq in came if seq >= end)
        stored = max(stored - (arrived - last), 0) + chunk
        last, now = arrived, arrived + max(stored - max(buffer - chunk, 0), 0)


def test_a_chunk_has_come_when_its_last_byte_is_acknowledged_though_the_timer_expires(tmp_path):
    video = '{ chunk = "1s", ladder = ["800kbps"], buffer = "2s" }'
    run = pair(video, "20Mbps", "50ms", "1MB", {"measure.packets": {}}, tmp_path / "r")
    assert run.summary["timeouts"] > 0
    found = requests(run, 800_000, 10**12, 2 * 10**12, 1_000_000)
    assert len(found) == 10 and all(handed == requested for handed, requested in found)


@pytest.mark.parametrize(
    "video", ['{ chunk = "4ms", ladder = ["1500kbps"] }', '{ chunk = "100ms", ladder = ["8kbps"] }']
)
def test_a_chunk_smaller_than_a_segment_is_one(video):
    assert pair(video).flows["status"].to_list() == ["completed"]


def test_the_next_request_carries_the_ack_of_a_chunks_last_segment():
    """Chunks of three segments, acknowledged two by two."""
    video = '{ chunk = "1s", ladder = ["34kbps"], buffer = "20s" }'
    delayed = {"transport.delayed_acks": {"kind": "on", "delay": "40ms"}}
    alone, late = (pair(video, keys=keys).flows["fct_ps"][0] for keys in ({}, delayed))
    assert late == alone
