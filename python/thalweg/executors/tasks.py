"""What travels to a worker and back: one job, and what became of it."""

from __future__ import annotations

import pickle
import socket
import threading
import uuid
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from threading import Event
from typing import Any

from thalweg import _core, _faults, _rundir, controllers
from thalweg.errors import ControllerError, ScenarioError, refuse
from thalweg.pool import Job, perform, perform_replays, reusable
from thalweg.results import Interrupted, Results


class Unfit(ScenarioError):
    """A worker that must not run this: it has another engine, or other files. Ends the whole sweep."""


@dataclass(frozen=True)
class Task:
    """One job for a worker."""

    # Pickled: opened by the worker when all that it needs is there, so that what is missing has a name.
    job: bytes
    # The sources of the engine, and the version, that the results are to be of.
    engine: str
    version: str
    # The files that the scenario names, and those of Python controllers, with a hash of what is in them.
    inputs: Mapping[str, str] = field(default_factory=dict)
    plugins: Mapping[str, str] = field(default_factory=dict)
    # Python controllers that no plug-in file defines.
    classes: tuple[type, ...] = ()
    # A worker that sees this file sees the folder of the runs.
    sign: Path | None = None
    memory: int = 0
    force: bool = False
    # Engines that remember calls take no two tasks for one.
    ticket: str = field(default_factory=lambda: uuid.uuid4().hex)


@dataclass
class Receipt:
    """What became of a task: by key a run directory, results (where the worker does not see the folder), or what went
    wrong."""

    worker: str
    made: dict[str, Path | Results | Exception] = field(default_factory=dict)
    reused: bool = False
    replaced: bool = False
    stopped: bool = False


def task_of(job: Job, sign: Path | None, force: bool) -> Task:
    """What a worker must be given for a job."""
    text = job.scenario.to_toml()
    return Task(
        job=pickle.dumps(job),
        engine=_rundir.core_fingerprint(),
        version=_core.VERSION,
        inputs=job.scenario.inputs(),
        plugins=controllers.imported(),
        classes=controllers.defined_elsewhere(text),
        sign=sign,
        memory=job.memory,
        force=force,
    )


# Those that are under way in this process.
_under_way: set[Perform] = set()


def stop_here() -> None:
    """Stops what runs in this process: each keeps a snapshot."""
    for one in list(_under_way):
        one.stop()


class Perform:
    """What a worker calls. The run has a thread of its own, so that a signal can stop it between two steps and wait
    until its snapshot is kept."""

    def __call__(self, task: Task) -> Receipt:
        receipt = Receipt(socket.gethostname())
        self._stop = Event()
        self._thread = threading.Thread(target=_work, args=(task, receipt, self._stop), name="thalweg", daemon=True)
        _under_way.add(self)
        try:
            self._thread.start()
            self._thread.join()
        except BaseException:  # Ctrl-C, or a worker that is being closed
            self.stop()
            self._thread.join()
            raise
        finally:
            _under_way.discard(self)
        return receipt

    def stop(self) -> None:
        self._stop.set()

    def checkpoint(self, task: Task) -> Any:
        """Called by submitit when a job is preempted or out of time: what there is is kept, and the same is queued
        again."""
        from submitit.helpers import DelayedSubmission

        self.stop()
        self._thread.join()
        return DelayedSubmission(Perform(), task)


def _work(task: Task, receipt: Receipt, stop: Event) -> None:
    key = ""
    try:
        _check_engine(task, receipt.worker)
        _have_controllers(task, receipt.worker)
        job: Job = pickle.loads(task.job)
        key = job.key
        _check_inputs(task, job, receipt.worker)
        _check_memory(task, job, receipt.worker)
        if job.out is not None and not _sees(task.sign):
            if job.scenario.to_dict().get("measure", {}).get("packets") or job.replays:
                reason = f"records packets, and the worker on {receipt.worker} does not see this folder"
                raise refuse(reason, file=job.out.parent, hint="keep it on a file system that all workers share")
            job.out = None
        receipt.made = _made(job, stop)
        receipt.reused, receipt.replaced = job.reused, job.replaced
    except Interrupted:
        receipt.stopped = True
    except Exception as e:
        receipt.made = {key: _plain(e)}
    except BaseException as e:  # a panic of the engine
        receipt.made = {key: RuntimeError(f"internal error: {_core.take_panic() or e}")}
    receipt.stopped |= stop.is_set() or any(isinstance(r, Results) and r.partial for r in receipt.made.values())


def _made(job: Job, stop: Event) -> dict[str, Path | Results | Exception]:
    try:
        results = perform(job, stop=stop)
    except ScenarioError:
        # Another worker, taken for lost, may have finished the same run meanwhile.
        found = reusable(job)
        if found is None or found.partial:
            raise
        results = found
    made: dict[str, Results | Exception] = {job.key: results}
    if (job.replays or results.recorded) and not results.partial:
        made |= perform_replays(job, results, {}, stop)
    return {key: _kept(r) for key, r in made.items()}


def _kept(answer: Results | Exception) -> Path | Results | Exception:
    if isinstance(answer, Exception):
        return _plain(answer)
    return answer if answer.path is None or answer.partial else answer.path


def _plain(e: Exception) -> Exception:
    """Something that the other side can read: it may not have the class of the exception."""
    if isinstance(e, ScenarioError | ControllerError) or type(e) in (RuntimeError, ValueError, KeyError):
        return e
    return RuntimeError(_faults.named(e))


def _sees(sign: Path | None) -> bool:
    try:
        return sign is not None and sign.is_file()
    except OSError:
        return False


def _unfit(reason: str, hint: str) -> Unfit:
    return Unfit(refuse(reason, hint=hint).diagnostics)


def _check_engine(task: Task, worker: str) -> None:
    here = _rundir.core_fingerprint()
    if here != task.engine:
        raise _unfit(
            f"the worker on {worker} has another engine: {here} (thalweg {_core.VERSION}); "
            f"these runs are of {task.engine} (thalweg {task.version})",
            "install the same thalweg there",
        )


# What plug-in files held when this process imported them for a task.
_imported: dict[str, str] = {}


def _have_controllers(task: Task, worker: str) -> None:
    here = controllers.imported()
    for where, digest in task.plugins.items():
        if here.get(where) != digest and _imported.get(where) != digest:
            controllers.import_plugins(where)
            _imported[where] = controllers.imported()[where]
            if _imported[where] != digest:
                reason = f"the worker on {worker} has another {where}"
                raise _unfit(reason, "keep it on a file system that all workers share")
    for cls in task.classes:
        controllers.have(cls)


def _check_inputs(task: Task, job: Job, worker: str) -> None:
    found = job.scenario.inputs()
    strange = sorted(name for name in task.inputs if found.get(name) != task.inputs[name])
    if strange:
        reason = f"the worker on {worker} has another file `{strange[0]}`, or none"
        raise _unfit(reason, "keep the scenario's files on a file system that all workers share")


def _check_memory(task: Task, job: Job, worker: str) -> None:
    from thalweg._format import memory
    from thalweg._memory import HINT

    total = _rundir.total_memory()
    if not task.force and total is not None and task.memory > total:
        reason = f"it needs about {memory(task.memory)} of memory; {worker} has {memory(total)}"
        raise refuse(reason, hint=HINT)
