"""One scenario, many settings."""

from __future__ import annotations

import hashlib
import itertools
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from thalweg import _rundir
from thalweg.errors import refuse
from thalweg.pool import Job, perform_all
from thalweg.results import Results, write_json
from thalweg.scenario import Scenario, as_scenario

if TYPE_CHECKING:
    import polars


def points(over: Mapping[str, Sequence] | Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """The settings of a sweep: all combinations of a mapping's values, or a list as it is."""
    if isinstance(over, Mapping):
        lists = {k: list(v) if not isinstance(v, str) else [v] for k, v in over.items()}
        return [dict(zip(lists, values, strict=True)) for values in itertools.product(*lists.values())]
    return [dict(point) for point in over]


def _label(point: Mapping[str, Any]) -> str:
    text = ",".join(f"{str(k).rsplit('.', 1)[-1]}={v}" for k, v in point.items())
    return re.sub(r"[^A-Za-z0-9=,._+-]+", "-", text)[:80] or "base"


def sweep(
    base: Scenario | str | Path | Mapping,
    over: Mapping[str, Sequence] | Sequence[Mapping[str, Any]],
    *,
    jobs: int | None = None,
    progress: bool | None = None,
    out: str | Path | None = None,
    check: bool = False,
) -> Runs:
    """Runs variants of `base`: `over` maps dotted keys to lists of values (all combinations), or is a list of
    `{key: value}`. `jobs` runs at a time (default: one per core); the results do not depend on it.

    With `out`, each run is kept in its own folder there: a sweep that was interrupted, or is asked for again, runs only what is
    missing.
    """
    base = as_scenario(base)
    settings = points(over)
    folder = Path(out) if out is not None else None
    todo, table = [], []
    for n, point in enumerate(settings):
        scenario = base.with_(point)
        key = f"{n:04d} {_label(point)}"
        place = None
        if folder is not None:
            place = folder / f"{_label(point)}-{hashlib.sha256(scenario.to_toml().encode()).hexdigest()[:10]}"
            if any(job.out == place for job in todo):
                raise refuse(f"point {n} of the sweep is there twice: {_label(point)}")
        todo.append(Job(key, scenario, place, check))
        table.append({"key": key, "set": {k: str(v) for k, v in point.items()}, "run": place.name if place else None})
    if folder is not None:
        if folder.is_file():
            raise refuse("a file of this name is in the way", file=folder, hint="choose another out")
        folder.mkdir(parents=True, exist_ok=True)
        write_json(folder / "sweep.json", {"core": _rundir.core_fingerprint(), "jobs": table})
    answers = perform_all(todo, jobs, progress)
    return Runs(settings, [answers[job.key] for job in todo])


class Runs(Sequence):
    """The results of a sweep, in the order of its settings: `runs[i]`, `runs.params[i]`, `runs.frame`, `runs.flows`."""

    def __init__(self, params: list[dict[str, Any]], results: list[Results]):
        self.params, self.results = params, results

    def __getitem__(self, index):
        if isinstance(index, slice):
            return Runs(self.params[index], self.results[index])
        return self.results[index]

    def __len__(self) -> int:
        return len(self.results)

    def __iter__(self) -> Iterator[Results]:
        return iter(self.results)

    @property
    def frame(self) -> polars.DataFrame:
        """One row per run: its settings, then the numbers of its summary."""
        import polars as pl

        rows = [p | scalars(r.summary, taken=p) for p, r in zip(self.params, self.results, strict=True)]
        return pl.DataFrame(rows, infer_schema_length=None, strict=False)

    @property
    def flows(self) -> polars.DataFrame:
        """All flows of all runs, with the settings as first columns."""
        import polars as pl

        parts = []
        for point, results in zip(self.params, self.results, strict=True):
            flows = results.flows
            named = [pl.lit(v).alias(k if k not in flows.columns else f"set.{k}") for k, v in point.items()]
            parts.append(flows.select(*named, pl.all()))
        return pl.concat(parts, how="vertical_relaxed")

    def __repr__(self) -> str:
        return f"<thalweg.Runs: {len(self)} runs over {', '.join(self.params[0]) if self.params else 'nothing'}>"


def scalars(summary: Mapping, prefix: str = "", taken: Mapping = {}) -> dict[str, Any]:
    """The numbers and words of a nested summary under dotted names."""
    flat = {}
    for key, value in summary.items():
        name = f"{prefix}{key}"
        if isinstance(value, Mapping):
            flat |= scalars(value, f"{name}.", taken)
        elif isinstance(value, int | float | str | bool) or value is None:
            flat[f"summary.{name}" if name in taken else name] = value
    return flat
