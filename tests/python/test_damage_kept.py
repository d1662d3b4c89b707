"""Kept runs whose files are not as they were written: a sweep that goes on notices, says so and makes them again."""

from __future__ import annotations

import json
import shutil

import pytest

import thalweg
from thalweg import _places, pool

# A run with every file that a run has, of a few hundred packets.
SCENARIO = """
name = "kept"
topology = { kind = "star", hosts = 4 }
traffic = [{ kind = "incast", fan_in = 3, size = "60KB" }]
run = { until = "6ms" }
[measure]
queues = { every = "100us" }
port_records = [1]
decisions = true
"""
PLACES = {
    "empty": lambda data: b"",
    "one byte": lambda data: data[:1],
    "half": lambda data: data[: len(data) // 2],
    "all but one": lambda data: data[:-1],
    "a byte flipped": lambda data: (
        data[: len(data) // 2] + bytes([data[len(data) // 2] ^ 1]) + data[len(data) // 2 + 1 :]
    ),
}
FILES = ["meta.json", "summary.json", "scenario.toml", "flows.parquet", "ports.parquet", "nodes.parquet"]
FILES += ["queues.parquet", "decisions.bin", "port1.port"]


def sweep(folder):
    return thalweg.sweep(thalweg.Scenario.from_toml(SCENARIO), {"seed": [1, 2]}, out=folder, jobs=1, progress=True)


@pytest.fixture(scope="module")
def kept(tmp_path_factory):
    folder = tmp_path_factory.mktemp("kept") / "sweep"
    return folder, [run.digest for run in sweep(folder)]


def test_these_are_all_files_of_a_run(kept):
    (run, _) = sorted(path for path in kept[0].iterdir() if path.is_dir())
    named = [name for name in FILES if not name.endswith(".port")]
    assert {p.name for p in run.iterdir() if p.suffix != ".port"} == set(named) and (run / FILES[-1]).is_file()


def run_files(folder):
    """What is in it, but when it was made."""
    found = {p.relative_to(folder): p.read_bytes() for p in folder.rglob("*") if p.is_file() and p.name != _places.META}
    meta = [json.loads(p.read_text()) for p in sorted(folder.rglob(_places.META))]
    return found, [(one["files"], one["checks"]) for one in meta]


# `meta.json` says how the others were; it may still be JSON with another byte, and without its last one, a newline.
STILL = {("meta.json", "a byte flipped"), ("meta.json", "all but one")}
CASES = [(file, place) for file in FILES for place in PLACES if (file, place) not in STILL]


@pytest.mark.parametrize(("file", "place"), CASES)
def test_a_damaged_file_is_noticed_and_its_run_made_again(kept, tmp_path, capfd, file, place):
    folder = tmp_path / "sweep"
    shutil.copytree(kept[0], folder)
    run, _ = sorted(path for path in folder.iterdir() if path.is_dir())
    whole = run_files(folder)
    data = (run / file).read_bytes()
    (run / file).write_bytes(PLACES[place](data))
    capfd.readouterr()
    found = sweep(folder)
    said = capfd.readouterr().err
    assert [one.digest for one in found] == kept[1] and run_files(folder) == whole
    assert said.count("damaged, and made again") == 1 and file in said and run.name in said, said
    assert "did not fit" not in said, said


def test_what_is_whole_is_used_again_and_a_report_or_no_recording_are_no_damage(tmp_path, capfd):
    scenario = thalweg.Scenario.from_toml(SCENARIO).with_({"measure.packets": {"hops": False}})
    job = pool.Job("a", scenario, tmp_path / "run")
    pool.perform_all([job], 1, False)
    thalweg.Results.load(job.out).report(job.out / "report.html")
    thalweg.Results.load(job.out).report(job.out / "report.html")
    (job.out / "packets.parquet").unlink()
    again = pool.Job("a", scenario, job.out)
    pool.perform_all([again], 1, True)
    assert again.reused and again.damaged is None and "damaged" not in capfd.readouterr().err


def test_a_damaged_snapshot_begins_its_run_again(tmp_path, capfd):
    scenario = thalweg.Scenario.from_toml(SCENARIO).with_({"traffic.0.size": "5MB", "run.until": "50ms"})
    out = tmp_path / "run"
    assert thalweg.run(scenario, out=out, max_seconds=0, progress=False).partial
    data = (out / "snapshot.bin").read_bytes()
    (out / "snapshot.bin").write_bytes(data[: len(data) // 2])
    job = pool.Job("a", scenario, out)
    found = pool.perform_all([job], 1, True)["a"]
    assert not found.partial and "snapshot.bin is cut short: damaged, and made again" in capfd.readouterr().err


def test_what_is_not_a_run_is_never_cleared_as_a_wreck(kept, tmp_path):
    folder = tmp_path / "sweep"
    shutil.copytree(kept[0], folder)
    run, other = sorted(path for path in folder.iterdir() if path.is_dir())
    (run / "meta.json").write_bytes(b"")
    (run / "notes.txt").write_text("mine")
    assert not _places.clear_wreck(run) and not _places.clear_wreck(other)
    (run / "notes.txt").unlink()
    # Nor where no folder of ours keeps it.
    alone = tmp_path / "alone"
    shutil.copytree(run, alone)
    assert not _places.clear_wreck(alone) and alone.is_dir()
    assert _places.clear_wreck(run) and not run.exists()
