"""Sweeps on Slurm: on a stand-in for its commands, and on a real one where there is one."""

from __future__ import annotations

import os
import re
import shutil
import sys
from pathlib import Path

import pytest

from conftest import LOAD, SCENARIO

submitit = pytest.importorskip("submitit", reason="submitit is not installed: pip install 'thalweg[slurm]'")
# Of other packages they are theirs.
pytestmark = pytest.mark.filterwarnings("default::DeprecationWarning", "default::FutureWarning")


@pytest.fixture
def stand_in(tmp_path, monkeypatch):
    """Slurm's commands, and the folder with what they were given."""
    from submitit.slurm import slurm

    commands, state = tmp_path / "bin", tmp_path / "slurm"
    commands.mkdir()
    state.mkdir()
    text = (Path(__file__).parent / "slurm_stand_in.py").read_text().split("\n", 1)[1]
    for name in ("sbatch", "srun", "sacct", "scancel"):
        (commands / name).write_text(f"#!{sys.executable}\n{text}")
        (commands / name).chmod(0o755)
    monkeypatch.setenv("PATH", f"{commands}:{os.environ['PATH']}")
    monkeypatch.setenv("SLURM_STAND_IN", str(state))
    # How long submitit waits for what a lost job has not written.
    monkeypatch.setattr(slurm.SlurmJob, "_results_timeout_s", 0)
    monkeypatch.setattr(slurm.SlurmJob, "watcher", slurm.SlurmInfoWatcher(delay_s=1))
    return state


@pytest.fixture
def tiny(tmp_path):
    (tmp_path / "tiny.toml").write_text(SCENARIO.replace('until = "20ms"', 'until = "5ms"'))


ARGV = ["sweep", "tiny.toml", "--vary", f"{LOAD}=0.3,0.6", "--seeds", "2", "--quiet"]


def test_a_sweep_is_an_array_of_jobs_and_a_lost_one_is_submitted_again(stand_in, tiny, cli, tmp_path):
    (stand_in / "fails").touch()
    more = ["--slurm", "account=me", "--slurm", "timeout_min=30", "--jobs", "3"]
    said = cli(*ARGV, "--out", "s", "--on", "slurm:short", *more)
    assert said.code == 0, said.err
    assert cli(*ARGV, "--out", "local").code == 0
    for name in ("sweep.csv", "sweep.svg", "sweep.json"):
        assert (tmp_path / "s" / name).read_bytes() == (tmp_path / "local" / name).read_bytes()
    first, second = ((stand_in / f"job-{n}").read_text() for n in (100, 101))
    flags = dict(re.findall(r"#SBATCH --([a-z-]+)=(.*)", first))
    wanted = {"array": "0-3%3", "partition": "short", "account": "me", "time": "30", "mem": "1GB", "cpus-per-task": "1"}
    assert wanted.items() <= flags.items()
    assert "--array" not in second, "only the one that was lost"
    assert not (stand_in / "job-102").exists() and list((tmp_path / "s" / "slurm").glob("*_log.out")) is not None


def test_what_submitit_does_not_take_is_refused(stand_in, tiny, cli, tmp_path):
    said = cli(*ARGV, "--out", "s", "--on", "slurm", "--slurm", "acount=me")
    assert said.code == 2 and "acount" in said.err and said.err.count("\n") == 1
    assert not list(stand_in.glob("job-*")) and not (tmp_path / "s").exists()


@pytest.mark.skipif(shutil.which("srun") is not None, reason="there is a Slurm here")
def test_without_slurm_it_is_refused(tiny, cli, tmp_path):
    for argv in (
        ARGV,
        ["tune", "tiny.toml", "--vary", f"{LOAD}=0.3..0.6", "--objective", "goodput_gbps", "--quiet"],
        ["exam", "newreno", "--only", "steady", "--quiet"],
    ):
        there = sorted(tmp_path.rglob("*"))
        said = cli(*argv, "--on", "slurm", "--out", "new/s")
        assert said.code == 2 and "there is no Slurm here" in said.err and said.err.count("\n") == 1, argv
        assert sorted(tmp_path.rglob("*")) == there, "nothing is written"


@pytest.mark.skipif(shutil.which("srun") is not None, reason="there is a Slurm here")
def test_a_sweep_that_is_complete_needs_no_slurm(tiny, cli):
    assert cli(*ARGV, "--out", "s").code == 0
    assert cli(*ARGV, "--out", "s", "--on", "slurm").code == 0


@pytest.mark.skipif(shutil.which("sbatch") is None, reason="no Slurm on this machine (slurm-wlm)")
def test_a_real_slurm_makes_the_same_table(tiny, cli, tmp_path):
    assert cli(*ARGV, "--out", "s", "--on", "slurm").code == 0
    assert cli(*ARGV, "--out", "local").code == 0
    assert (tmp_path / "s" / "sweep.csv").read_bytes() == (tmp_path / "local" / "sweep.csv").read_bytes()
