"""Papers as executable tests: the machinery behind `thalweg reproduce NAME`.

A paper is a folder `papers/NAME/`:

    README.md       what was published, what is reproduced, what was assumed
    claims.toml     every claim: what was published and the bound that decides
    scenarios/      scenario files
    study.py        which runs there are, and what each claim measures in them
    figures.py      the figures (optional: a small study draws in study.py)
    choices.toml    what the paper leaves open, and what was chosen (optional)
    quick/, full/   verdicts.json: what was judged at that scale (`thalweg reproduce --keep-verdicts`)

**claims.toml**

    [paper]
    title = "…"
    authors = "…"
    venue = "…"
    handful = ["ADS-F1*"]                                         # optional: what --handful judges, a minute at most

    [scale.quick]
    what = "flows that start within 10 ms instead of 100 ms"      # what was scaled down; shown with every result
    [scale.full]
    what = "as published"

    [[claim]]
    id = "ADS-F1a.1"
    statement = "TCP: slowdown with SRPT is 9.7 times better than FIFO and 1.8 times better than FQ"
    section = "2.3.1"
    published = "9.7, 1.8"
    strictness = "ratio ±40 %"
    origin = "40 % around the published ratio"                    # where the bound comes from
    bounds = { "FIFO/SRPT" = { min = 5.8, max = 13.6 }, "FQ/SRPT" = { min = 1.3, max = 2.5 } }
    # optional: scales = ["full"] (elsewhere not checkable), unchecked = "why it cannot be checked at all",
    #           known = "the reason found, if it fails",
    #           short = "what longer runs showed", if it holds at quick scale only because its runs are short:
    #           then quick scale does not decide it,
    #           cause = "setting", "baseline", .., "open" or "untested": the kind of reason, if it fails, by which
    #           pages count; docs/papers/index.md lists them

A bound has any of `min`, `max` (inclusive), `above`, `below` (exclusive), `equals`. A claim that measures one number
may write `bounds = { min = …, max = … }` without a name.

**study.py**

    from thalweg.papers import NotCheckable, RunSpec, measure

    def runs(scale):                       # "quick" or "full": every run that the study knows
        return [RunSpec("fifo-tcp", "scenarios/fig1.toml", {"switch.scheduler.kind": "fifo"}), …]

        # RunSpec(…, after=("recording",), prepare=f): f(runs, folder) may write files made from the runs named, and
        # returns what else is to be set, such as {"switch.scheduler.map.file": …}

        # RunSpec("lstf:fifo", replay="fifo", scheduler="lstf") replays the packets of a run that sets "measure.packets"

    @measure("ADS-F1a.1", needs=["fifo-tcp", "fq-tcp", "srpt-tcp"])   # keys, or patterns such as "*-tcp"
    def schedulers_with_tcp(runs):         # named after what it measures; runs["fifo-tcp"] is a thalweg.Results
        return {"FIFO/SRPT": …, "FQ/SRPT": …}                         # or one number; may raise NotCheckable("why")

    # Rows of a table that are measured alike: a function of the runs and of what the table has for the claim.

    @measure_each({"T-1": "load-30", "T-2": "load-70"}, needs=lambda place: [f"{place}:*"])
    def gain(runs, place): ...

    # A claim about the rows of a table, claims themselves, may say so:
    # @measure("T-all", needs=["*"], rows=["T-1", "T-2"]). With `--kept-rows`
    # runs.rows["T-1"] is what is kept of that row, if it is, and its runs are not among `runs`.

    # What studies share, keys of runs as data, means over seeds, the rule about flows without an end, percentiles, size
    # classes, presets of controllers, is in `thalweg.study`.

    # A measure with needs=[] needs no runs; `runs.scale` says how much to do. One that makes something itself which
    # takes long, say a transfer in real time, keeps it in `runs.folder`, next to the runs, and looks there first.
    # A study of several files has `runs = chapters(globals(), one, another)`, of `thalweg.study`, in study.py; or only
    # the measures of some: `include(globals(), one)`.

**choices.toml**

    [[choice]]
    name = "long_flow_starts"
    what = "when long flows start"                                # what is left open, and in which section
    section = "2.4.1"
    value = "1s"                                                  # what the study takes, and why
    why = "far apart next to a round trip"
    alternatives = ["10ms", "100ms"]                              # what a sweep tries instead, one at a time
    rows = ["ABC-F2.13*"]                                         # the claims that it may decide

A choice is a setting: settings.py reads it at its top, `from . import choices`, `STARTS = choices["long_flow_starts"]`,
and what its grid or its measures take follows from that. `thalweg reproduce NAME --choice long_flow_starts` imports the
study again under each value and judges those claims (`sweep`); runs that a value does not change are not made again.
`--keep-verdicts` keeps what was found in `SCALE/choices.json`. A claim is then *robust* (within its bounds under every
value), *decided by a choice*, or *fails whatever is chosen*; where nothing was varied it only holds or fails.

**figures.py**

    from thalweg.papers import figure

    @figure("fig1a", "Average slowdown (Figure 1a)", needs=["*"])
    def figure_1a(runs):
        return thalweg.plots.bars(…)       # a matplotlib figure

    # `thalweg reproduce NAME --claim ID` draws the figures that belong to the claim: those whose title has the figure
    # or table that the claim's section or id names ("Figure 2.1": "§2.3, Fig 2.1", ADS-F1a), or those that say so:
    # @figure(…, claims=["ADS-F1a.*"]).

`figures.py` and `study.py` may import each other: `from .study import …`. Runs are cached in the output folder, so an
interrupted study continues where it was. Its `claims.json` and `report.html` have all claims that were judged into
it: a call for some of them (`--claim`, `--handful`) replaces theirs and keeps the others.

A verdict is `pass`, `fail`, `not-decided` (quick runs cannot decide: the kept verdicts of the full scale differ, or
the claim has a `short`), `not-checkable` or `error`."""

from thalweg.papers._answer import ClaimResult, Study
from thalweg.papers._choices import Choice
from thalweg.papers._claims import Claim
from thalweg.papers._crate import pack
from thalweg.papers._options import Options
from thalweg.papers._paper import (
    NotCheckable,
    Paper,
    RunSpec,
    discover,
    figure,
    find,
    include,
    measure,
    measure_each,
    once,
)
from thalweg.papers._reproduce import reproduce
from thalweg.papers._sweeping import Sweep, sweep

__all__ = [
    "Choice",
    "Claim",
    "ClaimResult",
    "NotCheckable",
    "Options",
    "Paper",
    "RunSpec",
    "Study",
    "Sweep",
    "discover",
    "figure",
    "find",
    "include",
    "measure",
    "measure_each",
    "once",
    "pack",
    "reproduce",
    "sweep",
]
