"""Run directories that are damaged: every reader of one says what is wrong with which file, and never in words of its
own libraries."""

from __future__ import annotations

import contextlib
import json
import shutil

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import thalweg
from thalweg import Results, Runs, ScenarioError, _tables, animation, captures, deadlocks, report, study, testing
from thalweg.cli import INTERNAL, main

# Everything that can be measured, in a run of a few hundred packets: of flows that end and one without an end.
SCENARIO = """
name = "everything"
[topology]
kind = "star"
hosts = 4
[[traffic]]
kind = "incast"
fan_in = 3
size = "60KB"
[[traffic]]
kind = "backlogged"
src = 0
dst = 1
[switch]
scheduler = "ads"
inputs = { memory = "24KB" }
pfc = {}
[measure]
queues = { every = "20us" }
links = { every = "20us" }
controllers = { every = "20us" }
round_trips = true
pauses = true
memory = true
packets = { hops = true }
decisions = true
[measure.priority_histogram]
[run]
until = "6ms"
"""


JOB = """
[topology]
kind = "star"
hosts = 2
[[traffic]]
kind = "goal"
file = "job.goal"
"""
TRACE = """num_ranks 2
rank 0 { a: calc 1000
b: send 9000b to 1
b requires a }
rank 1 { recv 9000b from 0 }
"""


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    """The run, a replay of it, and a job with computations, which has a table of its own."""
    place = tmp_path_factory.mktemp("damage")
    (place / "job.goal").write_text(TRACE)
    (place / "job.toml").write_text(JOB)
    thalweg.run(thalweg.Scenario.load(place / "job.toml"), out=place / "job", progress=False)
    run = thalweg.run(thalweg.Scenario.from_toml(SCENARIO), out=place / "run", progress=False)
    thalweg.replay(run, scheduler="lstf", out=place / "replay", progress=False)
    return {name: Results.load(place / name) for name in ("job", "run", "replay")}


@pytest.fixture
def damaged(runs, tmp_path):
    folder = tmp_path / "damaged"
    shutil.copytree(runs["run"].path, folder)
    return folder


def written(runs) -> dict[str, Results]:
    """Every table, and a run that has it."""
    return {name: run for run in runs.values() for name in run.tables}


def test_what_is_written_is_what_is_read(runs):
    tables = written(runs)
    assert tables.keys() == _tables.TABLES.keys()
    for name, run in tables.items():
        schema, wanted = run.tables.arrow(name).schema, _tables.TABLES[name]
        missing = wanted.keys() - set(schema.names)
        # Of ports with several queues, of ports that estimate their rates, of hosts with several links.
        assert (
            missing <= {"flows", "occupied", "estimate", "src_nic", "dst_nic"} and set(schema.names) <= wanted.keys()
        ), name
        for field in schema:
            assert field.nullable == wanted[field.name].gaps, f"{name}.{field.name}"


OTHERWISE = {
    _tables.WHOLE: [pa.string(), pa.float64(), pa.bool_(), pa.null()],
    _tables.NUMBER: [pa.string(), pa.bool_(), pa.null()],
    _tables.FLAG: [pa.string(), pa.int64(), pa.null()],
    _tables.TEXT: [pa.int64(), pa.binary(), pa.null()],
}


@pytest.mark.parametrize("name", _tables.TABLES)
def test_a_column_that_is_missing_or_of_another_kind_is_refused_by_its_name(runs, tmp_path, name):
    run = written(runs)[name]
    whole = run.tables.arrow(name)
    folder = tmp_path / "run"
    shutil.copytree(run.path, folder)
    file = folder / f"{name}.parquet"

    def refusal(table: pa.Table) -> str:
        pq.write_table(table, file)
        with pytest.raises(ScenarioError) as refused:
            Results.load(folder).tables[name]
        said = str(refused.value)
        assert said.startswith(f"{file}: is not a table of {name}: it") and said.endswith(f"; {_tables.AGAIN}"), said
        return said

    for at, (column, kind) in enumerate((c, _tables.TABLES[name][c]) for c in whole.column_names):
        if kind.always:
            assert f"it has no column `{column}` ({kind.kind})" in refusal(whole.drop_columns([column]))
        for other in OTHERWISE[kind.kind]:
            wrong = whole.set_column(at, column, pa.nulls(whole.num_rows, other))
            assert f"its column `{column}` holds {other}, not {kind.kind}" in refusal(wrong)
        if not kind.gaps:
            wrong = whole.set_column(at, column, pa.nulls(whole.num_rows, whole.schema.field(column).type))
            assert f"its column `{column}` ({kind.kind}) has {whole.num_rows} empty cells" in refusal(wrong)
    twice = whole.append_column(whole.column_names[0], whole.column(0))
    assert f"it has two columns `{whole.column_names[0]}`" in refusal(twice)


@pytest.mark.parametrize("data", [b"", b"PAR1", None], ids=["empty", "begun", "cut"])
def test_a_table_that_ends_early_is_refused_by_its_file(damaged, data):
    for file in sorted(damaged.glob("*.parquet")):
        file.write_bytes(file.read_bytes()[: file.stat().st_size // 2] if data is None else data)
        with pytest.raises(ScenarioError, match=rf"{file.name}: (cannot be read|is damaged or cut short)"):
            found = Results.load(damaged)
            found.packets if file.stem == "packets" else found.tables[file.stem]


def command(*words):
    """A command in this process: what it says of a failure of our own is one."""

    def call(run, whole, place):
        named = {"RUN": run.path, "WHOLE": whole.path, "PLACE": place}
        if main([str(named.get(word, word)) for word in words]) == INTERNAL:
            raise AssertionError("an internal error")

    return call


def every_comparison(run, whole, place):
    found = thalweg.compare(run, whole)
    list(found.lines()), found.tables(), found.plain(), found.to_dict(), found._repr_html_()
    with contextlib.suppress(ScenarioError):  # there may be nothing to draw
        found.figure()


def every_figure(run, whole, place):
    for name in ("network", "slowdown", "cdf", "throughput", "queues", "windows", "rates", "links", "link", "pauses"):
        with contextlib.suppress(ScenarioError):
            getattr(run.plot, name)()


def every_explanation(run, whole, place):
    found = run.explain(0)
    str(found), found.table, found._repr_html_(), list(found.chain())


def every_slow_flow(run, whole, place):
    for by in ("slowdown", "time"):
        found = run.slowest(3, by=by)
        str(found), found.to_dict(), found._repr_html_()


def every_table_of_runs(run, whole, place):
    runs = Runs([{"seed": 1}, {"seed": 2}], [run, whole])
    runs.frame, runs.flows, runs.means(), runs.sections(), runs.plot(), runs.to_latex(), runs._repr_html_()


READERS = {
    "report": lambda run, whole, place: run.report(place),
    "figures": every_figure,
    "compare": every_comparison,
    "compare, the other way": lambda run, whole, place: list(thalweg.compare(whole, run).lines()),
    "explain": every_explanation,
    "slowest": every_slow_flow,
    "deadlocks": lambda run, whole, place: deadlocks.lines(run),
    "view": lambda run, whole, place: (animation.moves(run), animation._json(run)),
    "pcap": lambda run, whole, place: captures.pcap(run, place),
    "pcap of a flow": lambda run, whole, place: captures.pcap(run, place, flows=[0], ports=[3]),
    "qlog": lambda run, whole, place: captures.qlog(run.path, place),
    "decisions": lambda run, whole, place: run.decisions,
    "replay": lambda run, whole, place: thalweg.replay(run, scheduler="lstf", progress=False),
    "tables": lambda run, whole, place: (run.busiest(), run.measured(), [run.named(t) for t in run.tables]),
    "notebook": lambda run, whole, place: (repr(run), run._repr_html_()),
    "save": lambda run, whole, place: run.save(place),
    "study": lambda run, whole, place: study.flows(run).slowdown,
    "tests": lambda run, whole, place: [of(run) for of in (testing.slowdown, testing.goodput_mbps, testing.loss)],
    "sweep": every_table_of_runs,
    "thalweg explain": command("explain", "RUN", "--flow", 0, "--flow", 3),
    "thalweg explain, of all": command("explain", "RUN"),
    "thalweg explain, the slowest": command("explain", "RUN", "--slowest"),
    "thalweg diff": command("diff", "RUN", "WHOLE"),
    "thalweg decisions": command("decisions", "RUN"),
}


def trace(run, whole, place):
    pytest.importorskip("perfetto", reason="pip install 'thalweg[trace]'")
    run.trace(place)


READERS["trace"] = trace


def read_by_all(folder, whole, place, monkeypatch) -> dict[str, str]:
    """By reader what it refused; what is raised else is a failure."""
    monkeypatch.setattr(report, "picture", lambda figure, caption: "")  # figures are made, and not written
    said, failed = {}, {}
    for name, reader in READERS.items():
        shutil.rmtree(place, ignore_errors=True)
        place.unlink(missing_ok=True)
        try:
            reader(Results.load(folder), whole, place)
        except ScenarioError as e:
            said[name] = str(e)
        except Exception as e:
            failed[name] = f"{type(e).__name__}: {e}"
    assert not failed
    return said


def test_of_a_whole_run_nothing_is_refused(runs, tmp_path, monkeypatch):
    assert read_by_all(runs["run"].path, runs["run"], tmp_path / "made", monkeypatch) == {}


def test_what_some_versions_do_not_have_may_be_missing(runs, damaged, tmp_path, monkeypatch):
    for name in (table for table in _tables.TABLES if table in runs["run"].tables):
        table = runs["run"].tables.arrow(name)
        some = [column for column in table.column_names if not _tables.TABLES[name][column].always]
        pq.write_table(table.drop_columns(some), damaged / f"{name}.parquet")
    assert read_by_all(damaged, runs["run"], tmp_path / "made", monkeypatch) == {}


def rows(folder, name, begin=0, end=0) -> None:
    file = folder / f"{name}.parquet"
    pq.write_table(pq.read_table(file).slice(begin, end - begin), file)


def numbers(folder, table, column) -> None:
    """Numbers of what is not there."""
    file = folder / f"{table}.parquet"
    whole = pq.read_table(file)
    moved = pa.array([v.as_py() + 1000 for v in whole[column]], whole[column].type)
    pq.write_table(whole.set_column(whole.column_names.index(column), column, moved), file)


def cut(folder, name) -> None:
    data = (folder / name).read_bytes()
    (folder / name).write_bytes(data[: len(data) // 2])


DAMAGES = {
    "no flows": lambda folder: rows(folder, "flows"),
    "some flows": lambda folder: rows(folder, "flows", 1, 3),
    "no ports": lambda folder: rows(folder, "ports"),
    "some ports": lambda folder: rows(folder, "ports", 0, 3),
    "no nodes": lambda folder: rows(folder, "nodes"),
    "some pauses": lambda folder: rows(folder, "pauses", 7, 30),
    "no samples": lambda folder: [rows(folder, t) for t in ("queues", "links", "controllers", "round_trips", "memory")],
    "nodes of flows": lambda folder: numbers(folder, "flows", "src"),
    "nodes of ports": lambda folder: numbers(folder, "ports", "to"),
    "sections": lambda folder: numbers(folder, "flows", "group"),
    "ports of samples": lambda folder: numbers(folder, "links", "port"),
    "no table of flows": lambda folder: (folder / "flows.parquet").unlink(),
    "a cut scenario": lambda folder: cut(folder, "scenario.toml"),
    "another scenario": lambda folder: (folder / "scenario.toml").write_text("x = 1\n"),
    "cut decisions": lambda folder: cut(folder, "decisions.bin"),
    "no decisions": lambda folder: (folder / "decisions.bin").write_bytes(b""),
    "a cut recording": lambda folder: cut(folder, "packets.parquet"),
    "a cut summary": lambda folder: cut(folder, "summary.json"),
    "a cut list of files": lambda folder: cut(folder, "meta.json"),
}


@pytest.mark.parametrize("damage", DAMAGES)
def test_of_a_damaged_run_what_cannot_be_read_is_refused_in_words(runs, damaged, tmp_path, monkeypatch, damage):
    DAMAGES[damage](damaged)
    for said in read_by_all(damaged, runs["run"], tmp_path / "made", monkeypatch).values():
        assert all(str(damaged) in line for line in said.splitlines()), said


SUMMARIES = {
    "pauses": {"text": "x", "none": {"a": 1}, "part": {"frames": 1, "paused_s": "x", "deadlocks": []}},
    "bottleneck": {"text": "x", "none": {"a": 1}},
    "measured": {"number": 5, "part": {"flows": 5}},
    "size_classes": {"nothing": None, "number": 5, "of numbers": [1]},
    "groups": {"text": "x", "of numbers": [1]},
    "simulated_seconds": {"text": "x", "nothing": None, "list": [1]},
    "links": {"text": "x", "part": {"most_used": {"port": 1}}},
    "endless": {"text": "x", "none": {"flows": 1}},
    "drops": {"text": "x", "nothing": None},
    "packet_queueing_us": {"text": "x", "part": {"count": 3, "mean": 1.0}},
}


@pytest.mark.parametrize("key", SUMMARIES)
def test_a_summary_that_holds_something_else_is_refused_by_its_key(damaged, key):
    file = damaged / "summary.json"
    whole = json.loads(file.read_text())
    for wrong in SUMMARIES[key].values():
        file.write_text(json.dumps(whole | {key: wrong}))
        with pytest.raises(ScenarioError, match=rf"summary.json: its `{key}[a-z_.0-9]*` is not .*; {_tables.AGAIN}"):
            Results.load(damaged)


@pytest.mark.parametrize(("key", "wrong"), [("machine", 5), ("seconds", "x"), ("directory", [1]), ("inputs", {"a": 1})])
def test_a_list_of_files_that_holds_something_else_is_refused_by_its_key(damaged, key, wrong):
    file = damaged / "meta.json"
    whole = json.loads(file.read_text())
    file.write_text(json.dumps(whole | {key: wrong}))
    with pytest.raises(ScenarioError, match=rf"meta.json: its `{key}[a-z.]*` is not .*; {_tables.AGAIN}"):
        Results.load(damaged)
    file.write_text(json.dumps(whole | {key: None}))
    Results.load(damaged).report(damaged.parent / "page.html")
