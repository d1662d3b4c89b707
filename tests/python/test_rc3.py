"""The arithmetic of the study of RC3, by hand."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

from conftest import assert_whole
from thalweg import _core, papers

FOLDER = Path(__file__).parents[2] / "papers" / "rc3"
PAPER = papers.find(str(FOLDER))


def part(name: str):
    return PAPER.module(name)


@pytest.mark.parametrize("scale", ["quick", "full"])
def test_the_study_is_whole(scale):
    assert_whole(PAPER, scale)


# --- model.py -----------------------------------------------------------------------------------------------


def test_the_model_gives_the_bars_of_the_authors_table():
    model = part("model")
    for size, gain in model.PUBLISHED.items():
        assert model.gain(size // 1460) == pytest.approx(gain, abs=0.05)


def test_a_flow_of_five_packets_gains_a_round_trip():
    rc3, tcp = part("model").completion(5)
    assert rc3 == pytest.approx(0.060 + 5 * 12000 / 0.7e9)
    assert tcp - rc3 == pytest.approx(0.040, rel=0.01)


def test_the_stated_gain_has_its_peak_at_the_pipe():
    model = part("model")
    pipe = 0.7e9 * 0.040 / 12000
    assert model.idealised(4) == 0
    assert model.idealised(8) == 1
    assert model.idealised(pipe / 2) < model.idealised(pipe) > model.idealised(2 * pipe)


# --- networks.py --------------------------------------------------------------------------------------------


def test_the_rule_reproduces_all_sixteen_rates_of_internet2():
    networks = part("networks")
    rates = [line.split(",")[2] for line in networks.graph(list(networks.INTERNET2)).split() if line.startswith("r")]
    published = (5556, 7778, 14445, 3334, 3334, 5556, 1112, 3334, 5556, 4445, 10000, 14445, 1112, 8889, 2223, 7778)
    assert rates == [f"{mbps}Mbps" for mbps in published]


def test_the_files_are_what_the_generator_writes():
    for name, text in part("networks").networks().items():
        assert (FOLDER / "scenarios" / f"{name}.csv").read_text(encoding="utf-8") == text, name


@pytest.mark.parametrize("name", ["redclara", "esnet", "telstra"])
def test_a_stand_in_has_forty_milliseconds_on_average(name):
    networks = part("networks")
    links = {"redclara": list(networks.REDCLARA), "esnet": networks.esnet(), "telstra": networks.telstra()}[name]
    n = 1 + max(max(link) for link in links)
    delay = float(networks.graph(links).split()[-1].split(",")[3].removesuffix("us")) / 1000
    mean = sum(map(sum, networks.hops(links, n))) / n**2
    assert 2 * (2 + delay * mean) == pytest.approx(40, abs=0.02)


# --- outcome.py ---------------------------------------------------------------------------------------------


class Fake:
    """What a measure reads of a run."""

    def __init__(self, name: str, fct, status=None):
        self.path = self.digest = name
        self.summary = {"simulated_seconds": 10.0}
        n = len(fct)
        self.fct = fct
        self.flows = pl.DataFrame(
            {
                "measured": [True] * n,
                "status": status or ["completed"] * n,
                "start_ps": [1000 * k for k in range(n)],
                "src": [0] * n,
                "dst": [1] * n,
                "size": [1460, 2920, 7300][:n],
                "group": [0] * n,
            }
        )

    def seconds(self, column: str):
        return pl.Series(self.fct).to_numpy()


def test_flows_that_did_not_end_in_both_runs_do_not_count():
    outcome = part("outcome")
    before = Fake("before", [1.0, 2.0, 4.0])
    after = Fake("after", [0.5, 2.0, 9.0], ["completed", "completed", "censored"])
    pair = outcome.Pair((before, after))
    assert (pair.count, pair.left_out) == (2, 1)
    assert pair.flows() == pytest.approx(100 * (1 - 1.25 / 1.5))
    assert pair.bytes() == pytest.approx(100 * (1 - (0.5 + 4) / (1 + 4)))
    assert pair.sized(1460) == pytest.approx(50)


def test_other_flows_are_no_pair():
    outcome = part("outcome")
    with pytest.raises(ValueError, match="same flows"):
        outcome.Pair((Fake("three", [1.0, 2.0, 4.0]), Fake("two", [1.0, 2.0])))


# --- theory -------------------------------------------------------------------------------------------------


def test_the_worked_example_and_the_properties_hold_in_the_engine():
    for name in part("theory").EXACT:
        assert _core.theory_run(name, True, 1)["upheld"], name
