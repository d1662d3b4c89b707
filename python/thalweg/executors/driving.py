"""Hands jobs to workers and collects what they made: a lost worker costs its run a second try, nothing else."""

from __future__ import annotations

import os
import pickle
import time
from collections import Counter, deque
from collections.abc import Sequence
from concurrent.futures import FIRST_COMPLETED, BrokenExecutor, Future, wait
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

from thalweg import _faults, _places, _signs
from thalweg.errors import Diagnostic, ScenarioError, refuse
from thalweg.executors.named import opened
from thalweg.executors.tasks import Receipt, Unfit, stop_here, task_of
from thalweg.executors.workers import Workers
from thalweg.pool import Broken, Job, clear, estimate_all, interrupted, note_replaced, replayed, reusable
from thalweg.progress import Many
from thalweg.results import Interrupted, Results

# So often a run is handed over that is lost with its worker each time. (Of what it is handed Dask makes several
# attempts itself.)
TRIES = 4
# Seconds until what a worker has written is seen here: file systems of clusters remember listings that long.
APPEARS_WITHIN = 90.0
LOOK_EVERY = 0.2
# After Ctrl-C, for what runs in this process to be saved.
PATIENCE = 10.0


def perform_on(
    executor: Any,
    jobs: Sequence[Job],
    most: int | None = None,
    progress: bool | None = None,
    *,
    keep_going: bool = False,
    keep_results: bool = True,
    what: str = "runs",
    force: bool = False,
) -> dict[str, Results | Exception | None]:
    """`perform_all` on an executor (or the name of one): the same answers. What is complete in its folder is not handed
    over. A run that is lost with its worker is begun up to four times; if all are lost it is reported by name when the
    others are done."""
    estimate_all(jobs, keep_going)
    keys = [key for job in jobs for key in (job.key, *(r.key for r in job.replays))]
    shown = Many(progress, len(keys), what)
    clear(jobs, shown)
    given, broken = jobs, None
    jobs = [_absolute(job) for job in jobs]
    folders = sorted({job.out.parent for job in jobs if job.out is not None})
    course = _Course(shown, keep_going, force)
    try:
        todo = [job for job in jobs if not course.reuse(job)]
        if todo:
            at = Path(os.path.commonpath(folders)) if folders else None
            with _signs.shown(folders) as course.signs, opened(executor, most, at, shown.note, force) as course.workers:
                course.run(todo)
    except KeyboardInterrupt:
        raise Interrupted(None, interrupted(jobs, what)) from None
    except Broken as e:
        broken = e
    finally:
        shown.finish()
        clear(jobs, shown)
    if broken is not None:
        raise broken.of(given, what)
    if course.lost and not keep_going:
        raise ScenarioError(course.lost.values())
    note_replaced(jobs, course.replaced, shown, what)
    keep = lambda r: keep_results or isinstance(r, Exception)  # noqa: E731
    return {key: r if keep(r := course.answers.get(key)) else None for key in keys}


def _absolute(job: Job) -> Job:
    """Its folders as a worker elsewhere can find them."""
    here = lambda path: Path(os.path.abspath(path))  # noqa: E731, PTH100
    replays = [replace(r, out=here(r.out)) for r in job.replays]
    made = replace(job, out=None if job.out is None else here(job.out), replays=replays)
    made.events, made.memory = job.events, job.memory
    return made


class _Course:
    """One sweep under way: what waits, what workers have, what came back."""

    workers: Workers
    signs: dict[Path, Path]

    def __init__(self, shown: Many, keep_going: bool, force: bool):
        self.shown, self.keep_going, self.force = shown, keep_going, force
        self.answers: dict[str, Results | Exception] = {}
        self.lost: dict[str, Diagnostic] = {}
        self.tries: Counter[str] = Counter()
        self.waiting: deque[Job] = deque()
        # Lost with a pool that broke: any of those under way may have broken it. They go last, each alone.
        self.suspects: deque[Job] = deque()
        self.under_way: list[tuple[Any, Job]] = []
        self.replaced = 0
        self.events = self.finished = 0.0

    def reuse(self, job: Job) -> bool:
        """Whether the job is done already: complete in its folder."""
        self.events += job.events
        found = reusable(job)
        if found is None or found.partial:
            return False
        there = {r.key: replayed(r, found) for r in job.replays}
        again = {key: results for key, results in there.items() if results is not None}
        if len(again) < len(there):
            return False
        self.answers |= {job.key: found} | again
        self.shown.reused += 1 + len(again)
        self._done(job)
        return True

    def run(self, jobs: Sequence[Job]) -> None:
        """Until each job has an answer."""
        self.waiting.extend(sorted(jobs, key=lambda job: -job.events))
        try:
            while self.waiting or self.suspects or self.under_way:
                self._hand_over()
                for future, job in self._ended():
                    self._collect(future, job)
                self.shown.update({}, self.finished / max(self.events, 1.0))
        except BaseException as e:
            stop_here()
            futures = [future for future, _ in self.under_way]
            self.workers.cancel(futures)
            here = [f for f in futures if isinstance(f, Future) and f.running()]
            if here and isinstance(e, KeyboardInterrupt):
                wait(here, PATIENCE)
            raise

    def _hand_over(self) -> None:
        most = self.workers.most
        room = len(self.waiting) if most is None else max(most - len(self.under_way), 0)
        batch = [self.waiting.popleft() for _ in range(min(room, len(self.waiting)))]
        if not batch and not self.under_way and self.suspects:
            batch = [self.suspects.popleft()]
        refused = {job.key: e for job in batch if (e := self.workers.refusal(job)) is not None}
        for job in batch:
            if job.key in refused:
                self._take(job, Receipt("", {job.key: refused[job.key]}))
        batch = [job for job in batch if job.key not in refused]
        if not batch:
            return
        tasks = [task_of(job, self.signs.get(job.out.parent) if job.out else None, self.force) for job in batch]
        try:
            futures = self.workers.submit(tasks)
        except BrokenExecutor as e:
            if not self.workers.renew():
                hint = "the same call with a new executor runs what is missing"
                raise refuse(f"the executor is broken: {e}", hint=hint) from None
            futures = self.workers.submit(tasks)
        self.under_way += zip(futures, batch, strict=True)

    def _ended(self) -> list[tuple[Any, Job]]:
        futures = [future for future, _ in self.under_way]
        if all(isinstance(f, Future) for f in futures):
            wait(futures, LOOK_EVERY, FIRST_COMPLETED)
        else:
            time.sleep(LOOK_EVERY)
        ended = [pair for pair in self.under_way if pair[0].done()]
        self.under_way = [pair for pair in self.under_way if all(pair[0] is not future for future, _ in ended)]
        return ended

    def _collect(self, future: Any, job: Job) -> None:
        try:
            receipt = future.result()
        except (KeyboardInterrupt, SystemExit):
            raise
        except (ImportError, AttributeError, TypeError, pickle.PickleError) as e:
            hint = "every worker needs the same thalweg, and each Python controller in a file (`--import`)"
            raise refuse(f"{job.key}: cannot be handed to a worker: {_faults.named(e)}", hint=hint) from None
        except BaseException as e:  # of the executor: the job itself answers with a receipt
            self._again(job, _faults.named(e), broken=isinstance(e, BrokenExecutor))
            return
        if receipt.stopped:
            self._again(job, f"stopped on {receipt.worker}")
            return
        self._take(job, receipt)

    def _again(self, job: Job, why: str, broken: bool = False) -> None:
        self.tries[job.key] += 1
        why = _whole(why)
        if self.tries[job.key] >= TRIES:
            name = job.out.name if job.out else job.key
            hint = "the same command begins it again"
            self.lost[job.key] = Diagnostic(f"lost with its worker {TRIES} times: {why}", file=name, hint=hint)
            error = ScenarioError([self.lost[job.key]])
            self.answers |= dict.fromkeys((job.key, *(r.key for r in job.replays)), error)
            self._done(job)
            return
        self.shown.note(f"{job.key}: lost with its worker ({why}); it is begun again")
        (self.suspects if broken else self.waiting).append(job)

    def _take(self, job: Job, receipt: Receipt) -> None:
        failed = next((e for e in receipt.made.values() if isinstance(e, Exception)), None)
        if isinstance(failed, Unfit):
            raise failed
        if failed is not None and not self.keep_going:
            raise Broken(job.key, failed)
        for key, made in receipt.made.items():
            if isinstance(made, Path):
                made = _arrived(made, receipt.worker)
            elif isinstance(made, Results) and job.out is not None:
                _places.check_free(job.out)
                made._keep(job.out)
            self.answers[key or job.key] = made
        run = self.answers.get(job.key)
        for r in job.replays:
            self.answers.setdefault(r.key, refuse(f"the run it replays failed: {run}"))
        self.replaced += receipt.replaced
        self.shown.reused += receipt.reused
        self._done(job)

    def _done(self, job: Job) -> None:
        self.finished += job.events
        self.shown.done += 1 + len(job.replays)


def _whole(why: str, most: int = 300) -> str:
    """On one line; of what is long whole sentences, or else whole words."""
    why = " ".join(why.split())
    if len(why) <= most:
        return why
    sentences = why[: most + 1].rpartition(". ")[0]
    return sentences or f"{why[:most].rpartition(' ')[0] or why[:most]} …"


def _arrived(path: Path, worker: str) -> Results:
    """A run that a worker has written, when it is seen here."""
    until = time.monotonic() + APPEARS_WITHIN
    while True:
        with suppress(OSError):
            os.listdir(path.parent)  # noqa: PTH208 (has a network's file system look again)
        try:
            return Results.load(path)
        except ScenarioError:
            if time.monotonic() >= until:
                reason = f"the worker on {worker} has written this run, and it is not seen here"
                raise refuse(reason, file=path, hint="keep it on a file system that all workers share") from None
        time.sleep(1.0)
