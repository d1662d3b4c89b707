"""Why a flow took so long: schedules computed by hand, and sums that are exact."""

import json

import numpy as np
import polars as pl
import pytest

import thalweg
from thalweg.errors import ScenarioError
from thalweg.explaining import Evidence
from thalweg.explaining.portlog import BUSY, IDLE, PAUSED, PortLog
from thalweg.hops import transmissions

# A star at 10 Gb/s: a byte lasts 800 ps, a link 1 us.
STAR = """
name = "star"
topology = { kind = "star", hosts = 4, rate = "10Gbps", delay = "1us" }
run = { until = "5s" }
"""
BYTE, LINK = 800, 1_000_000
RDMA = 'transport = { kind = "rdma", cap = "none" }\n'


def flow(src: int, dst: int, size: str, start: str = "0ps") -> str:
    return f'[[traffic]]\nkind = "flow"\nsrc = {src}\ndst = {dst}\nsize = "{size}"\nstart = "{start}"\n'


def run(text: str, **kw) -> thalweg.Results:
    return thalweg.run(thalweg.Scenario.from_toml(text), progress=False, **kw)


def assert_exact(results: thalweg.Results, flow: int) -> thalweg.explaining.Explanation:
    """The intervals tile the flow's life, and what shares an interval fills it."""
    found = results.explain(flow)
    row = results.flows.row(flow, named=True)
    assert found.fct_ps == row["fct_ps"] == found.table["ps"].sum() == sum(found.sums.values())
    spans = found.table.group_by("from_ps", "to_ps").agg(pl.col("ps").sum()).sort("from_ps")
    assert (spans["to_ps"] - spans["from_ps"]).to_list() == spans["ps"].to_list()
    assert spans["from_ps"].to_list() == [row["start_ps"], *spans["to_ps"].to_list()[:-1]]
    assert spans["to_ps"].to_list()[-1] == row["start_ps"] + row["fct_ps"]
    return found


@pytest.mark.parametrize("transport", [RDMA, 'transport = { kind = "udp" }\n', ""])
def test_a_flow_alone_takes_its_ideal_time_and_nothing_else(transport):
    results = run(transport + STAR + flow(0, 1, "10KB"))
    assert assert_exact(results, 0).sums == {"ideal": results.flows["ideal_ps"][0]}


def test_the_second_waits_for_the_first_at_their_port_exactly():
    results = run(RDMA + STAR + flow(0, 2, "1000B") + flow(1, 2, "1000B"))
    packets = results.explain(0).evidence.run.packets.collect()
    wire = packets["wire"][0]
    first, second = (assert_exact(results, n) for n in np.argsort(results.flows["fct_ps"]))
    assert first.sums == {"ideal": 2 * (wire * BYTE + LINK)}
    assert second.sums == {"ideal": first.fct_ps, "queue": wire * BYTE}
    (row,) = second.table.filter(pl.col("what") == "queue").rows(named=True)
    assert row["flow"] == first.flow and row["where"] == "switch0 → h2"
    assert (row["from_ps"], row["to_ps"]) == (wire * BYTE + LINK, 2 * wire * BYTE + LINK)


def test_at_the_nic_a_flow_waits_for_the_packets_of_another():
    # The other's ten packets are in the NIC's queue when it starts; they go elsewhere.
    late = "100ns"
    results = run('transport = { kind = "udp" }\n' + STAR + flow(0, 1, "14000B") + flow(0, 2, "1000B", late))
    sent = results.explain(1).evidence.run.packets.filter(pl.col("flow") == 0).collect()
    assert assert_exact(results, 1).sums["nic"] == int(sent["wire"].sum()) * BYTE - 100_000
    (row,) = results.explain(1).table.filter(pl.col("what") == "nic").rows(named=True)
    assert (row["flow"], row["where"]) == (0, "h0 → switch0")


PULLED = 'scheme = "irn+voq"\ntransport = { cap = "none" }\n'


def test_a_nic_that_takes_packets_in_turn_adds_those_of_the_other_flow():
    alone = assert_exact(run(PULLED + STAR + flow(0, 1, "10240B")), 0)
    assert set(alone.sums) == {"ideal"}
    own = alone.table.filter(pl.col("what") == "nic")
    assert own["ps"].to_list() == [872_000] * 9 and set(own["flow"]) == {0}
    results = run(PULLED + STAR + flow(0, 1, "10240B") + flow(0, 2, "10240B"))
    second = assert_exact(results, int(results.flows["fct_ps"].arg_max()))
    assert second.sums == {"ideal": results.flows["ideal_ps"][0], "nic": 10 * 872_000}


def test_an_ack_that_finds_the_nic_busy_released_the_packet_that_waits_for_it():
    # The first ACK comes at 5.856 us; a packet of another flow is on its way out from 5.5 us on.
    text = PULLED.replace('"none"', "1") + STAR + flow(0, 1, "2048B") + flow(0, 2, "1024B", "5500ns")
    found = assert_exact(run(text), 0)
    way = 872_000 + LINK
    assert 2 * way + 2 * (56_000 + LINK) == 5_856_000
    assert found.sums["nic"] == 5_500_000 + 872_000 - 5_856_000
    assert found.fct_ps == 5_856_000 + found.sums["nic"] + 2 * way
    assert set(found.sums) == {"ideal", "own", "nic"}


def test_what_waits_for_an_ack_or_for_its_turn_is_unclear_only_until_the_ack():
    # A packet at a time from each of twelve flows: the NIC never rests.
    text = PULLED.replace('"none"', "1") + STAR + "".join(flow(0, 1 + n % 3, "3000B") for n in range(12))
    results = run(text)
    found = assert_exact(results, 11)
    back = found.evidence.run.packets.filter(pl.col("flow") == 11, pl.col("forward") == 0).collect()["exit_ps"]
    unclear = found.table.filter(pl.col("what") == "nic or window")
    assert unclear.height and set(unclear["to_ps"]) <= set(back)
    turns = found.table.filter((pl.col("what") == "nic") & (pl.col("flow") != 11) & (pl.col("from_ps") > 0))
    assert set(turns["from_ps"]) == set(unclear["to_ps"])


def test_a_flow_that_starts_in_a_pause_waits_until_it_ends():
    # NICs of this scheme take a packet from each flow in turn.
    text = (
        'scheme = "roce+pfc"\n'
        + STAR
        + 'switch = { pfc = { threshold = { kind = "static", xoff = "20KB", xon = "10KB" } } }\n'
        + "measure = { pauses = true }\n"
        + "".join(flow(src, 3, "200KB") for src in (0, 1))
    )
    pauses = run(text).tables["pauses"].filter(pl.col("port") == 0)
    began, ended = pauses["began_ps"][1], pauses["ended_ps"][1]
    # A packet may be on its way out as the pause begins: in the middle none is.
    start = (began + ended) // 2
    found = assert_exact(run(text + flow(0, 2, "500B", f"{start}ps")), 2)
    (row,) = found.table.filter(pl.col("what") == "paused").rows(named=True)
    assert (row["from_ps"], row["where"], row["by"]) == (start, "h0 → switch0", "switch0")
    assert row["ps"] == found.sums["paused"] == ended - start
    # Then at most it waits for the other flow's packet whose turn it was.
    sent = found.evidence.run.packets.filter(pl.col("flow") == 0, pl.col("forward") == 1)
    ahead = sent.filter(pl.col("ingress_ps").is_between(start, ended + 10**6)).collect()
    turns = found.sums.get("nic", 0) / (ahead["wire"][0] * BYTE)
    assert turns in (0, 1)


@pytest.mark.parametrize("decisions", [True, False])
def test_a_lost_packet_waits_for_the_timer(decisions, tmp_path):
    # Three packets meet at a port with room for one. Two are lost; a second later their senders send them again, and
    # meet again: the timer of the one that is lost once more has doubled.
    text = STAR + 'switch = { buffer = "1pkts" }\n' + "".join(flow(src, 3, "1000B") for src in (0, 1, 2))
    # Without decisions it is taken from what came back, and when.
    results = run(text) if decisions else run(text, out=tmp_path / "r", record="hops")
    second, way = 10**12, 1040 * BYTE + LINK
    by_timeouts = dict(zip(results.flows["timeouts"], results.flows["id"], strict=True))
    assert assert_exact(results, by_timeouts[0]).sums == {"ideal": 2 * way}
    once = assert_exact(results, by_timeouts[1])
    assert once.sums == {"ideal": 2 * way, "own": way, "timeout": second - way}
    (row,) = once.table.filter(pl.col("what") == "timeout").rows(named=True)
    assert (row["from_ps"], row["to_ps"], row["where"]) == (way, second, "switch0 → h3")
    twice = assert_exact(results, by_timeouts[2])
    assert twice.sums == {"ideal": 2 * way, "own": 2 * way, "timeout": (second - way) + (2 * second - way)}


def test_a_pace_and_an_application_are_told_apart():
    slow = 'transport = { congestion = { kind = "bbr" } }\n' + STAR + flow(0, 1, "2MB")
    assert assert_exact(run(slow), 0).sums.get("pace", 0) > 0
    writes = (
        'transport = { writes = { first = "1000B", chunk = "1000B", every = "1ms" } }\n' + STAR + flow(0, 1, "5000B")
    )
    found = assert_exact(run(writes), 0).sums
    assert 3_900_000_000 < found["application"] <= 4_000_000_000 and "sender" not in found


RANDOM = """
name = "random"
seed = 11
switch = { buffer = "60KB" }
run = { until = "2s" }
[topology]
kind = "leaf-spine"
leaves = 2
spines = 2
hosts_per_leaf = 4
[[traffic]]
kind = "incast"
fan_in = 6
size = "60KB"
[[traffic]]
kind = "poisson"
sizes = "web-search"
load = 0.6
until = "500us"
"""


@pytest.mark.parametrize("scheme", ["tcp+fifo", "dctcp+fq", "roce-dcqcn+pfc", "hpcc+pfc", "irn+bfc", "ndp+trim", None])
def test_every_flow_of_a_random_incast_adds_up(scheme):
    text = RANDOM if scheme is None else f'scheme = "{scheme}"\n' + RANDOM.replace('switch = { buffer = "60KB" }', "")
    results = run(text)
    complete = [n for n, fct in enumerate(results.flows["fct_ps"]) if fct is not None]
    assert len(complete) > 6
    for n in complete:
        assert_exact(results, n)


def test_without_decisions_timeouts_are_found_all_the_same(tmp_path):
    results = run(RANDOM, out=tmp_path / "r", record="hops")
    again = thalweg.Results.load(run(RANDOM, out=tmp_path / "bare").path)
    late = [n for n, count in enumerate(results.flows["timeouts"]) if count]
    assert late and not results.explain(late[0]).evidence.made_again
    for n in late:
        assert assert_exact(results, n).sums.get("timeout") == again.explain(n).sums.get("timeout")


def test_duplicate_acks_before_a_timeout_do_not_hide_it(tmp_path):
    """The window's tail is lost, and what duplicate ACKs prompted: 200 ms after the last new ACK the timer expires."""
    text = (
        """
transport = { congestion = "cubic" }
run = { until = "3s" }
switch = { buffer = "20pkts" }
[topology]
kind = "dumbbell"
pairs = 3
host_rate = "100Mbps"
bottleneck_rate = "20Mbps"
delay = "100us"
host_delay = "10us"
"""
        + flow(1, 4, "146000B")
        + flow(2, 5, "14600B", "3ms")
        + flow(0, 3, "50000B", "1ms")
    )
    measure = "[measure]\npackets = { hops = true }\n"
    bare = run(text + measure, out=tmp_path / "bare")
    sure = run(text + measure + "decisions = true\n", out=tmp_path / "sure")
    late = [n for n, count in enumerate(bare.flows["timeouts"]) if count]
    assert late
    for n in late:
        sums = assert_exact(bare, n).sums
        assert sums == assert_exact(sure, n).sums and sums["timeout"] > 1e11, n


def test_to_the_sender_s_completion_the_last_ack_counts():
    results = run("".join((STAR, 'measure = { fct = "sender" }\n', flow(0, 1, "10KB"), flow(2, 1, "10KB"))))
    for n in (0, 1):
        assert assert_exact(results, n).intervals[-1].packet.startswith("ACK")


def test_a_record_that_is_there_is_used_and_one_that_is_not_is_made_again(tmp_path, monkeypatch):
    text = RDMA + STAR + flow(0, 2, "5KB") + flow(1, 2, "5KB")
    there = run(text, out=tmp_path / "there", record="hops")
    bare = thalweg.Results.load(run(text, out=tmp_path / "bare").path)
    assert Evidence.is_there(there) and not Evidence.is_there(bare)
    made = bare.explain(1)
    assert made.evidence.made_again and made.table.equals(there.explain(1).table)
    folder = made.evidence.run.path
    assert folder.is_dir() and bare.explain(0).evidence is made.evidence
    made.evidence.close()
    assert not folder.exists()
    bare._evidence = None
    bare.summary["digest"] = "0" * 16
    with pytest.raises(ScenarioError, match="is another run when it is made again"):
        bare.explain(0)


def test_a_flow_without_a_completion_time_has_none_to_take_apart():
    results = run(STAR.replace('"5s"', '"2us"') + flow(0, 1, "1MB"))
    with pytest.raises(ScenarioError, match="flow 0 has no completion time to take apart: the run ended first"):
        results.explain(0)
    with pytest.raises(ScenarioError, match="there is no flow 7"):
        results.explain(7)


def test_the_command_has_two_uses(cli, tmp_path):
    (tmp_path / "s.toml").write_text(RDMA + STAR + flow(0, 2, "5KB") + flow(1, 2, "5KB"))
    assert cli("run", "s.toml", "--out", "r", "--quiet").code == 0
    said = cli("explain", "r", "--flow", "1", "--every", "--csv", "i.csv")
    assert said.code == 0 and "running it again, recorded" in said.err
    assert max(map(len, said.out.splitlines())) <= 80
    fct = thalweg.Results.load(tmp_path / "r").flows["fct_ps"][1]
    assert f"in all {fct:,}" in " ".join(said.out.split())
    rows = pl.read_csv(tmp_path / "i.csv")
    assert rows["ps"].sum() == fct and rows["explained"].unique().to_list() == [1]
    both = json.loads(cli("explain", "r", "0", "--flow", "1", "--json").out)
    assert [e["flow"] for e in both] == [0, 1] and both[1]["fct_ps"] == sum(both[1]["sums"].values()) == fct
    assert cli("explain", "cubic").out.startswith("cubic, a choice of")
    wrong = cli("explain", "cubic", "--flow", "1")
    assert wrong.code == 2 and "`cubic` is not a run directory" in wrong.err
    assert "flows are 0 to 1" in cli("explain", "r", "--flow", "2").err
    assert "of which flow?" in cli("explain", "r", "--every").err


def test_a_port_s_time_is_busy_paused_or_idle():
    log = PortLog("a → b", "b", *map(np.array, ([10, 20, 50], [20, 30, 60], [1, 2, 1])), [(25, 45), (70, None)])
    assert log.parts(0, 100) == {
        (BUSY, 1): 20,
        (BUSY, 2): 10,
        # What is on its way out as the pause begins still leaves.
        (PAUSED, None): 15 + 30,
        (IDLE, None): 10 + 5 + 10,
    }
    assert log.parts(12, 18) == {(BUSY, 1): 6} and log.parts(60, 60) == {}
    assert [log.busy_since(at) for at in (30, 45, 50, 60, 90, 10)] == [10, 10, 50, 50, 70, 10]


LATE = """
name = "late"
topology = { kind = "star", hosts = 4, rate = "10Gbps", delay = "1us" }
transport = { kind = "rdma", cap = "none" }
run = { until = "1ms" }
"""


def late(*flows: str, more: str = "") -> thalweg.Results:
    return run(LATE + more + "".join(flows))


def test_the_slowest_flows_are_those_of_the_table_by_slowdown_and_by_time():
    # Of those that meet at h3 some wait; the one that is alone takes longest and is not slowed down.
    results = late(*(flow(src, 3, "20KB") for src in (0, 1, 2)), flow(1, 0, "100KB", "100us"))
    by_slowdown, by_time = results.slowest(2), results.slowest(2, by="time")
    flows = results.flows.sort("slowdown", descending=True)
    assert by_slowdown.completed["flow"].to_list() == flows["id"].to_list()[:2]
    assert by_slowdown.completed["slowdown"].to_list() == flows["slowdown"].to_list()[:2]
    assert by_time.completed["flow"].to_list()[0] == 3 == results.flows["fct_ps"].arg_max()
    assert by_time.completed["slowdown"][0] == 1.0 and by_time.completed["start_ps"][0] == 10**8
    assert by_slowdown.completed["src"].to_list()[0].startswith("h") and by_slowdown.unfinished.is_empty()
    for by in ("speed", 3):
        with pytest.raises(ScenarioError, match="not ranked by"):
            results.slowest(2, by=by)
    with pytest.raises(ScenarioError, match="whole number above zero"):
        results.slowest(0)


def test_flows_that_have_not_completed_come_first_with_why():
    results = late(flow(0, 3, "20KB"), flow(1, 2, "9MB"), flow(2, 1, "9MB", "10us"))
    found = results.slowest(by="time")
    rows = found.unfinished.rows(named=True)
    assert [row["flow"] for row in rows] == [1, 2] and found.counts == (3, 2)
    assert [row["took_ps"] for row in rows] == [10**9, 10**9 - 10**7]
    reasons = results.flows["reason"].to_list()
    assert [row["why"] for row in rows] == reasons[1:] and None not in reasons[1:]
    text = str(found).splitlines()
    assert text[0].startswith("2 of 3 flows not completed") and "took ms" in text[1]
    assert any(reasons[1].split(":")[0] in line for line in text) and "1 of 3 flows" in str(found)
    assert text.index(next(line for line in text if line.startswith("1 of 3"))) > 4
    only = results.slowest(1)
    assert "2 of 3 flows not completed, 1 of them" in str(only) and len(only.unfinished) == 1


def test_what_does_not_count_is_no_slowest_flow():
    endless = '[[traffic]]\nkind = "backlogged"\nsrc = 2\ndst = 1\n'
    turns = 'nic = { order = "round-robin" }\n'
    results = late(flow(0, 3, "20KB"), flow(1, 3, "20KB") + "measured = false\n", endless, more=turns)
    assert results.slowest().counts == (1, 0) and results.slowest().completed["flow"].to_list() == [0]


def test_the_slowest_flows_fit_a_line_of_eighty_characters(tmp_path):
    name = 'name = "a section with a name that is longer than a column"\n'
    text = LATE.replace('cap = "none" }', 'cap = "none" }\nswitch = { buffer = "2pkts" }')
    text += "".join(flow(src, 3, "900KB") + name.replace("a section", f"{src}. section") for src in (0, 1, 2))
    lines = run(text).slowest().lines()
    assert max(map(len, lines)) <= 80 and any("…" in line for line in lines)
    assert "lost" in lines[1] and "0. sect" in "\n".join(lines)


def test_the_command_lists_the_slowest_flows_and_how_one_is_explained(cli, tmp_path):
    late(flow(0, 3, "20KB"), flow(1, 3, "20KB")).save(tmp_path / "r")
    said = cli("explain", tmp_path / "r", "--slowest")
    slow = int(thalweg.Results.load(tmp_path / "r").flows["slowdown"].arg_max())
    assert said.code == 0 and said.out.splitlines()[2].split()[0] == str(slow)
    assert f"explain {tmp_path / 'r'} --flow {slow}` says why" in said.out
    assert len(cli("explain", tmp_path / "r", "--slowest", "1").out.splitlines()) == 5
    found = json.loads(cli("explain", tmp_path / "r", "--slowest", "1", "--by", "time", "--json").out)
    assert [row["flow"] for row in found["completed"]] == [slow] and found["unfinished"] == []
    assert "--slowest" in cli("explain", tmp_path / "r").out
    for wrong, why in (
        (("--by", "time"), "--slowest"),
        (("--slowest", "0"), "not a number of flows"),
        (("--slowest", "some"), "not a number of flows"),
        (("--slowest", "--flow", "1"), "flow 1"),
        (("--slowest", "--every"), "--every"),
        (("--slowest", "--by", "tim"), "did you mean `time`"),
    ):
        refused = cli("explain", tmp_path / "r", *wrong)
        assert refused.code == 2 and why in refused.err, wrong
    assert "--slowest" in cli("explain", "cubic", "--slowest").err
    assert "RUN comes first" in cli("explain", "--slowest", tmp_path / "r").err


def test_the_report_lists_the_slowest_flows(tmp_path):
    results = late(*(flow(src, 3, "20KB") for src in (0, 1, 2)), flow(1, 2, "9MB"))
    page = results.report(tmp_path / "r.html").read_text()
    part = page[page.index("<h2>Slowest flows</h2>") :].split("<h2>")[1]
    assert part.index("1 of 4 flows not completed") < part.index("3 of 4 flows with the greatest slowdown")
    assert "the run ended first" in part and "--flow N" in part
    slow = results.flows["slowdown"].max()
    assert f"{slow:.3g}</td>" in part


TRIMMED = """
name = "trimmed"
scheme = "ndp+trim"
[topology]
kind = "leaf-spine"
leaves = 3
spines = 2
hosts_per_leaf = 6
host_rate = "10Gbps"
spine_rate = "10Gbps"
delay = "1us"
[[traffic]]
kind = "incast"
fan_in = 16
size = "100KB"
receiver = 0
"""


@pytest.fixture(scope="module")
def trimmed(tmp_path_factory):
    return run(TRIMMED, out=tmp_path_factory.mktemp("trimmed") / "r", record="hops")


def test_every_port_carried_the_bytes_that_packets_had_there_before_they_were_trimmed(trimmed):
    assert trimmed.summary["trims"] > 50
    sent = transmissions(trimmed, trimmed.packets)
    carried = sent.filter(pl.col("start_ps").is_not_null()).group_by("port").agg(pl.col("bytes").sum())
    counted = trimmed.tables["ports"].filter(pl.col("bytes") > 0).select("port", "bytes").sort("port")
    assert carried.sort("port").rows() == counted.rows()
    # In the end there was less of them.
    assert sent.filter(pl.col("bytes") > pl.col("wire")).height >= trimmed.summary["trims"]


def test_no_time_of_a_packet_that_is_trimmed_later_is_unknown(trimmed):
    cut = trimmed.flows.filter(pl.col("trims") > 0)["id"].to_list()
    assert len(cut) > 5
    for flow in cut:
        assert "other" not in assert_exact(trimmed, flow).sums
