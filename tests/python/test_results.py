"""Scenarios, runs and results from Python."""

import json
import pickle
import re
import threading
from pathlib import Path

import numpy as np
import polars as pl
import pyarrow.parquet as pq
import pytest

import thalweg
from conftest import LOAD, LONG, SCENARIO, SEED
from thalweg import _toml, engine
from thalweg.comparison import ks_distance


def test_a_scenario_is_the_same_from_text_file_and_dictionary(scenario, file):
    import tomllib

    from_dict = thalweg.Scenario.from_dict(tomllib.loads(SCENARIO))
    assert scenario == thalweg.Scenario.load(file) == from_dict
    assert thalweg.Scenario.from_toml(scenario.to_toml()) == scenario
    assert scenario.to_dict()["seed"] == 3 and scenario.name == "tiny"
    assert pickle.loads(pickle.dumps(scenario)) == scenario


def test_a_variant_changes_only_what_it_names(scenario):
    other = scenario.with_({LOAD: 0.3})
    assert other != scenario and other.with_({LOAD: 0.6}) == scenario
    assert scenario.with_(seed=9).seed == 9 and scenario.seed == 3


def test_errors_carry_diagnostics(file):
    with pytest.raises(thalweg.ScenarioError) as e:
        thalweg.Scenario.load(file, set={"nonsense": 1})
    (diagnostic,) = e.value.diagnostics
    assert "nonsense" in str(diagnostic) and isinstance(e.value, ValueError)
    assert pickle.loads(pickle.dumps(e.value)).diagnostics == e.value.diagnostics


def test_the_estimate_is_made_of_numbers(scenario):
    estimate = scenario.estimate()
    assert {"flows", "packets", "packet_hops", "events", "memory_bytes", "memory", "seconds"} == estimate.keys()
    parts = estimate.pop("memory")
    assert all(v > 0 for v in [*estimate.values(), *parts.values()])
    assert sum(parts.values()) == estimate["memory_bytes"]
    assert list(parts.values()) == sorted(parts.values(), reverse=True)


def test_results_survive_the_disk(scenario, tmp_path):
    results = thalweg.run(scenario, out=tmp_path / "r")
    back = thalweg.Results.load(tmp_path / "r")
    assert back.digest == results.digest and back.summary == results.summary
    assert back.flows.equals(results.flows)
    assert back.scenario == scenario
    assert back.columns() == results.columns()
    assert not back.partial and "digest" in repr(back)
    assert thalweg.run(back.scenario).digest == results.digest


def test_columns_name_their_unit_and_meaning_in_the_file(scenario, tmp_path):
    thalweg.run(scenario, out=tmp_path / "r")
    schema = pq.read_schema(tmp_path / "r" / "flows.parquet")
    for field in schema:
        assert b"unit" in field.metadata and field.metadata[b"doc"], field.name
    units = {f.name: f.metadata[b"unit"] for f in schema}
    assert b"ps" in units.values() and b"B" in units.values()


def test_numbers_cross_without_a_copy_and_read_only(scenario):
    simulation = thalweg._core.Simulation(scenario._core)
    while simulation.step(1_000_000):
        pass
    ((_, _, columns),) = [t for t in simulation.tables() if t[0] == "flows"]
    by_name = {c[0]: c for c in columns}
    buffer = by_name["delivered"][3]
    one, two = (np.frombuffer(buffer, dtype=buffer.dtype) for _ in range(2))
    assert np.shares_memory(one, two) and not one.flags.writeable
    table = engine.collect(simulation, "", None, 1.0, {}).tables.arrow("flows")
    assert table["delivered"].chunk(0).to_numpy().max() > 0
    with pytest.raises((BufferError, ValueError, TypeError)):
        memoryview(buffer)[0] = 1


def test_pandas_gets_the_same_numbers(scenario):
    pytest.importorskip("pandas")
    results = thalweg.run(scenario)
    frame = results.to_pandas()
    assert list(frame.columns) == results.flows.columns
    assert (frame["size"].to_numpy() == results.flows["size"].to_numpy()).all()


def test_notebooks_show_results_and_figures(scenario):
    results = thalweg.run(scenario)
    assert results.digest in results._repr_html_()
    assert results.plot.cdf()._repr_svg_().lstrip().startswith("<?xml")


def test_two_runs_have_the_same_bytes(scenario, tmp_path):
    for name in "ab":
        thalweg.run(scenario, out=tmp_path / name)
    for name in ("scenario.toml", "summary.json", "flows.parquet"):
        assert (tmp_path / "a" / name).read_bytes() == (tmp_path / "b" / name).read_bytes()


def test_the_size_of_a_step_changes_nothing(scenario):
    digests = set()
    for step in (1, 7, 1000, 10**9):
        simulation = thalweg._core.Simulation(scenario.with_({}).with_()._core)
        for _ in range(5):
            simulation.step(step)
        while simulation.step(10_000):
            pass
        digests.add(simulation.digest())
    assert len(digests) == 1


def test_a_saved_simulation_ends_like_the_straight_one(scenario):
    straight = thalweg.run(scenario)
    simulation = thalweg._core.Simulation(scenario._core)
    simulation.step(4321)
    again = thalweg._core.Simulation.load(simulation.save())
    while again.step(999):
        pass
    assert f"{again.digest():016x}" == straight.digest
    with pytest.raises(ValueError):
        thalweg._core.Simulation.load(b"rubbish")


def test_a_partial_result_is_valid_and_resumes(scenario, tmp_path):
    long = scenario.with_(LONG)
    straight = thalweg.run(long)
    cut = thalweg.run(long, out=tmp_path / "r", max_seconds=0.05)
    assert cut.partial and cut.meta["stopped"] == "time budget"
    assert thalweg.Results.load(tmp_path / "r").flows.height > 0
    cut.report(tmp_path / "partial.html")
    assert "ended early" in (tmp_path / "partial.html").read_text()
    whole = thalweg.resume(tmp_path / "r")
    assert whole.digest == straight.digest and not whole.partial
    with pytest.raises(thalweg.ScenarioError, match="nothing to resume"):
        thalweg.resume(tmp_path / "r")


def test_a_damaged_snapshot_is_refused_by_name(scenario, tmp_path, cli):
    thalweg.run(scenario.with_(LONG), out=tmp_path / "r", max_seconds=0.05)
    file = tmp_path / "r" / "snapshot.bin"
    damaged = bytearray(file.read_bytes())
    damaged[len(damaged) // 2] ^= 1
    file.write_bytes(damaged)
    said = cli("run", "--resume", tmp_path / "r")
    assert said.code == 2 and said.err.strip().count("\n") == 0
    assert f"{tmp_path / 'r'}" in said.err and "damaged" in said.err and "run it again" in said.err


@pytest.mark.parametrize(
    ("file", "text", "says"),
    [
        ("flows.parquet", None, "is not a complete run directory: flows.parquet is missing"),
        ("summary.json", "{}", "summary.json: has no `digest`"),
        ("summary.json", "[]", "summary.json: is not a JSON object"),
        ("summary.json", "", "summary.json: cannot be read"),
        ("meta.json", "[]", "meta.json: is not a JSON object"),
        ("scenario.toml", None, "scenario.toml"),
    ],
)
def test_a_folder_that_is_no_whole_run_is_refused_by_file(scenario, tmp_path, file, text, says):
    thalweg.run(scenario, out=tmp_path / "r", progress=False)
    (tmp_path / "r" / file).unlink()
    if text is not None:
        (tmp_path / "r" / file).write_text(text)
    with pytest.raises(thalweg.ScenarioError, match=re.escape(says)):
        thalweg.Results.load(tmp_path / "r")


def test_an_interrupt_carries_the_results(scenario, monkeypatch):
    class Impatient(engine.Reporter):
        def update(self, seen):
            raise KeyboardInterrupt

    with pytest.raises(thalweg.Interrupted) as e:
        thalweg.run(scenario.with_(LONG), progress=Impatient())
    assert e.value.results.partial and e.value.results.flows.height > 0


def test_a_failed_write_leaves_nothing_and_spoils_nothing(scenario, tmp_path, monkeypatch):
    before = thalweg.run(scenario, out=tmp_path / "r")
    monkeypatch.setattr(pq, "write_table", lambda *a, **k: (_ for _ in ()).throw(OSError(28, "no space")))
    with pytest.raises(OSError) as e:
        thalweg.run(scenario.with_(seed=4), out=tmp_path / "r")
    assert e.value.filename == str(tmp_path / "r")
    assert [p.name for p in tmp_path.iterdir()] == ["r"]
    monkeypatch.undo()
    assert thalweg.Results.load(tmp_path / "r").digest == before.digest


def test_the_interpreter_is_free_during_a_step(scenario):
    simulation = thalweg._core.Simulation(scenario.with_(LONG)._core)
    stop, ticks = threading.Event(), []

    def tick():
        while not stop.is_set():
            ticks.append(1)
            stop.wait(0.002)

    thread = threading.Thread(target=tick)
    thread.start()
    simulation.step(20_000_000)
    stop.set()
    thread.join()
    assert len(ticks) > 5


def test_the_report_needs_nothing_from_elsewhere(scenario, tmp_path):
    page = thalweg.run(scenario).report(tmp_path / "r.html").read_text()
    for outside in ("http://", "https://", "<script", "<link", "url("):
        assert outside not in page
    assert "data:image/svg+xml;base64," in page and "digest" in page and scenario.name in page


def test_figures_have_the_same_bytes_every_time(scenario, tmp_path):
    from thalweg import plots

    results = thalweg.run(scenario)
    for n in "12":
        plots.save(results.plot.slowdown(), tmp_path / n, "f")
    for form in plots.FORMATS:
        assert (tmp_path / "1" / f"f.{form}").read_bytes() == (tmp_path / "2" / f"f.{form}").read_bytes()


@pytest.mark.parametrize("jobs", [1, 2, 5])
def test_a_sweep_does_not_depend_on_the_number_of_jobs(scenario, jobs):
    over = {LOAD: [0.7, 0.3], SEED: [1, 2, 3]}
    runs = thalweg.sweep(scenario, over, jobs=jobs)
    alone = [thalweg.run(scenario.with_(p)).digest for p in runs.params]
    assert [r.digest for r in runs] == alone and len(set(alone)) == 6
    assert runs.params[0] == {LOAD: 0.7, SEED: 1}
    frame = runs.frame
    assert frame[SEED].to_list() == [1, 2, 3, 1, 2, 3] and "digest" in frame.columns
    assert runs.flows.group_by(LOAD, SEED).len().height == 6
    assert runs.flows.height == sum(r.flows.height for r in runs)


def test_a_sweep_runs_only_what_is_missing(scenario, tmp_path, monkeypatch):
    from thalweg import pool

    ran = []
    real = pool.conclude
    monkeypatch.setattr(pool, "conclude", lambda *a, **k: ran.append(1) or real(*a, **k))
    first = thalweg.sweep(scenario, {LOAD: [0.3, 0.5]}, out=tmp_path / "s")
    assert len(ran) == 2
    more = thalweg.sweep(scenario, {LOAD: [0.3, 0.5, 0.7]}, out=tmp_path / "s")
    assert len(ran) == 3 and [r.digest for r in more[:2]] == [r.digest for r in first]
    assert len(json.loads((tmp_path / "s" / "sweep.json").read_text())["jobs"]) == 3
    # Another build of the engine: nothing is believed.
    monkeypatch.setattr(thalweg._rundir, "core_fingerprint", lambda: "another")
    thalweg.sweep(scenario, {LOAD: [0.3]}, out=tmp_path / "s")
    assert len(ran) == 4


LISTED = """
topology = { kind = "star", hosts = 2 }
traffic = [{ kind = "list", file = "flows" }]
run = { until = "1ms" }
"""


def test_inputs_are_what_a_scenario_reads_whatever_its_files_are_called(scenario, tmp_path):
    (tmp_path / "a.toml").write_text("")
    assert thalweg.Scenario(scenario.to_toml(), directory=tmp_path, set={"name": "a.toml"}).inputs() == {}
    (tmp_path / "flows").write_text("src,dst,size_bytes,start_ns\n0,1,1000,0\n")
    assert list(thalweg.Scenario(LISTED, directory=tmp_path).inputs()) == ["flows"]
    links = '[[link]]\nwhich = "all"\ntransmitter = { kind = "traced", file = "t" }\n'
    (tmp_path / "t").write_text("1\n2\n3\n")
    assert list(thalweg.Scenario(LISTED + links, directory=tmp_path).inputs()) == ["flows", "t"]


def test_a_changed_input_file_is_not_reused(tmp_path):
    from thalweg import pool

    (tmp_path / "flows").write_text("src,dst,size_bytes,start_ns\n0,1,1000,0\n")
    job = pool.Job("k", thalweg.Scenario(LISTED, directory=tmp_path), tmp_path / "r")
    pool.perform(job)
    assert pool.reusable(job) is not None
    (tmp_path / "flows").write_text("src,dst,size_bytes,start_ns\n0,1,2000,0\n")
    assert pool.reusable(job) is None


RECORDED = {"measure.packets": {"hops": True}, "measure.decisions": True}


def test_a_run_that_is_loaded_is_saved_with_all_of_its_files(scenario, tmp_path):
    thalweg.run(scenario, set=RECORDED, out=tmp_path / "a", progress=False).report(tmp_path / "a" / "report.html")
    names = {p.name for p in (tmp_path / "a").iterdir()}
    assert {"packets.parquet", "decisions.bin", "report.html"} <= names

    def held(folder):
        return {p.name: p.read_bytes() for p in folder.iterdir() if p.name != "meta.json"}

    before = held(tmp_path / "a")
    thalweg.Results.load(tmp_path / "a").save(tmp_path / "b")
    thalweg.Results.load(tmp_path / "a").save(tmp_path / "a")
    for folder in (tmp_path / "a", tmp_path / "b"):
        after = held(folder)
        assert after.keys() == before.keys()
        kept = [name for name in before if not name.endswith(".parquet") or name == "packets.parquet"]
        assert {name: after[name] for name in kept} == {name: before[name] for name in kept}
        assert thalweg.Results.load(folder).decisions.height > 0


def test_a_sweep_of_a_wrong_setting_says_so(scenario):
    with pytest.raises(thalweg.ScenarioError, match="nonsense"):
        thalweg.sweep(scenario, [{"nonsense": 1}])


def test_ks_distance_by_hand():
    assert ks_distance([1, 2, 3, 4], [1, 2, 3, 4]) == 0
    assert ks_distance([1, 2], [3, 4]) == 1
    assert ks_distance([1, 2, 3, 4], [3, 4, 5, 6]) == 0.5


def test_toml_is_written_as_it_is_read():
    import tomllib

    table = {
        "name": 'a "quoted" \\ name\n\t',
        "n": 3,
        "x": 1e-9,
        "whole": 2.0,
        "on": True,
        "list": [1, 2],
        "inner": {"k.k": "v", "deep": {"a": [{"b": 1}, {"b": 2}]}, "empty": {}},
        "rows": [{"a": 1, "t": {"u": 2}}, {"a": 2}],
    }
    assert tomllib.loads(_toml.dumps(table)) == table
    assert tomllib.loads(f"v = {_toml.inline(table)}")["v"] == table and "\n" not in _toml.inline(table)
    assert _toml.override(np.float64(0.5)) == "0.5" and _toml.override("10us") == "10us"
    assert _toml.inline({"a": range(2), "none": None, "path": Path("x.csv")}) == '{ a = [0, 1], path = "x.csv" }'


def test_what_toml_cannot_say_is_refused(scenario):
    deep: dict = {}
    for _ in range(400):
        deep = {"a": deep}
    for wrong, expected in (
        (deep, "32 deep"),
        ({"name": "\ud800"}, "surrogate"),
        ({"name": {1, 2}}, "set cannot"),
    ):
        with pytest.raises(thalweg.ScenarioError, match=expected):
            thalweg.Scenario.from_dict(wrong)


def test_comparison_by_size_class(scenario):
    a, b = thalweg.run(scenario), thalweg.run(scenario.with_({LOAD: 0.3}))
    found = thalweg.compare(a, b)
    assert found.frame.height == 5
    assert found.rows[0]["flows_a"] == sum(r["flows_a"] for r in found.rows[1:])
    measured = a.flows.filter(pl.col("measured") & (pl.col("status") == "completed"))
    assert found.rows[0]["flows_a"] == measured.height
