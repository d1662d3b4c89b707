"""Executors that thalweg makes by itself, by their names."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any

from thalweg.errors import nearest, refuse
from thalweg.executors.workers import Workers

NAMES = ("local", "dask", "tcp://HOST:PORT", "slurm", "slurm:PARTITION")


@dataclass(frozen=True)
class Named:
    """A name, and what Slurm is given besides (`account`, `qos`, `timeout_min` …)."""

    kind: str
    where: str = ""
    options: Mapping[str, Any] = field(default_factory=dict)


def named(name: str, options: Mapping[str, str] | None = None) -> Named | None:
    """From what `--on` takes; `None` for "local"."""
    kind, colon, where = name.partition(":")
    scheme = kind in ("tcp", "tls", "ucx", "ws", "wss") and where.startswith("//") and len(where) > 2
    found = Named("scheduler", name) if scheme else Named(kind, where, dict(options or {}))
    fits = scheme or (kind == "slurm" and bool(where) == bool(colon)) or name in ("local", "dask")
    if not fits:
        raise refuse(f"no executor is called `{name}`", hint=nearest(name, NAMES))
    if options and found.kind != "slurm":
        raise refuse(f"thalweg: --slurm has no effect on `{name}`", hint="it goes with --on slurm")
    return None if kind == "local" else found


@contextmanager
def opened(
    executor: Any, most: int | None, folder: Path | None, note: Callable[[str], None], force: bool
) -> Iterator[Workers]:
    """The workers that an executor, or the name of one, stands for. What is made here is closed here."""
    if isinstance(executor, Workers):  # opened already, and closed where that was done
        yield executor
        return
    if isinstance(executor, str):
        executor = named(executor) or "local"
        if executor == "local":
            raise refuse("`local` is not an executor", hint="leave it out: runs are made in threads of this process")
    if isinstance(executor, Named):
        if executor.kind == "slurm":
            from thalweg.executors.slurm import queue as made
        else:
            from thalweg.executors.dask import cluster as made
        with made(executor, most, folder, note, force) as workers:
            yield workers
        return
    if callable(getattr(executor, "get_executor", None)):  # Dask's client
        from thalweg.executors.dask import DaskWorkers

        yield DaskWorkers(executor, most, force)
        return
    workers = Workers(executor, most)
    try:
        yield workers
    finally:
        workers.close()


def needed(module: str, extra: str) -> ModuleType:
    """A package that only an extra installs."""
    try:
        return import_module(module)
    except ImportError as e:
        missing = (e.name or module).split(".")[0]
        raise refuse(f"{missing} is not installed", hint=f"pip install 'thalweg[{extra}]'") from None
