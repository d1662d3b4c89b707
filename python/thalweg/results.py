"""A run's results: what it measured, and how that is drawn, shown and kept in a folder."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Sequence
from functools import cached_property
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

from thalweg import _input, _places, _shapes, _tables
from thalweg.decisions import DECISIONS
from thalweg.errors import refuse
from thalweg.recording import LATE, PACKETS
from thalweg.rundata import RunData, Tables

if TYPE_CHECKING:
    import polars
    import pyarrow

    from thalweg.explaining import Evidence, Explanation, Slowest
    from thalweg.runplots import Plots
    from thalweg.tracing import Traced

SNAPSHOT = "snapshot.bin"


class Results(RunData):
    """One run's results."""

    def __init__(
        self,
        scenario_toml: str,
        summary: dict[str, Any],
        tables: Tables,
        meta: dict[str, Any],
        snapshot: bytes | None = None,
        decisions: bytes | None = None,
        port_records: Sequence[tuple[str, bytes]] = (),
    ):
        super().__init__(scenario_toml, summary, tables, meta)
        self._snapshot, self._decisions = snapshot, decisions
        self._port_records = port_records
        self._evidence: Evidence | None = None

    @cached_property
    def decisions(self) -> polars.DataFrame:
        """One row per call of a congestion controller, where `measure.decisions` recorded them."""
        from thalweg import decisions

        return decisions.table(self._decisions or self.path or "this run")

    @property
    def plot(self) -> Plots:
        """Figures: `results.plot.slowdown()`, `.cdf()`, `.queues()` …; each returns a matplotlib figure."""
        from thalweg.runplots import Plots

        return Plots(self)

    def report(self, path: str | Path) -> Path:
        """Writes one self-contained HTML page."""
        from thalweg.report import run_report

        path = run_report(self, _input.path(path, "a page"))
        if self.path is not None and path.parent.absolute() == self.path.absolute():
            _places.add_file(path.parent, path.name)
        return path

    def animate(self) -> Any:
        """The run in a notebook: its network with queues that fill, a time slider, curves. Needs samples
        (`measure.queues`) and `pip install 'thalweg[notebook]'`: see `thalweg.animation.animate`."""
        from thalweg.animation import animate

        return animate(self)

    def explain(self, flow: int, *, evidence: Evidence | None = None) -> Explanation:
        """Why a flow took so long: its completion time as a sum of intervals with one cause each.

        Looks in the run's recording; a run without one is run again, recorded, into a temporary folder, which is kept
        as long as these results; `evidence` is another record to look in. See `thalweg.explaining.explain`.
        """
        from thalweg.explaining import explain

        made = explain(self, flow, evidence=evidence or self._evidence)
        self._evidence = self._evidence or made.evidence
        return made

    def slowest(self, most: int = 5, *, by: str = "slowdown") -> Slowest:
        """The flows that were late: `most` that have not completed, with why, and `most` of the others, by slowdown or
        by `time`. `print` shows them; `explain` takes one apart. See `thalweg.explaining.slowest`."""
        from thalweg.explaining import slowest

        return slowest(self, most, by=by)

    def trace(self, path: str | Path, *, flows: Sequence[int] = (), ports: Sequence[int] = ()) -> Traced:
        """Writes what was recorded as a timeline for Perfetto: see `thalweg.tracing.perfetto`."""
        from thalweg.tracing import perfetto

        return perfetto(self, path, flows=flows, ports=ports)

    def save(self, path: str | Path) -> Path:
        """Writes the run directory: complete, or not at all. Only an older run is replaced; where the results are.

        Results that have a directory already are copied with all of it, recordings included."""
        path = _input.path(path, "a run directory")
        _places.check_free(path)
        return self._keep(path)

    def _keep(self, path: Path) -> Path:
        """`save` in a place that was found free before the run."""
        with _places.appearing(path) as place:
            self._write(place.folder)
        self.path = place.path
        return place.path

    def _write(self, folder: Path) -> None:
        import pyarrow.parquet as pq

        (folder / "scenario.toml").write_text(self._scenario_toml, encoding="utf-8")
        _places.write_json(folder / "summary.json", self.summary)
        for name in self.tables:
            pq.write_table(self.tables.arrow(name), folder / f"{name}.parquet", compression="zstd")
        if self._snapshot is not None:
            (folder / SNAPSHOT).write_bytes(self._snapshot)
        if self._decisions is not None:
            (folder / DECISIONS).write_bytes(self._decisions)
        for name, record in self._port_records:
            (folder / name).write_bytes(record)
        self._copy_rest(folder)
        _places.seal(folder, self.meta)

    def _copy_rest(self, folder: Path) -> None:
        """The files of the run's own directory that are not in memory: its recording, decisions and records of ports,
        its report."""
        if self.path is None:
            return
        for name in _places.listed(self.path):
            if name != _places.META and not (folder / name).exists():
                try:
                    shutil.copyfile(self.path / name, folder / name)
                except OSError as e:
                    raise refuse(f"{name} cannot be read: {e.strerror}", file=self.path, hint="run it again") from None

    @classmethod
    def load(cls, path: str | Path) -> Results:
        """Opens a run directory. Tables are read when they are first used."""
        path = _input.path(path, "a run directory")
        if not (path / "summary.json").is_file():
            reason = "is not a run directory (no summary.json)" if path.exists() else "no such run directory"
            is_sweep = (path / _places.SWEEP).is_file()
            way = "it is a sweep: `thalweg.Runs.load` opens it" if is_sweep else None
            raise refuse(reason, file=path, hint=way or _input.folders_near(path, "summary.json"))
        summary = _input.record(path / "summary.json", "digest", "name", "partial")
        meta = _input.record(path / _places.META)
        shape = _shapes.REPLAY if "original" in summary else _shapes.RUN
        for file, wrong in (
            ("summary.json", _shapes.misfit(summary, shape)),
            (_places.META, _shapes.misfit(meta, _shapes.META)),
        ):
            if wrong is not None:
                raise refuse(wrong, file=path / file, hint=_tables.AGAIN)
        listed = [name for name in _places.files_of(meta) if name.endswith(".parquet") and name not in (PACKETS, LATE)]
        missing = [name for name in listed if not (path / name).is_file()]
        if missing:
            reason = f"is not a complete run directory: {missing[0]} is missing"
            raise refuse(reason, file=path, hint="run it again")
        try:
            scenario = _input.text(path / "scenario.toml", _input.SCENARIO)
        except (OSError, ValueError) as e:
            raise refuse(f"is not a complete run directory: scenario.toml: {e}", file=path) from None
        snapshot = (path / SNAPSHOT).read_bytes() if (path / SNAPSHOT).is_file() else None
        # A recording may be larger than memory: it is not a table, see `packets`.
        files = [p for p in sorted(path.glob("*.parquet")) if p.name not in (PACKETS, LATE) and p.is_file()]

        def reader(file: Path) -> Callable[[], pyarrow.Table]:
            return lambda: _tables.read(file, tables)

        tables = Tables({p.stem: reader(p) for p in files})
        results = cls(scenario, summary, tables, meta, snapshot)
        results.path = path
        return results

    def _repr_html_(self) -> str:
        from thalweg import headline
        from thalweg._html import folded, table, titled

        parts = [table(("", ""), headline.rows_of(self))]
        unit, head, classes = headline.class_table(self.summary)
        if classes:
            parts.append(f"<p>completion times in {unit}, slowdowns (×)</p>" + table(head, classes))
        parts.append(
            folded("every number of the summary", table(("key", "value"), headline.scalars(self.summary).items()))
        )
        parts.append(f"<p>tables: {escape(', '.join(self.tables))}</p>")
        return titled(f"Results of {self.name}" + (" (partial)" if self.partial else ""), *parts)

    def __repr__(self) -> str:
        partial = " (partial)" if self.partial else ""
        return f"<thalweg.Results {self.name!r} digest={self.digest}{partial}: {', '.join(self.tables)}>"


class Interrupted(KeyboardInterrupt):
    """Ctrl-C during a run: `results` is what there is so far, valid and marked partial (complete, if they
    were being saved); `None` if nothing can be kept."""

    def __init__(self, results: Results | None = None, why: str = "interrupted"):
        super().__init__(why)
        self.results = results
