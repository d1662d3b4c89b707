"""Lines and tables that fit a terminal. Nothing heavy is imported: the start of a command stays quick."""

from __future__ import annotations

import os
import shutil
import sys
import textwrap
from collections.abc import Iterable, Sequence
from typing import Any

from thalweg import _units
from thalweg._format import number

# A label's column; text follows a longer one (a job has its section's name) after a blank.
LABEL = 22
# Narrower than this, lines are left as they are.
NARROWEST = 40


def width() -> int | None:
    """How wide lines may be; `None`: stdout is a file or a pipe without COLUMNS, whose lines are not broken."""
    if not sys.stdout.isatty() and not os.environ.get("COLUMNS"):
        return None
    wide = shutil.get_terminal_size().columns
    return wide if wide >= NARROWEST else None


def wrapped(text: str, indent: int, first: str = "") -> str:
    """A line after `first`, broken at the terminal's width; what follows is indented."""
    wide = width()
    if wide is None:
        return first + text
    wrapper = textwrap.TextWrapper(wide, first, " " * indent, break_long_words=False, break_on_hyphens=False)
    return "\n".join(wrapper.wrap(text) or [first])


def print_rows(rows: Iterable[tuple[str, str]]) -> None:
    """`what: how much`, a line each."""
    for what, text in rows:
        print(wrapped(text, LABEL, f"{what + ': ':{LABEL}}"))


def cell(value: Any) -> str:
    """A number to three digits, anything else as it is."""
    return _units.digits(value) if isinstance(value, float) else number(value)


def print_table(head: Sequence[str], rows: Iterable[Sequence[Any]], left: int = 1) -> None:
    """Columns without lines between them; the first `left` are aligned left."""
    texts = [list(head), *([cell(value) for value in row] for row in rows)]
    wide = [max(len(row[n]) for row in texts) for n in range(len(head))]
    for row in texts:
        cells = (f"{t:<{w}}" if n < left else f"{t:>{w}}" for n, (t, w) in enumerate(zip(row, wide, strict=True)))
        print("  ".join(cells).rstrip())
