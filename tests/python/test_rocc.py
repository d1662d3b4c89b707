"""The study of RoCC: its fluid model against hand-made numbers, and what it writes."""

from pathlib import Path

import numpy as np
import pytest

import thalweg
from thalweg import papers

FOLDER = Path(__file__).parents[2] / "papers" / "rocc"


def part(name):
    """A module of the study, as `thalweg reproduce` imports it."""
    return papers.find(str(FOLDER)).module(name)


def test_the_fluid_converges_as_fast_as_computed_by_hand_from_the_constants():
    fluid = part("fluid")
    for n, ms in [(2, 6.1), (3, 5.0), (10, 3.0)]:
        assert fluid.convergence(fluid.Fluid.at(40), n) * 1e3 == pytest.approx(ms, rel=0.05), n
    # Without the collapse to F_min.
    assert fluid.convergence(fluid.Fluid.at(40, decreases=False), 2) * 1e3 == pytest.approx(0.8, rel=0.1)


def test_the_margin_is_gone_at_360_flows_of_40_and_240_of_100_gbps():
    fluid = part("fluid")
    assert fluid.Fluid.at(40).most() == pytest.approx(360, rel=0.03)
    assert fluid.Fluid.at(100).most() == pytest.approx(240, rel=0.03)
    assert fluid.Fluid.at(100).margin(64) > 35


def test_regions_are_those_of_algorithm_1():
    ratio = part("fluid").Fluid.at(40).ratio
    assert [ratio(f) for f in (4000, 2000, 1999, 1000, 999, 250, 249, 124, 10)] == [1, 1, 2, 2, 4, 8, 16, 32, 32]


def test_the_fluid_rests_at_the_set_point():
    at, fair, queue = part("fluid").Fluid.at(40).run(10, 0.01)
    last = at > 0.008
    assert np.allclose(fair[last], 400, rtol=0.01) and np.allclose(queue[last], 250, rtol=0.02)


def test_timelys_hyper_active_step_is_five_of_its_steps_on_any_link():
    for gbps in (10, 40, 100):
        timely = part("settings").scheme("timely", gbps)["transport.congestion"]
        assert (timely["additive"], timely["hyper"]["step"]) == (f"{gbps}Mbps", f"{5 * gbps}Mbps")


def test_dcqcn_with_pi_holds_the_mean_queue_of_ten_flows_within_a_fifth_of_its_set_point():
    settings = part("settings")
    made = settings.star(10, 40, 40) | settings.scheme("dcqcn-pi")
    queues = thalweg.run(FOLDER / "scenarios" / "star.toml", set=made, progress=False).tables["queues"]
    late = queues.filter(queues["time_ps"] >= 20_000_000_000)
    assert 80e3 <= late["bytes"].mean() <= 120e3
