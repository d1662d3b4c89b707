"""Where results are written: nothing that is not ours is replaced, nothing of ours is lost."""

import json
import os
import signal
import socket
import subprocess
import sys
from contextlib import contextmanager

import pytest

import thalweg
from conftest import LOAD, LONG
from thalweg import _places, captures, papers, plots, pool
from thalweg.results import Results


@pytest.fixture
def default_signals():
    """Tests that run in the background have Ctrl-C ignored."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


def make_pipe(path):
    os.mkfifo(path)


def make_socket(path):
    with socket.socket(socket.AF_UNIX) as s:
        s.bind(str(path))


def make_link_to_folder(path):
    (path.parent / "elsewhere").mkdir()
    path.symlink_to("elsewhere")


def make_dangling_link(path):
    path.symlink_to("nowhere")


def make_device(path):
    """Of course not `/dev/null` itself."""
    try:
        os.mknod(path, 0o600 | 0o020000, os.makedev(1, 3))
    except PermissionError:
        pytest.skip("only root makes devices")


MAKERS = {
    "pipe": make_pipe,
    "socket": make_socket,
    "symbolic link": make_link_to_folder,
    "dangling link": make_dangling_link,
    "device": make_device,
    "file": lambda path: path.write_text("years of work"),
}


@pytest.mark.parametrize("there", MAKERS)
def test_what_is_no_folder_is_never_replaced(there, tmp_path):
    MAKERS[there](tmp_path / "x")
    before = os.lstat(tmp_path / "x")
    for check in (
        _places.check_free,
        _places.check_file,
        lambda path: _places.write_file(path, "", mark="" if there != "file" else _places.MARK),
        lambda path: _places.claim(path, "sweep"),
    ):
        with pytest.raises(thalweg.ScenarioError, match="in the way"):
            check(tmp_path / "x")
    after = os.lstat(tmp_path / "x")
    assert (before.st_ino, before.st_mode, before.st_mtime_ns) == (after.st_ino, after.st_mode, after.st_mtime_ns)


def test_whatever_writes_asks_first(cli, file, scenario, tmp_path):
    cli("run", file, "--quiet", "--out", "r", "--record", "--set", 'switch.buffer="unlimited"')
    make_pipe(tmp_path / "x")
    make_link_to_folder(tmp_path / "x.svg")
    for argv in (
        ["run", "tiny.toml", "--out", "x", "--quiet", "--report"],
        ["replay", "r", "--out", "x", "--quiet"],
        ["compare", "r", "r", "--plot", "x.svg"],
    ):
        said = cli(*argv)
        assert (said.code, said.out, said.err.count("\n")) == (2, "", 1) and "in the way" in said.err, (argv, said.err)
    results = thalweg.run(scenario)
    for write in (
        lambda: thalweg.run(scenario, out=tmp_path / "x"),
        lambda: results.save(tmp_path / "x"),
        lambda: results.report(tmp_path / "x"),
        lambda: thalweg.sweep(scenario, {LOAD: [0.3]}, out=tmp_path / "x"),
        lambda: papers.reproduce(tiny_paper(tmp_path), out=tmp_path / "x"),
    ):
        with pytest.raises(thalweg.ScenarioError, match="in the way"):
            write()


CLAIM = """
[[claim]]
id = "T-1"
statement = "one"
section = "1"
published = "1"
strictness = "exact"
origin = "arithmetic"
bounds = { equals = 1 }
"""


def tiny_paper(tmp_path):
    folder = tmp_path / "paper"
    folder.mkdir(exist_ok=True)
    (folder / "claims.toml").write_text('[paper]\ntitle = "T"\n[scale.quick]\nwhat = ""\n' + CLAIM)
    (folder / "study.py").write_text("def runs(scale):\n    return []\n")
    return papers.Paper.load(folder)


NOT_OURS = {
    "an empty object": "{}",
    "an old run": '{"thalweg": "0.1.0", "core": "ab", "machine": {}}',
    "another format": '{"format": "thesis", "version": 1, "files": ["thesis.txt", "meta.json"]}',
    "a later version": '{"format": "thalweg run", "version": 99, "files": ["thesis.txt", "meta.json"]}',
    "a list": "[]",
    "no JSON": "{",
    "paths": '{"format": "thalweg run", "version": 1, "files": ["../thesis.txt", "meta.json"]}',
    "unlisted": '{"format": "thalweg run", "version": 1, "files": ["meta.json"]}',
}


@pytest.mark.parametrize("says", NOT_OURS)
def test_a_meta_json_alone_makes_no_folder_ours(says, cli, file, tmp_path):
    (tmp_path / "x").mkdir()
    (tmp_path / "x" / "thesis.txt").write_text("years of work")
    (tmp_path / "x" / "meta.json").write_text(NOT_OURS[says])
    said = cli("run", file, "--out", "x", "--quiet")
    assert said.code == 2 and said.err.startswith("x: this ") and said.err.count("\n") == 1
    assert "thesis.txt" in said.err or says in ("an old run", "another format", "a later version", "an empty object")
    assert (tmp_path / "x" / "thesis.txt").read_text() == "years of work"
    assert (tmp_path / "x" / "meta.json").read_text() == NOT_OURS[says]


def test_an_older_run_is_replaced_and_said_so_but_nothing_that_was_put_beside_it(cli, file, tmp_path):
    assert "replaces" not in cli("run", file, "--out", "x", "--report").err
    meta = json.loads((tmp_path / "x" / "meta.json").read_text())
    assert (meta["format"], meta["version"]) == ("thalweg run", 1)
    assert set(meta["files"]) == {p.name for p in (tmp_path / "x").iterdir()} >= {"report.html", "flows.parquet"}
    again = cli("run", file, "--out", "x", "--set", "seed=9")
    assert again.code == 0 and "x: replaces an older run" in again.err
    assert not (tmp_path / "x" / "report.html").exists()
    (tmp_path / "x" / "notes\n.txt").write_text("seen at midnight")
    before = Results.load(tmp_path / "x").digest
    said = cli("run", file, "--out", "x")
    assert said.code == 2 and "did not write (notes\\n.txt)" in said.err and said.err.count("\n") == 1
    assert Results.load(tmp_path / "x").digest == before and (tmp_path / "x" / "notes\n.txt").exists()
    assert sorted(p.name for p in tmp_path.iterdir()) == ["tiny.toml", "x"]


def test_a_listed_name_that_is_now_a_link_or_a_folder_is_not_ours(scenario, tmp_path):
    thalweg.run(scenario, out=tmp_path / "x")
    (tmp_path / "x" / "summary.json").rename(tmp_path / "s.json")
    (tmp_path / "x" / "summary.json").symlink_to(tmp_path / "s.json")
    with pytest.raises(thalweg.ScenarioError, match=r"did not write \(summary.json\)"):
        thalweg.run(scenario, out=tmp_path / "x")


def test_hints_name_options_that_there_are(cli, file, tmp_path, monkeypatch):
    cli("run", file, "--quiet", "--out", "r")
    (tmp_path / "sealed").mkdir()
    (tmp_path / "folder").mkdir()
    may, sealed = os.access, str(tmp_path / "sealed")
    monkeypatch.setattr(os, "access", lambda path, mode: str(path) != sealed and may(path, mode))
    for argv in (["compare", "r", "r"], ["report", "r"]):
        said = cli(*argv, "--csv", "sealed/x.csv")
        assert (said.code, said.err) == (2, f"{sealed}: cannot be written; choose another place\n"), argv
        said = cli(*argv, "--csv", "folder")
        assert (said.code, said.err) == (2, "folder: a folder of this name is in the way; choose another name\n"), argv
    said = cli("run", file, "--quiet", "--out", "sealed/x")
    assert (said.code, said.err) == (2, f"{sealed}: cannot be written; choose another --out\n")


def test_places_that_cannot_be_renamed_are_refused_before_the_run(cli, file, tmp_path, monkeypatch):
    (tmp_path / "empty").mkdir()
    monkeypatch.chdir(tmp_path / "empty")
    assert "current folder" in cli("run", file, "--out", ".").err
    monkeypatch.setattr(os.path, "ismount", lambda path: str(path).endswith("disk"))
    (tmp_path / "disk").mkdir()
    assert "mount point" in cli("run", file, "--out", tmp_path / "disk").err
    assert "zero byte" in cli("run", file, "--out", "a\0b").err
    assert "tiny.toml" in cli("run", file, "--out", file / "below").err


def test_results_need_not_be_kept(cli, file, tmp_path):
    said = cli("run", file, "--no-out")
    assert said.code == 0 and "results not kept" in said.out
    assert [p.name for p in tmp_path.iterdir()] == ["tiny.toml"]
    for more in (["--out", "x"], ["--report"], ["--record"]):
        refused = cli("run", file, "--no-out", *more)
        assert refused.code == 2 and more[0] in refused.err
    cli("run", file, "--quiet", "--out", "r", "--record", "--set", 'switch.buffer="unlimited"')
    assert "results not kept" in cli("replay", "r", "--no-out").out
    assert sorted(p.name for p in tmp_path.iterdir()) == ["r", "tiny.toml"]
    cut = cli(
        "run", file, "--no-out", "--max-seconds", "0.01", *(a for k, v in LONG.items() for a in ("--set", f"{k}={v}"))
    )
    assert cut.code == 0 and "nothing was kept" in cut.err


def test_figures_and_reports_replace_only_their_like(tmp_path):
    from matplotlib.figure import Figure

    from thalweg import report

    for form in plots.FORMATS:
        for _ in range(2):
            (file,) = plots.save(Figure(), tmp_path, "a", [form])
        file.write_text("drawn by hand")
        with pytest.raises(thalweg.ScenarioError, match="did not write this file"):
            plots.save(Figure(), tmp_path, "a", [form])
        assert file.read_text() == "drawn by hand"
    for _ in range(2):
        file = report.write(tmp_path / "p.html", report.page("", "", []))
    file.write_text("<html>mine</html>")
    with pytest.raises(thalweg.ScenarioError, match="did not write this file"):
        report.write(file, report.page("", "", []))


def test_a_folder_of_other_things_becomes_no_cache(scenario, tmp_path):
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "sweep.json").write_text("mine")
    for write in (
        lambda: thalweg.sweep(scenario, {LOAD: [0.3]}, out=tmp_path / "full"),
        lambda: papers.reproduce(tiny_paper(tmp_path), out=tmp_path / "full"),
    ):
        with pytest.raises(thalweg.ScenarioError, match=r"holds other things \(sweep.json\)"):
            write()
    thalweg.sweep(scenario, {LOAD: [0.3]}, out=tmp_path / "s")
    with pytest.raises(thalweg.ScenarioError, match="not for a thalweg study"):
        papers.reproduce(tiny_paper(tmp_path), out=tmp_path / "s")


def test_a_sweep_says_how_many_runs_it_replaced(scenario, tmp_path, capsys, monkeypatch):
    job = pool.Job("k", scenario, tmp_path / "r")
    pool.perform_all([job])
    pool.perform_all([pool.Job("k", scenario, tmp_path / "r")], progress=True)
    assert "older runs" not in capsys.readouterr().err
    pool.perform_all([pool.Job("k", scenario.with_(seed=9), tmp_path / "r")], progress=True)
    assert "1 older runs did not fit any more" in capsys.readouterr().err


def test_a_place_that_is_taken_meanwhile_costs_no_run(scenario, tmp_path, capsys):
    class Meddler(thalweg.progress.Reporter):
        def finish(self, seen):
            (tmp_path / "x").mkdir()
            (tmp_path / "x" / "thesis.txt").touch()

    results = thalweg.run(scenario, out=tmp_path / "x", progress=Meddler())
    assert results.path == tmp_path / "x-2" and Results.load(tmp_path / "x-2").digest == results.digest
    assert "go to" in capsys.readouterr().err and (tmp_path / "x" / "thesis.txt").exists()


def test_signals_while_results_are_saved_lose_nothing(scenario, tmp_path, monkeypatch, capsys, default_signals):
    real = Results._write

    def hit(self, folder):
        for _ in range(3):
            os.kill(os.getpid(), signal.SIGINT)
        real(self, folder)
        os.kill(os.getpid(), signal.SIGINT)

    monkeypatch.setattr(Results, "_write", hit)
    with pytest.raises(thalweg.Interrupted) as e:
        thalweg.run(scenario, out=tmp_path / "x")
    assert capsys.readouterr().err.count("being saved") == 4
    monkeypatch.undo()
    kept = Results.load(tmp_path / "x")
    assert not kept.partial and kept.digest == thalweg.run(scenario).digest == e.value.results.digest
    assert [p.name for p in tmp_path.iterdir()] == ["x"]


KILLED = """
import os, signal, sys, thalweg
from thalweg import _places
from thalweg.results import Results
where, scenario = sys.argv[1:]
hit = lambda *a, **k: os.kill(os.getpid(), signal.SIGKILL)
if where == "writing": _places.seal = hit
if where == "finished": _places._settle = hit
if where == "between":
    real = os.rename
    from pathlib import Path
    rename = Path.rename
    def once(self, target):
        rename(self, target)
        hit()
    Path.rename = once
if where == "behind": _places._remove_listed = hit
thalweg.run(scenario, out="x", set={"seed": 77})
"""


@pytest.mark.parametrize("where", ["writing", "finished", "between", "behind"])
def test_what_a_killed_process_leaves_is_found_by_the_next(where, file, tmp_path, cli):
    older = json.loads(cli("run", file, "--json", "--quiet", "--out", "x").out)["digest"]
    done = subprocess.run([sys.executable, "-c", KILLED, where, str(file)], cwd=tmp_path, capture_output=True)
    assert done.returncode == -signal.SIGKILL, done.stderr
    assert any(p.name.startswith(".x.thalweg-") for p in tmp_path.iterdir())
    said = cli("run", file, "--out", "y")
    left = sorted(p.name for p in tmp_path.iterdir() if p.name.startswith("."))
    newer = thalweg.run(file, set={"seed": 77}).digest
    if where == "writing":
        assert left == [] and "removed; its process was killed" in said.err
    if where in ("finished", "between"):
        assert len(left) == 1 and "a finished run whose process was killed" in said.err
        assert Results.load(tmp_path / left[0]).digest == newer
    if where == "between":
        assert "x: put back" in said.err
    if where == "behind":
        assert left == [] and "removed; a killed process had replaced" in said.err
    assert Results.load(tmp_path / "x").digest == (newer if where == "behind" else older)


def test_folders_that_are_only_called_so_or_still_being_written_stay(scenario, tmp_path):
    (tmp_path / ".x.thalweg-0123456789ab").mkdir()
    (tmp_path / ".x.thalweg-0123456789ab" / "thesis.txt").touch()
    (tmp_path / ".x.thalweg-0123456789ac.older").mkdir()
    with _places.appearing(tmp_path / "y") as place:
        (place.folder / "half").touch()
        thalweg.run(scenario, out=tmp_path / "z")
        assert (place.folder / "half").exists()
        _places.seal(place.folder, {})
    assert sorted(p.name for p in tmp_path.iterdir()) == [
        ".x.thalweg-0123456789ab",
        ".x.thalweg-0123456789ac.older",
        "y",
        "z",
    ]


def export_pcap(run, file):
    captures.pcap(run, file)


def export_trace(run, file):
    pytest.importorskip("perfetto", reason="pip install 'thalweg[trace]'")
    run.trace(file)


@pytest.mark.parametrize("export", [export_pcap, export_trace])
def test_of_two_exports_to_one_file_at_once_both_end_well(scenario, tmp_path, monkeypatch, export):
    run = thalweg.run(scenario, out=tmp_path / "run", progress=False, record="hops", set={"traffic.0.until": "1ms"})
    file = tmp_path / "file"
    export(run, file)
    alone = file.read_bytes()
    settle, open_ = _places.under_way, iter([True])

    @contextmanager
    def while_another_exports(path):
        with settle(path) as temporary:
            yield temporary
            if next(open_, False):
                export(run, file)

    monkeypatch.setattr(_places, "under_way", while_another_exports)
    export(run, file)
    assert next(open_, None) is None and file.read_bytes() == alone
    assert sorted(p.name for p in tmp_path.iterdir()) == ["file", "run"]


def test_a_file_whose_name_is_as_long_as_names_can_be(tmp_path):
    file = tmp_path / ("n" * 251 + ".csv")
    assert _places.write_file(file, "1").read_text() == "1" and list(tmp_path.iterdir()) == [file]
