"""The study `worlds`: what it reads of an emulated run, when it does not believe one, and what it says where it cannot
run one."""

from pathlib import Path

import pytest

import thalweg
from thalweg import emulation, papers

FOLDER = Path(__file__).parents[2] / "papers" / "worlds"
PAPER = papers.find(str(FOLDER))
STUDY = PAPER.module("study")
EMULATED, COMPARED, CELLULAR = (PAPER.module(name) for name in ("emulated", "compared", "cellular"))


def way(series=(), counts=(), late_ms=0.0, **lost):
    statistics = {"overrun": 0, "unfinished": 0, "series": [{"bytes": b} for b in series]} | lost
    lateness = {"histogram": {"p50_ns": 1e3, "p99_ns": late_ms * 1e6}}
    return {"statistics": statistics | {"waited": {"counts": counts}}, "lateness": lateness, "delay_ns": 10_000_000}


def passage(**up):
    return EMULATED.Passage({"up": way(**up), "down": way()}, load=0.5)


def test_the_rate_is_counted_from_the_first_data_on():
    # A handshake, half a bin of data, three whole ones, and what comes behind them.
    found = passage(series=[0, 60, 62_500, 125_000, 125_000, 125_000, 125_000])
    # 62.5 + 2 * 125 KB, and half of the 125 KB behind: 375 KB in 0.3 s.
    assert found.rate(0.3) == pytest.approx(10.0)


def test_the_median_wait_lies_within_its_counter_in_proportion():
    # 32 768 to 33 791 ns is one counter: ten of twenty in it are below its middle.
    found = passage(counts=[[20_000, 10], [33_791, 20], [50_000, 10]])
    assert found.delay() == pytest.approx((33_791 - 512) / 1e6)
    assert found.delay(0.25) == pytest.approx(0.02)


def test_a_delay_is_apart_in_parts_of_a_tenth_or_of_two_milliseconds():
    assert COMPARED.apart(40.0, 44.0) == pytest.approx(1.0)
    assert COMPARED.apart(5.0, 3.0) == pytest.approx(-1.0)


@pytest.mark.parametrize(
    ("up", "said"),
    [({}, None), ({"late_ms": 1.0}, None), ({"late_ms": 1.1}, "late by 1.1 ms"), ({"overrun": 1}, "lost packets")],
)
def test_a_run_that_the_emulator_disturbed_is_not_believed(up, said):
    why = passage(**up).disturbed
    assert (why is None) if said is None else (said in why)


def test_a_run_that_the_machine_was_too_busy_for_is_made_again_and_one_that_is_kept_is_not(tmp_path, monkeypatch):
    made = []

    def perform(place, *_):
        made.append(place.name)
        place.mkdir(parents=True, exist_ok=True)
        up = way(late_ms=3.0 if len(made) == 1 else 0.1)
        (place / "outcome.json").write_text(EMULATED.json.dumps({"up": up, "down": way()}))
        return ""

    class Simulated:
        scenario_toml = 'name = "100-20-2:cubic"'

    monkeypatch.setattr(EMULATED, "check", lambda _: None)
    monkeypatch.setattr(EMULATED, "_perform", perform)
    assert EMULATED.emulated(tmp_path, Simulated, "cubic", 12).late == (1.0, 100.0)
    assert EMULATED.emulated(tmp_path, Simulated, "cubic", 12).late == (1.0, 100.0)
    assert made == ["100-20-2-cubic", "100-20-2-cubic"]
    EMULATED.emulated(tmp_path, Simulated, "cubic", 10)
    assert len(made) == 3, "another run"


def test_a_machine_that_cannot_run_it_says_why_and_nothing_passes(tmp_path, monkeypatch):
    monkeypatch.setattr(EMULATED._core, "emulate_refusal", lambda: "network namespaces are not allowed here")
    rows = papers.reproduce(
        PAPER, claim="WORLDS-10-20-2-kernel-cubic", scale="full", draw=False, out=tmp_path / "o"
    ).claims
    assert [r.status for r in rows] == ["not-checkable"]
    assert rows[0].reason == "not checkable here: network namespaces are not allowed here"


def test_claims_and_measures_are_the_same_and_quick_ones_are_of_two_paths():
    measures = STUDY._thalweg_measures
    assert measures.keys() == {c.id for c in PAPER.claims}
    quick = {c.id for c in PAPER.claims if c.scales is None}
    settings = PAPER.module("settings")
    assert quick == {f"WORLDS-{path}-{sender}" for path in settings.QUICK for sender in settings.SENDERS}


def test_every_path_is_emulated_as_it_is_simulated():
    for spec in STUDY.runs("full"):
        if spec.prepare is None:
            scenario = thalweg.Scenario.load(FOLDER / spec.scenario, spec.set)
            forward, _ = emulation.ports(scenario, EMULATED.PORTS)
            assert forward["bps"] == int(spec.set["topology.bottleneck_rate"].removesuffix("Mbps")) * 1_000_000
