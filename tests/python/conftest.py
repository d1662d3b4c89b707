"""What the tests of the face share: one small scenario, the command line, a tiny paper."""

from __future__ import annotations

import signal
import subprocess
import sys
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path

import pytest

import thalweg

# A shell starts what runs in the background with Ctrl-C ignored, and children inherit that: the tests are about Ctrl-C.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

# One small scenario; the keys below name what the tests change in it.
SCENARIO = """\
name = "tiny"
seed = 3

[topology]
kind = "star"
hosts = 6
rate = "10Gbps"
delay = "1us"

[[traffic]]
kind = "poisson"
sizes = "heavy-tailed"
load = 0.6
until = "20ms"

[run]
until = "50ms"
"""
LOAD, SEED = "traffic.0.load", "seed"
# The same for several seconds of the tester's time.
LONG = {"traffic.0.until": "2s", "run.until": "3s"}


def python_controller(name: str) -> dict:
    return {"transport.congestion": f'{{ kind = "custom", name = "{name}" }}'}


@dataclass
class Said:
    code: int
    out: str
    err: str


@pytest.fixture
def scenario() -> thalweg.Scenario:
    return thalweg.Scenario.from_toml(SCENARIO)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "tiny.toml"
    path.write_text(SCENARIO)
    return path


@pytest.fixture
def cli(tmp_path, monkeypatch, capsys):
    """Runs the command in this process, in a folder of its own."""
    from thalweg.cli import main

    monkeypatch.chdir(tmp_path)

    def call(*argv: object) -> Said:
        capsys.readouterr()
        code = main([str(a) for a in argv])
        out, err = capsys.readouterr()
        return Said(code, out, err)

    return call


@pytest.fixture
def process(tmp_path):
    """Starts the command as a process of its own."""

    def start(*argv: object, **kw) -> subprocess.Popen:
        command = [sys.executable, "-m", "thalweg", *map(str, argv)]
        pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
        return subprocess.Popen(command, cwd=tmp_path, **(pipes | kw))

    return start


def contents(folder: Path) -> dict[str, bytes]:
    """Every file of a sweep but what says when and where it was made."""
    files = {p.relative_to(folder).as_posix(): p for p in folder.rglob("*") if p.is_file()}
    ours = {name: p for name, p in files.items() if not name.endswith("meta.json") and not name.startswith("slurm/")}
    return {name: p.read_bytes() for name, p in ours.items()}


def assert_whole(paper, scale):
    """Every claim of a study has its measure, and every measure and figure the runs that it needs."""
    study, figures = paper.module("study"), paper.module("figures")
    specs = study.runs(scale)
    assert len({s.key for s in specs}) == len(specs)
    measures = study._thalweg_measures
    assert measures.keys() == {c.id for c in paper.claims if not c.unchecked}
    for claim in paper.claims:
        if not claim.unchecked and (claim.scales is None or scale in claim.scales):
            keys = measures[claim.id].keys(specs, "study.py")
            assert bool(keys) == bool(measures[claim.id].needs), claim.id
    for drawn in figures._thalweg_figures.values():
        assert drawn.keys(specs, "figures.py")
        for pattern in drawn.claims:
            assert any(fnmatchcase(c.id, pattern) for c in paper.claims), pattern


@pytest.fixture
def tiny(tmp_path, monkeypatch):
    """The tiny paper of paper_texts.py, where `reproduce` finds it."""
    from paper_texts import CLAIMS, FIGURES, STUDY

    folder = tmp_path / "papers" / "tiny"
    (folder / "scenarios").mkdir(parents=True)
    (folder / "claims.toml").write_text(CLAIMS)
    (folder / "study.py").write_text(STUDY)
    (folder / "figures.py").write_text(FIGURES)
    (folder / "scenarios" / "base.toml").write_text(SCENARIO)
    monkeypatch.setenv("THALWEG_PAPERS", str(folder.parent))
    return folder


@pytest.fixture
def rows(tiny):
    """The same with a claim about two others."""
    from paper_texts import ABOUT, CLAIMS, ROWS, STUDY

    (tiny / "claims.toml").write_text(CLAIMS + ROWS)
    (tiny / "study.py").write_text(STUDY + ABOUT)
    return tiny
