"""Statements about schedulers, run by the engine."""

import pytest

from thalweg import _core


def test_every_statement_has_a_name_and_words():
    checks = dict(_core.theory_checks())
    assert {"UPS-TH3a", "UPS-TH5a", "UPS-F7a", "UPS-H1a", "UPS-L3"} <= checks.keys()
    assert all(checks.values())


def test_what_a_claim_can_be_judged_by():
    example = _core.theory_run("UPS-TH5b", quick=True, seed=1)
    assert example["upheld"]
    # With and without preemption c2 is late, in the definition and in the simulator.
    assert (example["violations"], example["schedule_differences"], example["overdue"]) == (0, 0, 2)
    assert example["engine_runs"] > 0


def test_random_statements_depend_on_the_seed_and_only_on_it():
    one, again, other = (_core.theory_run("UPS-TH4b", quick=True, seed=s) for s in (1, 1, 2))
    assert one == again
    assert one["overdue"] != other["overdue"]
    assert one["packets"] >= 10_000
    assert one["found"] > 0


def test_an_unknown_statement_is_named():
    with pytest.raises(KeyError, match="UPS-nothing"):
        _core.theory_run("UPS-nothing", quick=True, seed=1)
