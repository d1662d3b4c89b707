"""Queue pairs from Python: every verb, paths with faults, what is seen of them, errors."""

import re
from itertools import pairwise
from pathlib import Path

import pytest

from thalweg import ScenarioError, verbs

DOCS = (Path(__file__).parents[2] / "docs" / "verbs.md").read_text(encoding="utf-8")
US = 1_000_000  # ps
HOSTILE = {"loss": 0.2, "repeat": 0.1, "jitter": "40us", "mtu": 16, "cap": 8}
ONE_WAY = 12 * US + 200_000


def ends(pair, size=64):
    return pair.local(bytes(n % 251 for n in range(size))), pair.remote(size)


def number(region) -> int:
    return int.from_bytes(region.data, "little")


def test_the_example_of_the_documentation_runs_and_is_short(capsys):
    (text,) = re.findall(r"```python\n(.*?)```", DOCS, flags=re.DOTALL)
    assert len([line for line in text.splitlines() if line.strip()]) <= 20
    exec(compile(text, "docs/verbs.md", "exec"), {})
    told = capsys.readouterr().out
    assert "status='success'" in told and "what='send-immediate', value=7" in told


@pytest.mark.parametrize("dialect", ["irn", "roce"])
@pytest.mark.parametrize("seed", range(8))
def test_every_verb_does_what_it_says_on_a_hostile_path(dialect, seed):
    pair = verbs.Pair(dialect=dialect, credits=3, seed=seed, **HOSTILE)
    here, there = ends(pair, 400)
    words, answers, spare, sinks = pair.remote(16), pair.local(24), pair.remote(8), pair.remote(300)
    for n in range(3):
        pair.receive(sinks[100 * n : 100 * (n + 1)])
    posted = [
        pair.write(here[:90], there[10:]),
        pair.write(here[100:150], there[100:], immediate=77),
        pair.read(here[300:390], there[10:], fence="all"),
        pair.send(here[:33], immediate=0xFFFF_FFFF),
        pair.fetch_add(words[:8], 5, answers[:8]),
        pair.fetch_add(words[:8], (1 << 64) - 1, answers[8:16]),
        pair.compare_swap(words[8:], 0, 9, answers[16:]),
        pair.send(here[200:210], invalidate=spare),
    ]
    assert pair.run() and pair.is_over and not pair.has_failed
    assert [(c.id, c.status) for c in pair.completions] == [(n, "success") for n in posted]
    assert there[10:100].data == here[:90].data == here[300:390].data
    assert there[100:150].data == here[100:150].data
    assert [number(answers[8 * n : 8 * n + 8]) for n in range(3)] == [0, 5, 0]
    assert (number(words[:8]), number(words[8:])) == (4, 9)
    assert [(r.what, r.value, r.bytes) for r in pair.received] == [
        ("write-immediate", 77, 50),
        ("send-immediate", 0xFFFF_FFFF, 33),
        ("send-invalidate", spare.key, 10),
    ]
    assert sinks[100:133].data == here[:33].data and sinks[200:210].data == here[200:210].data
    assert not spare.is_valid and there.is_valid and pair.msn == len(posted)
    assert pair.counters["requester"]["retransmitted"] > 0


def test_the_same_seed_gives_the_same_packets():
    def sent(seed):
        pair = verbs.Pair(seed=seed, **HOSTILE)
        here, there = ends(pair)
        pair.write(here, there)
        assert pair.run()
        return pair.sent

    assert sent(1) == sent(1) != sent(2)


def test_a_schedule_decides_copy_by_copy():
    fates = {("request", 1): ["lost", ["20us", "30us"]], ("ack", 4): ["lost"]}
    pair = verbs.Pair(mtu=16, schedule=fates)
    here, there = ends(pair)
    pair.write(here, there)
    arrived = []
    while packet := pair.step():
        assert packet.ignored is None
        arrived.append(packet)
    requests = [(p.psn, p.at_ps) for p in arrived if p.is_request]
    (again,) = (p.at_ps for p in pair.sent[5:] if p.is_request and p.psn == 1)
    # Packets follow each other on the link; the NACK that packet 2 causes makes packet 1 be sent again.
    assert requests[:3] == [(n, ONE_WAY + 200_000 * n) for n in (0, 2, 3)]
    assert requests[3:] == [(1, again + 20 * US + 200_000), (1, again + 30 * US + 200_000)]
    nacks = [(p.sack, p.psn) for p in arrived if p.syndrome == "nack"]
    assert nacks == [(2, 1), (3, 1)] and pair.counters["responder"]["nacks"] == 2
    assert [p.copies for p in pair.sent if p.is_request] == [1, 0, 1, 1, 2]
    # The ACK of the whole message was lost; that of the second copy says the same.
    assert pair.is_over and [c.id for c in pair.completions] == [0]


def test_without_receive_wqe_the_requester_waits_and_asks_again():
    pair = verbs.Pair()
    here, there = ends(pair)
    pair.send(here)
    assert not pair.run("250us")
    refused = [p for p in pair.sent if p.syndrome == "not-ready"]
    assert (
        [p.rnr_ps for p in refused] == [120 * US] * 2
        and pair.counters["responder"]["refusals"] == 2
        and pair.received == []
    )
    pair.receive(there)
    assert pair.run() and there.data == here.data and pair.received[0].id == 0


@pytest.mark.parametrize("dialect", ["irn", "roce"])
def test_the_pause_after_not_ready_is_the_responders_and_retries_are_counted(dialect):
    pair = verbs.Pair(dialect=dialect, min_rnr_timer="480us", rnr_retry=2)
    here, _ = ends(pair)
    pair.send(here)
    assert pair.run() and [c.status for c in pair.completions] == ["rnr-retry-exceeded"]
    attempts = [p.at_ps for p in pair.sent if p.is_request]
    assert [b - a for a, b in pairwise(attempts)] == [480 * US + 2 * ONE_WAY] * 2
    assert pair.has_failed and pair.counters["requester"]["refusals"] == 3


def test_a_key_is_refused_after_the_send_that_invalidates_it_whatever_is_lost():
    for lost in (["lost"], []):
        pair = verbs.Pair(credits=1, schedule={("request", 0): lost})
        here, there = ends(pair)
        secret = pair.remote(64)
        pair.receive(there)
        pair.send(here, invalidate=secret)
        pair.write(here, secret)
        assert pair.run() and [c.status for c in pair.completions] == ["success", "remote-access"]
        assert secret.data == bytes(64) and there.data == here.data


def test_shared_receive_wqes_are_taken_when_sends_come():
    pair = verbs.Pair(shared_receives=True)
    here, there = ends(pair)
    for n in range(3):
        pair.receive(there[8 * n : 8 * n + 8])
    pair.send(here[:8])
    assert pair.run() and pair.shared_taken == 1
    pair.send(here[8:16])
    assert pair.run() and pair.shared_taken == 2 and there[:16].data == here[:16].data


@pytest.mark.parametrize(("fence", "waits"), [("none", False), ("reads", False), ("all", True)])
def test_a_fence_holds_a_write_behind_a_write(fence, waits):
    pair = verbs.Pair()
    here, there = ends(pair)
    pair.write(here, there)
    pair.write(here, there, fence=fence)
    assert pair.run()
    second = next(p for p in pair.sent if p.psn == 1 and p.is_request)
    assert (second.at_ps >= 2 * ONE_WAY) == waits


def test_a_refused_request_fails_the_pair_and_says_so():
    pair = verbs.Pair()
    here, there = ends(pair)
    secret = pair.remote(64, rights=("read",))
    pair.write(here, there)
    pair.write(here, secret)
    pair.write(here, there)
    pair.run()
    assert [c.status for c in pair.completions] == ["success", "remote-access", "flushed"]
    assert pair.has_failed and secret.data == bytes(64)
    with pytest.raises(ScenarioError, match="the queue pair has failed"):
        pair.write(here, there)


def test_time_passes_as_asked_and_a_dead_path_ends_a_run():
    pair = verbs.Pair(loss=1.0)
    here, there = ends(pair)
    pair.write(here, there)
    pair.wait("50us")
    assert pair.now_ps == 50 * US and len(pair.sent) == 1
    assert pair.step("1us") is None
    assert not pair.run("1ms") and pair.counters["requester"]["timeouts"] > 5
    assert pair.now_ps <= 1051 * US


def test_numbers_wrap_and_only_bits_are_kept_about_what_is_early():
    pair = verbs.Pair(first_request=(1 << 24) - 2, schedule={("request", (1 << 24) - 2): ["lost"]}, mtu=16)
    here, there = ends(pair)
    pair.write(here, there)
    assert pair.step().psn == (1 << 24) - 1 and pair.step().psn == 0
    assert pair.run() and there.data == here.data
    assert pair.expected == 2 and pair.reorder_bits == 2 * 128


def test_owners_see_and_change_their_memory():
    there = verbs.Pair().remote(64)
    there[8:].store(b"abc")
    assert there[7:12].data == b"\0abc\0" and len(there[60:80]) == 4 and there[8:][1:3].data == b"bc"
    with pytest.raises(ScenarioError, match="3 bytes into 2"):
        there[62:].store(b"abc")


def test_headers_by_opcode():
    irn, roce = verbs.header_bytes("irn"), verbs.header_bytes("roce")
    assert (irn["write-middle"], roce["write-middle"], roce["write-first"]) == (28, 12, 28)
    assert irn.keys() - roce.keys() == {"read-acknowledge"}
    with pytest.raises(ScenarioError, match="did you mean `roce`"):
        verbs.header_bytes("rose")


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"dialect": "irm"}, "no dialect is called `irm`; did you mean `irn`?"),
        ({"cab": 3}, "no setting is called `cab`; did you mean `cap`?"),
        ({"mtu": 0}, "mtu must be 1 to 4096 bytes"),
        ({"mtu": -1}, "mtu = -1: must be a whole number"),
        ({"mtu": 1.5}, "mtu = 1.5: must be a whole number"),
        ({"read_slots": 3}, "read_slots must be a power of two"),
        ({"read_slots": 1 << 17}, "read_slots must be a power of two"),
        ({"first_request": 1 << 24}, "first_request = 16777216: must be"),
        ({"rto_low": "1ms"}, "rto_low must be above 0, and at most rto_high"),
        ({"loss": 1.5}, "loss must be 0 to 1"),
        ({"loss": float("nan")}, "loss must be 0 to 1"),
        ({"repeat": "often"}, "repeat = often: must be a number"),
        ({"delay": "12"}, "delay: `12` is not a time: the unit is missing"),
        ({"packet_time": 0}, "packet_time = 0: must be above 0"),
        ({"delay": "2000s"}, "delay = 2000s: must be at most 1000 s"),
        ({"schedule": {("reqest", 1): ["lost"]}}, "did you mean `request`?"),
        ({"schedule": {("request", 1): "lost"}}, "schedule = .*: must be"),
        ({"schedule": {("request", 1): ["gone"]}}, "schedule: `gone` is not a time"),
        ({"min_rnr_timer": "100us"}, "min_rnr_timer = 100us: must be one of the 32 pauses"),
        ({"min_rnr_timer": "100us"}, "the nearest: 80us and 120us"),
        ({"min_rnr_timer": "1s"}, "the nearest: 655360us"),
        ({"rnr_retry": 8}, "rnr_retry = 8: must be a whole number, 0 to 7"),
        ({"refusals": 0}, "refusals must be at least 1"),
        ({"shared_receives": "yes"}, "must be True or False"),
    ],
)
def test_settings_that_cannot_be_are_named(settings, said):
    with pytest.raises(ScenarioError, match=re.escape(said).replace(r"\.\*", ".*")):
        verbs.Pair(**settings)


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda p, here, there: p.write(there, here), "in the requester's memory; register it with `local`"),
        (lambda p, here, there: p.write(here, here), "the responder's memory; register it with `remote`"),
        (lambda p, here, there: p.receive(here), "the responder's; register it with `remote`"),
        (lambda p, here, there: p.write(here, there, fence="al"), "no fence is called `al`; did you mean `all`?"),
        (lambda p, here, there: p.fetch_add(there, 1, here), "an Atomic's buffer has 8 bytes, not 64"),
        (lambda p, here, there: p.fetch_add(there, 1 << 64, here[:8]), "at most 64 bits"),
        (lambda p, here, there: p.send(here, immediate=-1), "at most 32 bits"),
        (lambda p, here, there: p.send(here, 1, there), "not both"),
        (lambda p, here, there: p.remote(8, rights=("wirte",)), "did you mean `write`?"),
        (lambda p, here, there: here[3], "a slice without step"),
        (lambda p, here, there: p.run("soon"), "until: `soon` is not a time"),
        (lambda p, here, there: p.local(-1), "size = -1"),
        (lambda p, here, there: p.remote(8, base=(1 << 64) - 8), "end of the region = 18446744073709551616"),
        (lambda p, here, there: verbs.Pair().write(here, there), "the requester's memory"),
    ],
)
def test_calls_that_cannot_be_say_what_would_do(call, said):
    pair = verbs.Pair()
    with pytest.raises(ScenarioError, match=re.escape(said)):
        call(pair, *ends(pair))
    assert pair.run() and pair.sent == []
