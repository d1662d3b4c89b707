"""Slurm, through submitit: arrays of jobs, one per size of memory."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from thalweg.errors import refuse
from thalweg.executors.named import Named, needed
from thalweg.executors.tasks import Perform, Task
from thalweg.executors.workers import Workers

# Logs of jobs, in the folder of the runs.
LOGS = "slurm"
# Jobs of one array: Slurm's own default limit (`MaxArraySize`) is 1001.
ARRAY = 1000
# Bytes of an interpreter with what it imports, and the estimate's own doubt.
INTERPRETER, MARGIN = 768 << 20, 1.25
# Minutes until Slurm ends a job; it is queued again from its snapshot.
MINUTES = 60


def gigabytes(estimate: int) -> int:
    """What a job requests: whole powers of two, so that few sizes, and few arrays, arise."""
    return 1 << math.ceil(math.log2(max(MARGIN * estimate + INTERPRETER, 1 << 30) / (1 << 30)))


class SlurmWorkers(Workers):
    """Submits arrays of jobs that need about the same memory."""

    def submit(self, tasks: Sequence[Task]) -> list[Any]:
        sizes: dict[int, list[int]] = {}
        for n, task in enumerate(tasks):
            sizes.setdefault(gigabytes(task.memory), []).append(n)
        jobs: list[Any] = [None] * len(tasks)
        for size, places in sorted(sizes.items()):
            self.executor.update_parameters(mem_gb=size)
            for begin in range(0, len(places), ARRAY):
                some = places[begin : begin + ARRAY]
                with self.executor.batch():
                    made = [self.executor.submit(Perform(), tasks[n]) for n in some]
                for n, job in zip(some, made, strict=True):
                    jobs[n] = job
        return jobs


@contextmanager
def queue(
    what: Named, most: int | None, folder: Path | None, note: Callable[[str], None], force: bool
) -> Iterator[Workers]:
    """submitit's executor for Slurm. Its files go into the folder of the runs, which all nodes must see."""
    submitit = needed("submitit", "slurm")
    if folder is None:
        raise refuse("Slurm needs a folder that all nodes see", hint="name one (`--out`; `out` in Python)")
    try:
        executor = submitit.AutoExecutor(folder=folder / LOGS, cluster="slurm")
    except RuntimeError as e:
        raise refuse(f"there is no Slurm here: {e}", hint="run it on a machine that has `sbatch` and `srun`") from None
    chosen = {"name": "thalweg", "timeout_min": MINUTES, "cpus_per_task": 1}
    if what.where:
        chosen["slurm_partition"] = what.where
    if most:
        chosen["slurm_array_parallelism"] = most
    try:
        executor.update_parameters(**chosen | _options(what.options, executor))
    except (NameError, ValueError, AssertionError) as e:
        raise refuse(f"--slurm: {' '.join(str(e).split())}") from None
    note(f"jobs go to Slurm; their logs are in {folder / LOGS}")
    yield SlurmWorkers(executor, None)


def _options(options: Mapping[str, Any], executor: Any) -> dict[str, Any]:
    """As submitit takes them: its own parameters as they are, Slurm's with a prefix."""
    shared = executor._valid_parameters()
    plain = lambda v: int(v) if isinstance(v, str) and v.lstrip("-").isdecimal() else v  # noqa: E731
    return {k if k in shared or k.startswith("slurm_") else f"slurm_{k}": plain(v) for k, v in options.items()}
