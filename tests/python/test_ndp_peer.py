"""NDP next to the Ultra Ethernet consortium's simulator: distributions, with its three runs as yardstick."""

from __future__ import annotations

import sys
from functools import cache
from pathlib import Path
from statistics import mean

import pytest

sys.path.insert(0, str(Path(__file__).parents[1] / "reference"))
from peer_ndp import SETS, ours, peers
from replay import DATA

pytestmark = pytest.mark.skipif(
    not (DATA / "uet").is_dir(), reason=f"no reference data in {DATA / 'uet'} (THALWEG_REFERENCE)"
)


@pytest.fixture(scope="module")
def both():
    return cache(lambda name: (peers(name), [ours(name, seed) for seed in (1, 2, 3)]))


def figure(runs, name: str) -> float:
    return mean(run.figures()[name] for run in runs)


@pytest.mark.parametrize("name", SETS)
@pytest.mark.parametrize("what", ["mean", "p50", "end"])
def test_completion_times(both, name, what):
    theirs, own = both(name)
    assert figure(own, what) == pytest.approx(figure(theirs, what), rel=0.02)


@pytest.mark.parametrize("name", [name for name in SETS if name != "a2a16"])
def test_the_longest(both, name):
    """(Where flows follow each other it hangs on which three of them meet, and moves by a tenth from run to run.)"""
    theirs, own = both(name)
    assert figure(own, "max") == pytest.approx(figure(theirs, "max"), rel=0.05)


@pytest.mark.parametrize("name", SETS)
def test_every_packet_that_is_trimmed_is_sent_again_once(both, name):
    theirs, own = both(name)
    assert all(run.trims == run.resent for run in theirs + own)


@pytest.mark.parametrize("name", ["incast8", "incast32", "a2a16"])
def test_as_much_is_trimmed(both, name):
    theirs, own = both(name)
    assert mean(run.trims for run in own) == pytest.approx(mean(run.trims for run in theirs), rel=0.05)
