"""Keys of runs as data, grids of runs, and quantities over seeds."""

from __future__ import annotations

import pickle
from types import SimpleNamespace

import pytest

from thalweg import papers, plots
from thalweg.study import Grid, Key, chapters, extremes, mean, needs, once, places, run, schemes, seeds, spread


def test_a_key_is_its_text_and_has_its_parts():
    key = Key("i2-30", "rc3", 2)
    assert key == "i2-30:rc3@2"
    assert (key.place, key.scheme, key.seed) == ("i2-30", "rc3", 2)
    assert (key.point, key.every, key.at(7)) == ("i2-30:rc3", "i2-30:rc3@*", "i2-30:rc3@7")
    assert (Key("idle").point, Key("idle", seed=1)) == ("idle", "idle@1")
    assert pickle.loads(pickle.dumps(key)).seed == 2


def test_text_becomes_the_key_that_it_was():
    for key in (Key("a", "b", 3), Key("a"), Key("a", "b"), Key("a", seed=4), Key("trace.down", "abc:n4")):
        found = Key.of(str(key))
        assert (found, found.place, found.scheme, found.seed) == (key, key.place, key.scheme, key.seed)
    assert Key.of("wired:max-min:6.25@12").scheme == "max-min:6.25"
    assert (Key.of("mail:a@b").scheme, Key.of("mail:a@b").seed) == ("a@b", None)


def test_a_run_is_called_after_its_point_and_has_its_seed():
    made = run(Key("load-30", "tcp"), "base", {"traffic.0.load": 0.3}, 3, keep=True)
    assert (made.key, made.key.seed, made.scenario, made.keep) == ("load-30:tcp@3", 3, "scenarios/base.toml", True)
    assert made.set == {"name": "load-30:tcp", "seed": 3, "traffic.0.load": 0.3}
    assert run("idle", "base", {"seed": 9}).set["seed"] == 9  # what is set goes before what is derived


def test_a_study_has_the_runs_of_its_chapters_each_once():
    alone = run("alone", "base", {})
    shared, again = (run("shared", "base", {}, prepare=lambda runs, folder: {}) for _ in range(2))
    other = run("shared", "base", {"run.until": "1s"})

    def chapter(*made):
        return SimpleNamespace(runs=lambda scale: list(made), _thalweg_measures={made[0].key: 1})

    study = {}
    runs = chapters(study, chapter(shared, alone), SimpleNamespace(_thalweg_measures={"theory": 0}), chapter(again))
    assert runs("quick") == [shared, alone]
    assert study["_thalweg_measures"] == {"shared@1": 1, "theory": 0}
    # Two that differ under one key both stay: `study_of` refuses them by name.
    assert chapters({}, chapter(shared), chapter(again, other))("quick") == [shared, other]


GRID = Grid(
    "base",
    places={"low": {"load": 0.2}, "high": {"load": 0.8}},
    schemes={"tcp": {}, "rc3": {"rc3": {}}},
    seeds={"quick": (1,), "full": (1, 2)},
    base={"quick": {"end": "1s"}},
)


def test_a_grid_has_every_scheme_at_every_place_with_every_seed():
    assert [r.key for r in GRID.runs("quick")] == ["low:tcp@1", "low:rc3@1", "high:tcp@1", "high:rc3@1"]
    assert GRID.runs("quick")[1].set == {"name": "low:rc3", "seed": 1, "end": "1s", "load": 0.2, "rc3": {}}
    assert [r.key for r in GRID.runs("full")][:4] == ["low:tcp@1", "low:rc3@1", "low:tcp@2", "low:rc3@2"]
    assert "end" not in GRID.runs("full")[0].set
    assert GRID.needs(["low"]) == ["low:tcp@*", "low:rc3@*"]
    assert GRID.needs(schemes=["rc3"]) == ["low:rc3@*", "high:rc3@*"]


RUNS = {Key("low", "tcp", 1): 10.0, "low:tcp@2": 14.0, "low:tcp-fast@1": 99.0, "high:tcp@10": 1.0}


def test_the_seeds_of_a_point_are_those_of_no_other():
    assert seeds(RUNS, "low:tcp") == [10.0, 14.0]
    assert seeds(RUNS, Key("high", "tcp")) == [1.0]
    with pytest.raises(KeyError, match="no run is called high:rc3"):
        seeds(RUNS, "high:rc3")


class Point:
    key = "low:tcp"


def test_a_point_of_a_study_stands_for_its_key():
    assert mean(RUNS, Point(), float) == 12.0
    assert needs(Point(), "high:tcp") == ["low:tcp@*", "high:tcp@*"]


def test_extremes_and_the_interval_over_seeds():
    assert extremes(RUNS, "low:tcp", float, "rate") == {"rate, least": 10.0, "rate, most": 14.0}
    # Two samples: t = 12.706 with one degree of freedom, times 2.828 / √2.
    assert spread(RUNS, "low:tcp", float, "rate")["rate, ±"] == pytest.approx(25.412, abs=1e-3)
    assert extremes(RUNS, "high:tcp", float, "rate") == spread(RUNS, "high:tcp", float, "rate") == {}


def test_places_and_schemes_are_in_the_order_of_the_runs():
    assert places(RUNS) == ["low", "high"]
    assert schemes(RUNS, "low") == ["tcp", "tcp-fast"]


# --- Declaring measures and figures -------------------------------------------------------------------------


def declared(tmp_path, study: str):
    """The tables of measures and figures of a study with this text."""
    (tmp_path / "claims.toml").write_text(
        '[[claim]]\nid = "T-1"\nstatement = "s"\nsection = "1"\npublished = "1"\nunchecked = "made up"\n'
    )
    (tmp_path / "study.py").write_text("from thalweg.study import *\n" + study)
    module = papers.find(str(tmp_path)).module("study")
    return module._thalweg_measures, getattr(module, "_thalweg_figures", {})


def test_rows_that_are_measured_alike_are_one_function(tmp_path):
    rows = """
@measure_each({"T-1": "low", "T-2": "high"}, needs=lambda place: [f"{place}:*"])
def gain(runs, place):
    return {place: runs[place]}
"""
    found, _ = declared(tmp_path, rows)
    assert {claim: measure.needs for claim, measure in found.items()} == {"T-1": ("low:*",), "T-2": ("high:*",)}
    assert [found[c].call({"low": 1, "high": 2}) for c in ("T-1", "T-2")] == [{"low": 1}, {"high": 2}]


def test_a_figure_is_drawn_in_the_style_of_all_figures(tmp_path):
    shown = """
import matplotlib

@figure("fig1", "Figure 1", needs=[])
def figure_1(runs):
    return matplotlib.rcParams["font.size"]

@measure("T-1", needs=[])
def nothing(runs):
    return matplotlib.rcParams["font.size"]
"""
    measures, figures = declared(tmp_path, shown)
    plain = measures["T-1"].call({})
    with plots.style():
        styled = measures["T-1"].call({})
    assert styled != plain
    assert figures["fig1"].call({}) == styled


def test_what_is_read_of_a_run_may_be_kept_of_the_last_runs_only():
    class Run:
        digest = "0"

        def __init__(self, path):
            self.path = path

    read = []

    @once(most=2)
    def size(results):
        read.append(results.path)
        return len(read)

    assert [size(Run(path)) for path in "aabbcab"] == [1, 1, 2, 2, 3, 4, 5]
    assert "".join(read) == "abcab"
