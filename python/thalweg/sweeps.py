"""One scenario, many settings."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any, overload

from thalweg import _counts, _given, _input, _places, _rundir, headline
from thalweg._html import table, titled
from thalweg.errors import nearest, refuse
from thalweg.executors.presence import present
from thalweg.foresight import foresee, no_metric
from thalweg.planning import Shard, plan
from thalweg.pool import perform_all
from thalweg.results import Results
from thalweg.scenario import Scenario, as_scenario
from thalweg.settings import SEED, Point, columns, text
from thalweg.spread import Spread, repetitions, spread

if TYPE_CHECKING:
    import polars

    from thalweg.plots import Figure

INDEX = _places.SWEEP
# What a sweep is about unless something else is requested: the first of these that its runs have.
METRICS = ("measured.slowdown.mean", "goodput_gbps")
# Of a sweep's settings a notebook shows so many.
MOST_ROWS = 24


def sweep(
    scenario: Scenario | str | Path | Mapping[str, Any],
    vary: Mapping[str, Sequence[Any] | Mapping[str, Mapping[str, Any]]] | Sequence[Mapping[str, Any]],
    *,
    jobs: int | None = None,
    progress: bool | None = None,
    out: str | Path | None = None,
    check: bool = False,
    force: bool = False,
    metric: str | None = None,
    executor: Any = None,
    shard: str | tuple[int, int] | None = None,
) -> Runs:
    """Runs variants of a scenario.

    `vary` maps dotted keys to lists of values (all combinations are run), or is a list of `{key: value}`.
    What differs in more than one key is a named variant, under a name of your own:

    >>> variants = {"dctcp": {"transport.congestion": "dctcp", "switch.marking": marking}, "mine": mine}
    >>> thalweg.sweep("incast.toml", {"variant": variants, "seed": range(5)})

    `jobs` runs at a time (default: one per core); the results do not depend on it. With `out`, each run is
    kept in its own folder there: a sweep that was interrupted, or is requested again, runs only what is
    missing. `force`: also what needs more memory than is free. `metric`: what `runs.plot()` shows; a name
    that no run would have is refused before any is made. `progress`: `None` shows a bar on a terminal and in
    a notebook, elsewhere a line every half minute; `False` is silence.

    `executor`: has the runs done elsewhere: anything with `submit` (pools of `concurrent.futures`, Dask's
    `Client.get_executor()`, submitit's executors), or a name: "dask", "tcp://HOST:PORT", "slurm", "slurm:PARTITION"
    (see `thalweg.executors`); `jobs` is then the most at a time. The results are the same. A run that is lost with its
    worker is begun again. `shard`: "3/40", or (3, 40), makes the third of forty parts of the sweep and answers with
    these runs; when all parts are there, the same call without it reads them.
    """
    jobs, folder = _counts.jobs(jobs), _input.maybe(out, "a folder")
    part = None if shard is None else Shard.given(shard)
    planned = plan(as_scenario(scenario), vary, folder, check)
    if metric is not None:
        foresee(metric, [one.job.scenario for one in planned])
    if part is not None and folder is None:
        raise refuse("a part of a sweep needs a folder", key="shard", hint="name one with `out`")
    present(executor, folder)
    if folder is not None:
        _places.claim(folder, "sweep")
        index = {"core": _rundir.core_fingerprint(), "jobs": [one.row for one in planned]}
        _places.write_json(folder / INDEX, index)
    if part is not None:
        planned = [planned[n] for n in part.chosen(len(planned))]
    answers = perform_all([one.job for one in planned], jobs, progress, force=force, executor=executor)
    runs = Runs([one.point for one in planned], [answers[one.job.key] for one in planned])
    runs._metric = metric
    return runs


def is_sweep(path: object) -> bool:
    """Whether a folder is a sweep's."""
    try:
        return isinstance(path, str | Path) and (Path(path) / INDEX).is_file()
    except OSError:  # longer than a name can be
        return False


def _is_listed(job: object) -> bool:
    """Whether this is a line of a sweep's index."""
    if not isinstance(job, dict) or not isinstance(job.get("run"), str | None):
        return False
    return isinstance(job.get("set"), dict) and isinstance(job.get("labels", {}), dict)


def _numbers(results: Results) -> dict[str, float]:
    """What a run has measured."""
    flat = headline.scalars(results.summary)
    return {k: v for k, v in flat.items() if isinstance(v, int | float) and k != SEED}


class Runs(Sequence[Any]):
    """The results of a sweep, in the order of its settings: `runs[i]`, `runs.params[i]`, `runs.frame`, `runs.flows`."""

    def __init__(self, settings: Sequence[Point | Mapping[str, Any]], results: list[Results]):
        made = [p if isinstance(p, Point) else _given.settings(p) for p in _given.items(settings, "settings")]
        self.settings = [p if isinstance(p, Point) else Point(p, dict(p)) for p in made]
        self.results = _given.items(results, "results", "the results of runs")
        if len(self.settings) != len(self.results):
            raise refuse(f"{len(self.settings)} settings and {len(self.results)} results", hint="one for each run")
        self._metric: str | None = None

    @classmethod
    def load(cls, folder: str | Path) -> Runs:
        """Opens a sweep's folder: its runs are read, none is made."""
        folder = _input.path(folder, "a sweep's folder")
        if not is_sweep(folder):
            reason = f"is not a sweep's folder (no {INDEX})" if folder.exists() else "no such sweep"
            way = "it is a run: `thalweg.Results.load` opens it" if (folder / "summary.json").is_file() else None
            raise refuse(reason, file=folder, hint=way or _input.folders_near(folder, INDEX))
        jobs = _input.record(folder / INDEX, "jobs")["jobs"]
        if not isinstance(jobs, list) or not all(map(_is_listed, jobs)):
            raise refuse("is not a sweep's folder: its list of runs is not one", file=folder / INDEX)
        missing = [job for job in jobs if not job.get("run") or not (folder / job["run"] / "summary.json").is_file()]
        if missing:
            hint = "the command that made it runs what is missing"
            raise refuse(f"{len(missing)} of {len(jobs)} runs are not there", file=folder, hint=hint)
        points = [Point(dict(job["set"]), dict(job.get("labels", job["set"]))) for job in jobs]
        return cls(points, [Results.load(folder / job["run"]) for job in jobs])

    @property
    def seeds_agree(self) -> str:
        """Several seeds were run and make no difference in any setting: "one digest" (the same events), or "the same
        numbers" (of the summary). Empty: they do, or there is one seed. One seed would have been enough."""
        named = columns(self.params)
        if SEED not in named:
            return ""
        keys = [k for k in named if k != SEED]
        groups: dict[tuple[Any, ...], list[Results]] = {}
        for n, results in enumerate(self.results):
            groups.setdefault(tuple(text(named[k][n]) for k in keys), []).append(results)
        if any(len(group) < 2 for group in groups.values()):
            return ""
        for said, what in (("one digest", lambda r: r.digest), ("the same numbers", _numbers)):
            if all(what(r) == what(group[0]) for group in groups.values() for r in group[1:]):
                return said
        return ""

    @property
    def params(self) -> list[dict[str, Any]]:
        """What was changed, by run; of a named variant its name."""
        return [p.labels for p in self.settings]

    @overload
    def __getitem__(self, index: int) -> Results: ...

    @overload
    def __getitem__(self, index: slice) -> Runs: ...

    def __getitem__(self, index: int | slice) -> Results | Runs:
        if isinstance(index, slice):
            return self.chosen(range(len(self))[index])
        return self.results[index]

    def chosen(self, places: Iterable[int]) -> Runs:
        """The runs at these places."""
        at = list(places)
        return Runs([self.settings[n] for n in at], [self.results[n] for n in at])

    def __len__(self) -> int:
        return len(self.results)

    def __iter__(self) -> Iterator[Results]:
        return iter(self.results)

    @property
    def frame(self) -> polars.DataFrame:
        """One row per run: its settings, then the numbers of its summary. A setting that a run does not have
        is null; settings of several kinds, or tables, are text."""
        import polars as pl

        named = columns(self.params)
        rows = [headline.scalars(r.summary, taken=named) for r in self.results]
        numbers = pl.DataFrame(rows, infer_schema_length=None, strict=False)
        return numbers.select(*(pl.Series(key, values, strict=False) for key, values in named.items()), pl.all())

    @property
    def flows(self) -> polars.DataFrame:
        """All flows of all runs, with the settings as first columns."""
        import polars as pl

        named = {key: pl.Series(key, values, strict=False) for key, values in columns(self.params).items()}
        parts = []
        for n, results in enumerate(self.results):
            flows = results.flows
            first = [
                pl.lit(series[n], dtype=series.dtype).alias(key if key not in flows.columns else f"set.{key}")
                for key, series in named.items()
            ]
            parts.append(flows.select(*first, pl.all()))
        # Diagonal: a column that not all transports have is null where it is missing.
        return pl.concat(parts, how="diagonal_relaxed") if parts else pl.DataFrame()

    def by(self, setting: str) -> dict[str, Runs]:
        """The runs of each value of a setting: `thalweg.runplots.slowdown_by_size(runs.by("variant"))`
        averages over their seeds."""
        named = columns(self.params)
        if _given.name(setting, "setting", nearest("", named)) not in named:
            raise refuse(f"the sweep has no setting called `{setting}`", hint=nearest(setting, named))
        parts: dict[str, list[int]] = {}
        for n, value in enumerate(named[setting]):
            parts.setdefault(text(value), []).append(n)
        return {name: self.chosen(at) for name, at in parts.items()}

    @property
    def metric(self) -> str:
        """The column of `frame` that figures show unless another is requested."""
        if self._metric is not None:
            return self._metric
        known = self.frame
        return next((m for m in METRICS if m in known.columns and known[m].null_count() < len(known)), METRICS[-1])

    def metrics(self) -> list[str]:
        """The columns of `frame` that are numbers and no settings."""
        frame, named = self.frame, columns(self.params)
        return [
            c
            for c in frame.columns
            if c not in named and frame[c].dtype.is_numeric() and c not in (SEED, f"summary.{SEED}")
        ]

    def of_sections(self) -> list[str]:
        """Metrics of each section of traffic, where there are several sections of their kind: the throughput of flows
        without end, the mean slowdown of the others."""
        of = [m for m in self.metrics() if m.startswith("groups.")]
        kinds = ([m for m in of if m.endswith(end)] for end in (".endless.sum_gbps", ".slowdown.mean"))
        return [m for found in kinds if len(found) > 1 for m in found]

    def sections(self) -> polars.DataFrame:
        """A row for each setting and section of traffic, with means and intervals over the seeds: see
        `thalweg.sweepsections.sections`."""
        from thalweg.sweepsections import sections

        return sections(self)

    def check_metric(self, metric: str) -> str:
        if _given.name(metric, "metric", f"for example `{METRICS[0]}`") not in self.metrics():
            raise no_metric(metric, self.metrics())
        return metric

    def places(self) -> list[tuple[dict[str, Any], list[int]]]:
        """Settings without the seed, and the places of their runs, one for each seed."""
        named = columns(self.params)
        keys = [k for k in named if k != SEED]
        found: dict[tuple[Any, ...], list[int]] = {}
        for row in range(len(self)):
            found.setdefault(tuple(named[k][row] for k in keys), []).append(row)
        return [(dict(zip(keys, values, strict=True)), rows) for values, rows in found.items()]

    def over_seeds(self, *metrics: str) -> list[tuple[dict[str, Any], dict[str, Spread]]]:
        """Settings without the seed, and of each metric the mean and the 95 % confidence interval over the seeds. Of a
        metric that not all of a setting's runs have these are of the others, as `runs` and `of` of its spread say."""
        metrics = tuple(self.check_metric(m) for m in metrics or (self.metric,))
        frame = self.frame
        out = []
        for labels, rows in self.places():
            numbers = {m: [x for x in frame[m].gather(rows) if x is not None and math.isfinite(x)] for m in metrics}
            out.append((labels, {m: spread(x, len(rows)) for m, x in numbers.items()}))
        return out

    def means(self, *metrics: str) -> polars.DataFrame:
        """One row per setting: how many seeds, and of each metric the mean over them and `±`, half its 95 %
        confidence interval. Where not all seeds of a setting have a metric, a column more (`drops runs`) says how many
        its means are of."""
        import polars as pl

        found = self.over_seeds(*metrics)
        partial = {metric for _, spreads in found for metric, s in spreads.items() if s.partial}
        rows = []
        for labels, spreads in found:
            row = labels | {"runs": max((s.of for s in spreads.values()), default=0)}
            for metric, s in spreads.items():
                row |= {metric: s.mean if s.runs else None, f"{metric} ±": None if math.isnan(s.half) else s.half}
                row |= {f"{metric} runs": s.runs} if metric in partial else {}
            rows.append(row)
        return pl.DataFrame(rows, infer_schema_length=None, strict=False)

    def plot(self, metric: str | None = None, **kw: Any) -> Figure:
        """A metric over what was varied, with error bars over the seeds: `thalweg.sweepfigure.over`."""
        from thalweg import sweepfigure

        return sweepfigure.over(self, metric, **kw)

    def pareto(self, x: str | None = None, y: str | None = None, **kw: Any) -> Figure:
        """Two metrics against each other, with the settings that no other one beats in both (throughput over the 95th
        percentile of queueing delay unless named): `thalweg.sweepfigure.pareto`."""
        from thalweg import sweepfigure

        return sweepfigure.pareto(self, x, y, **kw)

    def _repr_html_(self) -> str:
        if not len(self):
            return escape(repr(self))
        metric = self.metric
        head, rows = self.table_of(metric)
        more = f"<p>and {len(rows) - MOST_ROWS} more: see <code>.means()</code></p>" if len(rows) > MOST_ROWS else ""
        said = f"<p>{escape(unfinished)}</p>" if (unfinished := self.unfinished(metric)) else ""
        every = "<p>every number: <code>.frame</code></p>"
        return titled(self.title(metric), table(head, rows[:MOST_ROWS]), more, said, every)

    def unfinished(self, metric: str) -> str:
        """What the means of a metric are not of, if anything: flows that had not ended, which have no completion times
        and slowdowns, and runs without a value where others of the same setting have one."""
        said = []
        shares = [headline.unfinished(r.summary, metric) for r in self.results]
        least, most = min(shares, default=0.0), max(shares, default=0.0)
        if most:
            part = f"{100 * most:.3g} %" if least == most else f"{100 * least:.3g} to {100 * most:.3g} %"
            said.append(f"{part} of the flows had not ended: `{metric}` is of the others")
        spreads = [s[metric] for _, s in self.over_seeds(metric)]
        if any(s.partial for s in spreads):
            missing = sum(s.of - s.runs for s in spreads)
            have = "has" if missing == 1 else "have"
            said.append(f"{missing} of {len(self)} runs {have} no `{metric}`: the means are of the others")
        return "; ".join(said)

    def title(self, metric: str) -> str:
        """How many runs, with how many seeds, and whether these differ."""
        spreads = [s[metric] for _, s in self.over_seeds(metric)]
        if max((s.runs for s in spreads), default=0) < 2:
            return f"{len(self)} runs"
        seeds = repetitions(spreads)
        if said := self.seeds_agree:
            return f"{len(self)} runs, {seeds} seeds, {said}: the seed makes no difference"
        return f"{len(self)} runs, mean of {seeds} seeds ± 95 % confidence"

    def table_of(self, metric: str) -> tuple[list[str], list[tuple[Any, ...]]]:
        """A metric for people: short names of the varied keys, the means in a unit that fits all of them, and of how
        many seeds they are where these are not all."""
        from thalweg import _units
        from thalweg.sweepfigure import axis_label, short_names

        found = self.over_seeds(metric)
        scale, unit = _units.fitting([s[metric].mean for _, s in found], _units.of_name(metric))
        short = short_names(found[0][0])
        several = max(s[metric].runs for _, s in found) > 1
        partial = any(s[metric].partial for _, s in found)
        head = [*short.values(), axis_label(metric, unit), *(["±"] if several else []), *(["seeds"] if partial else [])]
        rows = []
        for labels, spreads in found:
            s = spreads[metric]
            numbers = [None if math.isnan(v) else v / scale for v in (s.mean, s.half)]
            counts = [f"{s.runs} of {s.of}"] if partial else []
            rows.append((*(text(labels[k]) for k in short), *(numbers if several else numbers[:1]), *counts))
        return head, rows

    def to_latex(self, *metrics: str) -> str:
        """The settings and the means of metrics as a LaTeX table (`booktabs`), with the half-width of the 95 %
        confidence interval where there are several seeds, and how many of them have a value where not all have."""
        from thalweg.texttables import framed, latex_cell, latex_mean

        tables = [self.table_of(metric) for metric in metrics or (self.metric,)]
        keys = len(self.over_seeds(*metrics)[0][0])
        heads = [*tables[0][0][:keys], *(head[keys] for head, _ in tables)]
        lines = []
        for parts in zip(*(rows for _, rows in tables), strict=True):
            means = (latex_mean(row[keys:]) for row in parts)
            lines.append(" & ".join([*map(latex_cell, parts[0][:keys]), *means]))
        return framed(heads, lines, [n < keys for n in range(len(heads))])

    def __repr__(self) -> str:
        return f"<thalweg.Runs: {len(self)} runs over {', '.join(columns(self.params)) or 'nothing'}>"
