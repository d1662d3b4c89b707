"""Sweeps in parts, interrupted, and where they cannot be made; what travels between processes."""

from __future__ import annotations

import os
import pickle
import shutil
import signal
import subprocess
import sys
import time

import pytest

import thalweg
from conftest import LOAD, SCENARIO, SEED, contents
from thalweg import _places, executors
from thalweg.executors import driving
from thalweg.results import Results

OVER = {LOAD: [0.3, 0.6], SEED: [1, 2]}


@pytest.fixture
def short(scenario):
    return scenario.with_({"traffic.0.until": "5ms"})


@pytest.mark.parametrize(
    ("package", "on", "extra"), [("distributed", "dask", "thalweg[dask]"), ("submitit", "slurm", "thalweg[slurm]")]
)
def test_what_is_missing_is_named(package, on, extra, cli, tmp_path, monkeypatch):
    (tmp_path / "tiny.toml").write_text(SCENARIO)
    monkeypatch.setitem(sys.modules, package, None)
    said = cli("sweep", "tiny.toml", "--seeds", "1", "--on", on, "--quiet")
    assert said.code == 2 and said.err.count("\n") == 1
    assert f"{package} is not installed; pip install '{extra}'" in said.err


def test_wrong_executors_are_refused(short, cli, tmp_path):
    with pytest.raises(thalweg.ScenarioError, match="is not an executor: it has no `submit`"):
        thalweg.sweep(short, OVER, progress=False, executor=7)
    (tmp_path / "tiny.toml").write_text(SCENARIO)
    for argv, expected in (
        (["--on", "darsk"], "did you mean `dask`"),
        (["--on", "slurm:"], "no executor is called `slurm:`"),
        (["--slurm", "account=me"], "--slurm has no effect on `local`"),
        (["--shard", "5/4"], "is not a part such as 3/40"),
        (["--shard", "1/2", "--latex"], "--latex cannot take effect"),
    ):
        said = cli("sweep", "tiny.toml", "--seeds", "1", "--quiet", *argv)
        assert said.code == 2 and expected in said.err and said.err.count("\n") == 1, said.err
    assert executors.named("local") is None and executors.named("tcp://a:1").where == "tcp://a:1"
    assert not list(tmp_path.glob("runs/*/*seed*"))


def test_what_another_machine_writes_is_left_alone_for_a_day(tmp_path):
    folder = tmp_path / ".run.thalweg-0123456789ab"
    folder.mkdir()
    unfinished = folder / _places.UNFINISHED
    unfinished.write_text('{"format": "thalweg unfinished", "version": 1, "pid": 1, "host": "elsewhere"}')
    assert _places.clear_leftovers(tmp_path) == [] and folder.is_dir()
    os.utime(unfinished, (0, 0))
    assert len(_places.clear_leftovers(tmp_path)) == 1 and not folder.exists()


SHOWS = """
import sys, time
from pathlib import Path
from thalweg import _signs

with _signs.shown([Path(sys.argv[1])]):
    print(flush=True)
    time.sleep(60)
"""


def test_the_sign_of_a_killed_sweep_is_removed_by_a_later_one(short, tmp_path):
    folder = tmp_path / "s"
    thalweg.sweep(short, {SEED: [1]}, out=folder, progress=False)
    showing = subprocess.Popen([sys.executable, "-c", SHOWS, str(folder)], stdout=subprocess.PIPE)
    try:
        showing.stdout.readline()
        (sign,) = folder.glob(".thalweg-*")
        thalweg.sweep(short, {SEED: [1]}, out=folder, progress=False)
        assert sign.is_file(), "its process is alive"
    finally:
        showing.kill()
        showing.communicate()
    assert sign.is_file()
    # Of a process that was killed before it wrote into it, and what only looks like one.
    (folder / ".thalweg-0123456789ab").touch()
    (folder / ".thalweg-ba9876543210").write_text("mine")
    (folder / ".thalweg-mine").touch()
    thalweg.sweep(short, {SEED: [1]}, out=folder, progress=False)
    assert sorted(p.name for p in folder.glob(".*")) == [".thalweg-ba9876543210", ".thalweg-mine"]


@pytest.mark.parametrize(
    ("why", "said"),
    [
        ("a b\n c", "a b c"),
        ("One. " + "x" * 200 + ". " + "y " * 100, "One. " + "x" * 200),
        ("y" * 280 + " " + "z" * 100, "y" * 280 + " …"),
        ("y" * 400, "y" * 300 + " …"),
    ],
)
def test_why_a_worker_was_lost_is_shown_in_whole_sentences(why, said):
    assert driving._whole(why) == said


def test_results_travel_to_other_processes(short, tmp_path):
    kept = thalweg.run(short.with_({"measure.queues": {"every": "1ms"}}), out=tmp_path / "r", progress=False)
    for results in (kept, Results.load(tmp_path / "r")):
        there = pickle.loads(pickle.dumps(results))
        assert there.digest == kept.digest and there.summary == kept.summary and there.meta == results.meta
        assert there.flows.equals(kept.flows) and there.columns("queues") == kept.columns("queues")
        assert there.scenario == kept.scenario
    runs = pickle.loads(pickle.dumps(thalweg.sweep(short, {SEED: [1, 2]}, out=tmp_path / "s", progress=False)))
    shutil.rmtree(tmp_path / "s")
    assert runs.flows.height > 0 and runs.plot().axes and runs.params == [{SEED: 1}, {SEED: 2}]


def test_ctrl_c_keeps_what_is_there_and_the_same_command_goes_on(process, tmp_path):
    pytest.importorskip("distributed", reason="Dask is not installed: pip install 'thalweg[dask]'")
    (tmp_path / "long.toml").write_text(SCENARIO.replace("20ms", "120ms").replace("50ms", "150ms"))
    argv = ["sweep", "long.toml", "--seeds", "6", "--out", "s", "--on", "dask", "--jobs", "2"]
    running = process(*argv)
    while running.poll() is None and not list((tmp_path / "s").glob("*/meta.json")):
        time.sleep(0.02)
    running.send_signal(signal.SIGINT)
    _, said = running.communicate(timeout=60)
    there = len(list((tmp_path / "s").glob("*/meta.json")))
    assert running.returncode == 130 and "of 6 runs are kept" in said and "the same command goes on" in said, said
    assert 0 < there < 6 and not list((tmp_path / "s").glob(".*"))
    listed, _ = process(*argv, "--dry-run").communicate(timeout=60)
    assert listed.count("complete") == there and listed.count("missing") == 6 - there


def test_a_part_of_a_sweep_and_all_parts_together(cli, tmp_path):
    (tmp_path / "tiny.toml").write_text(SCENARIO.replace('until = "20ms"', 'until = "5ms"'))
    argv = ["sweep", "tiny.toml", "--vary", f"{LOAD}=0.3,0.6", "--seeds", "2"]
    listed = cli(*argv, "--out", "s", "--dry-run")
    assert listed.code == 0 and listed.out.count("missing") == 4 and f"{LOAD}=0.6 seed=4" in listed.out
    assert not (tmp_path / "s").exists(), "nothing is written"
    said = cli(*argv, "--out", "s", "--shard", "2/3")
    assert said.code == 0 and "part 2/3: 1 run in s" in said.out and not (tmp_path / "s" / "sweep.csv").exists()
    rows = cli(*argv, "--out", "s", "--dry-run", "--json").out
    assert rows.count('"complete"') == 1 and rows.count('"missing"') == 3
    for shard in ("1/3", "3/3"):
        assert cli(*argv, "--out", "s", "--shard", shard, "--quiet").code == 0
    before = {p: p.stat().st_mtime_ns for p in (tmp_path / "s").glob("*/meta.json")}
    assert len(before) == 4
    assert cli(*argv, "--out", "s").code == 0 and cli(*argv, "--out", "whole").code == 0
    assert before == {p: p.stat().st_mtime_ns for p in (tmp_path / "s").glob("*/meta.json")}
    assert contents(tmp_path / "s") == contents(tmp_path / "whole")
