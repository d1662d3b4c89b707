"""Whether a run fits: its estimated memory against what this machine, or the limits of this process, have left."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from thalweg._format import memory
from thalweg.errors import ScenarioError, refuse

if TYPE_CHECKING:
    from thalweg.scenario import Cost, Scenario

HINT = "make it smaller, or run it all the same with `--force` (Python: `force=True`)"


def available() -> int | None:
    """Bytes that this process may still take, if the system says: the machine's, a container's, the process's limit."""
    found = [n for n in (_machine(), _container(), _process()) if n is not None]
    return max(min(found), 0) if found else None


def _machine() -> int | None:
    return _kilobytes("/proc/meminfo", "MemAvailable")


def _container() -> int | None:
    try:
        root = Path("/sys/fs/cgroup")
        # Memory that files occupy is given back when it is needed.
        files = dict(line.split() for line in (root / "memory.stat").read_text().splitlines())
        held = int((root / "memory.current").read_text()) - int(files["inactive_file"])
        return int((root / "memory.max").read_text()) - held
    except (OSError, ValueError, KeyError):
        return None


def _process() -> int | None:
    try:
        import resource

        limit = resource.getrlimit(resource.RLIMIT_AS)[0]
        held = _kilobytes("/proc/self/status", "VmSize")
    except (ImportError, OSError, ValueError):
        return None
    return None if limit == resource.RLIM_INFINITY or held is None else limit - held


def _kilobytes(file: str, key: str) -> int | None:
    try:
        with Path(file).open(encoding="ascii") as lines:
            return next(int(line.split()[1]) * 1024 for line in lines if line.startswith(key + ":"))
    except (OSError, ValueError, StopIteration):
        return None


def check(scenario: Scenario, free: int | None) -> None:
    """Refuses a run that needs more than is free (`None`: not known), before anything large is made."""
    if free is None:
        return
    try:
        estimate = scenario.estimate()
    except ScenarioError:
        return  # Running it reports what is wrong.
    if estimate["memory_bytes"] > free:
        name = scenario.name or scenario._file
        raise refuse(f"{name}: {demand(estimate)}; {memory(free)} are free", hint=HINT)


def demand(estimate: Cost) -> str:
    """The sum in words."""
    parts = ", ".join(f"{part} {memory(n)}" for part, n in estimate["memory"].items() if n >= 1 << 20)
    return f"needs about {memory(estimate['memory_bytes'])} of memory" + (f": {parts}" if parts else "")
