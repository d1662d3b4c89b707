"""Recordings, and replays of them: what universal packet scheduling needs, and what is refused."""

from __future__ import annotations

import json
import re
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import thalweg
from conftest import SCENARIO
from thalweg import papers, pool, recording
from thalweg.errors import ScenarioError
from thalweg.results import Interrupted

# Up to five congested ports on a path: none but the omniscient scheduler can replay that perfectly.
CHAIN = """\
name = "chain"
seed = 5

[topology]
kind = "parking-lot"
bottlenecks = 5
bottleneck_rate = "1Gbps"
host_rate = "1Gbps"

[switch]
scheduler = "random"
buffer = "unlimited"

[nic]
scheduler = "fifo"

[transport]
kind = "udp"

[[traffic]]
kind = "poisson"
sizes = "heavy-tailed"
load = 0.4
until = "100ms"

[run]
until = "100ms"
stop_when_done = false
"""
SPINES = (
    '{ kind = "leaf-spine", leaves = 2, spines = 2, hosts_per_leaf = 2, host_rate = "1Gbps", spine_rate = "1Gbps" }'
)
ROWS = ("flow", "forward", "wire", "handed_ps", "ingress_ps", "exit_ps", "waited_ps", "queues", "hops")


@pytest.fixture(scope="module")
def run(tmp_path_factory) -> thalweg.Results:
    """A recorded run, with hops."""
    return thalweg.run(thalweg.Scenario.from_toml(CHAIN), out=tmp_path_factory.mktemp("runs") / "chain", record="hops")


@pytest.fixture
def copy(run, tmp_path):
    """A copy of it that may be spoilt: `change` gets the packets as a table, `about` the metadata."""

    def spoil(change=lambda t: t, about=lambda a: a) -> Path:
        folder = tmp_path / "chain"
        folder.mkdir()
        for file in run.path.iterdir():
            (folder / file.name).write_bytes(file.read_bytes())
        path = folder / recording.PACKETS
        table = pq.read_table(path)
        kept = json.loads(pq.ParquetFile(path).metadata.metadata[recording._MARK])
        with pq.ParquetWriter(path, change(table).schema) as writer:
            writer.write_table(change(table))
            writer.add_key_value_metadata({recording._MARK: json.dumps(about(kept))})
        return folder

    return spoil


def changed(column: str, row: int, value):
    """A table with one value changed."""

    def change(table: pa.Table) -> pa.Table:
        values = table[column].to_pylist()
        values[row] = value(values[row]) if callable(value) else value
        at = table.column_names.index(column)
        return table.set_column(at, table.schema.field(at), pa.array(values, table.schema.field(at).type))

    return change


def test_a_recording_holds_every_packet_in_order_of_entry(run):
    table = pq.read_table(run.path / recording.PACKETS)
    kept, sent = run.summary["packets"], run.flows["packets"].sum()
    assert table.num_rows == kept["recorded"] == kept["left"] + kept["inside"]
    # What still waits at a NIC has not entered.
    assert kept["inside"] > 0 and 10_000 < kept["recorded"] <= sent
    rows = {name: table[name].to_numpy() for name in ROWS}
    left = ~np.isnan(rows["exit_ps"])
    assert np.all(np.diff(rows["ingress_ps"]) >= 0) and np.all(rows["handed_ps"] <= rows["ingress_ps"])
    assert left.sum() == kept["left"]
    waits = [
        sum(s - a for a, s in zip(*two, strict=True) if s)
        for two in zip(*(table[c].to_pylist() for c in ("arrivals_ps", "starts_ps")), strict=True)
    ]
    assert np.array_equal(waits, rows["waited_ps"])
    delay = (rows["exit_ps"] - rows["handed_ps"])[left]
    assert kept["delay_us"]["mean"] == pytest.approx(delay.mean() * 1e-6)
    assert kept["delay_us"]["p99"] == pytest.approx(
        np.sort(delay)[int(np.ceil(0.99 * len(delay))) - 1] * 1e-6, rel=0.005
    )
    assert run.tables["delays"]["packets"].sum() == kept["left"]
    assert kept["congestion_points"] == np.bincount(rows["queues"][left]).tolist()
    assert run.packets.collect().height == table.num_rows


def test_recording_changes_nothing_and_costs_few_bytes(run, tmp_path):
    plain = thalweg.run(thalweg.Scenario.from_toml(CHAIN))
    lean = thalweg.run(thalweg.Scenario.from_toml(CHAIN), out=tmp_path / "lean", record=True)
    assert plain.digest == lean.digest == run.digest
    assert (lean.path / recording.PACKETS).stat().st_size < 30 * lean.summary["packets"]["recorded"]


@pytest.mark.parametrize("scheduler", ["lstf", "edf", "priority", "omniscient"])
def test_what_a_replay_reports_agrees_with_itself(run, scheduler):
    replay = thalweg.replay(run, scheduler=scheduler)
    s, lateness, ratios = replay.summary, replay.tables["lateness"], replay.tables["ratios"]
    assert (s["packets"], s["not_compared"]) == (run.summary["packets"]["left"], run.summary["packets"]["inside"])
    assert s["never_left"] == 0 and lateness["packets"].sum() == s["packets"]
    late = lateness.filter(lateness["from_ps"] > 0)
    assert late["packets"].sum() == s["overdue_packets"] == s["lateness_us"]["count"]
    assert s["overdue"] == s["overdue_packets"] / s["packets"] >= s["overdue_beyond_threshold"]
    assert ratios["router"].sum() == ratios["with_nic"].sum() == s["packets"]
    assert s["congestion_points"] == run.summary["packets"]["congestion_points"]
    assert s["hops"] == {"min": 1, "max": 6} == run.summary["packets"]["hops"]


def test_the_wider_the_buckets_the_more_a_replay_is_like_fifo(run):
    exact, tiny, wide = (thalweg.replay(run, scheduler="lstf", bucket=b) for b in (None, 1, "1ms"))
    assert tiny.digest == exact.digest and exact.summary["bucket_us"] == 0
    assert wide.summary["bucket_us"] == 1000 and wide.meta["replay"]["bucket_ps"] == 10**9
    assert wide.summary["overdue"] > 1.5 * exact.summary["overdue"]
    # All in one bucket: in order of arrival, whatever headers hold.
    assert (
        thalweg.replay(run, scheduler="lstf", bucket="1000s").digest
        == thalweg.replay(run, scheduler="priority", bucket="1000s").digest
    )


def test_candidates_order_as_theory_says(run):
    late = {s: thalweg.replay(run, scheduler=s).summary["overdue_packets"] for s in ("lstf", "priority")}
    assert 0 < late["lstf"] < late["priority"]
    lstf, edf = (thalweg.replay(run, scheduler=s) for s in ("lstf", "edf"))
    assert lstf.digest == edf.digest and lstf.tables["ratios"].equals(edf.tables["ratios"])
    assert thalweg.replay(run, scheduler="omniscient", preemptive=True).summary["overdue_packets"] == 0
    # Preemptive LSTF is never late behind two congestion points; here there may be more, and few are.
    assert thalweg.replay(run, scheduler="lstf", preemptive=True).summary["overdue"] < 0.1 * lstf.summary["overdue"]


def test_one_fifo_switch_is_replayed_exactly(tmp_path):
    one = {"topology": '{ kind = "star", hosts = 6, rate = "1Gbps" }', "switch.scheduler": "fifo", "run.until": "1s"}
    run = thalweg.run(thalweg.Scenario.from_toml(CHAIN, one), out=tmp_path / "r", record=True)
    s = thalweg.replay(run).summary
    # Alike in every packet: nothing is early either.
    assert (s["overdue"], s["not_compared"], s["ratio"]["p1"], s["ratio"]["p99"]) == (0.0, 0, 1.0, 1.0)
    early = thalweg.replay(run).tables["lateness"]
    assert early.filter(early["from_ps"] < 0).height == 0


def test_the_threshold_is_a_packet_time_on_the_slowest_link_unless_given(run):
    s = thalweg.replay(run).summary
    wire = run.summary["packets"]["most_common_wire_bytes"]
    assert s["threshold_us"] == wire * 8 / 1e3
    none, all_ = (thalweg.replay(run, threshold=t).summary for t in ("1s", 0))
    assert none["overdue_beyond_threshold"] == 0 and all_["overdue_beyond_threshold"] == s["overdue"]
    assert thalweg.replay(run, threshold="12.5us").summary["threshold_us"] == 12.5


def test_a_replay_is_the_same_however_it_is_fed(run, monkeypatch):
    from thalweg import replaying

    once = thalweg.replay(run)
    monkeypatch.setattr(replaying, "BATCH", 777)
    monkeypatch.setattr(replaying, "EVENTS", 1000)
    assert thalweg.replay(run).summary == once.summary


def test_tcp_with_acks_is_replayed(tmp_path):
    tcp = CHAIN.replace('kind = "udp"', 'kind = "tcp"')
    run = thalweg.run(thalweg.Scenario.from_toml(tcp), out=tmp_path / "r", record=True)
    forward = pq.read_table(run.path / recording.PACKETS)["forward"].to_numpy()
    assert 0.3 < forward.mean() < 0.7
    assert thalweg.replay(run).summary["packets"] == run.summary["packets"]["left"]


class Source:
    """Hands out given rows, as a simulation does."""

    def __init__(self, *helpings):
        self.helpings = list(helpings)

    def records(self) -> bool:
        return False

    def take_recorded(self, end: bool) -> dict:
        ingress = np.concatenate(self.helpings if end else [self.helpings.pop(0)]).astype(np.uint64)
        n = len(ingress)
        rows = {k: np.zeros(n, np.uint64) for k in ("seq", "handed", "exit", "waited", "arrivals", "starts")}
        rows |= {k: np.zeros(n, np.uint8) for k in ("forward", "kind", "marked", "lost_on_link", "queues", "hops")}
        rows |= {"lost": np.full(n, 2**64 - 1, np.uint64), "lost_at": np.zeros(n, np.uint32)}
        rows |= {"ports": np.zeros(0, np.uint32)}
        return rows | {"ingress": ingress, "flow": np.arange(n, dtype=np.uint32), "wire": np.full(n, 1500, np.uint32)}


def test_stragglers_are_kept_apart_and_read_in_their_place(tmp_path, monkeypatch):
    monkeypatch.setattr(recording, "GROUP", 4)
    source = Source([10, 20, 30, 40, 50], [60, 15, 70, 35, 80, 90], [100, 5, 95, 110], [])
    with recording.Writer(tmp_path, source, 1, "x") as writer:
        for _ in range(3):
            writer.drain()
        writer.drain(end=True)
        writer.close(complete=True)
    assert pq.read_table(tmp_path / recording.LATE)["ingress_ps"].to_pylist() == [5, 15, 35, 95]
    reader = recording.Reader(tmp_path)
    read = [t for table in reader.tables(["ingress_ps"]) for t in table["ingress_ps"].to_pylist()]
    assert read == sorted([10, 20, 30, 40, 50, 60, 15, 70, 35, 80, 90, 100, 5, 95, 110]) and reader.rows == len(read)
    assert recording.packets(tmp_path).collect()["ingress_ps"].to_list() == read
    (tmp_path / recording.LATE).unlink()
    with pytest.raises(ScenarioError, match=r"late.parquet: is missing"):
        recording.Reader(tmp_path)


def test_a_stopped_run_leaves_a_valid_recording_that_cannot_be_continued(tmp_path, cli):
    long = thalweg.Scenario.from_toml(CHAIN, {"traffic.0.until": "20s", "run.until": "20s"})
    run = thalweg.run(long, out=tmp_path / "r", record=True, max_seconds=0.5)
    assert run.partial and recording.Reader(run.path).about["complete"] is False
    replay = thalweg.replay(run)
    assert replay.summary["original"]["partial"] and replay.summary["packets"] == run.summary["packets"]["left"]
    with pytest.raises(ScenarioError, match="a recorded run cannot be resumed"):
        thalweg.resume(run.path)
    said = cli("run", "--resume", run.path)
    assert said.code == 2 and said.err.count("\n") == 1


def test_an_interrupted_replay_leaves_nothing(run, tmp_path, monkeypatch):
    from thalweg import replaying

    class Pressed:
        def __init__(self):
            self.looks = 0

        def is_set(self) -> bool:
            self.looks += 1
            return self.looks > 2

    monkeypatch.setattr(replaying, "EVENTS", 1000)
    task = replaying.Replaying(run, "lstf", False, None)
    with pytest.raises(Interrupted):
        task.finish(tmp_path / "o", thalweg.progress.Reporter(), Pressed())
    assert list(tmp_path.iterdir()) == []


def refused(folder, *argv, cli) -> str:
    """The one line that a replay is refused with; nothing is left behind."""
    before = sorted(p.name for p in Path.cwd().rglob("*"))
    said = cli("replay", folder, *argv, "--out", "o")
    assert said.code == 2 and said.out == "" and said.err.count("\n") == 1, said
    assert sorted(p.name for p in Path.cwd().rglob("*")) == before, "nothing is half-written"
    return said.err


def test_runs_that_were_not_recorded_are_refused(run, cli, tmp_path):
    assert "no such run directory" in refused("nowhere", cli=cli)
    (tmp_path / "empty").mkdir()
    assert "not a run directory" in refused("empty", cli=cli)
    thalweg.run(thalweg.Scenario.from_toml(SCENARIO), out=tmp_path / "plain")
    assert "its packets were not recorded; run it again with `thalweg run … --record`" in refused("plain", cli=cli)
    thalweg.replay(run, out=tmp_path / "again")
    assert "is a replay itself" in refused("again", cli=cli)


def test_a_recorded_run_needs_a_place(tmp_path):
    with pytest.raises(ScenarioError, match="needs a run directory"):
        thalweg.run(thalweg.Scenario.from_toml(CHAIN), record=True)
    with pytest.raises(ScenarioError, match='True, False or "hops"'):
        thalweg.run(thalweg.Scenario.from_toml(CHAIN), out=tmp_path / "r", record="all")


def test_omniscience_needs_hops(tmp_path, cli):
    thalweg.run(thalweg.Scenario.from_toml(CHAIN), out=tmp_path / "r", record=True)
    assert "run it again with --record-hops" in refused("r", "--scheduler", "omniscient", cli=cli)


@pytest.mark.parametrize(
    ("settings", "scheduler", "reason"),
    [
        ({"switch.buffer": "4500B"}, "lstf", r"\d+ packets were dropped in it.*buffer=\"unlimited\""),
        ({"topology": SPINES, "routing": "spray-random"}, "lstf", "its routing chooses packet by packet"),
        ({"switch.cut_through": "64B", "switch.scheduler": "fifo"}, "lstf", "its switches cut through"),
        (
            {
                "switch.scheduler": "ndp",
                "switch.buffer": "8pkts",
                "transport": {"kind": "ndp"},
                "nic.order": "round-robin",
            },
            "lstf",
            "cut packets to their",
        ),
        ({"switch.preemptive": True}, "omniscient", "interrupted transmissions"),
        ({"topology.time_quantum": "1ns"}, "edf", "links cut them down to whole quanta"),
    ],
)
def test_networks_that_cannot_be_repeated_are_refused(tmp_path, cli, settings, scheduler, reason):
    thalweg.run(thalweg.Scenario.from_toml(CHAIN, settings), out=tmp_path / "r", record="hops")
    assert re.search(reason, refused("r", "--scheduler", scheduler, cli=cli))


def test_arguments_are_checked(run, cli):
    assert "did you mean `lstf`" in refused(run.path, "--scheduler", "lsft", cli=cli)
    assert "is not a time" in refused(run.path, "--threshold", "12 parsecs", cli=cli)
    assert "the bucket `wide` is not a time" in refused(run.path, "--bucket", "wide", cli=cli)
    assert "a bucket of 0 holds nothing" in refused(run.path, "--bucket", "0s", cli=cli)


@pytest.mark.parametrize("size", [0, 4, 1000, -8, -1000])
def test_a_recording_cut_short_is_refused(copy, cli, size):
    path = copy() / recording.PACKETS
    path.write_bytes(path.read_bytes()[:size])
    assert "is damaged or cut short" in refused("chain", cli=cli)


def test_a_flipped_bit_is_noticed(copy, cli):
    path = copy() / recording.PACKETS
    # Written as the engine's own: with checksums.
    table = pq.read_table(path)
    about = pq.ParquetFile(path).metadata.metadata[recording._MARK]
    with pq.ParquetWriter(path, table.schema, write_page_checksum=True) as writer:
        writer.write_table(table)
        writer.add_key_value_metadata({recording._MARK: about})
    at = next(c for c in range(99) if pq.ParquetFile(path).metadata.row_group(0).column(c).path_in_schema == "exit_ps")
    column = pq.ParquetFile(path).metadata.row_group(0).column(at)
    data = bytearray(path.read_bytes())
    data[column.data_page_offset + column.total_compressed_size // 2] ^= 1
    path.write_bytes(data)
    assert "is damaged or cut short" in refused("chain", cli=cli)


@pytest.mark.parametrize(
    ("about", "reason"),
    [
        ({"version": 1}, "format version 1, this thalweg reads version 4"),
        ({"scenario": "0" * 16}, "was recorded from another scenario"),
        ({"rows": 3}, "another number of packets"),
        ({"format": "pcap"}, "format version"),
    ],
)
def test_other_formats_and_scenarios_are_refused(copy, cli, about, reason):
    copy(about=lambda a: a | about)
    assert reason in refused("chain", cli=cli)


def test_a_changed_scenario_is_refused(copy, cli):
    path = copy() / "scenario.toml"
    path.write_text(path.read_text().replace("seed = 5", "seed = 6"))
    assert "was recorded from another scenario" in refused("chain", cli=cli)


@pytest.mark.parametrize("column", [*recording.COLUMNS, *recording.HOP_COLUMNS])
def test_a_missing_column_is_refused(copy, cli, column):
    copy(lambda t: t.drop_columns([column]))
    assert f"has no column `{column}`" in refused("chain", cli=cli)


@pytest.mark.parametrize(
    ("column", "row", "value", "reason"),
    [
        ("flow", 77, 1_000_000, "packet 77: flow 1000000 does not exist"),
        ("hops", 9000, lambda n: n - 1, "packet 9000: it passed . switch ports, its path has .: a port is missing"),
        ("exit_ps", 9000, 5, "packet 9000: it left sooner than its path allows"),
        ("ingress_ps", 500, 0, "packet 500: it enters before the packet above it"),
        ("handed_ps", 400, 1 << 60, "packet 400: its times contradict each other"),
        ("waited_ps", 400, -5, "packet 400: its times contradict each other"),
    ],
)
def test_impossible_packets_are_refused(copy, cli, column, row, value, reason):
    copy(changed(column, row, value))
    assert re.search(reason, refused("chain", cli=cli))


def test_missing_hops_are_refused(copy, cli):
    copy(changed("starts_ps", 9000, lambda starts: starts[:-1]))
    assert re.search("packet [0-9]+: ", refused("chain", "--scheduler", "omniscient", cli=cli))


def test_the_command_writes_a_directory_and_a_page(run, cli, tmp_path):
    said = cli("replay", run.path, "--scheduler", "edf", "--preemptive", "--out", "o", "--report", "--json")
    assert said.code == 0, said.err
    summary = json.loads(said.out)
    assert summary == thalweg.Results.load(tmp_path / "o").summary
    page = (tmp_path / "o" / "report.html").read_text()
    assert "overdue" in page and page.count("<img") == 2
    said = cli("replay", run.path, "--bucket", "10us", "--quiet")
    assert thalweg.Results.load(f"{run.path}-lstf-10us").summary["bucket_us"] == 10
    said = cli("replay", run.path, "--out", "o2")
    assert "overdue:" in said.out and "packets/s" in said.out


def test_the_command_records(cli, tmp_path):
    (tmp_path / "c.toml").write_text(CHAIN)
    said = cli("run", "c.toml", "--record-hops", "--report", "--quiet")
    assert said.code == 0, said.err
    assert thalweg.Results.load(tmp_path / "runs" / "chain").recorded
    assert cli("replay", "runs/chain", "--quiet", "--scheduler", "omniscient").code == 0
    assert (tmp_path / "runs" / "chain-omniscient" / "summary.json").is_file()
    said = cli("run", "--resume", "runs/chain", "--record")
    assert said.code == 2 and "--record, --pcap and --qlog cannot take effect" in said.err


CLAIMS = """
[[claim]]
id = "R-1"
statement = "LSTF is less late than priorities"
section = "1"
published = "less"
origin = "made up"
bounds = { min = 1 }
[[claim]]
id = "R-2"
statement = "Delays do not need the recording"
section = "2"
published = "0"
origin = "made up"
bounds = { above = 0 }
"""

STUDY = """
from thalweg.papers import RunSpec, measure

RECORDED = {"measure.packets": {"hops": False}}

def runs(scale):
    return [RunSpec("lstf:sjf", replay="sjf"), RunSpec("prio:sjf", replay="sjf", scheduler="priority"),
            RunSpec("sjf", "base.toml", RECORDED), RunSpec("kept", "base.toml", RECORDED, keep=True),
            RunSpec("alone", "base.toml", RECORDED), RunSpec("bad", replay="plain"), RunSpec("plain", "base.toml")]

@measure("R-1", needs=["lstf:sjf", "prio:sjf"])
def _(runs):
    return runs["prio:sjf"].summary["overdue"] / runs["lstf:sjf"].summary["overdue"]

@measure("R-2", needs=["kept", "alone"])
def _(runs):
    return min(run.summary["packets"]["delay_us"]["p99"] for run in runs.values())
"""


@pytest.fixture
def study(tmp_path):
    folder = tmp_path / "paper"
    folder.mkdir()
    (folder / "claims.toml").write_text(CLAIMS)
    (folder / "study.py").write_text(STUDY)
    (folder / "base.toml").write_text(CHAIN)
    return folder


def test_a_study_replays_what_it_records(study, tmp_path, monkeypatch):
    first = papers.reproduce(str(study), out=tmp_path / "o")
    assert [c.status for c in first.claims] == ["pass", "pass"], first.claims
    runs = tmp_path / "o" / "runs"
    assert {p.name: recording.present(p) for p in runs.iterdir()} == {
        "sjf": False,
        "kept": True,
        "alone": False,
        "lstf-sjf": False,
        "prio-sjf": False,
    }
    assert "Recordings of packets were deleted" in first.report.read_text()
    ran = []
    real = pool.conclude
    monkeypatch.setattr(pool, "conclude", lambda *a, **k: ran.append(1) or real(*a, **k))
    papers.reproduce(str(study), out=tmp_path / "o")
    assert ran == [], "neither the runs nor the replays need to be made again"
    text = (study / "study.py").read_text()
    (study / "study.py").write_text(text.replace('replay="sjf")', 'replay="sjf", preemptive=True)', 1))
    again = papers.reproduce(papers.Paper.load(study), out=tmp_path / "o")
    assert [c.status for c in again.claims] == ["pass", "pass"]


def test_a_replay_of_a_run_without_recording_is_an_error_of_its_claims(study, tmp_path):
    text = (study / "study.py").read_text().replace('needs=["lstf:sjf", "prio:sjf"]', 'needs=["bad"]')
    (study / "study.py").write_text(text)
    row = papers.reproduce(str(study), claim="R-1", out=tmp_path / "o").claims[0]
    assert row.status == "error" and "were not recorded" in row.reason


@pytest.mark.parametrize(
    ("old", "new", "reason"),
    [
        ('replay="sjf")', 'replay="sfj")', "which the study does not have; did you mean `sjf`"),
        ('replay="sjf")', 'replay="prio:sjf")', "names a recorded run"),
        ('replay="sjf")', 'replay="sjf", scenario="base.toml")', "no scenario of its own"),
    ],
)
def test_a_study_with_an_impossible_replay_is_refused(study, tmp_path, old, new, reason):
    (study / "study.py").write_text((study / "study.py").read_text().replace(old, new, 1))
    with pytest.raises(ScenarioError, match=reason):
        papers.reproduce(str(study), out=tmp_path / "o")


def test_the_example_of_the_page_runs(capsys):
    page = (Path(__file__).parents[2] / "docs" / "replay.md").read_text(encoding="utf-8")
    cells = re.findall(r"```\{code-cell\} python\n(.*?)```", page, flags=re.DOTALL)
    names: dict = {}
    for cell in cells:
        exec(compile(cell, "replay.md", "exec"), names)
    said = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in said] == ["lstf", "edf", "priority", "omniscient"]
    for column in (*recording.COLUMNS, *recording.HOP_COLUMNS):
        assert f"`{column}`" in page
    common = {
        "name",
        "seed",
        "partial",
        "digest",
        "scheduler",
        "preemptive",
        "simulated_seconds",
        "events",
        "packet_hops",
    }
    assert [k for k in names["s"] if f"`{k}`" not in page and k not in common] == []


def test_a_link_that_is_slow_the_other_way_does_not_raise_the_threshold(tmp_path):
    """Nothing but ACKs would pass port 0, and datagrams have none."""
    text = """
[topology]
kind = "star"
hosts = 4
rate = "10Gbps"
[[link]]
which = { kind = "ports", ports = [0] }
transmitter = { kind = "fixed", rate = "100Mbps" }
[transport]
kind = "udp"
[[traffic]]
kind = "incast"
fan_in = 3
size = "30KB"
receiver = 0
"""
    run = thalweg.run(thalweg.Scenario.from_toml(text), out=tmp_path / "r", record=True)
    assert thalweg.replay(run).summary["threshold_us"] == 1.2
