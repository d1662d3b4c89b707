"""Figures of the kit: axes that show what a claim is about."""

import numpy as np

from thalweg.study.drawing import over_time

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
