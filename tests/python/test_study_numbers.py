"""Arithmetic of studies, by hand."""

from __future__ import annotations

import math
from typing import ClassVar

import numpy as np
import polars as pl
import pytest

from thalweg.papers import NotCheckable
from thalweg.study import (
    Recorded,
    Series,
    Sizes,
    across_bytes,
    equal_buckets,
    floored_percentile,
    half_interval,
    in_all,
    jain,
    percentile,
    rank_correlation,
    seconds,
    slope,
    steps,
    student,
    thinned_cdf,
    variation,
)
from thalweg.study.sizes import FB_HADOOP, WEB_SEARCH


def test_jains_index_is_one_for_equals_and_an_nth_for_one_alone():
    assert jain([3, 3, 3]) == 1
    assert jain([0, 0, 0, 5]) == 0.25
    assert jain([1, 2]) == 0.9


def test_jains_index_of_rates_that_are_all_zero_is_zero():
    assert jain([0.0, 0.0]) == 0
    assert jain([]) == 0


def test_a_percentile_by_nearest_rank_is_a_value_that_occurred():
    x = [15, 20, 35, 40, 50]
    assert [percentile(x, p) for p in (5, 30, 40, 50, 100)] == [15, 20, 20, 35, 50]
    assert percentile(x, 0) == 15
    assert percentile(range(1, 101), 99) == 99
    assert percentile(range(1, 102), 99) == 100
    assert percentile([5.0], 99.9) == 5


def test_rounding_adds_no_rank():
    assert 0.07 * 100 > 7
    assert percentile(range(1, 101), 7) == 7


@pytest.mark.parametrize("p", [1, 10, 50, 90, 95, 99])
def test_nearest_rank_is_numpys_inverted_cdf(p):
    for n in (1, 2, 3, 10, 99, 100, 101, 1000):
        x = np.random.default_rng(n).permutation(n)
        assert percentile(x, p) == np.percentile(x, p, method="inverted_cdf")


def test_the_floored_percentile_is_one_further_up_where_the_rank_is_whole():
    assert floored_percentile(range(1, 101), 99) == 100
    assert floored_percentile(range(1, 100), 99) == percentile(range(1, 100), 99) == 99


def test_the_interval_of_a_mean_is_students():
    # The tables of Student's distribution, by degrees of freedom.
    for freedom, table in {1: 12.706, 2: 4.303, 3: 3.182, 9: 2.262, 10: 2.228, 19: 2.093, 120: 1.980}.items():
        assert student(freedom) == pytest.approx(table, abs=5e-4)
    assert student(10, 0.99) == pytest.approx(3.169, abs=5e-4)
    # 1 to 10: deviation 3.0277, over sqrt(10) 0.9574, times 2.262.
    assert half_interval(list(range(1, 11))) == pytest.approx(2.1658, abs=1e-4)
    with pytest.raises(ValueError, match="two seeds"):
        half_interval([1.0])


def test_means_across_bytes_and_fits():
    assert across_bytes([1, 3], [10, 2]) == 4
    assert steps([1, 4, 2]) == [3, -2]
    assert slope([0, 1, 2], [1, 3, 5]) == 2
    assert rank_correlation([1, 2, 3], [10, 100, 1000]) == pytest.approx(1)
    assert variation([0, 0, 1, 1], [1, 3, 5, 5]) == 0.25


def test_a_thinned_cdf_ends_at_one():
    x, y = thinned_cdf(np.arange(10_000), points=5)
    assert len(x) == 5
    assert (x[0], x[-1], y[-1]) == (0, 9999, 1)
    x, below = thinned_cdf([3.0, 1.0, 2.0])
    assert (list(x), list(below)) == ([1, 2, 3], [1 / 3, 2 / 3, 1])


# --- Sizes --------------------------------------------------------------------------------------------------


def test_the_mean_of_a_distribution_is_the_area_under_its_straight_lines():
    assert Sizes((0, 0), (10, 50), (30, 100)).mean == 0.5 * 5 + 0.5 * 20
    assert WEB_SEARCH.mean == 1_711_250.0
    assert FB_HADOOP.mean == pytest.approx(120_420.75, abs=1e-9)


def test_drawn_sizes_are_at_least_one_byte_and_have_the_mean():
    random = np.random.default_rng(1)
    assert np.mean([WEB_SEARCH.draw(random) for _ in range(20_000)]) == pytest.approx(WEB_SEARCH.mean, rel=0.05)
    assert Sizes((0, 0), (0.1, 100)).draw(random) == 1


def test_classes_reach_from_knot_to_knot_their_upper_edges_included():
    found = Sizes((0, 0), (10, 50), (30, 100)).classes(np.array([10, 11, 30, 1]))
    assert {edge: list(which) for edge, which in found.items()} == {10: [0, 3], 30: [1, 2]}


def test_only_classes_with_enough_flows_under_every_scheme_decide():
    classes = Sizes((0, 0), (10, 50), (30, 100)).classes
    found = in_all({"a": np.array([1, 2, 20, 20]), "b": np.array([20, 20, 5])}, classes, 2)
    assert {scheme: {edge: list(x) for edge, x in of.items()} for scheme, of in found.items()} == {
        "a": {30: [2, 3]},
        "b": {30: [0, 1]},
    }
    assert in_all({"a": np.array([1]), "b": np.array([1])}, classes, 2) == {"a": {}, "b": {}}


def test_buckets_of_equal_probability_hold_equally_many_flows():
    size = np.random.default_rng(3).permutation(np.arange(1, 101))
    buckets = equal_buckets(size, 10)
    assert buckets == [(10 * n, 10 * n + 10) for n in range(10)]
    assert [int(((size > low) & (size <= high)).sum()) for low, high in buckets] == [10] * 10


def test_a_size_with_more_than_its_share_makes_fewer_buckets():
    assert equal_buckets([1, 1, 1, 1, 1, 1, 2, 9], 4) == [(0, 1), (1, 9)]
    with pytest.raises(NotCheckable, match="3 flows do not fill 4 buckets"):
        equal_buckets([1, 2, 3], 4)


# --- Series -------------------------------------------------------------------------------------------------


def test_a_series_settles_after_the_last_sample_that_is_off():
    found = Series(np.array([0.0, 1, 2, 3]), np.array([5.0, 10.4, 8.0, 10.0]))
    assert found.settled(10, 0.05) == 2
    assert found.settled(10, 0.05, begin=1, end=2) == 0
    assert found.settled(10, 0.5) == 0
    assert list(found.within(1, 2)) == [10.4, 8.0]
    assert list(found.within(3)) == [10.0]


def test_times_as_scenarios_write_them():
    assert [seconds(text) for text in ("1.5s", "20ms", "0ps")] == [1.5, 0.02, 0]
    assert math.isclose(seconds("40us"), 40e-6)


class Tables(dict):
    """A run of two switches: ports 0 and 1 are the first one's, port 2 the other's."""

    summary: ClassVar[dict] = {}

    @property
    def tables(self):
        return self


QUEUES = {"time_ps": [0, 0, 0, 10**9, 10**9, 10**9], "port": [0, 1, 2, 0, 1, 2], "bytes": [1, 2, 4, 8, 16, 32]}
PACES = {"time_ps": [0, 10**9, 0, 10**9], "flow": [3, 3, 5, 5], "pace": [10**9, 2 * 10**9, 0, 0]}
PACES |= {"delivered": [0, 125_000, 0, 250_000]}


def test_what_a_run_recorded_is_read_in_seconds_bytes_and_gigabits():
    run = Recorded(Tables(queues=pl.DataFrame(QUEUES), controllers=pl.DataFrame(PACES)))
    assert run.held(np.array([0, 0, 1])).tolist() == [[3, 4], [24, 32]]
    assert run.held(np.array([0, 0, 1]), begin=1e-3).tolist() == [[24, 32]]
    assert [x.tolist() for x in run.queue(2)] == [[0, 1e-3], [4, 32]]
    assert run.pace(3).values.tolist() == [1, 2]
    assert run.flows().tolist() == [3, 5]
    assert run.throughput(0, 1e-3, on_wire=1.5) == pytest.approx([1.5, 3])


def test_utilisation_is_of_the_time_since_the_sample_before():
    links = {"time_ps": [0, 10**9, 2 * 10**9], "port": [1, 1, 1], "bytes": [0, 125_000, 125_000]}
    found = Recorded(Tables(links=pl.DataFrame(links))).utilisation(2)
    assert (found.at.tolist(), found.values.tolist()) == ([1e-3, 2e-3], [0.5, 0])
