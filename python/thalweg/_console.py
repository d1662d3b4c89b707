"""rich's console, which leaves it to us what happens when the reader of our output has gone."""

from __future__ import annotations

from typing import Any

from rich.console import Console


class _Console(Console):
    def on_broken_pipe(self) -> None:
        """rich would end the process with exit code 1, in the middle of a run if it is a progress bar that is not
        seen."""
        self.quiet = True
        if not self.stderr:
            raise BrokenPipeError


def console(**options: Any) -> Console:
    """A console on stdout (or stderr)."""
    return _Console(**options)
