"""Many runs at once, in threads: the engine releases the interpreter. Finished run directories are reused."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, field
from pathlib import Path
from threading import Condition, Event
from typing import Any, Literal, overload

from thalweg import _core, _counts, _memory, _places, _rundir, _signs, controllers, recording
from thalweg.engine import break_off, conclude, reopen
from thalweg.errors import ScenarioError, of_run, refuse
from thalweg.progress import Many, Reporter, fraction
from thalweg.replaying import Replaying, settings
from thalweg.results import Interrupted, Results
from thalweg.scenario import Scenario


@dataclass
class Job:
    """One run to be had: from its directory if it is there, by running otherwise."""

    key: str
    scenario: Scenario
    out: Path | None = None
    check: bool = False
    events: float = 1.0
    memory: int = 0
    # Replays of what this run records; performed right behind it, in the same place.
    replays: list[Replay] = field(default_factory=list)
    keep_recording: bool = True
    # That its threads may take.
    cores: int = 1
    reused: bool = field(default=False, init=False)
    replaced: bool = field(default=False, init=False)
    # What is wrong with the run that was there, if anything is.
    damaged: str | None = field(default=None, init=False)


@dataclass
class Replay:
    """One replay to be had: of the run of the job that it belongs to."""

    key: str
    out: Path
    scheduler: str = "lstf"
    preemptive: bool = False
    threshold: str | int | None = None
    bucket: str | int | None = None
    reused: bool = field(default=False, init=False)
    damaged: str | None = field(default=None, init=False)


class Broken(Exception):
    """What one job failed of, where that ends everything."""

    def __init__(self, key: str, error: BaseException):
        super().__init__(key)
        self.key, self.error = key, error

    def of(self, jobs: Sequence[Job], what: str) -> BaseException:
        """The same error, which now says of which job it is and what is kept. Called when nothing is under way."""
        job = next(job for job in jobs if job.key == self.key)
        name = _places.shown(job.out) if job.out is not None else re.sub(r"^\d{4,} ", "", job.key)
        after = f"{_kept(jobs, what)}; the same command goes on from there" if job.out is not None else ""
        return of_run(self.error, name, after)


class _Watch(Reporter):
    """Keeps the latest progress where the main thread reads it."""

    def __init__(self, key: str, running: dict[str, Any]):
        self.key, self.running = key, running

    def start(self, seen: dict[str, Any]) -> None:
        self.running[self.key] = seen

    update = start


class _Memory:
    """Lets runs start while their estimated memory fits; a run that alone is too large runs alone."""

    def __init__(self, limit: int):
        self.limit, self.used, self.changed = limit, 0, Condition()

    def take(self, amount: int) -> None:
        with self.changed:
            self.changed.wait_for(lambda: self.used == 0 or self.used + amount <= self.limit)
            self.used += amount

    def give(self, amount: int) -> None:
        with self.changed:
            self.used -= amount
            self.changed.notify_all()


def reusable(job: Job) -> Results | None:
    """The results in the job's directory, if this scenario and this build of the engine made them and they are as they
    were written; otherwise the job knows what is wrong with them."""
    if job.out is None or not (job.out / _places.META).is_file():
        return None
    found = _whole(job, job.out)
    if found is None:
        return None
    if job.replays and not recording.present(job.out) and not all(replayed(r, found) for r in job.replays):
        return None
    same = (
        found.scenario_toml == job.scenario.to_toml()
        and found.meta.get("core") == _rundir.core_fingerprint()
        and found.meta.get("inputs") == job.scenario.inputs()
        and (found.meta.get("controllers") or {}) == controllers.fingerprints(found.scenario_toml)
    )
    return found if same else None


def _whole(wanted: Job | Replay, place: Path) -> Results | None:
    """The results in a directory, if they are as they were written."""
    try:
        found = Results.load(place)
    except ScenarioError as e:
        wanted.damaged = str(e)
        return None
    if why := _places.damage(place, spared=(recording.PACKETS, recording.LATE)):
        wanted.damaged = f"{place}: {why}"
        return None
    return found


def replayed(wanted: Replay, run: Results) -> Results | None:
    """The results in a replay's directory, if they are of this run, with these settings, by this build of the
    engine."""
    if not (wanted.out / _places.META).is_file():
        return None
    found = _whole(wanted, wanted.out)
    if found is None:
        return None
    asked = settings(wanted.scheduler, wanted.preemptive, wanted.threshold, wanted.bucket)
    kept = found.meta.get("replay") or {}
    same = (
        found.meta.get("core") == _rundir.core_fingerprint() == run.meta.get("core")
        and found.scenario_toml == run.scenario_toml
        and found.meta.get("inputs") == run.meta.get("inputs")
        and (found.summary.get("original") or {}).get("digest") == run.digest
        and all(kept.get(k) == v for k, v in asked.items() if v is not None or k != "threshold_ps")
    )
    return found if same else None


def perform_replays(
    job: Job, run: Results, running: dict[str, Any], stop: Event | None
) -> dict[str, Results | Exception]:
    """Has a run's replays done, then deletes its recording if it is not to be kept."""
    answers: dict[str, Results | Exception] = {}
    for wanted in job.replays:
        try:
            found = replayed(wanted, run)
            wanted.reused = found is not None
            if found is None:
                _places.clear_wreck(wanted.out)
                _places.check_free(wanted.out)
                asked = wanted.scheduler, wanted.preemptive, wanted.threshold, wanted.bucket
                task = Replaying(run, *asked)
                found = task.finish(wanted.out, _Watch(job.key, running), stop)
            answers[wanted.key] = found
        except Interrupted:
            break
        except Exception as e:
            answers[wanted.key] = e
    else:
        if job.out is not None and not job.keep_recording:
            recording.delete(job.out)
    return answers


def perform(
    job: Job, running: dict[str, Any] | None = None, stop: Event | None = None, free: int | None = None
) -> Results:
    """Has one job done: reuses, resumes or runs. `free`: bytes of memory that a run may need."""
    found = reusable(job)
    if found is not None and not found.partial:
        job.reused = True
        return found
    watch = _Watch(job.key, running if running is not None else {})
    if found is not None and found._snapshot is not None:
        simulation = reopen(found)
        source: Scenario | Results = found
    else:
        if job.out is not None:
            _places.clear_wreck(job.out)
            job.replaced = _places.check_free(job.out) is not None and job.damaged is None
        _memory.check(job.scenario, free)
        simulation, source = _core.Simulation(job.scenario._core), job.scenario
    return conclude(simulation, source, job.out, watch, check=job.check, stop=stop, cores=job.cores)


def threads_of(job: Job) -> int:
    """The threads that a job's scenario names."""
    return job.scenario.to_dict()["run"].get("threads") or 1


@overload
def perform_all(
    jobs: Sequence[Job],
    workers: int | None = None,
    progress: bool | None = None,
    *,
    keep_going: Literal[False] = False,
    keep_results: Literal[True] = True,
    what: str = "runs",
    force: bool = False,
    executor: Any = None,
) -> Mapping[str, Results]: ...
@overload
def perform_all(
    jobs: Sequence[Job],
    workers: int | None = None,
    progress: bool | None = None,
    *,
    keep_going: bool = False,
    keep_results: Literal[True] = True,
    what: str = "runs",
    force: bool = False,
    executor: Any = None,
) -> Mapping[str, Results | Exception]: ...
@overload
def perform_all(
    jobs: Sequence[Job],
    workers: int | None = None,
    progress: bool | None = None,
    *,
    keep_going: bool = False,
    keep_results: bool = True,
    what: str = "runs",
    force: bool = False,
    executor: Any = None,
) -> Mapping[str, Results | Exception | None]: ...
def perform_all(
    jobs: Sequence[Job],
    workers: int | None = None,
    progress: bool | None = None,
    *,
    keep_going: bool = False,
    keep_results: bool = True,
    what: str = "runs",
    force: bool = False,
    executor: Any = None,
) -> Mapping[str, Results | Exception | None]:
    """Has all jobs done; answers by key, in the order given, the same for every number of workers and every executor.

    `keep_going`: an exception becomes the answer of its job instead of ending everything.
    `keep_results=False`: the answers are `None` and the results stay on disk. Runs begin while all that are
    under way fit into the free memory by their estimates; one that alone is larger is refused, unless `force`
    is true. `executor`: has them done elsewhere (`thalweg.executors`), up to `workers` at a time.
    """
    workers = _counts.jobs(workers)
    if executor is not None and executor != "local":
        from thalweg.executors import perform_on

        return perform_on(
            executor,
            jobs,
            workers,
            progress,
            keep_going=keep_going,
            keep_results=keep_results,
            what=what,
            force=force,
        )
    cores = _counts.cores()
    workers = max(1, workers or cores // max((threads_of(job) for job in jobs), default=1))
    for job in jobs:
        job.cores = max(1, cores // min(workers, len(jobs)))
    estimate_all(jobs, keep_going)
    # As it is before any of them has begun: what finished runs leave behind is given back late.
    free = _memory.available()
    memory = _Memory(free or _rundir.total_memory() or 1 << 62)
    running: dict[str, dict[str, Any]] = {}
    stop = Event()
    answers: dict[str, Results | Exception | None] = {job.key: None for job in jobs}
    total = sum(job.events for job in jobs) or 1.0
    finished = 0.0
    shown = Many(progress, sum(1 + len(job.replays) for job in jobs), what)
    clear(jobs, shown)
    for job in jobs:
        answers |= {r.key: None for r in job.replays}

    def one(job: Job) -> dict[str, Results | Exception | None]:
        if stop.is_set():
            return {}
        memory.take(job.memory)
        try:
            results = perform(job, running, stop, None if force else free)
            made: dict[str, Results | Exception] = {job.key: results}
            if (job.replays or results.recorded) and not results.partial:
                made |= perform_replays(job, results, running, stop)
        finally:
            running.pop(job.key, None)
            memory.give(job.memory)
        failed = [e for e in made.values() if isinstance(e, Exception)]
        if failed and not keep_going:
            raise Broken(job.key, failed[0])
        keep = lambda r: keep_results or isinstance(r, Exception) or r.partial  # noqa: E731
        return {key: r if keep(r) else None for key, r in made.items()}

    pool = ThreadPoolExecutor(workers, thread_name_prefix="thalweg")
    broken = None
    try:
        # The longest first: the last one to end is then a short one.
        order = sorted(jobs, key=lambda job: -job.events)
        waiting = {pool.submit(one, job): job for job in order}
        while waiting:
            done, _ = wait(waiting, timeout=0.2, return_when=FIRST_COMPLETED)
            for future in done:
                job = waiting.pop(future)
                finished += job.events
                shown.done += 1 + len(job.replays)
                shown.reused += job.reused + sum(r.reused for r in job.replays)
                try:
                    answers |= future.result()
                except Broken:
                    raise
                except Exception as e:
                    if not keep_going:
                        raise Broken(job.key, e) from None
                    answers[job.key] = e
                    answers |= {r.key: refuse(f"the run it replays failed: {e}") for r in job.replays}
                except BaseException as e:
                    # A panic of the engine is one run's failure where others go on.
                    if type(e).__name__ != "PanicException":
                        raise
                    if not keep_going:
                        raise Broken(job.key, e) from None
                    panic = RuntimeError(f"internal error: {_core.take_panic() or e}")
                    answers |= dict.fromkeys((job.key, *(r.key for r in job.replays)), panic)
            by_key = {job.key: job.events for job in waiting.values()}
            under_way = dict(running)
            work = finished + sum(fraction(seen) * by_key.get(key, 0.0) for key, seen in under_way.items())
            shown.update(under_way, work / total)
    except KeyboardInterrupt:
        stop.set()
        _wind_up(waiting)
        raise Interrupted(None, interrupted(jobs, what)) from None
    except Broken as e:
        broken = e
    finally:
        stop.set()
        pool.shutdown(wait=True, cancel_futures=True)
        shown.finish()
    if broken is not None:
        raise broken.of(jobs, what)
    note_replaced(jobs, sum(job.replaced for job in jobs), shown, what)
    return answers


def note_replaced(jobs: Sequence[Job], replaced: int, shown: Many, what: str) -> None:
    """Says which kept runs were not used, and why."""
    if replaced:
        shown.note(
            f"{replaced} older {what} did not fit any more (another scenario, input or engine) and were replaced"
        )
    kept = (why for job in jobs for why in (job.damaged, *(replay.damaged for replay in job.replays)))
    damaged = [why for why in kept if why is not None]
    if damaged:
        more = f", and {len(damaged) - 1} more" if damaged[1:] else ""
        shown.note(f"{damaged[0]}{more}: damaged, and made again")


def estimate_all(jobs: Sequence[Job], keep_going: bool) -> None:
    """Has each job know what it will cost. `keep_going`: what is wrong with one is reported when it is run."""
    for job in jobs:
        try:
            estimate = job.scenario.estimate()
            # A replay has about as many events as its original.
            job.events = max(float(estimate["events"]), 1.0) * (1 + len(job.replays))
            job.memory = int(estimate["memory_bytes"])
        except ScenarioError:
            if not keep_going:
                raise


def clear(jobs: Sequence[Job], shown: Many) -> None:
    """Removes what killed processes have left among the jobs' folders."""
    for parent in sorted({job.out.parent for job in jobs if job.out is not None}):
        for line in _places.clear_leftovers(parent):
            shown.note(line)
        _signs.clear(parent)


def interrupted(jobs: Sequence[Job], what: str) -> str:
    """What an interrupted sweep leaves behind, and how it goes on."""
    if any(job.out is None for job in jobs):
        return "interrupted: nothing was kept (name a folder to keep runs in)"
    return f"interrupted: {_kept(jobs, what)}; the same command goes on from there"


def _kept(jobs: Sequence[Job], what: str) -> str:
    found = [reusable(job) for job in jobs]
    whole = sum(r is not None and not r.partial for r in found)
    begun = sum(r is not None and r.partial for r in found)
    return f"{whole} of {len(jobs)} {what} are kept" + (f", {begun} begun" if begun else "")


def _wind_up(under_way: Collection[Future[Any]]) -> None:
    """After Ctrl-C: waits until what there is is saved. One more breaks off runs that do not come to the end
    of a step."""
    while True:
        try:
            wait(under_way)
            return
        except KeyboardInterrupt:
            _places.say("thalweg: breaking off; what is being saved is finished first")
            break_off()
