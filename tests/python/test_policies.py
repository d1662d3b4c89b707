"""`thalweg policy` and `thalweg.policies`: what is printed, whole; what is refused, and how."""

import json
import re
from pathlib import Path

import numpy as np
import pytest

from thalweg import ScenarioError, policies

ONE = """\
q   = Queue(2 pkts);
out = Port(q);

q.congestion = (currSize >= size, drop(1));
"""
# Packets of 125 bytes, 100 ns at 10 Gb/s: the first is sent at once, two wait, one is too many.
TRACE = "at_ns,queue,size\n0,q,125\n10,q,125\n20,0,125\n30,q,125\n"


@pytest.fixture
def one(tmp_path):
    (tmp_path / "one.oq").write_text(ONE)
    (tmp_path / "one.csv").write_text(TRACE)
    return tmp_path


WRONG = {
    "no file": (["check", "nowhere.oq"], "nowhere.oq: no such file"),
    "a folder": (["show", "."], ".: is a directory"),
    "not in the library": (
        ["show", "fifoo"],
        "`fifoo` is neither a file nor a policy of the library; did you mean `fifo`",
    ),
    "nothing like it": (["show", "zzz"], "`zzz` is neither a file nor a policy of the library"),
    "not text": (["check", "latin.oq"], "latin.oq: is not UTF-8 text"),
    "a pipe": (["check", "/dev/null"], "/dev/null: is not a regular file"),
    "no part": ([], "PART"),
    "no such part": (["chek", "fifo"], "did you mean `check`"),
    "no such target": (["compile", "fifo", "--target", "ebpf"], "--target: nothing is called `ebpf`"),
    "no such engine": (["run", "fifo", "--engine", "jit"], "--engine: nothing is called `jit`"),
    "not built in": (["run", "one.oq", "--engine", "generated"], "one.oq: no Rust of it is built in"),
    "not built in, to measure": (["bench", "one.oq", "--engine", "generated"], "one.oq: no Rust of it is built in"),
    "residents": (["bench", "fifo", "--resident", "64,x"], "`64,x` is not a list of whole numbers"),
    "no @": (["run", "fifo", "--change", "lqd"], "FILE@TIME, such as new.oq@5us"),
    "no time": (["run", "fifo", "--change", "fifo@later"], "later"),
    "another policy": (["run", "fifo", "--change", "strict@1us"], "the new policy has other queues or ports"),
    "back in time": (
        ["run", "fifo", "--change", "fifo@2us", "--change", "fifo@1us"],
        "changes are not in the order of their instants",
    ),
    "load of a trace": (["run", "one.oq", "--trace", "one.csv", "--load", "2"], "--load is of random packets"),
    "packets of a trace": (["run", "one.oq", "--trace", "one.csv", "--packets", "2"], "--packets is of random packets"),
    "no load": (["run", "fifo", "--load", "0"], "`0` is not a load above zero"),
    "link and cycles": (["run", "fifo", "--cycle", "1us", "--link", "1Gbps"], "--link is where ports send"),
    "core and cycles": (["run", "fifo", "--cycle", "1us", "--core", "9ns"], "--core has costs where ports send"),
    "no cycle": (["run", "fifo", "--cycle", "0ns"], "--cycle: `0ns` is not a time above zero"),
    "no rate": (["run", "fifo", "--link", "fast"], "`fast` is not a rate such as 100Mbps"),
    "a link without effect": (["run", "tail-drop", "--link", "40Gbps"], "--link has no effect: every port has a rate"),
    "faster than its link": (["run", "fast.oq"], "port out sends at 20000 Mb/s, more than its link"),
    "no trace": (["run", "one.oq", "--trace", "no.csv"], "no.csv: No such file"),
    "no queue": (["run", "one.oq", "--trace", "bad/queue.csv"], "bad/queue.csv:2: `queue`: `r` is not a queue of the"),
    "queue 7": (["run", "one.oq", "--trace", "bad/seven.csv"], "bad/seven.csv:2: the policy has no queue number 7"),
    "column": (["run", "one.oq", "--trace", "bad/column.csv"], "packets have no column `sise`; did you mean `size`"),
    "heads": (["run", "one.oq", "--trace", "bad/heads.csv"], "one of `at_ns` and `at_ps`"),
    "empty": (["run", "one.oq", "--trace", "bad/empty.csv"], "one of `at_ns` and `at_ps`"),
    "twice": (["run", "one.oq", "--trace", "bad/twice.csv"], "a column is there twice"),
    "cells": (["run", "one.oq", "--trace", "bad/cells.csv"], "bad/cells.csv:3: 1 values under 2 heads"),
    "word": (["run", "one.oq", "--trace", "bad/word.csv"], "bad/word.csv:2: `at_ns`: `soon` is not a number"),
    "negative": (
        ["run", "one.oq", "--trace", "bad/negative.csv"],
        "bad/negative.csv:2: `at_ns`: `-4` is not between 0",
    ),
    "large": (["run", "one.oq", "--trace", "bad/large.csv"], "bad/large.csv:2: `tos`: `256` is not between 0 and 255"),
    "value": (["run", "one.oq", "--trace", "bad/value.csv"], "bad/value.csv:2: `value`: `9223372036854775808` is not"),
    "slack": (["run", "one.oq", "--trace", "bad/slack.csv"], "`slack_ps`: `18446744073709551616` is not between 0 and"),
    "far": (
        ["run", "one.oq", "--trace", "bad/far.csv"],
        "bad/far.csv:2: `at_ns`: `99999999999999999` is not between 0",
    ),
    "long": (["run", "one.oq", "--trace", "bad/long.csv"], "bad/long.csv:2: is not a row of a CSV file: field larger"),
    "order": (
        ["run", "one.oq", "--trace", "bad/order.csv"],
        "bad/order.csv:4: `at_ns`: `4` is earlier than the packet of line 2",
    ),
    "in the way": (["copy", "fifo", "one.oq"], "one.oq: is there already"),
    "no such policy to copy": (["copy", "lqdd"], "no policy of the library is called `lqdd`; did you mean `lqd`"),
    "outcomes in the way": (["run", "fifo", "--out", "one.oq"], "one.oq: is there already"),
    "a wrong change": (["run", "one.oq", "--change", "wrong.oq@1us"], "wrong.oq:1:12: `r` is declared nowhere"),
}
BAD = {
    "queue": "at_ns,queue\n0,r\n",
    "seven": "at_ns,queue\n0,7\n",
    "column": "at_ns,queue,sise\n0,q,3\n",
    "heads": "queue,size\nq,3\n",
    "empty": "",
    "twice": "at_ns,queue,queue\n0,q,q\n",
    "cells": "at_ns,queue\n0,q\n5\n",
    "word": "at_ns,queue\nsoon,q\n",
    "negative": "at_ns,queue\n-4,q\n",
    "large": "at_ns,queue,tos\n0,q,256\n",
    "value": "at_ns,queue,value\n0,q,9223372036854775808\n",
    "slack": "at_ns,queue,slack_ps\n0,q,18446744073709551616\n",
    "far": "at_ns,queue\n99999999999999999,q\n",
    "long": f"at_ns,queue\n0,{'q' * 200_000}\n",
    "order": "at_ns,queue\n5,q\n\n4,q\n",
}


@pytest.mark.parametrize("case", WRONG)
def test_what_the_user_wrote_wrong_is_one_line_and_exit_code_2(case, cli, one):
    (one / "latin.oq").write_bytes(b"// \xe9\n")
    (one / "wrong.oq").write_text("out = Port(r);")
    (one / "fast.oq").write_text("q = Queue(9); out = Port(20 Gbps, q); next = Queue(9); on = Port(next);")
    (one / "bad").mkdir()
    for name, text in BAD.items():
        (one / "bad" / f"{name}.csv").write_text(text)
    argv, expected = WRONG[case]
    said = cli("policy", *argv)
    assert (said.code, said.out) == (2, "")
    assert expected in said.err and "Traceback" not in said.err
    assert said.err.count("\n") == 1, said.err
    assert (one / "one.oq").read_text() == ONE


def test_check_says_what_is_there_or_all_that_is_wrong(cli, one):
    said = cli("policy", "check", "one.oq")
    assert (said.code, said.out, said.err) == (0, "one.oq: right: 1 queue, 1 port\n", "")
    assert cli("policy", "check", "a3").out == "a3.oq: right: 21 queues, 15 ports\n"
    assert cli("policy", "check", "one.oq", "--quiet").out == ""
    (one / "two.oq").write_text("q = Queue(0);\nout = Port(r);\n")
    said = cli("policy", "check", "two.oq")
    assert (said.code, said.out) == (2, "")
    lines = said.err.splitlines()
    assert [line.split(": ")[0] for line in lines] == ["two.oq:1:11", "two.oq:2:12"]
    assert all(len(line.split(": ")) >= 3 for line in lines), "reason and way out"
    found = json.loads(cli("policy", "check", "two.oq", "--json").out)
    assert found["ok"] is False and [m["class"] for m in found["mistakes"]] == ["size", "unknown"]
    context = cli("policy", "check", "two.oq", "--context")
    assert context.code == 2 and "out = Port(r);" in context.err and "^" in context.err


def test_show_says_what_was_chosen(cli, one):
    assert cli("policy", "show", "one.oq").out == (
        "q = Queue(2 pkts);\nout = Port(q);\nq.congestion = (currSize >= size, drop(1));\n\n"
        "port out at 100 % of its link\n  queue q of 2 pkts\n    serves the earliest first: a list\n"
        "    keeps the earliest first: a list\n"
    )


def test_compile_prints_rust_or_c_and_says_what_other_targets_cannot_keep(cli, one):
    said = cli("policy", "compile", "one.oq")
    assert said.code == 0 and "impl Rules for Decisions" in said.out
    assert cli("policy", "compile", "one.oq", "--out", "one.rs").out == "one.rs: Rust of one.oq\n"
    assert (one / "one.rs").read_text() == said.out
    refused = cli("policy", "compile", "lqd", "--target", "bpf-qdisc")
    assert (refused.code, refused.out) == (2, "")
    assert refused.err == (
        "lqd.oq: bpf-qdisc: ports out[1] to out[4]: it is attached to one device, which is one port: a file for each "
        "port\n"
    )
    fits = cli("policy", "compile", "one.oq", "--target", "bpf-qdisc", "--out", "one.c")
    assert (fits.code, fits.out) == (0, "one.c: C of one.oq\n")
    assert "tc qdisc replace dev DEVICE root oq_one\n" in (one / "one.c").read_text()
    (one / "plain.oq").write_text("q = Queue(2 pkts); out = Port(q);")
    unmade = cli("policy", "compile", "plain.oq", "--target", "p4")
    assert (unmade.code, unmade.out) == (1, "")
    assert unmade.err == "plain.oq: p4 can keep it, but no code for p4 is generated yet (for rust it is)\n"
    assert len(cli("policy", "compile", "algorithm-c", "--target", "tc-bpf").err.splitlines()) == 3


def test_run_prints_counters_as_the_kernel_does_and_writes_what_became_of_each_packet(cli, one):
    said = cli("policy", "run", "one.oq", "--trace", "one.csv", "--out", "gone.csv")
    assert said.code == 0 and said.err == ""
    assert said.out == (
        "packets:              4: 3 sent, 1 dropped\n"
        "lasted:               300 ns\n"
        "sent:                 10 Gb/s\n"
        "delay:                mean 190, p99 280 ns\n"
        "\n"
        "queue     max  current  dropped  total  sent  peak  mean\n"
        "q      2 pkts        0        1      4     3     2   0.9\n"
        "packets: gone.csv\n"
    )
    assert (one / "gone.csv").read_text().splitlines() == [
        "packet,arrived_ps,queue,fate,gone_ps,marked,notices,version",
        "0,0,q,sent,100000,false,0,0",
        "1,10000,q,sent,200000,false,0,0",
        "2,20000,q,sent,300000,false,0,0",
        "3,30000,q,dropped,30000,false,0,0",
    ]
    found = json.loads(cli("policy", "run", "one.oq", "--trace", "one.csv", "--json").out)
    assert (found["sent"], found["dropped"], found["waiting"], found["overrun"]) == (3, 1, 0, 0)
    assert found["queues"][0] | {"mean": 0} == {
        "queue": "q", "max": 2, "in_packets": True, "current": 0, "dropped": 1, "total": 4, "sent": 3, "peak": 2,
        "mean": 0,
    }  # fmt: skip
    assert cli("policy", "run", "one.oq", "--trace", "one.csv", "--quiet").out == ""


def test_run_until_and_random_packets_and_a_core(cli, one):
    early = json.loads(cli("policy", "run", "one.oq", "--trace", "one.csv", "--until", "50ns", "--json").out)
    assert (early["sent"], early["dropped"], early["waiting"]) == (1, 1, 2)
    runs = [json.loads(cli("policy", "run", "fifo", "--json", *more).out) for more in ([], [], ["--seed", "2"])]
    assert runs[0] == runs[1] != runs[2]
    light, heavy = (json.loads(cli("policy", "run", "fifo", "--json", "--load", x).out) for x in ("0.5", "3"))
    assert light["dropped"] == 0 and heavy["dropped"] > 300
    slow = cli("policy", "run", "fifo", "--core", "2us", "--load", "3")
    assert "core at work:         100 %" in slow.out and "overrun" not in slow.out.split("\n")[1]
    work = json.loads(cli("policy", "run", "srpt", "--cycle", "1us", "--json").out)
    assert work["sent"] + work["dropped"] == 1000 and work["dropped"] > 0


def test_numbers_of_a_trace_are_read_exactly_up_to_the_ends_of_their_ranges(cli, one):
    (one / "values.oq").write_text(
        "most(a, b) = (a.value > b.value);\nq = Queue(4 pkts);\nout = Port(q);\nq.procPrio = most;\n"
    )
    far = [(1 << 63) - 1, -(1 << 63), 10**18, (1 << 63) - 2, 10**18 - 1]
    rows = [f"0.{n}004,q,{value},{(1 << 64) - 1}" for n, value in enumerate(far)]
    (one / "far.csv").write_text("\n".join(["at_ns,queue,value,slack_ps", "0,q,0,0", *rows]))
    assert cli("policy", "run", "values.oq", "--trace", "far.csv", "--out", "gone.csv").code == 0
    gone = [line.split(",") for line in (one / "gone.csv").read_text().splitlines()[2:]]
    assert [row[1] for row in gone] == ["0", "100", "200", "300", "400"]
    sent = sorted((row for row in gone if row[3] == "sent"), key=lambda row: int(row[4]))
    served = [far[int(row[0]) - 1] for row in sent]
    assert served == sorted(served, reverse=True) and len(served) == 4 and -(1 << 63) in served, served


def test_a_policy_changes_while_packets_wait(cli, one):
    (one / "new.oq").write_text(ONE.replace("2 pkts", "3 pkts"))
    said = cli("policy", "run", "one.oq", "--trace", "one.csv", "--change", "new.oq@15ns", "--out", "gone.csv")
    assert said.code == 0
    rows = [line.split(",") for line in (one / "gone.csv").read_text().splitlines()[1:]]
    assert [(row[3], row[-1]) for row in rows] == [("sent", "0"), ("sent", "0"), ("sent", "1"), ("sent", "1")]


def test_bench_names_engines_and_how_many_waited(cli, one):
    rows = json.loads(cli("policy", "bench", "fifo", "--resident", "8,64,1024", "--rounds", "200", "--json").out)
    expected = [(engine, waiting) for engine in policies.ENGINES for waiting in (8, 64)]
    assert [(row["engine"], row["waiting"]) for row in rows] == expected
    assert all(row["ns_per_packet"] > 0 for row in rows)
    said = cli("policy", "bench", "one.oq", "--engine", "bytecode", "--rounds", "200")
    lines = said.out.splitlines()
    assert lines[0].split() == ["engine", "waiting", "ns", "per", "packet"] and lines[1].split()[:2] == [
        "bytecode",
        "2",
    ]
    assert lines[2] == "it holds 2 packets: where it is full, one is given up for each that comes"


def test_the_library_is_listed_and_copied(cli, one):
    listed = json.loads(cli("policy", "list", "--json").out)
    assert {row["name"] for row in listed} >= {"fifo", "lqd", "a3", "wfq"} and all(row["about"] for row in listed)
    assert [line.split()[0] for line in cli("policy", "list").out.splitlines()] == policies.names()
    said = cli("policy", "copy", "lqd")
    assert said.out == "lqd.oq: `thalweg policy show lqd.oq` says what it comes to\n"
    assert (one / "lqd.oq").read_text() == (policies.LIBRARY / "lqd.oq").read_text()
    (one / "mine").mkdir()
    assert cli("policy", "copy", "lqd", "mine").code == 0 and (one / "mine" / "lqd.oq").is_file()


def test_lines_fit_a_terminal_of_80_columns(cli, one, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    for argv in (["list"], ["run", "a3"], ["run", "fifo", "--core", "1us"], ["bench", "fifo", "--rounds", "50"]):
        wide = [line for line in cli("policy", *argv).out.splitlines() if len(line) > 80]
        assert not wide, wide


def test_a_policy_in_python_runs_columns_and_says_what_became_of_them():
    lqd = policies.load("lqd")
    ran = lqd.run(lqd.traffic(packets=2000, gap="100ns", seed=3))
    assert [queue.name for queue in lqd.queues] == ["q[1]", "q[2]", "q[3]", "q[4]"]
    assert lqd.ports[0].bps(10**9) == 1e9 and lqd.is_built_in
    assert sum(one.total for one in ran.counters) == 2000
    assert ran.count("sent") + ran.count("dropped") == 2000
    assert ran.count("dropped") > 100
    assert sorted(ran.departures) == list(np.flatnonzero(ran.sent))
    assert (ran.delays_ps > 0).all()
    frame = ran.frame
    assert frame.columns[:4] == ["packet", "arrived_ps", "queue", "fate"] and len(frame) == 2000
    bytes_sent = lqd.run(ran.packets).throughput() * ran.lasted_ps / 1e12
    assert bytes_sent == pytest.approx(ran.packets["size"][ran.sent].sum())


@pytest.mark.parametrize(
    ("packets", "said"),
    [
        ({"size": [3]}, "no column `queue`"),
        ({"queue": [0], "sise": [3]}, "did you mean `size`"),
        ({"queue": [0], "size": [1.5]}, "does not hold whole numbers"),
        ({"queue": [0, 0], "size": [3]}, "columns of different lengths: queue 2, size 1"),
        ({"queue": [0], "tos": [-1]}, "between 0 and 255"),
        ({"queue": [0], "at_ps": [10**20]}, "between 0 and 9223372036854775807"),
        ({"queue": [0, 0], "slack_ps": [1 << 63, -1]}, "between 0 and 18446744073709551615"),
        ({"queue": [0, 0], "at_ps": [2, 1]}, "column `at_ps`: packet 1 comes before packet 0"),
        ({"queue": [9]}, "the policy has no queue number 9"),
    ],
)
def test_packets_that_are_impossible_are_refused(packets, said):
    with pytest.raises(ScenarioError, match=said):
        policies.load("fifo").run(packets)


def test_mistakes_of_a_text_are_one_diagnostic_each():
    with pytest.raises(ScenarioError) as refused:
        policies.parse("q = Queue(9);\nout = Port(r);\n", "mine.oq")
    (wrong,) = refused.value.diagnostics
    assert (wrong.file, wrong.line, wrong.column, wrong.key) == ("mine.oq", 2, 12, "unknown")
    assert str(wrong).startswith("mine.oq:2:12: `r` is declared nowhere")
    empty = policies.load("fifo").run({"queue": []})
    assert (empty.count("sent"), empty.lasted_ps, empty.counters[0].mean) == (0, 0, 0)


def test_operations_are_counted():
    counted = policies.load("fifo").counts({"queue": [0] * 6}, 2)
    assert counted["joined"]["inserts"] == 4 and counted["left"] == {
        "inserts": 0, "deletes": 4, "victims": 0, "lookups": 4, "comparisons": 0, "rekeys": 0,
    }  # fmt: skip


PAGE = (Path(__file__).parents[2] / "docs" / "policies.md").read_text(encoding="utf-8")


def test_what_the_page_shows_is_what_is_printed(cli, one):
    (one / "mine.oq").write_text("q = Queue(64 pkts);\nout = Port(r);\n")
    shown = re.findall(r"```text\n\$ thalweg (.*)\n((?:.*\n)*?)```", PAGE)
    assert len(shown) >= 3
    for command, expected in shown:
        said = cli(*command.split())
        printed = said.out + said.err
        first, cut, _ = expected.partition("…\n")
        assert printed.startswith(first) if cut else printed == expected, command
    (policy, python) = re.findall(r"## A first policy\n\n```text\n(.*?)```.*?```python\n(.*?)```", PAGE, re.DOTALL)[0]
    assert policies.mistakes(policy, "page.oq") == []
    exec(compile(python, "docs/policies.md", "exec"), {})


def test_a_state_that_overflows_ends_the_run(cli, tmp_path):
    text = """q = Queue(900 pkts); out = Port(q); q.congestion = (admState > 900000000000000000, drop(1));
    q.admState = 1; q.postAdmAct = (true, modify(admState := admState * 40));"""
    (tmp_path / "grows.oq").write_text(text)
    (tmp_path / "s.toml").write_text("""
topology = { kind = "star", hosts = 3 }
switch = { scheduler = { kind = "policy", file = "grows.oq" } }
traffic = [{ kind = "flow", src = 0, dst = 1, size = "100KB" }]
run = { until = "20ms" }
""")
    said = cli("run", tmp_path / "s.toml", "--quiet", "--out", tmp_path / "r")
    reason = "the policy cannot go on at 6464ns: a state of queue `q` would exceed 64 bits"
    assert (said.code, said.err.strip()) == (2, reason) and not (tmp_path / "r").exists(), said
