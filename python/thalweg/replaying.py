"""Recorded runs again, under another scheduler: who would have been late?"""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from pathlib import Path
from threading import Event
from typing import Any

from thalweg import _core, _input, _places, _rundir
from thalweg._arrow import arrow_table
from thalweg._counts import is_whole
from thalweg.engine import interrupts
from thalweg.errors import brief, nearest, refuse
from thalweg.progress import Reporter, reporter, speaks
from thalweg.recording import PACKETS, Reader, present, scenario_digest
from thalweg.results import Interrupted, Results
from thalweg.rundata import Made, Tables

# Rows fed at a time, and events between two looks at Ctrl-C (about a tenth of a second).
BATCH, EVENTS = 1 << 16, 1 << 20

# Column of the recording -> name in the engine.
_FED = {
    "flow": "flow",
    "forward": "forward",
    "wire": "wire",
    "handed_ps": "handed",
    "ingress_ps": "ingress",
    "exit_ps": "exit",
    "waited_ps": "waited",
    "queues": "queues",
    "hops": "hops",
}


def replay(
    run: Results | str | Path,
    *,
    scheduler: str = "lstf",
    preemptive: bool = False,
    threshold: str | int | None = None,
    bucket: str | int | None = None,
    out: str | Path | None = None,
    progress: bool | Reporter | None = None,
) -> Results:
    """Runs a recorded run's packets again, with another scheduler at every switch port.

    The packets enter when they entered the recorded run and take the same paths. `scheduler` is `"lstf"`,
    `"edf"`, `"priority"` or `"omniscient"` (needs recorded hops); headers are set at the ingress from what
    was recorded. A packet is overdue if it leaves later than in the recorded run; `threshold` (`"11.68us"`,
    or picoseconds) says how much later is reported separately: by default one packet time on the slowest link
    used. `bucket` (`"10us"`) lets ports sort only so finely, as a calendar queue does: packets of one bucket
    leave in order of arrival.

    The summary says what is overdue; `tables["lateness"]` and `tables["ratios"]` hold distributions. Raises
    `ScenarioError` if the run cannot be replayed.
    """
    run = run if isinstance(run, Results) else Results.load(run)
    out = _input.maybe(out, "a run directory")
    if out is not None:
        _places.prepare(out, speaks(progress))
    return Replaying(run, scheduler, preemptive, threshold, bucket).finish(out, reporter(progress))


def settings(
    scheduler: str, preemptive: bool, threshold: str | int | None, bucket: str | int | None = None
) -> dict[str, Any]:
    """A replay's settings as they are kept with its results, found possible."""
    if scheduler not in _core.candidates():
        raise refuse(f"no scheduler for replays is called `{scheduler}`", hint=nearest(scheduler, _core.candidates()))
    threshold, bucket = _span("threshold", threshold, "11.68us"), _span("bucket", bucket, "10us")
    if bucket == 0:
        raise refuse("a bucket of 0 holds nothing", hint="leave it out: keys are exact without it")
    return {"scheduler": scheduler, "preemptive": bool(preemptive), "bucket_ps": bucket or 0, "threshold_ps": threshold}


def _span(what: str, value: str | int | None, example: str) -> int | None:
    if isinstance(value, str):
        try:
            value = _core.span_ps(value)
        except ValueError as e:
            raise refuse(f"the {what} `{value}` is not a time: {e}", hint=f'such as "{example}"') from None
    if value is not None and not (is_whole(value) and 0 <= value < 1 << 63):
        raise refuse(
            f"the {what} `{brief(value)}` is not a time in picoseconds", hint=f'a whole number, or "{example}"'
        )
    return value


class Replaying:
    """A replay found possible, and then under way."""

    def __init__(
        self,
        run: Results,
        scheduler: str,
        preemptive: bool,
        threshold: str | int | None,
        bucket: str | int | None = None,
    ):
        self.settings = settings(scheduler, preemptive, threshold, bucket)
        self.run = run
        self.reader = _recording(run)
        if scheduler == "omniscient" and not self.reader.hops:
            reason = "an omniscient replay needs the times at every switch port, which were not recorded"
            raise refuse(reason, file=run.path, hint="run it again with --record-hops")
        digest = scenario_digest(run.scenario_toml, run.scenario.inputs())
        if digest != self.reader.about.get("scenario"):
            reason = "was recorded from another scenario, or a file that the scenario reads has changed"
            raise refuse(reason, file=_folder(run) / PACKETS, hint="run it again with --record")
        if self.settings["threshold_ps"] is None:
            self.settings["threshold_ps"] = _packet_time(run)
        spans = self.settings["bucket_ps"], self.settings["threshold_ps"]
        self.core = _core.Replay(run.scenario._core, scheduler, bool(preemptive), *spans)

    def finish(self, out: str | Path | None, report: Reporter, stop: Event | None = None) -> Results:
        """Replays everything. Ctrl-C leaves nothing: half a replay says nothing about the whole."""
        begun = time.monotonic()
        report.start(self._seen())
        with interrupts() as signals:
            try:
                for rows in self._rows():
                    try:
                        self.core.feed(rows)
                    except ValueError as e:
                        hint = "run it again with --record"
                        raise refuse(f"cannot be replayed: {e}", file=_folder(self.run) / PACKETS, hint=hint) from None
                    self._until_input(report, signals.pressed, stop)
                self.core.feed_end()
                self._until_input(report, signals.pressed, stop)
            finally:
                report.finish(self._seen())
            signals.saving = True
            results = self._collect(time.monotonic() - begun)
            if out is not None:
                results._keep(Path(out))
        if signals.pressed.is_set():
            raise Interrupted(results)
        return results

    def _until_input(self, report: Reporter, pressed: Event, stop: Event | None) -> None:
        more = True
        while more:
            more = self.core.step(EVENTS)
            report.update(self._seen())
            if pressed.is_set() or (stop is not None and stop.is_set()):
                raise Interrupted

    def _rows(self) -> Iterator[dict[str, Any]]:
        """What the engine is fed with, a batch at a time."""
        import numpy as np

        hops = self.settings["scheduler"] == "omniscient"
        for table in self.reader.tables([*_FED, *(["starts_ps"] if hops else [])]):
            for start in range(0, table.num_rows, BATCH):
                part = table.slice(start, BATCH)
                rows = {name: part[column].to_numpy() for column, name in _FED.items() if name != "exit"}
                # What had not happened when the run ended: as the engine takes it.
                rows["exit"] = part["exit_ps"].fill_null(-1).to_numpy()
                starts = part["starts_ps"].combine_chunks().flatten().fill_null(0).to_numpy() if hops else []
                yield rows | {"starts": np.ascontiguousarray(starts, dtype=np.int64)}

    def _seen(self) -> dict[str, int]:
        """Progress as reporters take it: packets stand for flows."""
        fed, left, events, now = self.core.progress()
        rows = self.reader.rows
        counts = {"flows_started": fed, "flows_done": left, "flows_total": rows, "measured_done": left}
        return counts | {"now_ps": now, "until_ps": 0, "events": events, "packet_hops": 0, "measured_total": rows}

    def _collect(self, elapsed: float) -> Results:
        tables = {}
        for name, doc, columns in self.core.tables():
            table = arrow_table(name, doc, columns)
            tables[name] = Made(table)
        summary = json.loads(self.core.summary())
        original = {k: self.run.summary.get(k) for k in ("name", "digest", "partial")}
        summary["original"] = original | {"scenario": self.reader.about["scenario"], "run": str(self.run.path)}
        rows, hops = self.reader.rows, summary["packet_hops"]
        meta = _rundir.provenance() | {k: self.run.meta.get(k) for k in ("directory", "inputs")}
        meta |= {"stopped": None, "seconds": round(elapsed, 6), "replay": self.settings, "events": summary["events"]}
        meta |= {"packets_per_second": round(rows / elapsed), "packet_hops": hops}
        meta |= {"packet_hops_per_second": round(hops / elapsed)}
        return Results(self.run.scenario_toml, summary, Tables(tables), meta)


def _recording(run: Results) -> Reader:
    """The recording of a run, or why it cannot be replayed."""
    if "original" in run.summary:
        raise refuse("is a replay itself", file=run.path or "this run", hint="name the run that was recorded")
    if run.path is None or not present(run.path):
        reason = "its recording has been deleted" if run.recorded else "its packets were not recorded"
        hint = "run it again with `thalweg run … --record`"
        raise refuse(f"cannot be replayed: {reason}", file=run.path or "this run", hint=hint)
    reader = Reader(run.path)
    dropped = run.summary.get("drops", 0)
    if dropped:
        reason = f"cannot be replayed: {dropped} packets were dropped in it, and a replay delivers every packet"
        raise refuse(reason, file=run.path, hint='record it with `--set switch.buffer="unlimited"`')
    return reader


def _folder(run: Results) -> Path:
    """A recorded run's."""
    assert run.path is not None, "`_recording` refuses what has no folder"
    return run.path


def _packet_time(run: Results) -> int:
    """T: one packet of the most common size on the slowest link that carried packets, ps."""
    import polars as pl

    ports = run.tables["ports"].filter(pl.col("packets") > 0)["port"].to_list()
    bytes_ = (run.summary.get("packets") or {}).get("most_common_wire_bytes")
    if bytes_ is None:
        reason = "does not say how large most packets were"
        raise refuse(reason, file=_folder(run) / "summary.json", hint="name a threshold, or run it again with --record")
    return _core.packet_time_ps(run.scenario._core, bytes_, ports)
