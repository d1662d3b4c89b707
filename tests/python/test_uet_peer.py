"""Ultra Ethernet's transport next to the consortium's simulator: pinned runs one by one, sprayed ones with its three
seeds as yardstick."""

from __future__ import annotations

import sys
from functools import cache
from itertools import pairwise
from pathlib import Path
from statistics import mean

import pytest

sys.path.insert(0, str(Path(__file__).parents[1] / "reference"))
from peer_uet import MTU, PINNED, PINS, SCHEMES, SETS, SPRAYED, lone, ours, peers
from replay import DATA, read

pytestmark = pytest.mark.skipif(
    not (DATA / "uet").is_dir(), reason=f"no reference data in {DATA / 'uet'} (THALWEG_REFERENCE)"
)

# Which flow wins a place hangs on ties and phases of packets of one size: with starts shifted by up to 2 ns the mean
# moves by as much.
BY_TIES = {("incast8trim", "const_pin"): 0.05, ("incast8drop", "nscc_pin"): 0.05}
# A tenth more timeouts than there, not explained (tests/reference/README.md).
UNEXPLAINED = {("perm32drop", "both_pin"): 0.06}

# The peer charges value 0 for every timeout: thalweg does not, and is faster.
FASTER = {("dead32", "nscc_bitmap"), ("dead32", "nscc_mixed")}


@pytest.fixture(scope="module")
def both():
    def runs(name: str, scheme: str):
        # Hashes are drawn anew for each seed, ties too: three are few where the spread is a yardstick.
        seeds = {"incast8": 6, "slow32": 6}.get(name, SETS[name].runs)
        return peers(name, scheme), [ours(name, scheme, seed) for seed in range(1, seeds + 1)]

    return cache(runs)


def means(runs) -> list[float]:
    return [run.figures()["mean"] for run in runs]


@pytest.mark.parametrize("scheme", PINS)
@pytest.mark.parametrize("name", PINNED)
def test_pinned(both, name, scheme):
    (theirs,), (own,) = both(name, scheme)
    assert means([own])[0] == pytest.approx(means([theirs])[0], rel=(BY_TIES | UNEXPLAINED).get((name, scheme), 0.025))
    assert own.trims == pytest.approx(theirs.trims, rel=0.05)
    assert own.resent == pytest.approx(theirs.resent, rel=0.12)


def test_most_pinned_runs_are_within_half_a_per_cent(both):
    off = {}
    for name in PINNED:
        for scheme in PINS:
            a, b = (means(runs)[0] for runs in both(name, scheme))
            off[name, scheme] = abs(b / a - 1)
    assert sum(value <= 0.005 for value in off.values()) >= 14, off
    assert sum(value <= 0.01 for value in off.values()) >= 20, off


def test_where_a_queue_drops_all_flows_of_a_fixed_window_are_equal(both):
    """Every drop, timeout and ACK falls as there; a request to send, 1.28 ns, may come earlier or later."""
    for name, scheme in [("incast8drop", "const_pin"), ("incast8det", "const_pin")]:
        (theirs,), (own,) = both(name, scheme)
        assert own.fcts == pytest.approx(theirs.fcts, abs=1.3)


@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize("name", SPRAYED)
def test_sprayed(both, name, scheme):
    theirs, own = map(means, both(name, scheme))
    if (name, scheme) in FASTER:
        assert 0.8 * mean(theirs) < mean(own) < mean(theirs)
        return
    within = min(own) <= max(theirs) and min(theirs) <= max(own)
    assert within or mean(own) == pytest.approx(mean(theirs), rel=0.02), (theirs, own)


@pytest.mark.parametrize("scheme", [scheme for scheme in SCHEMES if not scheme.endswith("notrim")])
@pytest.mark.parametrize("name", ["incast8", "incast32", "slow32"])
def test_as_much_is_trimmed(both, name, scheme):
    theirs, own = both(name, scheme)
    trims = [[run.trims for run in runs] for runs in (theirs, own)]
    within = min(trims[1]) <= max(trims[0]) and min(trims[0]) <= max(trims[1])
    assert within or mean(trims[1]) == pytest.approx(mean(trims[0]), rel=0.05), trims


def orders(both, name: str, *groups) -> None:
    """Each group's schemes are faster than those of the next, in means over the seeds."""
    figures = [[mean(means(both(name, scheme)[1])) for scheme in group] for group in groups]
    for (a, b), names in zip(pairwise(figures), pairwise(groups), strict=True):
        assert max(a) < min(b), (names, a, b)


def test_recycling_beats_spraying_and_that_beats_hashing(both):
    orders(both, "perm32", ["nscc_reps1"], ["nscc_mixed"], ["nscc_obl"], ["nscc_ecmp"])
    orders(both, "perm128", ["nscc_mixed"], ["nscc_obl"], ["nscc_ecmp"])
    orders(both, "slow32", ["nscc_ar", "nscc_reps1"], ["nscc_mixed", "nscc_bitmap", "rccc_obl"], ["nscc_reps"])
    orders(both, "slow32", ["nscc_reps"], ["nscc_obl"], ["nscc_notrim"])
    orders(both, "dead32", ["nscc_reps1"], ["nscc_reps"], ["rccc_obl"], ["nscc_obl", "nscc_ar"])


@pytest.mark.parametrize(("name", "size"), [("incast8", 1_000_000), ("incast32", 300_000)])
@pytest.mark.parametrize("scheme", [scheme for scheme in SCHEMES if scheme.startswith(("nscc", "rccc", "both"))])
def test_an_incast_ends_when_its_link_has_carried_it(both, name, size, scheme):
    if scheme.endswith(("notrim", "ecmp")):  # timeouts, and uplinks that two of them share
        return
    own = SETS[name]
    flows = 8 if name == "incast8" else 32
    busy = flows * (size // (MTU - 64)) * MTU * 8 / own.gbps
    for run in both(name, scheme)[1]:
        last = run.figures()["max"]
        # The peer's: one to three and a half round trips more, now and then four.
        assert busy < last < busy + 4.5 * own.rtt, (last, busy)
        if not scheme.startswith("nscc"):
            assert last / run.figures()["mean"] < 1.05


def test_a_lone_flow_takes_as_long_to_the_picosecond():
    """With credits to a hundredth of a per cent: there a quantum takes whole picoseconds."""
    for row in read("uet", "lone.csv"):
        window, credits = lone(row, "nscc_obl"), lone(row, "rccc_obl")
        if row["size_bytes"] == "4087":  # the second packet, of one byte, may take another path
            assert window == pytest.approx(float(row["nscc"]), abs=6)
            continue
        assert window == pytest.approx(float(row["nscc"]), abs=0.001), row
        assert credits == pytest.approx(float(row["rccc"]), rel=2e-4), row
