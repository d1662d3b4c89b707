"""`--latex FILE` and `--csv FILE`: tables as files."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

# In LaTeX files, in a comment: such a file may be replaced.
_MARK = "made by thalweg"
Table = tuple[str, Sequence[str], Sequence[Sequence[Any]]]


class Tabled:
    """Tables on their way into the files that a command names; both places are checked before either is written.

    `shown`: what LaTeX gets, each with what it is; `plain`: heads and rows of the one table that CSV gets.
    """

    def __init__(self, args: Namespace, shown: Iterable[Table], plain: tuple[Sequence[str], Iterable[Sequence[Any]]]):
        from thalweg import _places, texttables

        self._latex, self._csv = (Path(name) if name else None for name in (args.latex, args.csv))
        self._shown, self._plain = list(shown), plain
        if self._latex:
            _places.check_file(self._latex, _MARK)
        if self._csv:
            texttables.free_for_csv(self._csv, plain[0])

    def write(self, quiet: bool = False) -> None:
        """Writes them, and prints where they are."""
        from thalweg import _places, texttables

        if self._latex:
            parts = [f"% {what}, {_MARK}\n{texttables.latex(head, rows)}" for what, head, rows in self._shown]
            _places.write_file(self._latex, "\n".join(parts), _MARK)
        if self._csv:
            texttables.write_csv(self._csv, *self._plain)
        for path in (self._latex, self._csv):
            if path and not quiet:
                print(f"table: {path}")
