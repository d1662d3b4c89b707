"""Whether an executor can be had here: known before a folder is begun in, so that a refusal leaves nothing behind."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

from thalweg.executors.named import Named, named, needed


def present(executor: Any, folder: Path | None) -> None:
    """Refuses one that is not there, where `folder` is a new one. In a folder that is there all runs may be complete,
    and then none is needed.

    Raises:
        ScenarioError: no such executor, its package is not installed, there is no Slurm here, or it does not take what
            it is given.
    """
    what = named(executor) if isinstance(executor, str) else executor
    if not isinstance(what, Named) or (folder is not None and folder.exists()):
        return
    if what.kind != "slurm":
        needed("distributed", "dask")
        return
    from thalweg.executors.slurm import queue

    # Nothing is submitted: submitit looks for Slurm's commands, and at what they are given.
    with tempfile.TemporaryDirectory(prefix="thalweg-") as place, queue(what, None, Path(place), _quiet, False):
        pass


def _quiet(line: str) -> None:
    """Notes of an executor that is closed again at once."""
