"""`thalweg new`: projects whose own tests pass, and the plug-in of pytest that they use."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import polars as pl
import pytest

import thalweg
from thalweg import projects
from thalweg.testing import Sample

ROOT = Path(__file__).parents[2]


def run_tests(folder: Path, *argv: str, path: tuple[Path, ...] = ()) -> subprocess.CompletedProcess:
    """Runs pytest in a folder as its author would, without what this one is run with."""
    places = [*map(str, path), str(ROOT / "python")]
    settings = {k: v for k, v in os.environ.items() if not k.startswith("PYTEST")} | {
        "PYTHONPATH": os.pathsep.join(places)
    }
    command = [sys.executable, "-m", "pytest", "-p", "thalweg.testing", "-p", "no:cacheprovider", "-rs", *argv]
    return subprocess.run(command, cwd=folder, env=settings, capture_output=True, text=True)


def as_installed(project: Path) -> Path:
    """What pip does with a project: its metadata next to its module."""
    about = tomllib.loads((project / "pyproject.toml").read_text())["project"]
    made = project / "src" / f"{about['name'].replace('-', '_')}-{about['version']}.dist-info"
    made.mkdir()
    (made / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {about['name']}\nVersion: {about['version']}\n")
    groups = about["entry-points"].items()
    text = "".join(f"[{group}]\n" + "".join(f"{k} = {v}\n" for k, v in of.items()) for group, of in groups)
    (made / "entry_points.txt").write_text(text)
    return project / "src"


def test_a_new_controller_passes_its_tests_and_is_known_once_it_is_installed(cli, tmp_path, file):
    said = cli("new", "controller", "--python", "author-cc")
    assert said.code == 0 and said.out.splitlines()[-1] == "  thalweg exam author-cc"
    project = tmp_path / "author-cc"
    done = run_tests(project)
    assert done.returncode == 0 and "5 passed" in done.stdout, done.stdout
    site = as_installed(project)
    exam = run_tests(
        *(tmp_path, "--pyargs", "thalweg.testing.exam", "--controller", "author-cc", "--situation", "step-up"),
        path=(site,),
    )
    assert exam.returncode == 0 and "1 passed" in exam.stdout, exam.stdout
    command = [sys.executable, "-m", "thalweg", "run", file, "--no-out", "--set", "transport.congestion=author-cc"]
    path = os.pathsep.join([str(site), str(ROOT / "python")])
    ran = subprocess.run(command, env=os.environ | {"PYTHONPATH": path}, capture_output=True, text=True)
    assert ran.returncode == 0, ran.stderr


def test_a_new_study_passes_its_tests_and_is_reproduced_once_it_is_installed(cli, tmp_path):
    assert cli("new", "study", "author-study", "--out", "here").code == 0
    done = run_tests(tmp_path / "here")
    assert done.returncode == 0 and "1 passed" in done.stdout, done.stdout
    path = os.pathsep.join([str(as_installed(tmp_path / "here")), str(ROOT / "python")])
    command = [sys.executable, "-m", "thalweg", "reproduce", "author-study", "--strict"]
    ran = subprocess.run(command, cwd=tmp_path, env=os.environ | {"PYTHONPATH": path}, capture_output=True, text=True)
    assert ran.returncode == 0, ran.stderr
    assert "2 pass" in ran.stdout and (tmp_path / "out/author-study-quick/figures/shares.png").is_file()


def test_a_new_controller_in_rust_is_the_example_that_cargo_tests(tmp_path):
    """Compiling it takes a minute; `cargo test -p thalweg-plugin` has done it."""
    project = projects.new("rust", "author-cc", out=tmp_path / "p", checkout=ROOT)
    example = ROOT / "crates" / "plugin" / "examples" / "author_cc.rs"
    assert (project / "src" / "lib.rs").read_text() == example.read_text()
    manifest = tomllib.loads((project / "Cargo.toml").read_text())
    assert manifest["dependencies"]["thalweg-plugin"] == {"path": str(ROOT / "crates" / "plugin")}
    published = tomllib.loads((projects.new("rust", "author-cc", out=tmp_path / "q") / "Cargo.toml").read_text())
    assert published["dependencies"]["thalweg-plugin"] == thalweg.__version__
    entries = tomllib.loads((project / "pyproject.toml").read_text())["project"]["entry-points"]
    assert entries == {"thalweg.controllers": {"author-cc": "author_cc"}}


@pytest.mark.parametrize("kind", projects.KINDS)
def test_nothing_of_a_template_is_left(kind, tmp_path):
    folder = projects.new(kind, "some-name", out=tmp_path / "p")
    written = sorted(str(p.relative_to(folder)) for p in folder.rglob("*") if p.is_file())
    assert written == sorted(f.replace("PACKAGE", "some_name") for f in projects.files(kind))
    for file in written:
        text = (folder / file).read_text(encoding="utf-8")
        assert not re.search(r"\{(NAME|PACKAGE|CLASS|LETTERS|VERSION)\}|PACKAGE", text), file
        assert all(len(line) <= 120 for line in text.splitlines()), file
    done = subprocess.run(
        [sys.executable, "-m", "ruff", "check", "--isolated", "--line-length=120", folder],
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stdout


@pytest.mark.parametrize(
    ("argv", "why"),
    [
        (("controller", "cubic"), "`cubic` is taken: `thalweg list` has one"),
        (("controller", "custom"), "`custom` is taken"),
        (("study", "irn"), "`irn` is taken"),
        (("controller", "Author"), "`Author` is not a name of a package"),
        (("controller", "json"), "`json` would be the module `json`"),
        (("controller", "test"), "`test` would be the module `test`, which Python or thalweg has"),
        (("study", "test"), "`test` would be the module `test`, which Python or thalweg has"),
        (("controller", "pytest"), "`pytest` would be the module `pytest`, which the installed package pytest has"),
        (("controller", "none"), "would be the module `none` with the class `None`: Python has one of these names"),
        (("controller", "true"), "would be the module `true` with the class `True`: Python has one of these names"),
        (("controller", "false", "--rust"), "Rust has one of these names; choose another, such as author-cc"),
        (("controller", "permit", "--rust"), "the class `Permit`: Rust has one of these names"),
        (("controller", "self", "--rust"), "the class `Self`: Rust has one of these names"),
        (("study", "author", "--out", "there"), "there: is there already; choose another --out"),
        (("study", "author", "--python"), "--python cannot take effect"),
        (("controller", "author", "--checkout", "."), "--checkout cannot take effect"),
        (("controller", "author", "--rust", "--checkout", "there"), "there: is not a source tree of thalweg"),
    ],
)
def test_a_name_or_place_that_is_taken_is_refused(cli, tmp_path, argv, why):
    (tmp_path / "there").mkdir()
    said = cli("new", *argv)
    assert said.code == 2 and why in said.err
    assert [p.name for p in tmp_path.iterdir()] == ["there"] and not list((tmp_path / "there").iterdir())


TESTS = """
import pytest
from thalweg.testing import fct_ms, goodput_mbps, loss, slowdown

INCAST = '''
name = "incast"
topology = { kind = "star", hosts = 5 }
traffic = [{ kind = "incast", fan_in = 4, size = "100KB", receiver = 0 }]
run = { until = "100ms" }
'''

def test_holds(thalweg_run):
    run = thalweg_run(INCAST)
    assert run is thalweg_run(INCAST) and run is not thalweg_run(INCAST, {"seed": 2})
    assert 1 < slowdown(run).p50 <= slowdown(run).most < 5 and len(slowdown(run)) == 4
    assert 0.2 < fct_ms(run).least < 0.5 and goodput_mbps(run).mean > 1000 and loss(run) == 0

def test_reads_well(thalweg_run):
    assert slowdown(thalweg_run("incast.toml")).p99 < 3

@pytest.mark.thalweg_exam("vegas", only=["step-up"])
def test_marks(thalweg_marks):
    assert thalweg_marks.utilisation > 0.5

def test_of_no_controller(thalweg_marks):
    pass
"""


def test_the_plug_in_says_what_was_measured(tmp_path):
    (tmp_path / "test_it.py").write_text(TESTS)
    (tmp_path / "incast.toml").write_text(TESTS.split("'''")[1])
    said = run_tests(tmp_path, "-q", "--strict-markers").stdout
    assert "1 failed, 2 passed, 1 skipped" in said, said
    assert re.search(r"assert 3\.\d+ < 3\n.* where 3\.\d+ = <slowdown of 4 flows: mean 3\.\d+, .*>\.p99", said)
    assert "no controller: give --controller NAME, or @pytest.mark.thalweg_exam(NAME)" in said
    said = run_tests(tmp_path, "-q", "--controller", "copa", "--situation", "step-d*", "-k", "marks or of_no").stdout
    assert "2 passed" in said, said
    assert (
        "did you mean `step-up`?" in run_tests(tmp_path, "-q", "--controller", "copa", "--situation", "stepup").stdout
    )


def test_flows_that_do_not_end_count_with_the_time_they_were_under_way():
    found = Sample("slowdown", [3.0, 1.0, 2.0], censored=1)
    assert (found.p50, found.p99, found.least, found.most, found.mean, len(found)) == (2, 3, 1, 3, 2, 3)
    assert repr(found) == "<slowdown of 3 flows: mean 2, p50 2, p95 3, p99 3, most 3; 1 had not ended>"
    with pytest.raises(ValueError, match="slowdown: there is no such flow"):
        _ = Sample("slowdown", []).p99


def test_the_goodput_is_of_flows_that_have_started():
    """Requests wait for the answers of those before: as the run ends, some have not started."""
    from thalweg.testing import goodput_mbps

    scenario = thalweg.Scenario.from_toml(
        'topology = { kind = "dumbbell", pairs = 2, bottleneck_rate = "24Mbps", base_rtt = "40ms" }\n'
        'traffic = [{ kind = "request-response", client = 2, server = 0, request = "100B", response = "100KB", '
        'count = 50 }]\nrun = { until = "1s" }\n'
    )
    run = thalweg.run(scenario, progress=False)
    started = run.flows.filter(pl.col("measured") & pl.col("start_ps").is_not_null()).height
    assert 0 < started < run.flows["measured"].sum() and len(goodput_mbps(run)) == started


def test_the_version_that_is_required_is_this_one(tmp_path):
    for kind in projects.KINDS:
        project = projects.new(kind, "some-name", out=tmp_path / kind) / "pyproject.toml"
        assert tomllib.loads(project.read_text())["project"]["dependencies"] == [f"thalweg>={thalweg.__version__}"]
