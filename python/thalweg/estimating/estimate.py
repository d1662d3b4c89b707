"""What an estimate has found, and how far it is from a run."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from thalweg import _input, _places, _units
from thalweg._format import plural, wall
from thalweg.errors import refuse
from thalweg.estimating.delays import quantiles
from thalweg.estimating.paths import Flows
from thalweg.results import Results
from thalweg.scenario import Scenario

if TYPE_CHECKING:
    import polars

PERCENTILES = (50, 99)
Class = tuple[float, float, str]


@dataclass(frozen=True)
class Link:
    """One direction of a link: what crosses it, and what it adds per packet (`mean`, `p99`, ps); `leader`: the port
    whose simulation stands for it; `buckets`: how many its flows fill."""

    port: int
    ends: tuple[int, int]
    name: str
    rate: int
    flows: int
    load: float
    leader: int
    buckets: int
    mean: float
    p99: float


class Estimate:
    """Completion times of a scenario's flows, estimated link by link. `seconds`: what each part of it took.

    >>> found = scenario.estimate_fct()
    >>> found.frame.sort("slowdown_p99").tail(3)
    """

    def __init__(
        self,
        scenario: Scenario,
        flows: Flows,
        alone: np.ndarray,
        fct: np.ndarray,
        links: list[Link],
        seconds: dict[str, float],
    ):
        self.scenario, self.seconds = scenario, seconds
        self._flows, self._alone, self._fct, self._links = flows, alone, fct, links
        self._slowdown = fct / flows.ideal[:, None]

    @cached_property
    def frame(self) -> polars.DataFrame:
        """A row per flow: id, src, dst, size (B), start_ps, group (its section of traffic), measured, ideal_ps,
        alone_ps (with no other flow in the network), fct_ps and slowdown (means of the draws), slowdown_p50,
        slowdown_p99 (of the draws)."""
        import polars as pl

        f = self._flows
        columns = {"id": f.id, "src": f.src, "dst": f.dst, "size": f.size, "start_ps": f.start, "group": f.section}
        columns |= {"measured": f.measured, "ideal_ps": f.ideal, "alone_ps": self._alone.round().astype(np.int64)}
        columns |= {"fct_ps": self._fct.mean(axis=1).round().astype(np.int64), "slowdown": self._slowdown.mean(axis=1)}
        for at in PERCENTILES:
            columns[f"slowdown_p{at}"] = np.percentile(self._slowdown, at, axis=1, method="inverted_cdf")
        return pl.DataFrame(columns)

    @cached_property
    def links(self) -> polars.DataFrame:
        """A row per direction of a link that a flow crosses: port, from, to, name, rate_bps, flows, load (payload, from
        the first start to the last), leader (the port whose simulation stands for it), delay_mean_ns and delay_p99_ns
        (per packet)."""
        import polars as pl

        rows = [
            (n.port, *n.ends, n.name, n.rate, n.flows, n.load, n.leader, n.buckets, n.mean / 1e3, n.p99 / 1e3)
            for n in self._links
        ]
        names = ["port", "from", "to", "name", "rate_bps", "flows", "load", "leader", "buckets"]
        return pl.DataFrame(rows, schema=[*names, "delay_mean_ns", "delay_p99_ns"], orient="row")

    @cached_property
    def classes(self) -> polars.DataFrame:
        """A row per size class (`measure.size_classes`) and one of all: flows that count, p50 and p99 of slowdown, over
        all draws."""
        import polars as pl

        rows = []
        for above, up_to, name in self._classes():
            mine = self._flows.measured & (self._flows.size > above) & (self._flows.size <= up_to)
            rows.append((name, int(mine.sum()), *quantiles(self._slowdown[mine].ravel(), PERCENTILES)))
        return pl.DataFrame(rows, schema=_schema("class", "flows", "p50", "p99"), orient="row")

    def against(self, run: Results | str | Path) -> polars.DataFrame:
        """Next to a run of the whole network: by size class the p50 and p99 of slowdown of both, and the estimate's
        error in percent. Raises `ScenarioError` if the run has other flows, or was stopped."""
        import polars as pl

        run = run if isinstance(run, Results) else Results.load(run)
        self._check_same(run)
        flows = run.measured()
        size, slowdown = flows["size"].to_numpy(), flows["slowdown"].to_numpy()
        rows = []
        for (above, up_to, name), mine in zip(self._classes(), self.classes.iter_rows(named=True), strict=True):
            found = quantiles(slowdown[(size > above) & (size <= up_to)], PERCENTILES)
            row = [name, mine["flows"]]
            for real, at in zip(found, PERCENTILES, strict=True):
                guess = mine[f"p{at}"]
                row += [real, guess, None if real is None or guess is None else 100 * (guess / real - 1)]
            rows.append(row)
        parts = (f"p{at}_{what}" for at in PERCENTILES for what in ("run", "estimate", "error_percent"))
        return pl.DataFrame(rows, schema=_schema("class", "flows", *parts), orient="row")

    def save(self, out: str | Path) -> Path:
        """Writes classes.csv, flows.csv, links.csv and the resolved scenario into a folder: a new one, or one of an
        older estimate."""
        folder = _input.path(out, "a folder")
        tables = {"classes.csv": self.classes, "flows.csv": self.frame, "links.csv": self.links}
        files = {name: table.write_csv() for name, table in tables.items()} | {"scenario.toml": self.scenario.to_toml()}
        _places.claim(folder, "estimate")
        for name, text in files.items():
            _places.write_file(folder / name, text, mark="")
        return folder

    def _classes(self) -> list[Class]:
        texts = self.scenario.to_dict()["measure"].get("size_classes") or []
        edges = [0.0, *map(_units.in_bytes, texts), math.inf]
        names = [*(f"up to {text}" for text in texts), f"above {texts[-1]}"] if texts else []
        return [*zip(edges, edges[1:], names, strict=False), (0.0, math.inf, "all")]

    def _check_same(self, run: Results) -> None:
        place = run.path or "the run"
        if run.partial:
            raise refuse(
                "was stopped before its end: its slow flows are missing", file=place, hint="thalweg run --resume"
            )
        theirs = run.flows.filter(run.flows["start_ps"].is_not_null())
        mine = self.frame
        same = theirs.height == mine.height and all(
            np.array_equal(theirs[c].to_numpy(), mine[c].to_numpy()) for c in ("id", "src", "dst", "size", "start_ps")
        )
        if not same:
            raise refuse(
                "has other flows than this scenario", file=place, hint="run this scenario, with the same --set"
            )

    def __repr__(self) -> str:
        simulated = len({n.leader for n in self._links})
        sizes = f"{plural(len(self._flows), 'flow')}, {plural(simulated, 'link')} simulated of {len(self._links)}"
        return f"<thalweg.Estimate of {self.scenario.name!r}: {sizes}, {wall(sum(self.seconds.values()))}>"


def _schema(*names: str) -> dict[str, Any]:
    import polars as pl

    kinds = {"class": pl.String, "flows": pl.Int64}
    return {name: kinds.get(name, pl.Float64) for name in names}
