"""Pauses as storms."""

import polars as pl

from thalweg import pauses


def table(rows):
    names = ("port", "from_node", "to_node", "began_ps", "ended_ps", "cause")
    frame = pl.DataFrame(rows, schema=names, orient="row", schema_overrides={"began_ps": pl.UInt64})
    frame = frame.with_columns(pl.col("cause", "ended_ps").replace(-1, None))
    depth = []
    for cause in frame["cause"].to_list():
        depth.append(0 if cause is None else depth[cause] + 1)
    return frame.with_row_index("pause").with_columns(depth=pl.Series(depth))


# Pause 0 causes 1, which causes 2; 3 is alone; 4 stands when the run ends.
KEPT = table(
    [
        (8, 4, 5, 10, 50, -1),
        (0, 0, 4, 20, 60, 0),
        (2, 1, 4, 30, 35, 1),
        (6, 3, 5, 40, 45, -1),
        (8, 4, 5, 60, -1, -1),
    ]
)


def test_a_storm_is_a_root_and_all_that_follows_from_it():
    found = pauses.storms(KEPT)
    assert found.select("root", "pauses", "ports", "depth").rows() == [(0, 3, 3, 2), (3, 1, 1, 0), (4, 1, 1, 0)]
    assert found["paused_ps"][0] == 40 + 40 + 5
    assert found["at_ps"].to_list() == [10, 40, 60]


def test_a_pause_that_stands_counts_to_the_end():
    assert pauses.storms(KEPT, end_ps=100)["paused_ps"][2] == 40
    assert pauses.by_port(KEPT, end_ps=100).row(0, named=True) == {
        "port": 8,
        "from_node": 4,
        "to_node": 5,
        "pauses": 2,
        "paused_ps": 80,
        "depth": 0,
    }


def test_the_timeline_draws_every_port():
    fig = pauses.timeline(KEPT)
    assert [t.get_text() for t in fig.axes[0].get_yticklabels()] == ["0 → 4", "4 → 5", "1 → 4", "3 → 5"]


def test_nothing_paused():
    empty = KEPT.head(0)
    assert len(pauses.storms(empty)) == len(pauses.by_port(empty)) == 0
    pauses.timeline(empty)
