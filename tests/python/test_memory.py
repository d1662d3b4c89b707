"""What a run is said to need of memory, compared with what it takes; and what does not fit is refused before it is
made."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

import thalweg
from thalweg import _core, _memory

PAIR = 'topology = { kind = "pair" }\n[[traffic]]\nkind = "flow"\nsrc = 0\ndst = 1\nsize = "1MB"\n'
STAR = 'topology = { kind = "star", hosts = 16 }\n'
DUMBBELL = 'topology = { kind = "dumbbell", pairs = 2 }\n'
FAT_TREE = 'topology = { kind = "fat-tree", k = 16 }\n'
ONE = '[[traffic]]\nkind = "flow"\nsrc = 0\ndst = 1\nsize = "1MB"\n'
BACKLOGGED = '[[traffic]]\nkind = "backlogged"\nsrc = 0\ndst = 2\n'
INCAST = (
    '[[traffic]]\nkind = "incast"\nfan_in = 100\nsize = "1KB"\nreceiver = {receiver}\nsenders = "with-replacement"\n'
    'at = "1us"\nperiod = "{period}"\nrepeat = {repeat}\n'
)
POISSON = '[[traffic]]\nkind = "poisson"\nload = 0.5\nsizes = {{ kind = "fixed", size = "{size}" }}\nuntil = "{until}"\n[run]\nuntil = "1s"\n'

SCENARIOS = {
    "flows, one after the other": STAR + INCAST.format(receiver=0, period="200us", repeat=1500),
    "flows, all at once": STAR + INCAST.format(receiver=0, period="1ns", repeat=1000),
    "flows at random": STAR + POISSON.format(size="2KB", until="25ms"),
    "datagrams": 'transport = "udp"\n' + STAR + INCAST.format(receiver=1, period="100us", repeat=1500),
    "hosts": 'topology = { kind = "star", hosts = 150000 }\n' + ONE,
    "ADS tables": FAT_TREE + '[switch]\nscheduler = { kind = "ads", queues = 2 }\n' + ONE,
    "samples of queues": DUMBBELL + ONE.replace("= 1\n", "= 2\n") + '[measure]\nqueues = { every = "3ns" }\n',
    "samples of links": DUMBBELL + BACKLOGGED + '[measure]\nlinks = { every = "20ns" }\n[run]\nuntil = "6ms"\n',
    "samples of controllers": DUMBBELL
    + BACKLOGGED
    + '[measure]\ncontrollers = { every = "10ns" }\n[run]\nuntil = "10ms"\n',
    "flows that wait": 'transport = "udp"\n[topology]\nkind = "star"\nhosts = 256\n'
    + '[[traffic]]\nkind = "all-to-all"\nsize = "1KB"\niterations = 4\n',
    "round trips": DUMBBELL + BACKLOGGED + '[measure]\nround_trips = true\n[run]\nuntil = "1.2s"\n',
}

# What a process that has run something small needs more to run something large. Its peak so far is forgotten (proc(5):
# clear_refs), or what importing libraries needed for a moment would hide 30 MB.
CHILD = """
import json, sys, thalweg

def status(key):
    return next(int(l.split()[1]) for l in open("/proc/self/status") if l.startswith(key + ":")) * 1024

small, large = (thalweg.Scenario.from_toml(text) for text in sys.argv[1:])
thalweg.run(small, progress=False)
with open("/proc/self/clear_refs", "w") as f:
    f.write("5")
before = status("VmRSS")
thalweg.run(large, progress=False)
print(json.dumps({"estimate": large.estimate(), "took": status("VmHWM") - before}))
"""


def measured(text: str) -> dict:
    child = subprocess.run([sys.executable, "-c", CHILD, PAIR, text], capture_output=True, text=True, check=True)
    return json.loads(child.stdout)


@pytest.mark.skipif(not Path("/proc/self/clear_refs").exists(), reason="only Linux can reset a process's peak")
@pytest.mark.parametrize("name", SCENARIOS)
def test_the_estimate_of_memory_is_within_30_percent(name):
    seen = measured(SCENARIOS[name])
    took, said = seen["took"], seen["estimate"]["memory_bytes"]
    print(
        f"{name}: {took / 1e6:.0f} MB, estimated {said / 1e6:.0f} MB: {said / took - 1:+.0%}; {seen['estimate']['memory']}"
    )
    assert took > 30e6, "nothing to compare with"
    assert abs(said / took - 1) < 0.3


MANY = STAR + INCAST.format(receiver=0, period="1ns", repeat=650_000)


@pytest.mark.parametrize(
    ("text", "part"),
    [(MANY, "flows"), (PAIR + '[measure]\nqueues = { every = "1ps", ports = [0] }\n', "probes")],
)
def test_what_does_not_fit_is_refused_with_the_sum_before_it_is_made(text, part, monkeypatch, tmp_path):
    monkeypatch.setattr(_memory, "available", lambda: 8 << 30)
    made = []
    monkeypatch.setattr(_core, "Simulation", lambda core: made.append(core))
    scenario = thalweg.Scenario.from_toml('name = "large"\n' + text)
    with pytest.raises(thalweg.ScenarioError) as e:
        thalweg.run(scenario, out=tmp_path / "out", progress=False)
    line = str(e.value)
    assert line.startswith("large: needs about ") and "\n" not in line
    assert f" of memory: {part} " in line and "; 8 GiB are free; " in line and "force=True" in line
    assert not made and not (tmp_path / "out").exists()


def test_a_sweep_refuses_only_what_does_not_fit_and_force_runs_it(monkeypatch):
    monkeypatch.setattr(_memory, "available", lambda: 5000)
    base = thalweg.Scenario.from_toml('name = "small"\n' + PAIR)
    with pytest.raises(thalweg.ScenarioError, match=r"small: needs about .*; 4.88 KiB are free"):
        thalweg.sweep(base, {"seed": [1, 2]}, progress=False)
    assert len(thalweg.sweep(base, {"seed": [1, 2]}, progress=False, force=True)) == 2
    assert thalweg.run(base, progress=False, force=True).summary["digest"]


def test_the_command_line_refuses_with_2_and_takes_force(monkeypatch, tmp_path, capsys):
    from thalweg.cli import main

    file = tmp_path / "small.toml"
    file.write_text(PAIR)
    monkeypatch.setattr(_memory, "available", lambda: 5000)
    run = ["run", str(file), "--no-out", "--quiet"]
    assert main(run) == 2
    assert "run it all the same with `--force`" in capsys.readouterr().err
    assert main([*run, "--force"]) == 0
