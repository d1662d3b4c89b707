"""Dask: a cluster of this machine, or a scheduler that is there."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from thalweg import _counts, _memory
from thalweg._format import memory
from thalweg.errors import refuse
from thalweg.executors.named import Named, needed
from thalweg.executors.tasks import Perform, Task
from thalweg.executors.workers import Workers
from thalweg.pool import Job

# The resource of workers that tasks request, in bytes: `dask worker --resources "MEMORY=64e9"`.
MEMORY = "MEMORY"


class DaskWorkers(Workers):
    """A client's executor. Where workers have declared how much memory they have, a task takes its share of it."""

    def __init__(self, client: Any, most: int | None, force: bool):
        super().__init__(client.get_executor(pure=False), most)
        self._client, self._force = client, force

    def refusal(self, job: Job) -> Exception | None:
        largest = self._largest()
        if largest is None or job.memory <= largest or self._force:
            return None
        reason = f"it needs about {memory(job.memory)} of memory; the largest worker has {memory(largest)}"
        return refuse(reason, hint=f"{_memory.HINT}; fewer workers (`--jobs`) have more each")

    def submit(self, tasks: Sequence[Task]) -> list[Any]:
        largest = self._largest()
        share = lambda task: {} if largest is None else {"resources": {MEMORY: min(task.memory, largest)}}  # noqa: E731
        return [self.executor.submit(Perform(), task, **share(task)) for task in tasks]

    def _largest(self) -> float | None:
        """The memory of the largest worker; `None` if they have not all declared any."""
        workers = self._client.scheduler_info(n_workers=-1)["workers"].values()
        declared = [worker.get("resources", {}).get(MEMORY) for worker in workers]
        return max(declared) if declared and None not in declared else None


@contextmanager
def cluster(
    what: Named, most: int | None, folder: Path | None, note: Callable[[str], None], force: bool
) -> Iterator[Workers]:
    """A client of the scheduler at `what.where`, or of a cluster of processes on this machine."""
    distributed = needed("distributed", "dask")
    if what.kind == "scheduler":
        try:
            client = distributed.Client(what.where, timeout="10s", set_as_default=False)
        except (OSError, ValueError) as e:
            hint = "start one with `dask scheduler`, and workers with `dask worker`"
            raise refuse(f"no Dask scheduler answers at {what.where}: {e}", hint=hint) from None
        with client:
            if not client.scheduler_info(n_workers=-1)["workers"]:
                note(f"the scheduler at {what.where} has no workers yet")
            yield DaskWorkers(client, most, force)
        return
    number = most or _counts.cores()
    free = _memory.available()
    declared = {"resources": {MEMORY: free // number}} if free else {}
    with (
        distributed.LocalCluster(
            n_workers=number, threads_per_worker=1, dashboard_address=":0", silence_logs=logging.ERROR, **declared
        ) as made,
        distributed.Client(made, set_as_default=False) as client,
    ):
        note(f"{number} Dask workers on this machine; dashboard: {made.dashboard_link}")
        # As many as there are workers are handed over by the scheduler itself.
        yield DaskWorkers(client, None, force)
