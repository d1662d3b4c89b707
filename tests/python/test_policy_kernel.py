"""Policies as C for the kernel: all of the library compiles, programs of tc load and decide; what a boot would need is
in `tests/kernel/check.py` (`make kernel-qdisc`)."""

import importlib.util
import os
import shutil
import subprocess
from pathlib import Path

import pytest

from thalweg import ScenarioError, policies

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


def test_a_program_of_tc_compiles_and_loads_in_front_of_a_queue(clang, tmp_path):
    built(clang, policies.parse(POLICE, "police.oq").code("tc-bpf"), tmp_path)
    if os.geteuid() != 0 or not shutil.which("tc") or not shutil.which("ip"):
        pytest.skip("loading needs root, tc and ip (Debian: iproute2)")
    name = f"oq{os.getpid()}"

    def within(line, **how):
        whole = ["ip", "netns", "exec", name, *line.split()]
        return subprocess.run(whole, cwd=tmp_path, capture_output=True, text=True, **how)

    made = subprocess.run(["ip", "netns", "add", name], capture_output=True, text=True)
    if made.returncode:
        pytest.skip(f"needs namespaces of the network: {made.stderr.strip()}")
    try:
        within("ip link add v0 type veth peer name v1", check=True)
        within("tc qdisc add dev v0 clsact", check=True)
        loaded = within("tc filter add dev v0 egress bpf da obj policy.o sec tc")
        assert loaded.returncode == 0, loaded.stderr
        assert "direct-action" in within("tc filter show dev v0 egress", check=True).stdout
    finally:
        subprocess.run(["ip", "netns", "del", name], check=True)


def test_the_check_sees_an_order_a_loss_and_a_kernel_that_refuses(check, capsys):
    said = "KERNEL 7.0\nPOLICY fifo\nORDER 0 2 1 \nDROPPED 1\nPOLICY lqd\nREFUSED loading\nFINISHED\n"
    right = {"fifo": ([0, 2, 1], 1)}
    assert check.judge(said, right) == 0
    assert check.judge(said, {"fifo": ([0, 1, 2], 1)}) == 1
    assert "DIFFERS: kernel 3 kept, 1 dropped, first at 1" in capsys.readouterr().out
    assert check.judge(said, {"fifo": ([0, 2, 1], 2)}) == 1
    assert check.judge(said, {"lqd": ([0], 0)}) == 1
    assert check.judge("nothing", right) == 1
