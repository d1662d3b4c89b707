"""What the user sees during a run: a bar on a terminal (on stderr) and in a notebook (rich's, if ipywidgets
is installed), plain lines elsewhere, or nothing."""

from __future__ import annotations

import importlib.util
import sys
import time
from typing import TYPE_CHECKING, Any

from thalweg._format import si, simulated, wall
from thalweg._places import say

if TYPE_CHECKING:
    from rich.progress import Progress, ProgressColumn

PLAIN_EVERY = 5.0
# Of many runs without a terminal, unless more was requested: their first line, and those after it.
SELDOM = 30.0
BAR_AFTER = 0.5
# How long work goes on is reckoned from the part of it that is done, if that is at least so much.
ENOUGH = 0.005


def notebook() -> bool:
    """Whether the code runs in a cell, where what is printed is seen."""
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython is not None else None
    return type(shell).__name__ == "ZMQInteractiveShell"


def _draws() -> bool:
    """Whether a bar can be drawn here: rich needs ipywidgets for one in a notebook."""
    return importlib.util.find_spec("ipywidgets") is not None if notebook() else sys.stderr.isatty()


def _bar(*columns: ProgressColumn) -> Progress:
    from rich.progress import BarColumn, Progress, TextColumn

    from thalweg._console import console

    where = console(force_jupyter=True) if notebook() else console(stderr=True)
    return Progress(BarColumn(), *columns, TextColumn("{task.description}"), console=where, transient=True)


class Reporter:
    """Silent; the others override. Gets the engine's progress counts."""

    def start(self, seen: dict[str, Any]) -> None: ...
    def update(self, seen: dict[str, Any]) -> None: ...
    def finish(self, seen: dict[str, Any]) -> None: ...


def fraction(seen: dict[str, Any]) -> float:
    """How much of a run is done: by time or by flows, whichever is further."""
    parts = [0.0]
    if seen["until_ps"]:
        parts.append(seen["now_ps"] / seen["until_ps"])
    if seen["measured_total"]:
        parts.append(seen["measured_done"] / seen["measured_total"])
    return min(max(parts), 1.0)


def to_go(elapsed: float, gained: float, left: float) -> str:
    """`ETA 3 s`, as fast as a part of the work was done; nothing while that is too little."""
    return f"ETA {wall(elapsed * left / gained)}" if gained >= ENOUGH else ""


class Pace:
    """Events per second and time to go, since the start of this session."""

    def __init__(self, seen: dict[str, Any]):
        self.begun, self.first, self.from_fraction = time.monotonic(), seen["events"], fraction(seen)

    def text(self, seen: dict[str, Any]) -> str:
        elapsed = max(time.monotonic() - self.begun, 1e-9)
        done = fraction(seen)
        rate = (seen["events"] - self.first) / elapsed
        parts = (f"{simulated(seen['now_ps'])} simulated", f"{si(rate)} events/s")
        flows = f"{seen['flows_done']}/{seen['flows_total']} flows"
        return " · ".join(filter(None, (*parts, flows, to_go(elapsed, done - self.from_fraction, 1 - done))))


class Plain(Reporter):
    """A line every few seconds: for logs."""

    def start(self, seen: dict[str, Any]) -> None:
        self.pace, self.said = Pace(seen), time.monotonic()

    def update(self, seen: dict[str, Any]) -> None:
        if time.monotonic() - self.said >= PLAIN_EVERY:
            self.said = time.monotonic()
            say(f"{100 * fraction(seen):3.0f} % · {self.pace.text(seen)}")


class Bar(Reporter):
    """A bar that redraws itself; not for runs that are over before it can be read."""

    def start(self, seen: dict[str, Any]) -> None:
        self.pace = Pace(seen)
        self.bar: Progress | None = None

    def update(self, seen: dict[str, Any]) -> None:
        if self.bar is None:
            if time.monotonic() - self.pace.begun < BAR_AFTER:
                return
            from rich.progress import TaskProgressColumn

            self.bar = _bar(TaskProgressColumn())
            self.task = self.bar.add_task("", total=1.0)
            self.bar.start()
        self.bar.update(self.task, completed=fraction(seen), description=self.pace.text(seen))

    def finish(self, seen: dict[str, Any]) -> None:
        if self.bar is not None:
            self.bar.stop()


def speaks(progress: bool | Reporter | None) -> bool:
    """Whether anything is said besides errors."""
    return progress is True or (progress is None and (sys.stderr.isatty() or notebook()))


def reporter(progress: bool | Reporter | None) -> Reporter:
    """From an argument: `None` speaks on a terminal and in a notebook, `True` always (as a bar where one can
    be drawn, else in plain lines), `False` is silence."""
    if isinstance(progress, Reporter):
        return progress
    if not speaks(progress):
        return Reporter()
    return Bar() if _draws() else Plain()


class Many:
    """Progress of many runs at once: how many are done, and for how long it goes on."""

    def __init__(self, progress: bool | None, total: int, what: str = "runs"):
        self.total, self.what, self.done, self.reused = total, what, 0, 0
        self.begun = self.said = time.monotonic()
        self.on = speaks(progress)
        self.bar: Progress | None = None
        self.draws = self.on and _draws()
        # Where no bar is seen, a sweep of minutes says now and then that it goes on; `progress=False` is silence.
        self.every = PLAIN_EVERY if self.on else SELDOM
        self.lines = not self.draws and (self.on or progress is None)

    def update(self, running: dict[str, dict[str, Any]], work: float) -> None:
        """`running`: progress by key; `work`: the fraction done of all events estimated."""
        if not self.on and not self.lines:
            return
        now = time.monotonic()
        elapsed = now - self.begun
        eta = to_go(elapsed, work, 1 - work)
        names = ", ".join(f"{k} {100 * fraction(p):.0f} %" for k, p in list(running.items())[:3])
        text = " · ".join(filter(None, (f"{self.done}/{self.total} {self.what}", eta, names)))
        if self.draws and self.bar is None and elapsed >= BAR_AFTER:
            self.bar = _bar()
            self.task = self.bar.add_task("", total=1.0)
            self.bar.start()
        if self.bar is not None:
            self.bar.update(self.task, completed=work, description=text)
        elif self.lines and now - self.said >= self.every:
            self.said = now
            say(f"{100 * work:3.0f} % · {text}")

    def note(self, line: str) -> None:
        """One line that stays."""
        if self.on:
            say(f"thalweg: {line}")

    def finish(self) -> None:
        if self.bar is not None:
            self.bar.stop()
