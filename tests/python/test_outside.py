"""`thalweg shell --outside`: the network around is reached by the path, names are looked up by it, and what is missing
is said before anything is made."""

from __future__ import annotations

import http.server
import json
import os
import shutil
import subprocess
import sys
import threading

import pytest

from thalweg import _core, emulation

REFUSAL = _core.emulate_refusal()
NO_WAY_OUT = _core.emulate_refusal(True)
allowed = pytest.mark.skipif(REFUSAL is not None, reason=f"no path can be emulated here: {REFUSAL}")
leads_out = pytest.mark.skipif(NO_WAY_OUT is not None, reason=f"no way out of a path here: {NO_WAY_OUT}")
SHELL = [sys.executable, "-m", "thalweg", "shell"]


@pytest.fixture
def served(tmp_path):
    """The port of a web server on this machine's own 127.0.0.1, with a file `data` of 200 KB."""
    (tmp_path / "data").write_bytes(bytes(200_000))

    class Quiet(http.server.SimpleHTTPRequestHandler):
        def __init__(self, *args):
            super().__init__(*args, directory=str(tmp_path))

        def log_message(self, *_):
            pass

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Quiet) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield server.server_address[1]
        server.shutdown()


@leads_out
def test_a_transfer_from_this_machine_takes_what_the_path_says(tmp_path, served):
    fetch = f"import urllib.request as u; print(len(u.urlopen('http://100.64.0.2:{served}/data').read()))"
    words = ["--rate", "2Mbps", "--delay", "10ms", "--outside", "--out", "kept", "--", sys.executable, "-c", fetch]
    said = subprocess.run([*SHELL, *words], cwd=tmp_path, capture_output=True, text=True, timeout=120)
    assert (said.returncode, said.stdout) == (0, "200000\n"), said.stderr
    outcome = json.loads((tmp_path / "kept" / "outcome.json").read_text())
    assert outcome["seconds"] >= 0.8, "1.6 Mb at 2 Mb/s"
    assert outcome["down"]["statistics"]["bytes"] > 200_000
    link = emulation.Link(rate="2Mbps").scenario()
    found = emulation.run(link, [sys.executable, "-c", fetch], between=emulation.BETWEEN, outside=True)
    assert found["status"]["code"] == 0 and found["down"]["statistics"]["bytes"] > 200_000


@allowed
def test_a_program_that_is_missing_is_named_before_anything_is_made(tmp_path):
    words = ["--rate", "2Mbps", "--outside", "--record", "rec", "--", "true"]
    said = subprocess.run(
        [*SHELL, *words], cwd=tmp_path, env=os.environ | {"PATH": str(tmp_path)}, capture_output=True, text=True
    )
    assert (said.returncode, said.stdout) == (2, "")
    assert "`slirp4netns`, which is not installed" in said.stderr and "apt-get install slirp4netns" in said.stderr
    assert said.stderr.count("\n") == 1 and list(tmp_path.iterdir()) == []


# Answers each question for an address with 192.0.2.7. First line: it is there.
RESOLVER = """
import socket
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
s.bind(("127.0.0.1", 53))
print("ready", flush=True)
while True:
    question, sender = s.recvfrom(512)
    end = question.index(0, 12) + 5
    found = question[end - 4 : end - 2] == bytes([0, 1])
    answer = bytes.fromhex("c00c 0001 0001 00000000 0004 c0000207") if found else b""
    header = question[:2] + bytes.fromhex("8180 0001") + bytes([0, found, 0, 0, 0, 0])
    s.sendto(header + question[12:end] + answer, sender)
"""


@leads_out
@pytest.mark.skipif(not all(map(shutil.which, ("unshare", "ip"))), reason="unshare and ip are not installed")
def test_names_are_looked_up_by_the_path(tmp_path):
    """In a network of its own, whose resolver knows one address, and with the time of two round trips at least."""
    (tmp_path / "resolver.py").write_text(RESOLVER)
    (tmp_path / "resolv.conf").write_text("nameserver 127.0.0.1\n")
    look = (
        "import socket, time; t = time.monotonic(); found = socket.gethostbyname('thalweg.example'); "
        "print(found, time.monotonic() - t, open('/etc/resolv.conf').read().strip(), sep='|')"
    )
    (tmp_path / "look.py").write_text(look)
    around = f"""
        ip link set lo up && mount --bind resolv.conf /etc/resolv.conf || exit 77
        {sys.executable} resolver.py > ready & until grep -q ready ready; do sleep 0.1; done
        {" ".join(SHELL)} --rate 10Mbps --delay 100ms --outside --no-out --quiet -- {sys.executable} look.py; status=$?
        kill $!; grep -q 127.0.0.1 /etc/resolv.conf && exit $status"""
    said = subprocess.run(
        ["unshare", "--map-root-user", "--mount", "--net", "sh", "-c", around],
        cwd=tmp_path, capture_output=True, text=True, timeout=120,
    )  # fmt: skip
    if said.returncode == 77 or "unshare failed" in said.stderr:
        pytest.skip(f"no network of its own here: {said.stderr.strip()}")
    assert said.returncode == 0, said.stderr
    found, seconds, resolver = said.stdout.strip().split("|")
    assert (found, resolver) == ("192.0.2.7", "nameserver 100.64.0.3")
    assert float(seconds) >= 0.2
