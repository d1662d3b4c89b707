"""One scenario, many settings."""

from __future__ import annotations

import hashlib
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

from thalweg import _places, _rundir, headline
from thalweg._html import table, titled
from thalweg.errors import nearest, refuse
from thalweg.pool import Job, perform_all
from thalweg.results import Results
from thalweg.scenario import Scenario, as_scenario
from thalweg.settings import SEED, Point, columns, points, text
from thalweg.spread import Spread, spread

if TYPE_CHECKING:
    import polars

    from thalweg.plots import Figure

INDEX = "sweep.json"
# What a sweep is about unless something else is asked for: the first of these that its runs have.
METRICS = ("measured.slowdown.mean", "goodput_gbps")
# Of a sweep's settings a notebook shows so many.
MOST_ROWS = 24


def folder_name(labels: Mapping[str, Any]) -> str:
    """What a point is called in the file system."""
    name = ",".join(f"{str(k).rsplit('.', 1)[-1]}={text(v)}" for k, v in labels.items())
    return re.sub(r"[^A-Za-z0-9=,._+-]+", "-", name)[:80].lstrip(".") or "base"


def sweep(
    base: Scenario | str | Path | Mapping,
    over: Mapping[str, Sequence | Mapping[str, Mapping]] | Sequence[Mapping[str, Any]],
    *,
    jobs: int | None = None,
    progress: bool | None = None,
    out: str | Path | None = None,
    check: bool = False,
    force: bool = False,
) -> Runs:
    """Runs variants of `base`.

    `over` maps dotted keys to lists of values (all combinations are run), or is a list of `{key: value}`. What differs in
    more than one key is a named variant, under a name of your own:

    >>> variants = {"dctcp": {"transport.congestion": "dctcp", "switch.marking": marking}, "mine": mine}
    >>> thalweg.sweep("incast.toml", {"variant": variants, "seed": range(5)})

    `jobs` runs at a time (default: one per core); the results do not depend on it. With `out`, each run is kept in its own folder
    there: a sweep that was interrupted, or is asked for again, runs only what is missing. `force`: also what needs more memory than is free.
    """
    base = as_scenario(base)
    settings = points(over)
    folder = Path(out) if out is not None else None
    todo, table = [], []
    for n, point in enumerate(settings):
        scenario = base.with_(point.set)
        name = folder_name(point.labels)
        key = f"{n:04d} {name}"
        place = None
        if folder is not None:
            place = folder / f"{name}-{hashlib.sha256(scenario.to_toml().encode()).hexdigest()[:10]}"
            if any(job.out == place for job in todo):
                raise refuse(f"point {n} of the sweep is there twice: {name}")
        todo.append(Job(key, scenario, place, check))
        table.append(
            {"key": key, "set": {k: text(v) for k, v in point.set.items()}, "run": place.name if place else None}
        )
    if folder is not None:
        _places.claim(folder, "sweep")
        _places.write_json(folder / INDEX, {"core": _rundir.core_fingerprint(), "jobs": table})
    answers = perform_all(todo, jobs, progress, force=force)
    return Runs(settings, [answers[job.key] for job in todo])


class Runs(Sequence):
    """The results of a sweep, in the order of its settings: `runs[i]`, `runs.params[i]`, `runs.frame`, `runs.flows`."""

    def __init__(self, settings: Sequence[Point | Mapping[str, Any]], results: list[Results]):
        self.settings = [p if isinstance(p, Point) else Point(dict(p), dict(p)) for p in settings]
        self.results = results

    @property
    def params(self) -> list[dict[str, Any]]:
        """What was changed, by run; of a named variant its name."""
        return [p.labels for p in self.settings]

    def __getitem__(self, index):
        if isinstance(index, slice):
            return Runs(self.settings[index], self.results[index])
        return self.results[index]

    def __len__(self) -> int:
        return len(self.results)

    def __iter__(self) -> Iterator[Results]:
        return iter(self.results)

    @property
    def frame(self) -> polars.DataFrame:
        """One row per run: its settings, then the numbers of its summary. A setting that a run does not have is null; settings of several
        kinds, or tables, are text."""
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
        """The runs of each value of a setting: `thalweg.runplots.slowdown_by_size(runs.by("variant"))` averages over their seeds."""
        named = columns(self.params)
        if setting not in named:
            raise refuse(f"the sweep has no setting called `{setting}`", hint=nearest(setting, named))
        parts: dict[str, list[int]] = {}
        for n, value in enumerate(named[setting]):
            parts.setdefault(text(value), []).append(n)
        return {name: Runs([self.settings[n] for n in at], [self.results[n] for n in at]) for name, at in parts.items()}

    @property
    def metric(self) -> str:
        """The column of `frame` that figures show unless another is asked for."""
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
        """The throughput of the flows without end of each section of traffic, if there are several sections of them."""
        found = [m for m in self.metrics() if m.startswith("groups.") and m.endswith(".endless.sum_gbps")]
        return found if len(found) > 1 else []

    def check_metric(self, metric: str) -> str:
        if metric not in self.metrics():
            raise refuse(f"these runs have no number called `{metric}`", hint=nearest(metric, self.metrics()))
        return metric

    def over_seeds(self, *metrics: str) -> list[tuple[dict[str, Any], dict[str, Spread]]]:
        """Settings without the seed, and of each metric the mean and the 95 % confidence interval over the seeds."""
        metrics = tuple(self.check_metric(m) for m in metrics or (self.metric,))
        frame = self.frame
        named = columns(self.params)
        keys = [k for k in named if k != SEED]
        found: dict[tuple, list[int]] = {}
        for row in range(len(self)):
            found.setdefault(tuple(named[k][row] for k in keys), []).append(row)
        out = []
        for values, rows in found.items():
            numbers = {m: [x for x in frame[m].gather(rows) if x is not None and math.isfinite(x)] for m in metrics}
            out.append((dict(zip(keys, values, strict=True)), {m: spread(x) for m, x in numbers.items()}))
        return out

    def means(self, *metrics: str) -> polars.DataFrame:
        """One row per setting: how many seeds, and of each metric the mean over them and `±`, half its 95 % confidence interval."""
        import polars as pl

        rows = []
        for labels, spreads in self.over_seeds(*metrics):
            row = labels | {"runs": max((s.runs for s in spreads.values()), default=0)}
            for metric, s in spreads.items():
                row |= {metric: s.mean if s.runs else None, f"{metric} ±": None if math.isnan(s.half) else s.half}
            rows.append(row)
        return pl.DataFrame(rows, infer_schema_length=None, strict=False)

    def plot(self, metric: str | None = None, **kw) -> Figure:
        """A metric over what was varied, with error bars over the seeds: `thalweg.sweepfigure.over`."""
        from thalweg import sweepfigure

        return sweepfigure.over(self, metric, **kw)

    def pareto(self, x: str, y: str, **kw) -> Figure:
        """Two metrics against each other, with the settings that no other one beats in both: `thalweg.sweepfigure.pareto`."""
        from thalweg import sweepfigure

        return sweepfigure.pareto(self, x, y, **kw)

    def _repr_html_(self) -> str:
        from thalweg.sweepfigure import axis_label

        if not len(self):
            return escape(repr(self))
        metric = self.metric
        rows = self.over_seeds(metric)
        keys = list(rows[0][0])
        shown = [
            (*(text(labels[k]) for k in keys), s[metric].runs, s[metric].mean, s[metric].half)
            for labels, s in rows[:MOST_ROWS]
        ]
        more = f"<p>and {len(rows) - MOST_ROWS} more: see <code>.means()</code></p>" if len(rows) > MOST_ROWS else ""
        seeds = len({str(v) for v in columns(self.params).get(SEED, [])})
        of = f" with {seeds} seeds" if seeds > 1 else ""
        body = table((*keys, "runs", axis_label(metric), "± 95 %"), shown)
        return titled(f"{len(self)} runs{of}", body, more, "<p>every number: <code>.frame</code></p>")

    def __repr__(self) -> str:
        return f"<thalweg.Runs: {len(self)} runs over {', '.join(columns(self.params)) or 'nothing'}>"
