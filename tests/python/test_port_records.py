"""Ports of simulated networks, recorded and replayed offline by `thalweg replay-port`."""

import json

import pytest

import thalweg
from thalweg.errors import ScenarioError

# Port 1 leads to host 0, at which the others aim.
SCENARIO = """
seed = 5
[topology]
kind = "star"
hosts = 6
[switch]
buffer = "30KB"
scheduler = "srpt"
[transport]
rank = "remaining"
[[traffic]]
kind = "incast"
fan_in = 5
size = "200KB"
receiver = 0
[measure]
port_records = [1]
[run]
until = "1s"
"""


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    place = tmp_path_factory.mktemp("records")
    (place / "s.toml").write_text(SCENARIO)
    return thalweg.run(place / "s.toml", out=place / "run")


def test_a_recorded_port_replays_without_its_network_and_changes_no_result(run, cli, tmp_path):
    assert [p.name for p in run.path.glob("*.port")] == ["port1.port"]
    assert "port1.port" in json.loads((run.path / "meta.json").read_text())["files"]
    plain = thalweg.run(thalweg.Scenario.from_toml(SCENARIO.replace("port_records = [1]", "")), out=None)
    assert plain.summary["digest"] == run.summary["digest"]
    said = cli("replay-port", run.path, "--json")
    (found,) = json.loads(said.out).values()
    assert said.code == 0 and found["port"] == "switch0 -> h0" and found["difference"] is None and found["whole"]
    assert found["sent"] > 500 and found["dropped"] > 0 and found["together"] > 0


def test_a_changed_record_names_the_first_difference(run, cli, tmp_path):
    record = bytearray((run.path / "port1.port").read_bytes())
    # The digest of the end: all that can be compared is the same.
    record[-1] ^= 1
    (tmp_path / "changed.port").write_bytes(record)
    said = cli("replay-port", tmp_path / "changed.port")
    assert said.code == 1 and "then: recorded digest" in said.out
    record[8] = 1
    (tmp_path / "old.port").write_bytes(record)
    said = cli("replay-port", tmp_path / "old.port")
    assert said.code == 2 and "this record has layout 1" in said.err and "record again" in said.err


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"measure.port_records": [0]}, ["measure.port_records", "h0 -> switch0", "it belongs to a host"]),
        ({"measure.port_records": [12]}, ["there is no port 12", "ports are 0 to 11"]),
        ({"measure.port_records": [1, 1]}, ["port 1 is listed twice"]),
        ({"switch.buffer": "unlimited", "switch.shared_buffer": {"total": "1MB"}}, ["switch.shared_buffer", "shared"]),
    ],
)
def test_what_cannot_be_replayed_is_refused_by_key(change, words):
    with pytest.raises(ScenarioError) as refused:
        thalweg.run(thalweg.Scenario.from_toml(SCENARIO).with_(change), out=None)
    assert all(word in str(refused.value) for word in words), refused.value
