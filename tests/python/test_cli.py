"""The command line: wrong on purpose, and the shapes of what it prints."""

import argparse
import json
import os
import signal
import subprocess
import sys
import threading
import time

import pytest

import thalweg
from conftest import LOAD, LONG, SCENARIO
from thalweg.cli.completion import commands


def sets(table):
    return [a for k, v in table.items() for a in ("--set", f"{k}={v}")]


def parsers(one):
    """A parser and those of its parts."""
    yield one
    for action in one._actions:
        if isinstance(action, argparse._SubParsersAction):
            for part in action.choices.values():
                yield from parsers(part)


@pytest.mark.parametrize("command", commands())
def test_every_command_has_a_help(command):
    for parser in parsers(commands()[command]):
        text = parser.format_help()
        assert "usage: thalweg" in text and "%%" not in text and "%(" not in text


WRONG = {
    "no file": (["run", "tiyn.toml"], "did you mean `tiny.toml`"),
    "a folder": (["run", "."], "is a directory"),
    "unknown key": (["run", "tiny.toml", "--set", "lod=0.3"], "lod"),
    "out of range": (["run", "tiny.toml", "--set", f"{LOAD}=1.5"], "1.5"),
    "no equals sign": (["run", "tiny.toml", "--set", "load"], "key=value"),
    "nothing to run": (["run"], "--resume"),
    "both": (["run", "tiny.toml", "--resume", "x"], "not both"),
    "resume with set": (["run", "--resume", "x", "--set", "a=1"], "cannot take effect"),
    "resume nothing": (["run", "--resume", "nowhere"], "no such run directory"),
    "no such option": (["run", "tiny.toml", "--quite"], "did you mean `--quiet`"),
    "no such command": (["rnu"], "did you mean `run`"),
    "no such scale": (
        ["reproduce", "ups", "--scale", "huge"],
        "--scale: nothing is called `huge` (known: full, quick)",
    ),
    "bytes as a name": (["run", "bad\udcff.toml"], "is not text here; names of files and keys are UTF-8"),
    "too many": (["run", "tiny.toml", "--threads", "99999999999999999999"], "at most 4294967295"),
    "too many seeds": (["sweep", "tiny.toml", "--seeds", "9999999"], "at most 1000000"),
    "not a flow": (["trace", "r", "--flow", "x"], "`x` is not the number of a flow"),
    "zero seconds": (["run", "tiny.toml", "--max-seconds", "0"], "above zero"),
    "no such kind": (["list", "schemas"], "did you mean `schemes`"),
    "no such key": (["explain", "qqq.zzz"], "qqq.zzz"),
    "no such paper": (["reproduce", "nosuch"], "no paper is called `nosuch`"),
    "no jobs": (["reproduce", "nosuch", "--jobs", "0"], "above zero"),
    "no such workload": (["bench", "W99"], "W99"),
    "no such run": (["compare", "a", "b"], "no such run directory"),
    "no such plug-in": (["run", "tiny.toml", "--import", "nowhere.py"], "nowhere.py"),
    "broken plug-in": (["run", "tiny.toml", "--import", "broken.py"], "ZeroDivisionError"),
    "no such module": (["run", "tiny.toml", "--import", "no_such_module"], "no_such_module"),
    "other things in --out": (["run", "tiny.toml", "--out", "full"], "holds other things"),
    "file as --out": (["run", "tiny.toml", "--out", "tiny.toml"], "in the way"),
    "not TOML": (["run", "broken.toml"], "broken.toml:2"),
    "not UTF-8": (["run", "latin.toml"], "UTF-8"),
    "no such network": (["check", "deadlock", "fat-treee"], "did you mean `fat-tree`"),
    "no such check": (["check", "deadlok", "star"], "did you mean `deadlock`"),
    "no such key of a network": (
        ["check", "deadlock", "star", "--set", "topology.hosts=4", "--set", "topology.k=4"],
        "topology.k",
    ),
    "no such shell": (["completion", "tcsh"], "tcsh"),
    "no such format": (["export-flows", "tiny.toml", "--format", "xml"], "xml"),
    "wrong picture": (["compare", "a", "b", "--plot", "x.gif"], ".svg"),
}


@pytest.mark.parametrize("case", WRONG)
def test_what_the_user_wrote_wrong_is_one_line_and_exit_code_2(case, cli, file, tmp_path):
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "thesis.txt").write_text("years of work")
    (tmp_path / "broken.py").write_text("1 / 0")
    (tmp_path / "broken.toml").write_text("name = 'x'\nseed = = 3\n")
    (tmp_path / "latin.toml").write_bytes(b"name = '\xe9'\n")
    argv, expected = WRONG[case]
    said = cli(*argv)
    assert said.code == 2
    assert said.out == ""
    assert expected in said.err
    assert "Traceback" not in said.err
    # One line; the estimate is not printed for what cannot run.
    assert said.err.count("\n") == 1, said.err
    assert (tmp_path / "full" / "thesis.txt").exists()


def test_an_internal_error_is_one_line_and_exit_code_70(cli, monkeypatch):
    from thalweg import _core
    from thalweg.cli import asking

    monkeypatch.setattr(asking, "schema", lambda args: _core.panic_on_purpose())
    said = cli("schema")
    assert said.code == 70
    assert said.err.startswith("thalweg: internal error: crates/python/src/lib.rs")
    assert "on purpose" in said.err and said.err.count("\n") == 1
    monkeypatch.setattr(asking, "schema", lambda args: json.loads("{"))
    assert cli("schema").code in (2, 70)


def test_a_run_leaves_its_directory_and_prints_one_json_object(cli, file, tmp_path):
    said = cli("run", file, "--out", "r", "--json", "--quiet")
    assert said.code == 0 and said.err == ""
    summary = json.loads(said.out)
    assert said.out.count("\n") == 1
    assert len(summary["digest"]) == 16 and summary["partial"] is False
    names = {p.name for p in (tmp_path / "r").iterdir()}
    assert names >= {"scenario.toml", "summary.json", "meta.json", "flows.parquet"}
    assert "snapshot.bin" not in names
    assert not list(tmp_path.glob(".r.*")), "temporary folders stay behind"
    # The resolved scenario alone gives the same run; the default place is runs/NAME.
    again = cli("run", tmp_path / "r" / "scenario.toml", "--json")
    assert json.loads(again.out)["digest"] == summary["digest"]
    assert (tmp_path / "runs" / "tiny" / "summary.json").exists()
    for name in ("scenario.toml", "summary.json", "flows.parquet"):
        assert (tmp_path / "runs" / "tiny" / name).read_bytes() == (tmp_path / "r" / name).read_bytes()


def test_quiet_says_nothing(cli, file):
    said = cli("run", file, "--quiet")
    assert (said.code, said.out, said.err) == (0, "", "")


def test_a_run_says_what_it_will_cost_and_what_came_out(cli, file):
    said = cli("run", file, "--report")
    assert "flows" in said.err and "events" in said.err
    assert "digest" in said.out and "report" in said.out


def test_show_explain_schema_and_list_answer(cli, file, tmp_path):
    shown = cli("show", file, "--set", f"{LOAD}=0.25")
    assert shown.code == 0 and "0.25" in shown.out
    (tmp_path / "again.toml").write_text(shown.out)
    assert cli("show", "again.toml").out == shown.out
    assert isinstance(json.loads(cli("show", file, "--json").out), dict)
    assert json.loads(cli("schema").out)["type"] == "object"
    assert cli("explain", LOAD).out.strip()
    listed = json.loads(cli("list", "controllers", "--json").out)
    assert {"name", "summary", "source"} == listed[0].keys()
    everything = cli("list", "--all")
    assert everything.code == 0 and "schedulers:" in everything.out


RING = "a,b,rate,delay\n" + "".join(f"h{n},s{n},10Gbps,1us\ns{n},s{(n + 1) % 5},10Gbps,1us\n" for n in range(5))


def test_cycles_of_pauses_are_found_in_a_kind_of_topology_a_file_of_links_and_a_scenario(cli, tmp_path):
    said = cli("check", "deadlock", "fat-tree", "--set", "topology.k=4", "--json")
    found = json.loads(said.out)
    # 20 switches of 4 ports. 48 links, 96 ports, 16 of them of hosts: 80 outputs.
    assert (said.code, found["nodes"], found["cycle"], found["layered"]) == (0, 80, [], True)
    (tmp_path / "ring.csv").write_text(RING)
    said = cli("check", "deadlock", tmp_path / "ring.csv")
    out = said.out
    assert said.code == 1
    assert "a cycle of pauses is possible: s0 → s1 → s2 → s3 → s4 → s0" in out
    assert "s4 → s0 waits for s0 → s1" in out and "would exempt 2 ways" in out
    scenario = tmp_path / "ring.toml"
    scenario.write_text(
        """
        name = "ring"
        topology = { kind = "file", file = "ring.csv", format = "links-csv" }
        scheme = "roce+bfc"
        traffic = [{ kind = "flow", src = 0, dst = 2, size = "1KB" }]
        """
    )
    said = cli("check", "deadlock", scenario, "--quiet")
    assert (said.code, said.out) == (1, "")
    said = cli("check", "deadlock", scenario, "--set", "switch.backpressure.elide=cycles")
    assert said.code == 0 and "exempts 2 ways" in said.out and "which elision opens" in said.out


def test_flows_are_exported_as_csv_and_for_hpcc(cli, file):
    csv = cli("export-flows", file).out.splitlines()
    hpcc = cli("export-flows", file, "--format", "hpcc").out.splitlines()
    assert "src" in csv[0] and "size" in csv[0]
    assert int(hpcc[0]) == len(hpcc) - 1 == len(csv) - 1
    src, dst, _, _, size, start = hpcc[1].split()
    assert src != dst and int(size) > 0 and float(start) >= 0


def test_compare_and_diff_name_the_differences(cli, file, tmp_path):
    cli("run", file, "--out", "a", "--quiet")
    cli("run", file, "--out", "b", "--quiet", "--set", f"{LOAD}=0.3")
    same = json.loads(cli("compare", "a", "a", "--json").out)
    assert same["classes"][0]["mean_percent"] == 0 and same["classes"][0]["ks"] == 0
    other = cli("compare", "a", "b")
    assert "KS" in other.out and not (tmp_path / "compare.svg").exists(), "a picture only where one is named"
    assert cli("compare", "a", "b", "--plot", "both.svg").out.endswith("picture: both.svg\n")
    assert json.loads(cli("compare", "a", "b", "--json").out)["classes"][0]["ks"] > 0
    assert cli("diff", "a", "a").out == "no event differs\n"
    found = cli("diff", "a", "b")
    assert found.code == 1 and found.out.strip()


def test_bench_prints_one_object_per_workload(cli):
    said = cli("bench", "--json", "--quick", "--repeat", "1", "W0", "W1")
    rows = [json.loads(line) for line in said.out.splitlines()]
    keys = {"workload", "hosts", "packet_hops", "seconds", "hops_per_second", "ratio_to_w0", "peak_bytes"}
    keys |= {"setup_seconds"}
    assert [r["workload"] for r in rows] == ["W0", "W0-engine", "W0-heap", "W1"]
    assert all(r.keys() == keys for r in rows)


def test_doctor_checks_and_says_how_to_mend(cli):
    found = json.loads(cli("doctor", "--json").out)
    assert {"Python", "polars", "engine"} <= {c["check"] for c in found}
    assert all(c["ok"] or c["fix"] for c in found)


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_knows_every_command_and_option(cli, shell):
    script = cli("completion", shell).out
    for name, parser in commands().items():
        assert name in script
        for action in parser._actions:
            for flag in action.option_strings:
                if flag.startswith("--"):
                    assert flag.lstrip("-") in script, (name, flag)


def test_bash_completes_commands_and_choices(cli, tmp_path):
    (tmp_path / "c.sh").write_text(cli("completion", "bash").out)
    ask = 'source c.sh; COMP_WORDS=(%s); COMP_CWORD=%d; _thalweg; echo "${COMPREPLY[@]}"'

    def complete(words, n):
        return subprocess.check_output(["bash", "-c", ask % (words, n)], cwd=tmp_path, text=True).split()

    assert complete("thalweg rep", 1) == ["replay", "replay-port", "report", "reproduce"]
    assert set(complete("thalweg reproduce ads --scale ''", 4)) == {"quick", "full"}
    assert "schedulers" in complete("thalweg list sch", 2)


def test_the_start_is_quick_and_imports_nothing_heavy():
    heavy = ["numpy", "pyarrow", "polars", "matplotlib", "rich"]
    code = f"import sys, thalweg.cli as c; c.main(['list']); print([m for m in {heavy} if m in sys.modules])"
    begun = time.perf_counter()
    out = subprocess.check_output([sys.executable, "-c", code], text=True)
    assert out.splitlines()[-1] == "[]"
    assert time.perf_counter() - begun < 2, "0.5 s on an idle machine"


def test_a_reader_that_leaves_is_no_error(process):
    head = process("schema")
    head.stdout.close()
    assert head.wait(20) in (0, 141)
    with head.stderr:
        assert head.stderr.read() == ""


# Its first ACK waits until the run has been interrupted: the run is then stopped after its first few events.
WAITS = """\
import time
from pathlib import Path
import thalweg

# Next to this file: the class stays registered in this process, and is called again from other folders.
BEGUN, PRESSED = (Path(__file__).with_name(name) for name in ("begun", "pressed"))
PATIENCE = [1] * 3000

@thalweg.controller("waits")
class Waits:
    def __init__(self, flow):
        self.window = flow.initial_window

    def on_ack(self, ack):
        if BEGUN.parent.is_dir():
            BEGUN.touch()
        while not PRESSED.exists() and PATIENCE and PATIENCE.pop():
            time.sleep(0.001)
        self.window += 1000 * ack.acked / self.window

    def on_loss(self, loss):
        self.window = max(self.window / 2, 2000)

    on_timeout = on_loss
"""


def test_ctrl_c_leaves_a_valid_partial_result_that_resumes_to_the_same_end(process, file, tmp_path, cli):
    (tmp_path / "waits.py").write_text(WAITS)
    waits = sets({"transport.congestion": '{ kind = "custom", name = "waits" }'})
    running = process("run", file.name, "--out", "cut", "--import", "waits.py", *waits)
    while running.poll() is None and not (tmp_path / "begun").exists():
        time.sleep(0.001)
    running.send_signal(signal.SIGINT)
    (tmp_path / "pressed").touch()
    _, err = running.communicate(timeout=30)
    assert running.returncode == 130, err
    assert "--resume" in err and "Traceback" not in err
    summary = json.loads((tmp_path / "cut" / "summary.json").read_text())
    assert summary["partial"] is True and (tmp_path / "cut" / "snapshot.bin").exists()
    straight = json.loads(cli("run", file, "--json", "--out", "straight", "--import", "waits.py", *waits).out)
    assert 0 < summary["simulated_seconds"] < straight["simulated_seconds"]
    resumed = cli("run", "--resume", "cut", "--json", "--import", "waits.py")
    assert json.loads(resumed.out)["digest"] == straight["digest"]
    assert not (tmp_path / "cut" / "snapshot.bin").exists()
    done = cli("run", "--resume", "cut", "--import", "waits.py")
    assert done.code == 2 and "complete" in done.err


def test_ctrl_c_ends_loading():
    """Who crosses which link, for 25 million pairs of hosts: seconds."""
    text = """
routing = "lowest"
topology = { kind = "leaf-spine", leaves = 100, spines = 2, hosts_per_leaf = 50 }
[[traffic]]
kind = "poisson"
sizes = { fixed = "1KB" }
load = 0.5
of = "busiest-link"
[run]
until = "1ms"
"""
    timer = threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT))
    timer.start()
    begun = time.perf_counter()
    with pytest.raises(KeyboardInterrupt):
        thalweg.Scenario(text, "pairs.toml")
    assert time.perf_counter() - begun < 1.5


def test_a_time_budget_ends_a_run_partially(cli, file):
    said = cli("run", file, "--json", "--max-seconds", "0.05", *sets(LONG))
    assert said.code == 0 and json.loads(said.out)["partial"] is True


def test_the_scenario_of_these_tests_is_what_it_says():
    assert 'name = "tiny"' in SCENARIO
