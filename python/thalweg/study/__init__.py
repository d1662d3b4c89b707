"""The kit of studies: what every `papers/NAME/study.py` needs and none should write again.

    chapters.py   a study of several files
    keys.py       which run: place, scheme and seed, as data
    grid.py       runs as a grid of places, schemes and seeds
    seeds.py      quantities over the seeds of a point: means, extremes, intervals
    flows.py      the flows that count, with the one rule about those that do not end
    numbers.py    Jain's index, percentiles, intervals, fits
    sizes.py      distributions of flow sizes, size classes, buckets of equal probability
    series.py     what a run recorded over time
    lists.py      files of flows, links and paths that runs read
    presets.py    DCQCN, TIMELY, HPCC and Swift as published, with sources
    theory.py     claims that the engine checks without runs
    drawing.py    figures that several studies draw

A study takes what it needs: `from thalweg.study import Flows, Grid, jain, mean`. What its paper alone has stays in the
study."""

from thalweg.papers import NotCheckable, RunSpec, figure, include, measure, measure_each, once
from thalweg.spread import student
from thalweg.study import presets
from thalweg.study.chapters import chapters
from thalweg.study.flows import Flows, flows
from thalweg.study.grid import Grid, run, section_of
from thalweg.study.keys import Key
from thalweg.study.lists import flow_list, link_list, path_list
from thalweg.study.numbers import (
    across_bytes,
    floored_percentile,
    half_interval,
    jain,
    percentile,
    rank_correlation,
    slope,
    steps,
    thinned_cdf,
    variation,
)
from thalweg.study.seeds import extremes, interval, mean, needs, places, schemes, seeds, spread
from thalweg.study.series import Recorded, Series, seconds
from thalweg.study.sizes import Sizes, equal_buckets, in_all
from thalweg.study.theory import checked

__all__ = [
    "Flows", "Grid", "Key", "NotCheckable", "Recorded", "RunSpec", "Series", "Sizes", "across_bytes", "chapters",
    "checked", "equal_buckets", "extremes", "figure", "floored_percentile", "flow_list", "flows", "half_interval",
    "in_all", "include", "interval", "jain", "link_list", "mean", "measure", "measure_each", "needs", "once", "path_list",
    "percentile", "places", "presets", "rank_correlation", "run", "schemes", "seconds", "section_of", "seeds", "slope", "spread",
    "steps", "student", "thinned_cdf", "variation",
]  # fmt: skip
