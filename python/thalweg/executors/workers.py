"""An executor, and what it needs besides `submit`."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import Executor, ProcessPoolExecutor
from typing import Any

from thalweg.errors import refuse
from thalweg.executors.tasks import Perform, Task
from thalweg.pool import Job


class Workers:
    """Hands tasks to an executor as it is. Subclasses know more about theirs.

    `most`: so many tasks are handed over at a time (`None`: all of them).
    """

    def __init__(self, executor: Any, most: int | None = None):
        if not callable(getattr(executor, "submit", None)):
            hint = "one of concurrent.futures, Dask's client, submitit's, or a name such as `dask`"
            raise refuse(f"{executor!r} is not an executor: it has no `submit`", hint=hint)
        self.executor = executor
        # A pool of processes that loses one is gone with all that it was given: it is given little.
        self.most = most or (vars(executor)["_max_workers"] if isinstance(executor, ProcessPoolExecutor) else None)
        self._ours = False

    def refusal(self, job: Job) -> Exception | None:
        """Why no worker can take a job."""

    def submit(self, tasks: Sequence[Task]) -> list[Any]:
        """A future per task. What can submit many at once (submitit: as an array) does."""
        batch = getattr(self.executor, "batch", None)
        if callable(batch) and len(tasks) > 1:
            with batch():
                return [self.executor.submit(Perform(), task) for task in tasks]
        return [self.executor.submit(Perform(), task) for task in tasks]

    def renew(self) -> bool:
        """After the executor itself broke: puts a like one in its place, if there can be one."""
        old = self.executor
        if not isinstance(old, ProcessPoolExecutor):
            return False
        self.close()
        # What it was made with; there are no public names for it.
        made = vars(old)
        self.executor = ProcessPoolExecutor(
            made["_max_workers"],
            made["_mp_context"],
            made["_initializer"],
            made["_initargs"],
            max_tasks_per_child=made["_max_tasks_per_child"],
        )
        self._ours = True
        return True

    def cancel(self, futures: Sequence[Any]) -> None:
        """Takes back what has not begun, and ends what an engine can end."""
        for future in futures:
            try:
                # Of submitit: without waiting for each.
                future.cancel() if not hasattr(future, "paths") else future.cancel(check=False)
            except Exception:  # gone already
                continue

    def close(self) -> None:
        """Ends what was made here; the caller's executor is left as it is."""
        if self._ours and isinstance(self.executor, Executor):
            self.executor.shutdown(wait=False, cancel_futures=True)
