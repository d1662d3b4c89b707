"""The arithmetic of the study of REPS, by hand."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import thalweg
from conftest import assert_whole
from thalweg import papers

FOLDER = Path(__file__).parents[2] / "papers" / "uet"
PAPER = papers.find(str(FOLDER))


def part(name: str):
    return PAPER.module(name)


@pytest.mark.parametrize("scale", ["quick", "full"])
def test_the_study_is_whole(scale):
    """But for the two figures of balls, which need no runs."""
    figures = part("figures")._thalweg_figures
    balls = {name: figures.pop(name) for name in ("fig17", "fig18")}
    try:
        assert_whole(PAPER, scale)
    finally:
        figures.update(balls)


def test_every_failure_has_its_cause():
    for claim in PAPER.claims:
        assert bool(claim.known) == bool(claim.cause), claim.id


# --- settings.py --------------------------------------------------------------------------------------------


def test_ports_of_a_racks_uplinks_follow_those_of_the_hosts():
    settings = part("settings")
    assert settings.uplink_ports(128, 0, 8) == [256, 258, 260, 262, 264, 266, 268, 270]
    assert settings.uplink_ports(32, 2, 4) == [80, 82, 84, 86]


def test_no_two_racks_lose_their_last_common_spine():
    settings = part("settings")
    found = settings.cables(4, 3)
    gone = settings.apart(found, 0.9, 1)
    alive = {leaf: {s for a, s in found if a == leaf} - {s for a, s in gone if a == leaf} for leaf, _ in found}
    assert all(alive[a] & alive[b] for a in alive for b in alive if a != b)
    # 90 % of twelve would be eleven: more than can go.
    assert len(gone) < 11
    assert len(settings.apart(settings.cables(32, 32), 0.2, 1)) == 205


def test_half_a_cable_has_half_the_rate_queue_and_thresholds():
    (link,) = part("settings").slow([("leaf0", "spine1")])["link"]
    assert link["transmitter"]["rate"] == "200Gbps"
    assert link["buffer"] == "208000B"
    assert (link["marking"]["min"], link["marking"]["max"]) == ("41600B", "166400B")


def test_reps_has_a_rule_of_its_own_only_where_the_choice_differs():
    made = part("settings").reps(exit_after="100us")
    assert made == {"transport.path_selection": {"kind": "reps", "exit_after": "100us"}}


# --- loads.py -----------------------------------------------------------------------------------------------


def finished(text: str, tmp_path, hosts: int) -> np.ndarray:
    file = tmp_path / "job.goal"
    file.write_text(text)
    topology = {"kind": "star", "hosts": hosts, "rate": "100Gbps", "delay": "1us"}
    scenario = {"topology": topology, "traffic": [{"kind": "goal", "file": str(file)}], "run": {"until": "10ms"}}
    return thalweg.run(thalweg.Scenario.from_dict(scenario), progress=False).flows


def test_an_all_to_all_has_a_flow_for_each_pair(tmp_path):
    flows = finished(part("loads").exchange(4, 2, 5000), tmp_path, 4)
    pairs = set(flows.select("src", "dst").rows())
    assert pairs == {(a, b) for a in range(4) for b in range(4) if a != b}
    # Two at a time: of each host's three flows the last one waits.
    assert (flows["start_ps"] > 0).sum() == 4


def test_a_butterfly_doubles_its_distance(tmp_path):
    flows = finished(part("loads").doubling(8, 5000), tmp_path, 8)
    assert len(flows) == 8 * 3
    assert sorted({a ^ b for a, b in flows.select("src", "dst").rows()}) == [1, 2, 4]


# --- balls.py -----------------------------------------------------------------------------------------------


def test_recycled_balls_stay_where_they_were():
    """A colour for each bin, and a threshold that none reaches: nothing moves, and bins with two of them fill up."""
    balls = part("balls")
    _, total = balls.recycled(8, 1, 100, 50)
    assert len(set(np.diff(total)[20:])) == 1


def test_as_many_balls_come_as_the_load_says():
    """A single bin at full load stays as it is, at half load it is empty."""
    balls = part("balls")
    assert balls.thrown(1, 20, 3, 1.0).tolist() == [0.0] * 20
    assert balls.thrown(1, 20, 3, 0.5).max() == 0.0
    assert balls.thrown(2, 200, 20, 1.0)[-1] > 3


def test_a_threshold_of_nothing_is_chance():
    balls = part("balls")
    assert balls.each_thrown(8, 400)[-1].max() > 2 * balls.kept(8, 5, 400)[-1].max()


# --- ultra.py -----------------------------------------------------------------------------------------------


def test_first_windows_overshoot_by_what_no_link_and_no_queue_takes():
    """Eight windows of 1.5 products, of which one leaves and one waits: 10 products."""
    ultra = part("ultra")
    rtt = 4.33
    product = 400e9 * rtt * 1e-6 / 8 / 4160
    assert ultra.overshoot(ultra.DEGREES[0], rtt) == pytest.approx(10 * product)


def test_an_order_is_as_good_as_its_smallest_step():
    found = {"a": 1.0, "b": 1.2, "c": 1.5, "d": 1.4}
    steps = part("ultra").ranked(found, "a", ("b", "d"), "c")
    assert steps["smallest step of the order"] == pytest.approx(1.5 / 1.4)
    assert steps["b|d / a"] == pytest.approx(1.2)
