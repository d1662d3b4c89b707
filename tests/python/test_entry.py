"""The command's beginning and end: signals before it is ready, readers that leave, keys looked up by their last
word."""

import json
import signal
import subprocess
import sys

import pytest

import thalweg
from conftest import python_controller
from thalweg.cli import main

# Ctrl-C arrives at the very moment at which a module is first imported.
HIT = """
import importlib.abc, os, signal, sys
signal.signal(signal.SIGINT, signal.default_int_handler)
class Hit(importlib.abc.MetaPathFinder):
    def find_spec(self, name, path, target=None):
        if name == {name!r}:
            sys.meta_path.remove(self)
            os.kill(os.getpid(), signal.SIGINT)
sys.meta_path.insert(0, Hit())
from thalweg._entry import entry
sys.argv[1:] = ["run", {file!r}, "--quiet"]
entry()
"""


@pytest.mark.parametrize(
    "name",
    ["thalweg.cli", "argparse", "thalweg.cli.parser", "thalweg.cli.running", "thalweg.engine", "thalweg._core"],
)
def test_ctrl_c_at_the_start_prints_no_traceback(name, file, tmp_path):
    code = HIT.format(name=name, file=str(file))
    said = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=tmp_path)
    assert said.returncode in (-signal.SIGINT, 130), (name, said)
    assert said.stderr in ("", "thalweg: interrupted\n") and said.stdout == ""


def test_the_library_leaves_signals_alone():
    code = "import signal, thalweg, thalweg.cli; thalweg.ScenarioError; print(signal.getsignal(signal.SIGINT).__name__)"
    assert subprocess.check_output([sys.executable, "-c", code], text=True) == "default_int_handler\n"
    light = "import sys; before = set(sys.modules); import thalweg; print(sorted(set(sys.modules) - before))"
    assert subprocess.check_output([sys.executable, "-c", light], text=True) == "['thalweg']\n"


def test_a_reader_that_leaves_ends_a_run_with_141_and_its_results_kept(process, file, tmp_path):
    head = process("run", file.name)
    head.stdout.close()
    assert head.wait(30) == 141
    with head.stderr:
        assert "Traceback" not in head.stderr.read()
    assert json.loads((tmp_path / "runs" / "tiny" / "summary.json").read_text())["partial"] is False


def test_nobody_reading_the_progress_costs_no_run(process, file, tmp_path):
    deaf = process("run", file.name, "--out", "r")
    deaf.stderr.close()
    with deaf.stdout:
        assert "digest" in deaf.stdout.read()
    assert deaf.wait(30) == 0 and (tmp_path / "r" / "summary.json").exists()


@pytest.mark.parametrize("closed", [">&-", "2>&-", ">&- 2>&-"])
def test_a_stream_that_is_closed_costs_no_run(closed, file, tmp_path):
    command = f'exec "$0" -m thalweg run "$1" --out r {closed}'
    said = subprocess.run(
        ["sh", "-c", command, sys.executable, str(file)], capture_output=True, text=True, cwd=tmp_path
    )
    assert said.returncode == 0 and "Error" not in said.stderr, said.stderr
    assert thalweg.Results.load(tmp_path / "r").flows.height > 0


def test_explain_finds_a_key_by_its_end(cli):
    xoff = cli("explain", "xoff")
    assert xoff.code == 0 and ".xoff: " in xoff.out
    heads = [line.split(": ")[0] for line in cli("explain", "cap").out.splitlines() if ".cap: " in line]
    assert {"transport.cap", "switch.scheduler.cap", "measure.priority_histogram.cap"} <= set(heads)
    assert cli("explain", "traffic.load").out.startswith("Target") and cli("explain", "0.load").out.startswith(
        "traffic.0.load: "
    )
    assert cli("explain", "scheduler.cap").out.count(".cap: ") < len(heads)
    kinds = cli("explain", "traffic.0.kind").out
    assert kinds.startswith("Which of its tables `traffic.0` is") and "kinds: poisson, permutation" in kinds
    nothing = cli("explain", "xof")
    assert nothing.code == 2 and "did you mean `xoff`" in nothing.err and nothing.err.count("\n") == 1


def test_diff_knows_controllers_of_ones_own(cli, file):
    (setting,) = (f"{k}={v}" for k, v in python_controller("python-aimd").items())
    cli("run", file, "--out", "r", "--quiet", "--import", "thalweg.examples.aimd", "--set", setting)
    assert cli("diff", "r", "r", "--import", "thalweg.examples.aimd").out == "no event differs\n"
    assert cli("diff", "r", "r", "--import", "nowhere.py").code == 2


def test_sys_exit_in_a_plug_in_is_told(cli, file, tmp_path):
    (tmp_path / "leaves.py").write_text("import sys\nsys.exit()\n")
    said = cli("run", file, "--import", "leaves.py")
    assert said.code == 2 and "leaves.py: called sys.exit()" in said.err


def test_an_error_made_of_an_interrupt_is_an_interrupt(monkeypatch, capsys):
    from thalweg.cli import asking

    def torn(args):
        try:
            raise KeyboardInterrupt
        except KeyboardInterrupt:
            raise ImportError("a library in C was interrupted")  # noqa: B904

    monkeypatch.setattr(asking, "schema", torn)
    assert main(["schema"]) == 130
    assert capsys.readouterr().err == "thalweg: interrupted\n"
    assert issubclass(thalweg.Interrupted, KeyboardInterrupt)
