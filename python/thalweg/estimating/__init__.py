"""Completion times without a run of the whole network: link by link.

    found = thalweg.Scenario.load("fabric.toml").estimate_fct(jobs=2)
    found.classes           # slowdown by size class: median, 99th percentile
    found.frame             # a row per flow
    found.links             # a row per direction of a link
    found.against(run)      # next to a run of the whole network

Parsimon's method (Zhao, Goyal, Alizadeh, Anderson, "Scalable Tail Latency Estimation for Data Center Networks", NSDI
2023): every direction of a link is simulated with the flows that cross it and with no other link but those of their
sources that could have a queue. What a flow took there beyond what it takes alone, per packet, is the link's delay;
delays of links are taken to be independent, and a flow's are added up, by draws from their distributions for flows of
about its size.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Mapping
from contextlib import AbstractContextManager, nullcontext
from numbers import Real
from pathlib import Path
from typing import Any

import numpy as np

from thalweg import _core, _counts, _input, _places
from thalweg.errors import refuse
from thalweg.estimating.delays import Buckets
from thalweg.estimating.estimate import Estimate
from thalweg.estimating.links import Work
from thalweg.estimating.paths import flows_of, paths_of
from thalweg.estimating.refusals import check
from thalweg.executors import named, opened
from thalweg.scenario import Scenario, as_scenario

__all__ = ["Buckets", "Estimate", "estimate_fct"]


def estimate_fct(
    scenario: Scenario | str | Path | Mapping[str, Any],
    *,
    jobs: int | None = None,
    seed: int | None = None,
    draws: int = 32,
    buckets: Buckets | None = None,
    cluster: float | None = None,
    progress: bool | None = None,
    executor: Any = None,
    out: str | Path | None = None,
    force: bool = False,
) -> Estimate:
    """Estimates the completion times of a scenario's flows from simulations of its links, one by one.

    `seed`: of the draws (`None`: the scenario's); `draws`: how many per flow. `buckets`: how flows of a link are put
    together by size. `cluster`: links whose loads, flow sizes and gaps differ by no more than this fraction have one
    simulation together; `None`: each has its own. `jobs`, `progress`, `executor`, `force`: as of `thalweg.sweep`; none
    of them changes a number. `out`: a folder for the tables (`Estimate.save`); the files of the links' simulations are
    there while these run, so all workers of an executor must see it (`None`: nothing is kept). Raises `ScenarioError`
    for what cannot be estimated this way: each key, the reason and what to change.

    >>> thalweg.Scenario.load("fabric.toml").estimate_fct(jobs=2).classes
    """
    jobs, draws = _counts.jobs(jobs), _counts.count(draws, "draws", "every flow needs one at least")
    seed, folder = seed if seed is None else _counts.seed(seed), _input.maybe(out, "a folder")
    if cluster is not None and not (isinstance(cluster, Real) and 0 < cluster < 1):
        raise refuse(f"`cluster` is {cluster}: it is a fraction between 0 and 1, such as 0.1")
    scenario = as_scenario(scenario)
    check(scenario)
    if folder is not None:
        _places.claim(folder, "estimate")
    begun = time.monotonic()
    flows = flows_of(scenario)
    paths = paths_of(scenario, flows, progress)
    chosen = np.flatnonzero(flows.start < _core.span_ps(scenario.to_dict()["run"]["until"]))
    if not len(chosen):
        raise refuse("no flow starts before the run ends", key="run.until", hint="let it end later")
    spent = {"paths": time.monotonic() - begun}
    random = np.random.default_rng(scenario.seed if seed is None else seed)
    with (
        tempfile.TemporaryDirectory(prefix=".estimate-", dir=folder) as place,
        _workers(executor, jobs, Path(place)) as on,
    ):
        how = {"workers": jobs, "progress": progress, "force": force, "executor": on}
        work = Work(scenario, flows.only(chosen), paths.only(chosen), Path(place), how, spent)
        found = work.estimate(buckets or Buckets(), cluster, random, draws)
    if folder is not None:
        found.save(folder)
    return found


def _workers(executor: Any, jobs: int | None, folder: Path) -> AbstractContextManager[Any]:
    """What runs are made on: opened once for all of them."""
    where = named(executor) if isinstance(executor, str) else executor
    return nullcontext() if where is None else opened(where, jobs, folder, lambda line: None, False)
