"""Drives a run: progress, Ctrl-C, time budget, checkpoint. The engine only ever runs a bounded number of events."""

from __future__ import annotations

import json
import signal
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from threading import Event
from typing import Any

from thalweg import _core, _counts, _given, _input, _memory, _places, _rundir, controllers, installed, recording
from thalweg._arrow import arrow_table
from thalweg.errors import ControllerError, ScenarioError, refuse
from thalweg.progress import Reporter, reporter, speaks
from thalweg.results import Interrupted, Results
from thalweg.rundata import Made, Tables
from thalweg.scenario import Scenario, as_scenario

# Seconds between looks at progress and Ctrl-C. What one look costs is about a thousandth of this.
LOOK_EVERY = 0.1


def run(
    scenario: Scenario | str | Path | Mapping[str, Any],
    *,
    set: Mapping[str, Any] | None = None,
    out: str | Path | None = None,
    progress: bool | Reporter | None = None,
    check: bool = False,
    max_seconds: float | None = None,
    record: bool | str = False,
    force: bool = False,
    threads: int | None = None,
) -> Results:
    """Runs a scenario.

    `set`: dotted keys and the values that replace the scenario's. `out`: the run directory to write; `None` keeps
    nothing on disk. An older run there is replaced, any other folder is not. `progress`: `None` shows a bar on a
    terminal, `True` always reports progress, `False` prints nothing. `check`: checks the engine's invariants during
    the run. `max_seconds`: stops after so much wall-clock time; the results are then valid and marked partial.
    `record`: records every packet into the run directory, as `measure.packets` does (`"hops"`: with the times at every
    switch port), for `thalweg.replay`. A run that needs more memory than is free, by its estimate, is refused, unless
    `force` is true. `threads`: threads for this run, at most one per part that its network can be cut into; `None`:
    one per core for a large network that can be cut, else one. The results do not depend on it, byte by byte.

    Raises:
        ScenarioError: the scenario is wrong, an argument is, or `out` cannot be written.
        Interrupted: Ctrl-C; a `KeyboardInterrupt` whose `results` are those so far.
    """
    threads, out, max_seconds = _counts.threads(threads), _input.maybe(out, "a run directory"), _budget(max_seconds)
    scenario = as_scenario(scenario, {**_given.settings(set), **record_setting(record)})
    if not force:
        _memory.check(scenario, _memory.available())
    if out is not None:
        _places.prepare(out, speaks(progress))
    simulation = _core.Simulation(scenario._core)
    return conclude(simulation, scenario, out, progress, check=check, max_seconds=max_seconds, threads=threads)


def _budget(max_seconds: object) -> float | None:
    """Seconds that a run may take; `None`: as many as it needs."""
    if max_seconds is None:
        return None
    if not _counts.is_number(max_seconds) or isinstance(max_seconds, bool) or not max_seconds >= 0:
        raise refuse(f"`{max_seconds!r}` is not a number of seconds", key="max_seconds")
    return max_seconds


def record_setting(record: bool | str, decisions: bool = False) -> dict[str, Any]:
    """What `record` and `decisions` set in the scenario."""
    if not isinstance(record, bool | str) or record not in (False, True, "hops"):
        raise refuse(f'`record` is True, False or "hops", not {record!r}')
    packets = {"measure.packets": {"hops": record == "hops"}} if record else {}
    return packets | ({"measure.decisions": True} if decisions else {})


def resume(
    run: str | Path,
    *,
    progress: bool | Reporter | None = None,
    check: bool = False,
    max_seconds: float | None = None,
    threads: int | None = None,
) -> Results:
    """Continues a partial run, named by its run directory, from its snapshot. The results are those of a run that was
    never stopped, on any number of threads."""
    threads, directory = _counts.threads(threads), _input.path(run, "a run directory")
    max_seconds = _budget(max_seconds)
    before = Results.load(directory)
    _places.check_free(directory)
    if not before.partial:
        raise refuse("this run is complete: there is nothing to resume", file=directory)
    return conclude(reopen(before), before, directory, progress, check=check, max_seconds=max_seconds, threads=threads)


def reopen(before: Results) -> _core.Simulation:
    """The simulation of a partial run, where it was stopped."""
    if before.recorded:
        reason = "a recorded run cannot be resumed: its recording ended where it was stopped"
        raise refuse(reason, file=before.path or "", hint="run it again")
    if before._snapshot is None:
        reason = before.meta.get("no_snapshot", "there is no snapshot")
        raise refuse(f"cannot be resumed: {reason}", file=before.path or "", hint="run it again")
    installed.need(before.scenario_toml)
    _check_unchanged(before)
    try:
        return _core.Simulation.load(before._snapshot)
    except ValueError as e:
        if "damaged" in str(e):
            raise refuse(f"snapshot.bin: {e}", file=before.path or "", hint="run it again") from None
        _check_registered(before)
        hint = "run it again with this version" if before.meta.get("core") != _rundir.core_fingerprint() else None
        raise refuse(f"the snapshot cannot be read: {e}", file=before.path or "", hint=hint) from None


def _check_unchanged(before: Results) -> None:
    """Refuses a run that would go on with other code than it began with: it would be a run of neither."""
    began, now = before.meta.get("controllers") or {}, controllers.fingerprints(before.scenario_toml)
    changed = [name for name, digest in began.items() if now.get(name, digest) != digest]
    if changed:
        reason = f"cannot be resumed: the controller `{changed[0]}` has been changed since"
        raise refuse(reason, file=before.path or "", hint="run it again from its beginning, or undo the change")


def _check_registered(before: Results) -> None:
    """Refuses a run whose controller is registered in no file that was named: its snapshot does not say so."""
    try:
        before.scenario  # noqa: B018 (it is read here)
    except ScenarioError as e:
        missing = [d for d in e.diagnostics if "is registered as" in d.reason or "is registered as" in d.text]
        if missing:
            raise ScenarioError(missing) from None


def share_out(simulation: _core.Simulation, threads: int | None, cores: int | None = None) -> int:
    """Gives a run its threads: so many, or as many of `cores` (`None`: all) as are worth their while. How many it
    has."""
    threads = _counts.threads(threads)
    if threads is None:
        return simulation.offer_threads(cores or _counts.cores())
    try:
        return simulation.set_threads(threads)
    except ValueError as e:
        _places.say(f"thalweg: one thread instead of {threads}: {e}")
        return 1


def conclude(
    simulation: _core.Simulation,
    source: Scenario | Results,
    out: str | Path | None,
    progress: bool | Reporter | None,
    *,
    check: bool = False,
    max_seconds: float | None = None,
    stop: Event | None = None,
    threads: int | None = None,
    cores: int | None = None,
) -> Results:
    """Runs to the end (or to `stop`), collects, saves. `threads`, `cores`: see `share_out`."""
    if check:  # else as the scenario says
        try:
            simulation.set_check(True)
        except ValueError as e:
            raise refuse(f"`check` cannot take effect: {e}", hint="run it again from its beginning") from None
    threads, requested = share_out(simulation, threads, cores), threads
    origin: dict[str, Any]
    if isinstance(source, Results):
        text, origin = source.scenario_toml, {k: source.meta.get(k) for k in ("directory", "inputs")}
        spent = source.meta.get("seconds") or 0.0
    else:
        text, origin = source.to_toml(), {"directory": str(source._directory.absolute()), "inputs": source.inputs()}
        spent = 0.0
    origin["controllers"] = controllers.fingerprints(text)
    # Another number of threads than the scenario's was said on the way.
    if requested is None and (why := simulation.why_one_thread()):
        origin["one_thread"] = why

    def finish(signals: Signals, take: Callable[[bool], None] | None = None) -> Results:
        begun = time.monotonic()
        stopped = drive(simulation, reporter(progress), max_seconds, stop, take, signals)
        signals.saving = True
        if take is not None:
            take(True)
        return collect(simulation, text, stopped, time.monotonic() - begun + spent, origin | {"threads": threads})

    with interrupts() as signals:
        if simulation.records() is None:
            results = finish(signals)
            if out is not None:
                results._keep(Path(out))
        elif out is None:
            raise refuse("a recorded run needs a run directory", key="measure.packets", hint="name one with `out`")
        elif isinstance(source, Results):
            raise AssertionError("a recorded run is not resumed: `reopen` refuses it")
        else:
            with _places.appearing(Path(out)) as place:
                digest = recording.scenario_digest(text, origin["inputs"])
                with recording.Writer(place.folder, simulation, source.seed, digest) as writer:
                    results = finish(signals, writer.drain)
                    writer.close(complete=not results.partial)
                results._write(place.folder)
            results.path = place.path
    if signals.pressed.is_set() or results.meta["stopped"] == "interrupted":
        raise Interrupted(results)
    return results


# Threads between `drive`'s first step and its last: what a second Ctrl-C may break off (see `break_off`).
_driving: set[int] = set()
_driving_lock = threading.Lock()


def drive(
    simulation: _core.Simulation,
    report: Reporter,
    max_seconds: float | None = None,
    stop: Event | None = None,
    take: Callable[[bool], None] | None = None,
    signals: Signals | None = None,
) -> str | None:
    """Steps until the end; otherwise says why it stopped: "interrupted", "time budget" or "stopped". `take`
    is called between steps."""
    signals = signals or Signals()
    begun = last = time.monotonic()
    chunk = 4096
    me = threading.get_ident()
    report.start(simulation.progress())
    with _driving_lock:
        _driving.add(me)
    try:
        while _step(simulation, chunk, signals):
            now = time.monotonic()
            # Aim at one look per LOOK_EVERY; the number of events per step never changes what they are.
            factor = LOOK_EVERY / max(now - last, 1e-6)
            chunk = int(min(max(chunk * min(max(factor, 0.5), 4.0), 256), 50_000_000))
            last = now
            report.update(simulation.progress())
            if take is not None:
                take(False)
            if signals.pressed.is_set():
                return "interrupted"
            if max_seconds is not None and now - begun >= max_seconds:
                return "time budget"
            if stop is not None and stop.is_set():
                return "stopped"
    except Interrupted:
        raise
    except KeyboardInterrupt:
        # Not by our signals: raised by a reporter, or where other code handles them.
        return "interrupted"
    finally:
        with _driving_lock:
            _driving.discard(me)
        report.finish(simulation.progress())
    return None


def _step(simulation: _core.Simulation, chunk: int, signals: Signals) -> bool:
    try:
        signals.stepping = True
        return simulation.step(chunk)
    except KeyboardInterrupt as e:
        # Inside a Python controller: what it was about to change is half changed.
        raise Interrupted(None, f"{e or 'interrupted'}: nothing is saved") from None
    finally:
        signals.stepping = False


def break_off() -> None:
    """Raises `KeyboardInterrupt` in every thread that drives a run: the way out of a Python controller that
    never returns."""
    import ctypes

    with _driving_lock:
        for thread in _driving:
            ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(thread), ctypes.py_object(KeyboardInterrupt))


class Signals:
    """What Ctrl-C (or a polite kill) has to wait for. It falls between two steps and never into a Python
    controller: what is saved is then a state of the straight run. Saving is never broken off."""

    def __init__(self) -> None:
        self.pressed = Event()
        self.stepping = self.saving = False

    def __call__(self, number: int, frame: Any) -> None:
        again = self.pressed.is_set()
        self.pressed.set()
        if self.saving:
            _places.say("thalweg: the results are being saved; a moment")
        elif again and self.stepping and frame.f_code is not _step.__code__:
            # Python code inside a step: a controller that has not returned since the first one.
            raise KeyboardInterrupt


@contextmanager
def interrupts() -> Iterator[Signals]:
    """Signals set an event instead of raising, until the results are saved."""
    signals = Signals()
    if threading.current_thread() is not threading.main_thread():
        yield signals
        return
    possible = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
    ours = [s for s in possible if signal.getsignal(s) is signal.default_int_handler]
    for s in ours:
        signal.signal(s, signals)
    try:
        yield signals
    finally:
        for s in ours:
            signal.signal(s, signal.default_int_handler)


def collect(
    simulation: _core.Simulation, scenario_toml: str, stopped: str | None, elapsed: float, origin: dict[str, Any]
) -> Results:
    """Takes the tables and the summary out of a simulation."""
    tables = {}
    for name, doc, columns in simulation.tables():
        tables[name] = Made(arrow_table(name, doc, columns))
    summary = json.loads(simulation.summary())
    summary["digest"] = f"{simulation.digest():016x}"
    summary["partial"] = stopped is not None or bool(summary.get("partial"))
    seen = simulation.progress()
    meta = _rundir.provenance() | origin
    meta |= {
        "stopped": stopped,
        "seconds": round(elapsed, 6),
        "events": seen["events"],
        "packet_hops": seen["packet_hops"],
        "events_per_second": round(seen["events"] / elapsed) if elapsed else None,
        "packet_hops_per_second": round(seen["packet_hops"] / elapsed) if elapsed else None,
    }
    costs = {n: {"acks": a, "ns_per_ack": round(ns / a)} for n, a, ns in _core.controller_costs() if a}
    if costs:
        meta["python_controllers"] = costs
    # A recording cannot be continued, so neither can its run.
    snapshot = None
    if stopped and simulation.records() is None:
        try:
            snapshot = bytes(simulation.save())
        except ControllerError as e:
            # What there is is worth keeping all the same.
            meta["no_snapshot"] = " ".join(str(e).split())
    # Those of a partial run are in its snapshot.
    decisions = None if stopped else bytes(simulation.take_decisions()) or None
    records = [] if stopped else simulation.port_records()
    return Results(scenario_toml, summary, Tables(tables), meta, snapshot, decisions, records)
