"""`thalweg shell`: options become a scenario, what real packets cannot have is refused, a short run where that is
allowed."""

from __future__ import annotations

import json
import os
import re
import shutil
import struct
import subprocess
import sys
import time
import tomllib
from pathlib import Path

import pytest

from thalweg import Scenario, ScenarioError, _core, emulation

PAGE = (Path(__file__).parents[2] / "docs" / "emulator.md").read_text(encoding="utf-8")
REFUSAL = _core.emulate_refusal()
allowed = pytest.mark.skipif(REFUSAL is not None, reason=f"no path can be emulated here: {REFUSAL}")

SCENARIO = """\
name = "near"
[topology]
kind = "dumbbell"
pairs = 2
bottleneck_rate = "20Mbps"
delay = "10ms"
host_delay = "1ms"
[[traffic]]
kind = "backlogged"
src = 0
dst = 2
[run]
until = "1s"
"""

# Two hops of 5 ms each way, the second at half the rate of the first.
LOT = """\
name = "lot"
[topology]
kind = "parking-lot"
bottlenecks = 3
bottleneck_rate = "20Mbps"
delay = "5ms"
[[link]]
which = { between = ["switch1", "switch2"] }
transmitter = { kind = "fixed", rate = "10Mbps" }
[[traffic]]
kind = "backlogged"
src = 0
dst = 1
[run]
until = "1s"
"""
ROW = ["switch0", "switch1", "switch2"]
SHARED = ["--set", "switch.buffer=unlimited", "--set", "switch.shared_buffer.total=1MB"]


def thalweg(*words: str, cwd: Path, env: dict[str, str] | None = None) -> subprocess.CompletedProcess:
    command = [sys.executable, "-m", "thalweg", *words]
    return subprocess.run(command, cwd=cwd, env=os.environ | (env or {}), capture_output=True, text=True, timeout=120)


def blocks(file: Path):
    """The blocks of a capture: kind, body."""
    data, at = file.read_bytes(), 0
    while at < len(data):
        kind, length = struct.unpack_from("<II", data, at)
        yield kind, data[at + 8 : at + length - 4]
        at += length


def test_options_are_the_scenario_that_the_simulator_takes(tmp_path):
    said = thalweg(
        "shell",
        "--rate",
        "12Mbps",
        "--delay",
        "20ms",
        "--queue",
        "pie",
        "--loss",
        "0.01",
        "--print-scenario",
        cwd=tmp_path,
    )
    assert said.returncode == 0, said.stderr
    table = tomllib.loads(said.stdout)
    assert table["topology"]["bottleneck_rate"] == "12Mbps" and table["switch"] == {"marking": "pie"}
    assert table["link"] == [{"which": {"between": ["switch0", "switch1"]}, "loss": {"independent": 0.01}}]
    (tmp_path / "link.toml").write_text(said.stdout)
    run = thalweg("run", "link.toml", "--set", "run.until=100ms", "--no-out", "--json", "--quiet", cwd=tmp_path)
    assert run.returncode == 0, run.stderr
    up, down = emulation.ports(emulation.Link(rate="12Mbps", delay="20ms").scenario(), emulation.BETWEEN)
    assert up == {"port": "switch0 -> switch1", "bps": 12_000_000, "delay_ns": 20_000_000}
    assert (down["port"], down["bps"]) == ("switch1 -> switch0", 12_000_000)


def test_each_direction_may_have_a_trace_or_a_rate(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("lte").write_text("0\n5\n5\n10\n")
    link = emulation.Link(up="lte", down="3Mbps")
    up, down = emulation.ports(link.scenario(), emulation.BETWEEN)
    assert down["bps"] == 3_000_000 and up["bps"] == pytest.approx(4 * 1504 * 8 / 0.010, rel=0.01)
    up, down = emulation.ports(emulation.Link(rate="8Mbps", up="lte").scenario(), emulation.BETWEEN)
    assert (down["bps"], up["bps"] > 4e6) == (8_000_000, True)


QUEUES = sorted(emulation._names("schedulers") | emulation._names("markings"))


@pytest.mark.parametrize("queue", QUEUES)
def test_every_queue_is_emulated_or_refused_with_a_reason_and_what_there_is(queue):
    """Never an internal error, and never silently something else."""
    link = emulation.Link(rate="10Mbps", queue=queue)
    try:
        assert len(link.ports(link.scenario())) == 2
    except ScenarioError as e:
        assert all(d.reason.startswith("--queue: ") for d in e.diagnostics)
        sets = dict(
            re.fullmatch(r"add --set (\S+)=(\S+)", d.hint or "=").groups() for d in e.diagnostics if "add" in d.hint
        )
        if sets:
            # What the hints say is enough.
            assert len(sets) == len(e.diagnostics) and queue in emulation.passable()
            assert len(link.ports(link.scenario(sets))) == 2
        elif queue == "policy":
            assert "--policy" in str(e)
        else:
            assert "real packets cannot pass" in str(e) and ", fq, fq-codel, " in str(e), str(e)
            assert queue not in emulation.passable()
    else:
        assert queue in emulation.passable()


def test_queues_that_no_scenario_of_a_link_has_are_refused_before_there_is_one(monkeypatch):
    """Each is on the list for a reason: without it the scenario is refused, for one that is about the simulator."""
    known, words = set(emulation.IMPOSSIBLE), "slack|rank|inputs|trimmed"
    monkeypatch.setattr(emulation, "IMPOSSIBLE", {})
    for queue in known:
        with pytest.raises(ScenarioError, match=words):
            emulation.Link(rate="10Mbps", queue=queue).scenario()


@pytest.mark.parametrize("queue", ["max-min", "zombie-list", "priority"])
def test_a_queue_of_classes_has_traffic_of_two(queue):
    table, _ = emulation.Link(rate="10Mbps", queue=queue).fitted()
    assert [section.get("class", 0) for section in table["traffic"]] == [0, 1]


def test_a_policy_is_a_queue_whose_classes_are_those_of_code_points(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("fifo.oq").write_text("q = Queue(64 pkts); out = Port(q);")
    Path("tos.oq").write_text("t(a, b) = (a.TOS < b.TOS) q = Queue(64 pkts); out = Port(q); q.procPrio = t;")
    for file in ("fifo.oq", "tos.oq"):
        scenario = emulation.Link(rate="10Mbps", policy=file).scenario()
        assert [port["bps"] for port in emulation.ports(scenario, emulation.BETWEEN)] == [10_000_000] * 2


WRONG = {
    "no rate": ([], "give --rate"),
    "no unit": (["--rate", "100"], "--rate: `100`"),
    "no such queue": (["--rate", "1Mbps", "--queue", "fqcodel"], "did you mean `fq-codel`"),
    "a rank": (
        ["--rate", "1Mbps", "--queue", "srpt"],
        "--queue: real packets cannot pass the port switch0 -> switch1: it sorts by",
    ),
    "feedback": (["--rate", "1Mbps", "--queue", "xcp"], "explicit feedback"),
    "slack": (
        ["--rate", "1Mbps", "--queue", "lstf"],
        "--queue: real packets cannot pass `lstf`: it sorts by slack, which IP headers do not carry; queues of real",
    ),
    "a threshold": (
        ["--rate", "1Mbps", "--queue", "step"],
        "--queue: it needs `switch.marking.threshold`; add --set switch.marking.threshold=15pkts",
    ),
    "a policy of no file": (
        ["--rate", "1Mbps", "--queue", "policy"],
        "--queue: a policy is a file; name it with --policy",
    ),
    "a share": (["--rate", "1Mbps", "--loss", "2"], "not a share"),
    "a policy and a queue": (["--rate", "1Mbps", "--queue", "fq", "--policy", "fifo.oq"], "--queue cannot take effect"),
    "a policy and a buffer": (
        ["--rate", "1Mbps", "--policy", "fifo.oq", "--buffer", "9KB"],
        "--buffer: it has no effect",
    ),
    "no such policy": (["--rate", "1Mbps", "--policy", "fivo.oq"], "--policy: there is no file `fivo.oq`"),
    "a mistake in a policy": (["--rate", "1Mbps", "--policy", "typo.oq"], "`r` is declared nowhere"),
    "a policy of ranks": (["--rate", "1Mbps", "--policy", "work.oq"], "real packets cannot pass"),
    "no such trace": (["--rate", "1Mbps", "--up", "nothere"], "nothere"),
    "twice": (["near.toml", "--rate", "1Mbps"], "--rate cannot take effect"),
    "both rates": (["--rate", "1Mbps", "--up", "1Mbps", "--down", "1Mbps"], "--rate cannot take effect"),
    "no such link": (["near.toml", "--port", "switch0:h3"], "no link between"),
    "no neighbour": (
        ["lot.toml", "--port", "switch0:switch2"],
        "--port switch0:switch2: there is no link between `switch0` and `switch2`; "
        "`switch0` is linked to `h0`, `h2`, `switch1`",
    ),
    "no such node": (["lot.toml", "--port", "switch0:swtch1"], "--port switch0:swtch1: there is no node `swtch1`"),
    "no such number": (["lot.toml", "--port", "8:9:99"], "there is no node 99; nodes are numbered 0 to 11"),
    "a node twice": (
        ["lot.toml", "--port", "switch0:switch1:switch0"],
        "--port switch0:switch1:switch0: the path passes `switch0` twice; a path passes a node once: "
        "`switch1` is linked to `h3`, `h4`, `switch2`",
    ),
    "half a chain": (["lot.toml", "--port", "switch0:switch1:"], "FROM:TO"),
    "a chain with shared memory": (
        ["lot.toml", "--port", ":".join(ROW), *SHARED],
        "`switch.shared_buffer`: real packets cannot pass the port switch0 -> switch1",
    ),
    "half a link": (["near.toml", "--port", "switch0"], "FROM:TO"),
    "port of nothing": (["--rate", "1Mbps", "--port", "a:b"], "--port"),
    "other things": (["--rate", "1Mbps", "--out", "."], "holds other things"),
}


@pytest.mark.parametrize("case", WRONG)
def test_what_is_wrong_is_one_line_and_exit_code_2(case, tmp_path):
    (tmp_path / "near.toml").write_text(SCENARIO)
    (tmp_path / "lot.toml").write_text(LOT)
    (tmp_path / "fifo.oq").write_text("q = Queue(64 pkts); out = Port(q);")
    (tmp_path / "typo.oq").write_text("q = Queue(64 pkts); out = Port(r);")
    work = "w(a, b) = (a.processing < b.processing) q = Queue(64 pkts); out = Port(q); q.procPrio = w;"
    (tmp_path / "work.oq").write_text(work)
    argv, expected = WRONG[case]
    said = thalweg("shell", *argv, "--", "true", cwd=tmp_path)
    assert (said.returncode, said.stdout) == (2, ""), said.stderr
    assert expected in said.stderr and said.stderr.count("\n") == 1, said.stderr


def test_a_chain_has_the_least_rate_and_all_delays_of_its_ports_and_the_default_is_the_bottleneck(tmp_path):
    (tmp_path / "lot.toml").write_text(LOT)
    scenario = Scenario.load(tmp_path / "lot.toml")
    up, down = emulation.ports(scenario, ROW)
    assert (up["port"], up["bps"], up["delay_ns"]) == ("switch0 -> switch1 -> switch2", 10_000_000, 10_000_000)
    assert [(hop["port"], hop["bps"]) for hop in down["hops"]] == [
        ("switch2 -> switch1", 10_000_000),
        ("switch1 -> switch0", 20_000_000),
    ]
    assert [hop["port"] for hop in up["hops"]] == ["switch0 -> switch1", "switch1 -> switch2"]
    alone, _ = emulation.ports(scenario)
    assert alone == {"port": "switch1 -> switch2", "bps": 10_000_000, "delay_ns": 5_000_000}
    assert emulation.ports(scenario, ("switch1", "switch2"))[0] == alone


def test_the_page_names_every_option_and_every_command_of_it_is_one():
    from thalweg.cli.parser import build

    parser = build()
    (sub,) = (a for a in parser._actions if hasattr(a, "choices") and a.choices and "shell" in a.choices)
    for action in sub.choices["shell"]._actions:
        option = next((s for s in action.option_strings if s.startswith("--")), None)
        if option not in (None, "--help", "--unset", "--import", "--no-out", "--wire"):
            assert option in PAGE, option


@allowed
def test_a_command_runs_on_a_path_and_its_record_replays(tmp_path):
    (tmp_path / "near.toml").write_text(SCENARIO)
    peer = f"{sys.executable} -c 'import socket; s = socket.create_server((\"\", 5000)); s.accept()[0].recv(9)'"
    words = [
        "shell",
        "near.toml",
        "--record",
        "rec",
        "--out",
        "kept",
        "--at-both-ends",
        peer,
        "--",
        sys.executable,
        "-c",
    ]
    program = (
        "import os, socket, time; t = time.time(); socket.create_connection((os.environ['THALWEG_PEER'], 5000)); "
        "print(os.environ['THALWEG_LEVEL'], time.time() - t); raise SystemExit(7)"
    )
    said = thalweg(*words, program, cwd=tmp_path)
    assert said.returncode == 7, said.stderr
    level, seconds = said.stdout.split()
    assert level == "1" and 0.020 < float(seconds) < 1, "the bottleneck's delay, there and back"
    assert "20 Mb/s, 10 ms" in said.stderr and "late p50/p99/max" in said.stderr
    assert {p.name for p in (tmp_path / "kept").iterdir()} >= {"outcome.json", "scenario.toml", "path.png"}
    outcome = json.loads((tmp_path / "kept" / "outcome.json").read_text())
    assert outcome["up"]["statistics"]["packets"] >= 3 and outcome["status"]["code"] == 7
    replayed = thalweg("replay-port", "rec", cwd=tmp_path)
    assert replayed.returncode == 0 and replayed.stdout.count("all the same") == 2, replayed.stdout
    record = bytearray((tmp_path / "rec" / "up.port").read_bytes())
    record[-30] ^= 1
    (tmp_path / "changed.port").write_bytes(record)
    changed = thalweg("replay-port", "changed.port", cwd=tmp_path)
    assert changed.returncode == 1 or "all the same" not in changed.stdout
    assert thalweg("replay-port", "near.toml", cwd=tmp_path).returncode == 2


@allowed
@pytest.mark.skipif(shutil.which("ping") is None, reason="ping is not installed")
def test_a_chain_has_the_delays_of_its_hops_and_each_port_its_record(tmp_path):
    (tmp_path / "lot.toml").write_text(LOT)
    # A shell that had one port has left its record here.
    (tmp_path / "rec").mkdir()
    (tmp_path / "rec" / "thalweg.json").write_text('{"format": "thalweg record", "version": 1}')
    (tmp_path / "rec" / "up.port").write_text("of another one")
    words = ["shell", "lot.toml", "--port", ":".join(ROW), "--record", "rec", "--pcap", "cap", "--out", "kept"]
    said = thalweg(*words, "--", "ping", "-n", "-c", "4", "-i", "0.2", "-s", "972", "{peer}", cwd=tmp_path)
    assert said.returncode == 0, said.stderr
    fastest = min(float(t) for t in re.findall(r"time=([\d.]+) ms", said.stdout))
    # Twice 5 ms there and back; 1000 bytes take 0.4 and 0.8 ms.
    assert 22.4 <= fastest < 40, said.stdout
    outcome = json.loads((tmp_path / "kept" / "outcome.json").read_text())
    for way in (outcome["up"], outcome["down"]):
        assert way["statistics"]["packets"] == 4 and way["delay_ns"] == 10_000_000
        assert [(hop["packets"], hop["dropped"], hop["marked"]) for hop in way["hops"]] == [(4, 0, 0)] * 2
    assert re.search(r"^up switch1 -> switch2 +4 +0 ", said.stderr, flags=re.MULTILINE), said.stderr
    records = sorted(p.name for p in (tmp_path / "rec").glob("*.port"))
    assert records == [
        "down-1-switch2-switch1.port",
        "down-2-switch1-switch0.port",
        "up-1-switch0-switch1.port",
        "up-2-switch1-switch2.port",
    ]
    replayed = thalweg("replay-port", "rec", cwd=tmp_path)
    assert replayed.returncode == 0 and replayed.stdout.count("4 packets; 4 departures") == 4, replayed.stdout
    assert replayed.stdout.count("all the same") == 4, replayed.stdout
    seen = [struct.unpack_from("<I", body)[0] for kind, body in blocks(tmp_path / "cap" / "up.pcapng") if kind == 6]
    assert sorted(seen) == [0] * 4 + [1] * 4, "each packet at each port's interface"


@allowed
def test_a_signal_is_the_commands_and_nothing_is_left(tmp_path):
    words = [sys.executable, "-m", "thalweg", "shell", "--rate", "1Mbps", "--no-out", "--", "sh", "-c"]
    trap = "trap 'echo got it; exit 3' TERM; echo ready; while true; do sleep 0.1; done"
    run = subprocess.Popen([*words, trap], cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert run.stdout.readline() == "ready\n"
    run.terminate()
    out, _ = run.communicate(timeout=60)
    assert (out, run.returncode) == ("got it\n", 3)
    assert not (tmp_path / "runs").exists()


@allowed
def test_a_shell_has_a_prompt_that_says_where_one_is(tmp_path):
    said = subprocess.run(
        [sys.executable, "-m", "thalweg", "shell", "--rate", "5Mbps", "--delay", "3ms", "--no-out", "--quiet"],
        cwd=tmp_path, env=os.environ | {"SHELL": "/bin/sh"}, input="echo \"$PS1\"\n", capture_output=True, text=True, timeout=60,
    )  # fmt: skip
    assert said.stdout.strip() == "[5 Mb/s 3 ms level 1] $", said.stderr


@allowed
def test_a_capture_has_what_left_the_ports_and_what_was_dropped(tmp_path):
    """Datagrams at four times the rate into a buffer of three."""
    send = (
        "import socket, time; s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM); "
        "[s.sendto(bytes(972), ('{peer}', 9)) for _ in range(40)]; time.sleep(0.5)"
    )
    link = emulation.Link(rate="1Mbps", delay="5ms", buffer="3KB")
    words = [sys.executable, "-c", send]
    found = emulation.run(link.scenario(), words, between=emulation.BETWEEN, capture=tmp_path / "captured")
    assert found["status"]["code"] == 0
    packets = [body for kind, body in blocks(tmp_path / "captured" / "up.pcapng") if kind == 6]
    assert (tmp_path / "captured" / "down.pcapng").stat().st_size > 60
    datagrams = [p for p in packets if struct.unpack_from("<I", p, 16)[0] == 14 + 1000]
    dropped = sum(b"dropped" in p for p in datagrams)
    up = found["up"]["statistics"]
    assert dropped == up["dropped"] >= 30 and len(datagrams) == 40
    stamps = [(h << 32) + low for h, low in (struct.unpack_from("<II", p, 4) for p in packets)]
    assert abs(stamps[-1] - 1e9 * time.time()) < 60e9, "nanoseconds since 1970"
