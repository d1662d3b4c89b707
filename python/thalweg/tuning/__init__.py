"""Searches settings of a scenario for the best value of a metric.

    found = thalweg.tune("incast.toml", {"switch.buffer": "10KB..500KB:log"}, "drops", trials=40, seeds=3)
    found.best.set                  # {"switch.buffer": "212KB"}
    found.frame                     # a row per setting that was tried

Optuna's TPE chooses what to try (`pip install 'thalweg[tune]'`); runs are those of a sweep, made by the same executors
and kept in the same way.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from thalweg import _counts, _input, _places, _rundir, controllers
from thalweg._format import plural
from thalweg._places import say
from thalweg.errors import ScenarioError, refuse
from thalweg.executors import named, opened
from thalweg.executors.presence import present
from thalweg.foresight import foresee
from thalweg.planning import Planned, plan
from thalweg.pool import perform_all
from thalweg.progress import speaks
from thalweg.results import Results
from thalweg.scenario import Scenario, as_scenario
from thalweg.settings import SEED, text
from thalweg.spread import Spread, spread
from thalweg.tuning import completion
from thalweg.tuning.ranges import Range, ranges
from thalweg.tuning.search import Search

if TYPE_CHECKING:
    import polars

    from thalweg.plots import Figure

# What the folder's search is about.
ABOUT = "tune.json"


@dataclass(frozen=True)
class Trial:
    """One setting that was tried: `set`, and the mean of the metric over the seeds (`None`: there is no value, `why`).
    `number` is -1 for the scenario as it is."""

    number: int
    set: Mapping[str, Any]
    value: float | None
    why: str = ""


@dataclass
class Tuning:
    """What a search has found: `best`, `before` (the scenario as it is), `trials`, and `frame`, a row per trial."""

    metric: str
    maximize: bool
    before: Trial
    trials: list[Trial]
    spreads: dict[int, Spread] = field(default_factory=dict)

    @property
    def best(self) -> Trial:
        """The best of all trials, of equals the first. Refused if none has a value."""
        found = [(-t.value if self.maximize else t.value, t.number, t) for t in self.trials if t.value is not None]
        if not found:
            raise refuse(f"no setting that was tried has a value of `{self.metric}`: {self.trials[0].why}")
        return min(found, key=lambda one: one[:2])[2]

    @property
    def frame(self) -> polars.DataFrame:
        """One row per trial: its number, its settings, the mean of the metric over the seeds and half its 95 %
        confidence interval, and why there is no value."""
        import polars as pl

        plain = lambda v: v if isinstance(v, int | float | str) else text(v)  # noqa: E731
        rows = []
        for t in self.trials:
            half = self.spreads[t.number].half if t.number in self.spreads else math.nan
            about: dict[str, Any] = {
                self.metric: t.value,
                "±": None if math.isnan(half) else half,
                "why": t.why or None,
            }
            rows.append({"trial": t.number} | {k: plain(v) for k, v in t.set.items()} | about)
        kinds = {self.metric: pl.Float64, "±": pl.Float64, "why": pl.String}
        return pl.DataFrame(rows, infer_schema_length=None, strict=False, schema_overrides=kinds)

    def plot(self) -> Figure:
        """The metric of each trial, and of the best so far; a line for the scenario as it is."""
        from thalweg import plots
        from thalweg.sweepfigure import axis_label

        values = [math.nan if t.value is None else t.value for t in self.trials]
        best, so_far = math.nan, []
        for v in values:
            better = math.isnan(best) or (v > best if self.maximize else v < best)
            best = v if better and not math.isnan(v) else best
            so_far.append(best)
        series = {"trial": values, "best so far": so_far}
        if self.before.value is not None:
            series["as it is"] = [self.before.value] * len(values)
        return plots.lines([t.number for t in self.trials], series, "trial", axis_label(self.metric))

    def __repr__(self) -> str:
        return f"<thalweg.Tuning of {self.metric}: {plural(len(self.trials), 'trial')}>"


def tune(
    scenario: Scenario | str | Path | Mapping[str, Any],
    vary: Mapping[str, str | Sequence[Any]],
    objective: str,
    *,
    out: str | Path,
    maximize: bool = False,
    trials: int = 40,
    seeds: int = 1,
    seed: int = 0,
    batch: int = 4,
    jobs: int | None = None,
    progress: bool | None = None,
    executor: Any = None,
    force: bool = False,
) -> Tuning:
    """Searches the settings in `vary` for the smallest value (or, `maximize`, the largest) of a number of the summary.

    `vary` maps dotted keys to ranges ("5KB..500KB", "0.1..10:log") or lists of values. Each setting is run with `seeds`
    seeds, the scenario's own and those after it; their mean counts. In completion times and slowdowns flows that had
    not ended count with the time that they had been under way. `trials` settings are tried in all, in batches of
    `batch`: a batch is chosen before any of it has run. The same `seed` and `batch` try the same settings, whatever
    makes the runs (`jobs`, `executor`: as of `thalweg.sweep`).

    `out`: the folder of all runs and of Optuna's journal; a search that is there goes on, also to more trials. Settings
    that a scenario refuses, or that give no value, count as bad. Raises `ScenarioError` for a metric that no run would
    have, and for a folder of another search.
    """
    jobs, trials, batch = _counts.jobs(jobs), _counts.count(trials, "trials"), _counts.count(batch, "batch")
    seeds, seed = _counts.count(seeds, "seeds"), _counts.seed(seed)
    base, varied, folder = as_scenario(scenario), ranges(vary), _input.path(out, "a folder")
    if any(r.key == SEED for r in varied):
        raise refuse(
            "is not sought for: chance would win", key=SEED, hint="`seeds` (`--seeds`) runs each setting often"
        )
    foresee(objective, [_probe(base, varied)])
    about = _about(base, varied, objective, maximize, seeds, seed, batch)
    present(executor, folder)
    _places.claim(folder, "tune")
    _check_same(folder, about)
    search = Search(folder, varied, maximize, seed, batch)
    _places.write_json(folder / ABOUT, about)
    work = _Work(base, objective, range(base.seed, base.seed + seeds), folder)
    tell = speaks(progress)
    note = say_line if tell else lambda line: None
    where = named(executor) if isinstance(executor, str) else executor
    with nullcontext() if where is None else opened(where, jobs, folder, note, force) as workers:
        how = {"workers": jobs, "progress": progress, "force": force, "executor": workers}
        before = Trial(-1, {}, *work.measure({-1: {}}, **how)[-1])
        while group := search.group(trials):
            measured = work.measure(dict(group), **how)
            for number, _ in group:
                search.report(number, *measured[number])
            found = Tuning(objective, maximize, before, _trials(search))
            if tell:
                some = any(t.value is not None for t in found.trials)
                said = f"best {found.best.value:.6g} ({words(found.best.set)})" if some else "no value yet"
                note(f"{len(found.trials)} of {trials} trials: {said}")
    found = Tuning(objective, maximize, before, _trials(search))
    # Of an older call of this folder, too: their runs are there.
    found.spreads = work.spreads({t.number: t.set for t in found.trials if t.value is not None})
    return found


def _probe(base: Scenario, varied: Sequence[Range]) -> Scenario:
    """A scenario of the search. If its ends and its middle are all refused, something is wrong with what is varied."""
    wrong: list[ScenarioError] = []
    for share in (0.0, 0.5, 1.0):
        try:
            return base.with_({r.key: r.at(share) for r in varied})
        except ScenarioError as e:
            wrong.append(e)
    raise wrong[0]


def say_line(line: str) -> None:
    say(f"thalweg: {line}")


def words(set: Mapping[str, Any]) -> str:
    """Settings as a command line has them."""
    return " ".join(f"{k}={text(v)}" for k, v in set.items())


def _trials(search: Search) -> list[Trial]:
    return [Trial(*row) for row in search.measured()]


def _about(
    base: Scenario, varied: Sequence[Range], objective: str, maximize: bool, seeds: int, seed: int, batch: int
) -> dict[str, Any]:
    return {
        "core": _rundir.core_fingerprint(),
        "scenario": base.to_toml(),
        "inputs": base.inputs(),
        "controllers": controllers.fingerprints(base.to_toml()),
        "vary": {r.key: str(r) for r in varied},
        "objective": objective,
        "maximize": maximize,
        "seeds": seeds,
        "seed": seed,
        "batch": batch,
    }


_WORDS = {"core": "engine", "inputs": "files of the scenario"}


def _check_same(folder: Path, about: dict[str, Any]) -> None:
    """A journal holds values of one search: they mean nothing in another."""
    there = _places.read_json(folder / ABOUT)
    if there is None:
        return
    other = [_WORDS.get(k, k) for k, v in about.items() if (there.get(k) or None) != (v or None)]
    if other:
        reason = f"this folder is of another search ({', '.join(other)} differ)"
        raise refuse(reason, file=_places.shown(folder), hint="choose another --out")


class _Work:
    """Measures settings: builds their runs, has them made, takes the mean over the seeds."""

    def __init__(self, base: Scenario, metric: str, seeds: range, folder: Path):
        self._base, self._metric, self._seeds, self._folder = base, metric, seeds, folder

    def _runs(self, set: Mapping[str, Any]) -> list[Planned]:
        return plan(self._base, [{**set, SEED: s} for s in self._seeds], self._folder)

    def measure(self, wanted: Mapping[int, Mapping[str, Any]], **how: Any) -> dict[int, tuple[float | None, str]]:
        """By number the value, or `None` and why there is none."""
        found: dict[int, tuple[float | None, str]] = {}
        runs: dict[int, list[Planned]] = {}
        for number, set in wanted.items():
            try:
                runs[number] = self._runs(set)
            except ScenarioError as e:
                found[number] = None, str(e).splitlines()[0]
        # Two trials may be the same.
        jobs = {one.job.out: one.job for planned in runs.values() for one in planned}
        for n, job in enumerate(jobs.values()):
            job.key = f"{n:04d}{job.key[4:]}"
        answers = perform_all(list(jobs.values()), **how)
        by_place = {place: answers[job.key] for place, job in jobs.items()}
        for number, planned in runs.items():
            values = self._values([by_place[one.job.out] for one in planned])
            found[number] = (spread(values).mean, "") if values else (None, f"`{self._metric}` has no value")
        return found

    def _values(self, results: Sequence[Results]) -> list[float]:
        """Of each run the metric; none if one of them has none."""
        values = [completion.value(r, self._metric) for r in results]
        good = all(isinstance(v, int | float) and math.isfinite(v) for v in values)
        return [float(v) for v in values] if good else []

    def spreads(self, wanted: Mapping[int, Mapping[str, Any]]) -> dict[int, Spread]:
        """Of each setting the spread over its seeds, from the runs that are kept."""
        found = {}
        for number, set in wanted.items():
            results = [Results.load(one.job.out) for one in self._runs(set) if one.job.out is not None]
            found[number] = spread(self._values(results))
        return found
