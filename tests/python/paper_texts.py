"""A tiny paper: its claims, its study, its figures, and one claim more about the rows of a table. What conftest makes
of it is the fixture `tiny`."""

from conftest import LOAD

CLAIMS = """
[paper]
title = "A tiny paper"
authors = "Nobody"
venue = "Nowhere 2026"
[scale.quick]
what = "everything"

[[claim]]
id = "T-1"
statement = "Load hurts"
section = "1"
published = "2.0"
strictness = "ratio"
origin = "made up"
bounds = { ratio = { above = 1.0, max = 100 } }

[[claim]]
id = "T-2"
statement = "Impossible"
section = "2"
published = "0"
origin = "made up"
bounds = { max = 0 }
known = "slowdowns are at least 1"

[[claim]]
id = "T-3"
statement = "Only at full scale"
section = "3"
published = "1"
origin = "made up"
bounds = { min = 1 }
scales = ["full"]

[[claim]]
id = "T-4"
statement = "On a P4 switch"
section = "4"
published = "works"
unchecked = "needs hardware"

[[claim]]
id = "T-5"
statement = "Broken"
section = "5"
published = "1"
origin = "made up"
bounds = { min = 1 }

[[claim]]
id = "T-6"
statement = "Undecided"
section = "6"
published = "1"
origin = "made up"
bounds = { min = 1 }
"""


STUDY = f"""
from thalweg.papers import NotCheckable, RunSpec, measure

def runs(scale):
    low_and_high = [RunSpec("low", "scenarios/base.toml", {{"{LOAD}": 0.2}}), RunSpec("high", "scenarios/base.toml", {{"{LOAD}": 0.8}})]
    return low_and_high + ([RunSpec("never", "scenarios/base.toml")] if scale == "full" else [])

def mean(results):
    return results.measured()["slowdown"].mean()

@measure("T-1", needs=["low", "high"])
def _(runs):
    return {{"ratio": mean(runs["high"]) / mean(runs["low"])}}

@measure("T-2", needs=["low"])
def _(runs):
    return mean(runs["low"])

@measure("T-3", needs=["never"])
def _(runs):
    return 1

@measure("T-5", needs=["low"])
def _(runs):
    return runs["high"]

@measure("T-6", needs=["high"])
def _(runs):
    raise NotCheckable("too few flows")
"""


FIGURES = """
from thalweg import plots
from thalweg.papers import figure

from .study import mean

@figure("fig1", "Slowdown (Figure 1)", needs=["low", "high"])
def _(runs):
    return plots.bars(["mean"], {k: [mean(r)] for k, r in runs.items()}, "slowdown", published={"low": [1.5]})

@figure("fig2", "Cannot be drawn", needs=["low"])
def _(runs):
    return 1 / 0
"""


ROWS = """
[[claim]]
id = "T-7"
statement = "In every row"
section = "7"
published = "1"
origin = "made up"
bounds = { "largest row" = { above = 0 } }
"""


ABOUT = """
@measure("T-7", needs=["low", "high"], rows=["T-[12]"])
def _(runs):
    kept = {name: row["ratio"] for name, row in runs.rows.items() if name == "T-1"}
    return {"largest row": max([*kept.values(), *(mean(r) for r in runs.values())], default=0) or 1, "runs": len(runs), "kept": len(runs.rows)}
"""
