"""`thalweg quic`, `thalweg attach`: what they say without the features, and what they do with them."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from thalweg import _core
from thalweg.cli import main

FINGERPRINT = "0" * 64


def needs(feature):
    return pytest.mark.skipif(feature not in _core.CONNECTS, reason=f"a build without the feature `{feature}`")


@pytest.mark.parametrize(
    ("feature", "words"),
    [
        ("quic", ["quic", "send", "x", "--to", "127.0.0.1:1", "--fingerprint", FINGERPRINT]),
        ("quic", ["quic", "receive", "--out", "inbox"]),
        ("kernel", ["attach", "cubic", "--", "true"]),
    ],
)
def test_a_build_without_it_says_how_to_get_it(feature, words, capsys, monkeypatch):
    monkeypatch.setattr(_core, "CONNECTS", [])
    assert main(words) == 2
    said = capsys.readouterr().err
    assert f"this build has no `{feature}`" in said and f"--features {feature}" in said


def test_a_command_and_an_end_are_required(capsys):
    assert main(["quic"]) == 2
    assert "required" in capsys.readouterr().err


@needs("kernel")
def test_options_of_attach_stand_before_the_controller(capsys):
    assert main(["attach", "cubic", "--json", "--", "true"]) == 2
    assert "options stand before the controller" in capsys.readouterr().err
    assert main(["attach", "cubic"]) == 2
    assert "give a command after `--`" in capsys.readouterr().err


@pytest.fixture
def receiver(tmp_path):
    """Its address, its fingerprint and its folder."""
    inbox = tmp_path / "inbox"
    words = ["-m", "thalweg", "quic", "receive", "--listen", "127.0.0.1:0", "--out", str(inbox)]
    with subprocess.Popen([sys.executable, *words], stdout=subprocess.PIPE, text=True) as child:
        said = child.stdout.readline() + child.stdout.readline()
        listening, fingerprint = re.fullmatch(r"listening on (\S+)\nfingerprint ([0-9a-f]{64})\n", said).groups()
        yield listening, fingerprint, inbox
        child.terminate()


@needs("quic")
def test_a_file_gets_there_under_a_built_in_controller_and_one_in_python(receiver, tmp_path, capsys):
    to, fingerprint, inbox = receiver
    mine = tmp_path / "mine.py"
    mine.write_text(
        "import thalweg\n\n\n@thalweg.controller('steady')\nclass Steady:\n"
        "    def __init__(self, flow):\n        self.window = 20 * flow.mss\n"
        "    def on_ack(self, ack):\n        pass\n"
        "    def on_loss(self, loss):\n        pass\n"
        "    def on_timeout(self, loss):\n        pass\n",
        encoding="utf-8",
    )
    for name, controller in (("a", "cubic"), ("b", '{ kind = "bbr" }'), ("c" * 255, f"{mine}:Steady")):
        path = tmp_path / name
        path.write_bytes(bytes(range(256)) * 2000)
        words = ["quic", "send", str(path), "--to", to, "--fingerprint", fingerprint, "--congestion", controller]
        assert main([*words, "--json"]) == 0
        said = json.loads(capsys.readouterr().out)
        assert said["written"] == 512_000 and said["window"] > 0, said
        assert (inbox / name).read_bytes() == path.read_bytes()


@needs("quic")
@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--congestion", "hpcc"], "QUIC cannot run `hpcc`, which needs telemetry"),
        (["--congestion", "cubik"], "did you mean `cubic`?"),
        (["--congestion", '{ kind = "copa", deltas = 1 }'], "deltas"),
        (["--fingerprint", "abc"], "`abc` is no fingerprint"),
        (["--to", "nowhere"], "`nowhere` is not of the form HOST:PORT"),
    ],
)
def test_what_cannot_be_sent_is_refused_on_one_line(words, said, tmp_path, capsys):
    path = tmp_path / "data"
    path.write_bytes(b"x")
    options = {"--to": "127.0.0.1:9", "--fingerprint": FINGERPRINT} | dict([words])
    assert main(["quic", "send", str(path), *(word for option in options.items() for word in option)]) == 2
    err = capsys.readouterr().err
    assert said in err and err.count("\n") == 1, err


@needs("kernel")
def test_attach_refuses_what_the_kernel_cannot_run(capsys):
    assert main(["attach", "xcp", "--", "true"]) == 2
    assert "the kernel's TCP cannot run `xcp`, which needs what routers write" in capsys.readouterr().err


TRANSFER = """
import socket, threading
server = socket.create_server(("127.0.0.1", 0))
def receive():
    peer, _ = server.accept()
    total = 0
    while data := peer.recv(1 << 16):
        total += len(data)
    print(total, flush=True)
thread = threading.Thread(target=receive)
thread.start()
with socket.create_connection(server.getsockname()) as client:
    client.sendall(bytes(5_000_000))
thread.join()
"""


@needs("kernel")
def test_a_command_runs_under_a_controller(capfd):
    command = ["unshare", "-n", "sh", "-c", 'ip link set lo up && exec "$@"', "sh", sys.executable, "-c", TRANSFER]
    code = main(["attach", "--json", "cubic", "--", *command])
    out, err = capfd.readouterr()
    if code == 2 and ("not allowed" in err or "this kernel" in err or "cgroup" in err):
        pytest.skip(err)
    assert code == 0, err
    received, said = out.splitlines()
    said = json.loads(said)
    assert received == "5000000" and said["connections"] == 2 and said["lost_samples"] == 0
    # The FIN counts as a byte.
    assert max(c["acked"] for c in said["per_connection"]) in (5_000_000, 5_000_001)


RECEIVE = "import socket; peer = socket.create_server(('', 5001)).accept()[0]\nwhile peer.recv(65536): pass"
SEND = "import socket, sys; socket.create_connection((sys.argv[1], 5001)).sendall(bytes(1_000_000))"


@needs("kernel")
def test_a_command_on_an_emulated_path_runs_under_a_controller():
    if why := _core.emulate_refusal():
        pytest.skip(why)
    if not any(Path("/sys/fs/cgroup", place, "cgroup.procs").exists() for place in (".", "unified")):
        pytest.skip("cgroup v2 is not mounted here")
    attach = [sys.executable, "-m", "thalweg", "attach", "--json", "cubic", "--", sys.executable, "-c", SEND, "{peer}"]
    there = f'{sys.executable} -c "{RECEIVE}"'
    words = ["--rate", "100Mbps", "--delay", "1ms", "--quiet", "--no-out", "--at-both-ends", there, "--", *attach]
    ended = subprocess.run(
        [sys.executable, "-m", "thalweg", "shell", *words], capture_output=True, text=True, timeout=60, check=False
    )
    if ended.returncode == 2 and ("not allowed" in ended.stderr or "this kernel" in ended.stderr):
        pytest.skip(ended.stderr)
    assert ended.returncode == 0, ended.stderr
    assert json.loads(ended.stdout)["per_connection"][0]["acked"] >= 1_000_000


@needs("kernel")
def test_the_commands_exit_code_is_kept(capfd):
    code = main(["attach", "cubic", "--", "sh", "-c", "exit 7"])
    err = capfd.readouterr().err
    if code == 2 and ("not allowed" in err or "this kernel" in err or "cgroup" in err):
        pytest.skip(err)
    assert code == 7 and "no TCP connection" in err
