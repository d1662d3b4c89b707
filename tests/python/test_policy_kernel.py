"""Policies as C for the kernel: all of the library compiles, programs of tc load and decide; what a boot would need is
in `tests/kernel/check.py` (`make kernel-qdisc`)."""

import importlib.util
import os
import random
import shutil
import subprocess
import sys
from contextlib import contextmanager
from pathlib import Path

import pytest

from thalweg import ScenarioError, policies

SEED, SENT = 3, 1
PROGRAM = Path(__file__).parents[1] / "kernel/check.py"
OPTIONS = ("-target", "bpf", "-mcpu=v3", "-O2", "-g", "-Wall", "-Werror", "-c")
POLICE = """\
police(q, p) = (p.TOS < 8 && p.size > 1000, drop(1)).
               (p.TOS < 8, mark & drop(0.5) & modify(admState := admState + p.size / 3)).
               (p.value % 7 == 3 && q.admState > 100, drop(1) & notify)
long(q, p)   = (p.size > 900, mark)
q   = Queue(64 pkts);
out = Port(q);
q.congestion = police;
q.postAdmAct = long;
"""


@pytest.fixture(scope="module")
def check():
    spec = importlib.util.spec_from_file_location("kernel_check", PROGRAM)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def clang(check):
    try:
        return check.clang()
    except check.Missing as why:
        pytest.skip(f"needs {why}")


def built(clang, code, into):
    (into / "policy.c").write_text(code)
    subprocess.run([clang, *OPTIONS, "policy.c", "-o", "policy.o"], cwd=into, check=True)
    return into / "policy.o"


# What a queueing discipline keeps, and what a library's policy is refused for.
KEPT = [
    "a1",
    "algorithm-b",
    "algorithm-c",
    "crr",
    "fifo",
    "lqf",
    "maxqf",
    "minqf",
    "policy-file",
    "rfifo",
    "sqf",
    "strict",
    "tail-drop",
    "two-priorities",
    "wfq",
]


@pytest.mark.parametrize("name", policies.names())
def test_what_a_discipline_keeps_of_the_library_compiles_and_the_rest_is_refused_by_part(name, clang, tmp_path):
    policy = policies.load(name)
    if name not in KEPT:
        with pytest.raises(ScenarioError, match=r"bpf-qdisc: \w+ .*"):
            policy.code("bpf-qdisc")
        return
    code = policy.code("bpf-qdisc")
    assert " float" not in code and " double" not in code
    assert built(clang, code, tmp_path).stat().st_size > 10_000


@contextmanager
def link(tmp_path):
    """Two ends of a link, v0 and v1, in a namespace of their own; runs commands there."""
    if os.geteuid() != 0 or not shutil.which("tc") or not shutil.which("ip"):
        pytest.skip("loading needs root, tc and ip (Debian: iproute2)")
    name = f"oq{os.getpid()}"

    def within(line, *words, **how):
        whole = ["ip", "netns", "exec", name, *line.split(), *words]
        return subprocess.run(whole, cwd=tmp_path, capture_output=True, text=True, **how)

    made = subprocess.run(["ip", "netns", "add", name], capture_output=True, text=True)
    if made.returncode:
        pytest.skip(f"needs namespaces of the network: {made.stderr.strip()}")
    try:
        # Without IPv6 the kernel has nothing of its own to send.
        within("sh -c", "echo 1 > /proc/sys/net/ipv6/conf/default/disable_ipv6", check=True)
        within("ip link add v0 type veth peer name v1", check=True)
        within("tc qdisc add dev v0 clsact", check=True)
        yield within
    finally:
        subprocess.run(["ip", "netns", "del", name], check=True)


LOAD = "tc filter add dev v0 egress bpf da obj policy.o sec tc"


def test_a_program_of_tc_compiles_and_loads_in_front_of_a_queue(clang, tmp_path):
    built(clang, policies.parse(POLICE, "police.oq").code("tc-bpf"), tmp_path)
    with link(tmp_path) as within:
        loaded = within(LOAD)
        assert loaded.returncode == 0, loaded.stderr
        assert "direct-action" in within("tc filter show dev v0 egress", check=True).stdout


# Sends frames of `size tos mark`, numbered, into v0, and prints `number tos` of each that comes out of v1.
PLAY = """\
import socket, struct, sys
ends = [socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(0x0800)) for _ in "01"]
for n, end in enumerate(ends):
    end.bind((f"v{n}", 0x0800))
for number, line in enumerate(open("trace")):
    size, tos, mark = map(int, line.split())
    head = struct.pack("!BBHHHBBH", 0x45, tos, size - 14, 0, 0, 64, 17, 0) + bytes(8)
    frame = bytes([2] * 12) + b"\\x08\\0" + head + struct.pack("!I", number)
    ends[0].setsockopt(socket.SOL_SOCKET, socket.SO_MARK, mark)
    try:
        ends[0].send(frame.ljust(size, b"\\0"))
    except OSError as e:
        assert e.errno == 105, e  # it was dropped
    ends[1].setblocking(False)
    try:
        while True:
            frame = ends[1].recv(2000)
            print(*struct.unpack("!I", frame[34:38]), frame[15])
    except BlockingIOError:
        pass
"""


def test_a_program_of_tc_decides_as_the_oracle_does(clang, tmp_path):
    """Drops, marks, states and draws of 5000 packets: the kernel's and the interpreter's are the same."""
    police = policies.parse(POLICE, "police.oq")
    count, chance = 5000, random.Random(7)
    trace = {
        "at_ps": [1_000_000_000 * n for n in range(count)],
        "queue": [0] * count,
        "size": [chance.randrange(60, 1515) for _ in range(count)],
        "tos": [chance.choice((2, 6, 10, 34, 1)) for _ in range(count)],  # capable of ECN: what is not cannot be marked
        "value": [chance.randrange(1000) for _ in range(count)],
    }
    ran = police.run(trace, seed=SEED, engine="interpreter")
    expected = {n: trace["tos"][n] | 3 * ran.marked[n] for n in range(count) if ran.fate[n] == SENT}
    assert 1000 < len(expected) < 4500 and 1000 < ran.marked.sum() < 4000

    code = f"#define OQ_SEED {SEED}\n" + police.code("tc-bpf")
    built(clang, code, tmp_path)
    (tmp_path / "trace").write_text(
        "".join("{} {} {}\n".format(*row) for row in zip(*list(trace.values())[2:], strict=True))
    )
    with link(tmp_path) as within:
        loaded = within(LOAD)
        assert loaded.returncode == 0, loaded.stderr
        within("ip link set v0 up", check=True)
        within("ip link set v1 up", check=True)
        played = within(sys.executable, "-c", PLAY)
        assert played.returncode == 0, played.stderr
    got = dict(map(int, line.split()) for line in played.stdout.splitlines())
    assert got == expected


def test_the_check_sees_an_order_a_loss_and_a_kernel_that_refuses(check, capsys):
    said = "KERNEL 7.0\nPOLICY fifo\nORDER 0 2 1 \nDROPPED 1\nPOLICY lqd\nREFUSED loading\nFINISHED\n"
    right = {"fifo": check.Wanted([0, 2, 1], 1)}
    assert check.judge(said, right) == 0
    assert check.judge(said, {"fifo": check.Wanted([0, 1, 2], 1)}) == 1
    assert "DIFFERS: kernel 3 kept, 1 dropped, first at 1" in capsys.readouterr().out
    assert check.judge(said, {"fifo": check.Wanted([0, 2, 1], 2)}) == 1
    assert check.judge(said, {"lqd": check.Wanted([0], 0)}) == 1
    assert check.judge("nothing", right) == 1
