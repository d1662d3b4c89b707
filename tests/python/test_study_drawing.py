"""Figures of the kit: axes that show what a claim is about."""

import numpy as np

from thalweg.study import interval
from thalweg.study.drawing import distributions, over_time, panels, there

AT = np.array([0.0, 0.001, 0.002])
SERIES = {"a": [(AT, np.array([10.0, 1.0, 1.0])), (AT, np.array([9e6, 150e3, 150e3]))]}


def test_an_axis_that_ends_below_a_burst_says_how_high_it_goes():
    fig = over_time(SERIES, ["rate", "queue (KB)"], [[1], [150]], scales=(1, 1e-3), tops=(None, 450))
    rate, queue = fig.axes
    assert queue.get_ylim() == (0, 450) and queue.get_title("right") == "highest a: 9000"
    assert rate.get_ylim()[1] > 10 and rate.get_title("right") == ""
    fig = over_time(SERIES, ["rate", "queue (KB)"], scales=(1, 1e-3), tops=(None, 9001))
    assert fig.axes[1].get_title("right") == "", "nothing lies above"


def test_what_is_published_is_named_where_there_is_some():
    def names(fig):
        return [text.get_text() for text in fig.legends[0].get_texts()]

    assert names(over_time(SERIES, ["rate", "queue"], [[1], []])) == ["a", "published"]
    assert names(over_time(SERIES, ["rate", "queue"])) == ["a"]


def test_a_logarithmic_axis_and_an_end_are_of_the_panel_and_of_all():
    fig = over_time(SERIES, ["rate", "queue"], logs=(True, False), until=1)
    assert [ax.get_yscale() for ax in fig.axes] == ["log", "linear"]
    assert [ax.get_xlim()[1] for ax in fig.axes] == [1, 1]


def bars_of(ax):
    """Half the lengths of a panel's error bars, series by series; `None` if it has none."""
    return [
        [(s[1][1] - s[0][1]) / 2 for s in c.lines[2][0].get_segments()] if c.lines[2] else None for c in ax.containers
    ]


def test_panels_have_error_bars_and_a_word_for_diamonds_where_there_are_some():
    series, values = {"one": [1.0, 2.0], "more": [3.0, 4.0]}, {"y": lambda e: e}
    half = {"y": lambda e: 0.5 if e > 2 else float("nan")}
    fig = panels([0, 1], series, "x", values, {("y", "one"): {0: 1.5}}, errors=half)
    one, more = bars_of(fig.axes[0])
    assert one is None and more == [0.5, 0.5]
    assert [t.get_text() for t in fig.legends[0].get_texts()] == ["one", "more", "published"]
    plain = panels([0, 1], series, "x", values)
    assert bars_of(plain.axes[0]) == [None, None]
    assert [t.get_text() for t in plain.legends[0].get_texts()] == ["one", "more"]


def test_distributions_that_lie_on_each_other_differ_in_their_lines_and_end_where_the_claim_does():
    same = np.arange(100.0)
    ax = distributions({"a": same, "b": same}, "us", until=50, deciles=True).axes[0]
    a, marks, b, _ = ax.get_lines()
    assert a.get_linestyle() != b.get_linestyle()
    assert len(marks.get_xdata()) == 9 and abs(marks.get_xdata()[4] - np.median(same)) < 1e-9
    assert ax.get_xlim()[1] == 50


def test_the_interval_of_a_mean_needs_two_seeds():
    runs = {"p:s@1": 1.0, "p:s@2": 3.0, "p:t@1": 5.0}
    assert np.isnan(interval(runs, "p:t", float))
    # Student's t for one degree of freedom is 12.706; the standard error is 1.
    assert abs(interval(runs, "p:s", float) - 12.706) < 1e-3
    assert there([np.nan, np.nan]) is None and there([]) is None
    assert there([np.nan, 1.0]) is not None
