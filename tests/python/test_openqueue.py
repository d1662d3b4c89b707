"""The study of OpenQueue: its oracle against schedules by hand, its claims against the list that they come from."""

import importlib
import re
from pathlib import Path

import pytest

from thalweg import papers, policies

ROOT = Path(__file__).parents[2]
PAPER = papers.find("openqueue")
# Claims as they were taken from the published text; next to the project.
LIST = ROOT.parent / "shared" / "claims" / "openqueue.md"


def part(name):
    return PAPER.module(name)


def test_the_oracle_drops_and_serves_as_by_hand():
    oracle = part("oracle")
    switch = oracle.Switch([oracle.Queue(2)], [[0]])
    packets = {"at": [0, 0, 0, 1], "queue": [0] * 4, "processing": [2, 1, 1, 1], "size": [1] * 4}
    # Two wait, the third is given up; the first needs cycles 0 and 1. At 1 both still wait, so the fourth is given up.
    assert oracle.run(switch, packets) == ({0: 2, 1: 3}, {2: 0, 3: 1})
    short = oracle.Switch([oracle.Queue(2, oracle.srpt, oracle.srpt)], [[0]])
    # The longest is pushed out by the third; then one cycle each. The fourth finds one waiting.
    assert oracle.run(short, packets) == ({1: 1, 2: 2, 3: 3}, {0: 0})


def test_the_oracle_takes_from_the_longest_queue_its_own_if_they_tie():
    oracle = part("oracle")
    queues = [oracle.Queue(9, in_packets=False) for _ in range(2)]
    switch = oracle.Switch(queues, [[0], [1]], memory=9, refuses=False)
    packets = {"at": [0, 0, 0], "queue": [0, 1, 1], "processing": [9, 9, 9], "size": [5, 4, 1]}
    # 5 and 4 fit; with 1 more both have 5: the arriving packet's own gives up its last.
    assert oracle.run(switch, packets)[1] == {2: 0}


def test_the_best_choice_is_found_by_trying_all():
    most = part("properties").most
    # One place: of works 3 and 1 the 1 is kept and done in its slot; then 2 in two more.
    assert most([[3, 1], [2], []], 0, (), 1, {}) == 2
    assert most([[3], [], []], 0, (), 1, {}) == 1
    assert most([[3], []], 0, (), 1, {}) == 0


def test_bursts_have_the_mean_rate_that_they_should_and_clients_do_not_share_draws():
    line = part("line")
    packets = line.on_off(4, 1500, 200e6, 5.0, 1)
    assert packets["size"].sum() * 8 / 5.0 == pytest.approx(4 * 200e6, rel=0.15)
    assert (packets["at_ps"][1:] >= packets["at_ps"][:-1]).all()
    alone = line.on_off(1, 1500, 200e6, 5.0, 1)
    assert (packets["at_ps"][packets["flow"] == 0] == alone["at_ps"]).all()


@pytest.mark.parametrize("name", ["fifo", "algorithm-c", "density", "wfq"])
def test_a_simulated_port_decides_as_the_datapath(name):
    found = part("simulated").compared(name, 150)
    assert found["packets"] == 600 and found["dropped"] > 10
    assert found["differences"] == 0


def test_what_a_simulated_port_refuses_is_what_is_left_out():
    simulated = part("simulated")
    assert {name for name in policies.names() if simulated.is_refused(name)} == set(simulated.REFUSED)


def test_every_claim_has_a_measure_and_every_measure_a_claim():
    study, figures = PAPER.module("study"), PAPER.module("figures")
    assert study.runs("quick") == []
    assert study._thalweg_measures.keys() == {c.id for c in PAPER.claims if not c.unchecked}
    for drawn in figures._thalweg_figures.values():
        assert any(papers._paper.belongs(drawn, claim) for claim in PAPER.claims)


@pytest.mark.skipif(not LIST.is_file(), reason="the list of claims is not beside the project")
def test_every_claim_of_the_list_is_in_the_study():
    rows = re.findall(r"^\| (OQ-[^ |]+) \|", LIST.read_text(encoding="utf-8"), flags=re.MULTILINE)
    wanted = set()
    for row in rows:
        first, *more = row.split("/")
        wanted |= {first, *(re.sub(r"\d+$", n, first) for n in more)}
    assert len(wanted) >= 28
    assert wanted - {c.id for c in PAPER.claims} == set()


def test_a_bound_can_fail(monkeypatch):
    """An order that is turned round is found by the claims about it."""
    language = importlib.import_module(part("language").__name__)
    monkeypatch.setitem(
        language.WRONG, "names: two queues", ("q = Queue(9); r = Queue(9); out = Port(q, r);", "duplicate")
    )
    claim = next(c for c in PAPER.claims if c.id == "OQ-GEN")
    assert claim.judge(language.mistakes_are_found(None)) == ["refused for it = 9, must be ≥ 10"]
    differential = part("differential")
    oracle = part("oracle")
    monkeypatch.setattr(oracle, "fifo", oracle.rfifo)
    turned = lambda: oracle.Switch([oracle.Queue(8, oracle.rfifo, oracle.rfifo)], [[0]])  # noqa: E731
    policy = part("settings").written(differential.one("fifo", "q.congestion = tailDrop;"))
    packets = differential.slotted(policy, 200, 1.5, 1, processing=1)
    assert differential.differences(policy, turned, packets, "bytecode") > 50
