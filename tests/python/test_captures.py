"""Runs as files of other tools: pcapng and qlog."""

import json
import shutil
import struct
import subprocess

import polars as pl
import pytest

import thalweg
from thalweg import captures, decisions
from thalweg.errors import ScenarioError

SCENARIO = """
seed = 5
[topology]
kind = "star"
hosts = 6
[switch]
buffer = "30KB"
[[traffic]]
kind = "incast"
fan_in = 5
size = "200KB"
[measure]
packets = { hops = true }
decisions = true
[run]
until = "1s"
"""

SAMPLED = {"measure.controllers": {"every": "100us"}}
# No flow starts.
QUIET = 'kind = "poisson"\nsizes = "heavy-tailed"\nload = 0.0000001\nuntil = "1ms"'


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    place = tmp_path_factory.mktemp("captures")
    (place / "s.toml").write_text(SCENARIO)
    return thalweg.run(place / "s.toml", out=place / "run")


def blocks(file):
    """Kind and body of a file's blocks; every length stands at both ends."""
    data, at = file.read_bytes(), 0
    while at < len(data):
        kind, length = struct.unpack_from("<II", data, at)
        assert struct.unpack_from("<I", data, at + length - 4) == (length,)
        yield kind, data[at + 8 : at + length - 4]
        at += length


def test_a_capture_has_every_port_that_a_packet_passed_and_every_drop(run, tmp_path):
    file = tmp_path / "run.pcapng"
    written = captures.pcap(run, file)
    found = list(blocks(file))
    ports = run.tables["ports"]
    assert sum(kind == 1 for kind, _ in found) == ports.height
    packets = [body for kind, body in found if kind == 6]
    assert len(packets) == written
    times = [(high << 32) + low for high, low in (struct.unpack_from("<II", p, 4) for p in packets)]
    assert times == sorted(times) and times[-1] > 0
    dropped = sum(b"dropped" in p for p in packets)
    assert dropped == ports["dropped"].sum() > 20
    # What was sent: a record at each port that carried it.
    assert len(packets) - dropped == ports["packets"].sum()
    by_port = [0] * ports.height
    for p in packets:
        by_port[struct.unpack_from("<I", p)[0]] += b"dropped" not in p
    assert by_port == ports["packets"].to_list()


def test_one_flow_at_one_port(run, tmp_path):
    port = int(run.tables["ports"]["dropped"].arg_max())
    written = captures.pcap(run, tmp_path / "one.pcapng", flows=[2], ports=[port])
    of_flow = run.packets.filter(pl.col("flow") == 2, pl.col("forward") == 1).collect()
    assert written == of_flow.height
    with pytest.raises(ScenarioError, match="there is no flow 99"):
        captures.pcap(run, tmp_path / "none.pcapng", flows=[99])
    assert not (tmp_path / "none.pcapng").exists()
    ends = run.flows.row(2, named=True)
    other = next(n for n, to in enumerate(run.tables["ports"]["to"]) if to < 6 and to not in (ends["src"], ends["dst"]))
    with pytest.raises(ScenarioError, match=rf"no packet of flow 2 passed port {other}; they pass the ports \d+, "):
        captures.pcap(run, tmp_path / "none.pcapng", flows=[2], ports=[other])
    assert not (tmp_path / "none.pcapng").exists()


def test_a_file_of_someone_else_is_not_overwritten(run, tmp_path):
    (tmp_path / "mine").write_text("a letter")
    with pytest.raises(ScenarioError, match="did not write this file"):
        captures.pcap(run, tmp_path / "mine")
    captures.pcap(run, tmp_path / "ours", flows=[0])
    captures.pcap(run, tmp_path / "ours", flows=[1])
    assert sorted(p.name for p in tmp_path.iterdir()) == ["mine", "ours"]


def test_datagrams_next_to_tcp_are_udp_s_and_telemetry_is_no_payload(tmp_path):
    document = {
        "topology": {"kind": "dumbbell", "pairs": 1, "delay": "10us"},
        "transport": {"kind": "tcp", "congestion": "hpcc"},
        "traffic": [
            {"kind": "flow", "src": 0, "dst": 1, "size": "14600B"},
            {"kind": "udp", "src": 0, "dst": 1, "rate": "100Mbps", "size": "20KB"},
        ],
        "run": {"until": "10ms"},
    }
    run = thalweg.run(thalweg.Scenario.from_dict(document), out=tmp_path / "run", record="hops")
    # A packet of HPCC's has 1460 B of payload and 82 B of headers, 42 of them telemetry: 60 after IP's, TCP's longest.
    assert captures.transports(run).rows() == [(0, 82, True), (1, 0, False)]
    captures.pcap(run, tmp_path / "run.pcapng")
    packets = [body for kind, body in blocks(tmp_path / "run.pcapng") if kind == 6]
    ip = [p[20:] for p in packets]
    assert {p[9] for p in ip} == {6, 17}
    data = [p for p in ip if p[9] == 6 and int.from_bytes(p[2:4], "big") > 1000]
    assert data and {p[32] >> 4 for p in data} == {15}


@pytest.mark.skipif(shutil.which("tcpdump") is None, reason="tcpdump is not installed")
def test_tcpdump_reads_it(run, tmp_path):
    file = tmp_path / "run.pcapng"
    written = captures.pcap(run, file)
    shown = subprocess.run(["tcpdump", "-nr", str(file)], capture_output=True, text=True, check=True).stdout
    lines = shown.splitlines()
    assert len(lines) == written
    assert any("10.0.0.1.1000" in line and "length 1460" in line for line in lines)
    assert not any("bad" in line or "truncated" in line for line in lines)


def test_qlog_is_of_every_flow_and_ends_where_the_record_does(run, tmp_path):
    files = captures.qlog(run.path, tmp_path / "q")
    assert [f.name for f in files] == [f"flow-{n}.sqlog" for n in range(5)]
    table = run.decisions
    for flow, file in enumerate(files):
        head, *events = [json.loads(r) for r in file.read_text().split("\x1e")[1:]]
        assert (head["qlog_format"], head["trace"]["title"]) == ("JSON-SEQ", f"flow {flow} (newreno)")
        of_flow = table.filter(pl.col("flow") == flow)
        sent = [e for e in events if e["name"] == "transport:packet_sent"]
        assert len(sent) == run.flows["packets"][flow]
        windows = [e["data"]["congestion_window"] for e in events if e["name"] == "recovery:metrics_updated"]
        assert windows[-1] == of_flow["window"][-1]
        assert [e["time"] for e in events] == sorted(e["time"] for e in events)
    with pytest.raises(ScenarioError, match="no record of flow 7"):
        captures.qlog(run.path, tmp_path / "q", flows=[7])


def test_decisions_are_replayed_and_compared(run, tmp_path):
    found = decisions.replay(run.path)
    assert [r.flow for r in found] == list(range(5))
    assert all(r.differs is None and r.same == r.decisions > 50 for r in found)
    assert decisions.compare(run.path, run.path) == {}
    other = thalweg.run(run.path / "scenario.toml", out=tmp_path / "other", set={"switch.buffer": "40KB"})
    parted = decisions.compare(run.path, other.path)
    assert parted and all("are the same; then" in words for words in parted.values())
    damaged = tmp_path / "cut.bin"
    damaged.write_bytes(decisions.read(run.path)[:-7])
    with pytest.raises(ScenarioError, match="cut off"):
        decisions.replay(damaged)
    with pytest.raises(ScenarioError, match="no record of decisions"):
        decisions.replay(tmp_path / "nothing")
    for pair in ((damaged, run.path), (run.path, damaged)):
        with pytest.raises(ScenarioError, match=r"cut.bin: .*cut off"):
            decisions.compare(*pair)


def test_of_a_run_without_packets_there_is_nothing_to_export(tmp_path, cli):
    quiet = SCENARIO.replace('kind = "incast"\nfan_in = 5\nsize = "200KB"', QUIET).replace(
        'until = "1s"', 'until = "2ms"'
    )
    run = thalweg.run(thalweg.Scenario.from_toml(quiet, SAMPLED), out=tmp_path / "run", progress=False)
    assert not run.flows.height
    for figure in (run.plot.rates, run.plot.windows):
        with pytest.raises(ScenarioError, match="run: the table `controllers` has no rows: there is nothing to draw"):
            figure()
    with pytest.raises(ScenarioError, match="run: no packet was recorded: none was sent while it ran"):
        captures.pcap(run, tmp_path / "file")
    with pytest.raises(ScenarioError, match="run: holds no decisions: no controller was called"):
        captures.qlog(run.path, tmp_path / "q")
    for record in (b"", b"hello"):
        with pytest.raises(ScenarioError, match="the record: it is no record of decisions"):
            captures.qlog(record, tmp_path / "q")
    assert cli("decisions", "run").out == "no decision was recorded: no controller was called\n"
    assert [p.name for p in tmp_path.iterdir()] == ["run"]


def test_decisions_as_csv_replace_no_file_of_someone_else(run, tmp_path, cli):
    (tmp_path / "mine").write_text("a letter")
    answer = cli("decisions", run.path, "--csv", "mine")
    assert (answer.code, answer.out) == (2, "") and "thalweg did not write this file" in answer.err
    assert (tmp_path / "mine").read_text() == "a letter"
    assert cli("decisions", run.path, "--csv", "ours").code == cli("decisions", run.path, "--csv", "ours").code == 0


@pytest.mark.parametrize("flag", ["--pcap", "--qlog"])
def test_what_cannot_be_exported_is_refused_before_the_run(flag, tmp_path, cli):
    (tmp_path / "s.toml").write_text(SCENARIO)
    (tmp_path / "mine").write_text("a letter")
    said = cli("run", "s.toml", flag, "mine", "--out", "r")
    assert said.code == 2 and "mine: " in said.err and "in the way" in said.err
    assert (tmp_path / "mine").read_text() == "a letter" and not (tmp_path / "r").exists()


LOSING = """
topology = { kind = "pair", delay = "2us" }
run = { until = "10ms" }
[[link]]
which = "all"
direction = "forward"
loss = { independent = 0.1 }
[[traffic]]
kind = "udp"
src = 0
dst = 1
rate = "100Mbps"
[measure]
packets = { hops = true }
"""


def test_what_a_hosts_own_link_loses_is_no_drop(tmp_path):
    run = thalweg.run(thalweg.Scenario.from_toml(LOSING), out=tmp_path / "run", progress=False)
    ports = run.tables["ports"]
    lost = int(ports["lost"].sum())
    assert lost > 3 and ports["dropped"].sum() == 0
    rows = run.packets.filter(pl.col("lost_ps").is_not_null()).collect()
    assert rows["lost_on_link"].to_list() == [1] * lost and rows["kind"].unique().to_list() == ["data"]
    captures.pcap(run, tmp_path / "run.pcapng")
    packets = [body for kind, body in blocks(tmp_path / "run.pcapng") if kind == 6]
    said = [sum(word in p for p in packets) for word in (b"lost on the link", b"dropped")]
    assert said == [lost, 0] and len(packets) == ports["packets"].sum()


def test_set_up_has_no_payload_and_messages_are_no_data(tmp_path):
    shaken = """
topology = { kind = "star", hosts = 3 }
transport = { kind = "tcp", handshake = true, syn_size = "60B", ack_size = "64B" }
traffic = [{ kind = "flow", src = 0, dst = 1, size = "10KB" }]
measure = { packets = { hops = true } }
run = { until = "10ms" }
"""
    run = thalweg.run(thalweg.Scenario.from_toml(shaken), out=tmp_path / "tcp", progress=False)
    kinds = run.packets.collect().sort("handed_ps", maintain_order=True)["kind"].to_list()
    assert kinds[:3] == ["syn", "syn-ack", "data"] and kinds.count("syn") == 1 and set(kinds[3:]) == {"data", "ack"}
    captures.pcap(run, tmp_path / "tcp.pcapng")
    first = next(body for kind, body in blocks(tmp_path / "tcp.pcapng") if kind == 6)
    assert first[20 + 32] >> 4 == 60 // 4 - 5, "all of the SYN is headers"
    text = shaken.replace('{ kind = "tcp", handshake = true, syn_size = "60B", ack_size = "64B" }', '"expresspass"')
    text = text.replace("measure =", 'switch = { scheduler = "expresspass", buffer = "100KB" }\nmeasure =')
    run = thalweg.run(thalweg.Scenario.from_toml(text), out=tmp_path / "credits", progress=False)
    rows = run.packets.collect()
    assert set(rows["kind"]) > {"data", "syn", "control"}
    assert rows.filter(pl.col("kind") == "data")["seq"].is_unique().all() and rows["seq"].null_count() > 0
