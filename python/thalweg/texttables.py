"""Tables for papers and spreadsheets: LaTeX (`booktabs`) and CSV."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from thalweg import _places, _units


def latex_cell(value: Any) -> str:
    """A cell: numbers to three digits, LaTeX's own characters escaped, `--` for what is missing."""
    if value is None:
        return "--"
    text = _units.digits(value) if isinstance(value, float) else str(value)
    return (
        re.sub(r"([&%$#_{}])", r"\\\1", text.replace("\\", "/"))
        .replace("×", "$\\times$")
        .replace("→", "$\\to$")
        .replace("–", "--")
    )


def latex_mean(cells: Iterable[float | str | None]) -> str:
    """A cell of a mean, half its confidence interval if there is one, and in words of how many values it is."""
    there = [cell for cell in cells if cell is not None]
    numbers, words = ([latex_cell(c) for c in there if isinstance(c, str) == said] for said in (False, True))
    return " ".join([" $\\pm$ ".join(numbers) or "--", *(f"({word})" for word in words)])


def latex(head: Sequence[str], rows: Iterable[Sequence[Any]], left: int = 1) -> str:
    """A table for `booktabs`; the first `left` columns and those of words are aligned left.

    Example: `latex(("flow size", "mean"), [("all", 6.38)])`.
    """
    rows = list(rows)
    lines = [" & ".join(latex_cell(cell) for cell in row) for row in rows]
    words = [
        n < left or all(isinstance(row[n], str) and row[n][:1].isalpha() for row in rows) for n in range(len(head))
    ]
    return framed(head, lines, words)


def framed(head: Sequence[str], lines: Sequence[str], words: Sequence[bool]) -> str:
    """The same of lines whose cells are LaTeX already; `words`: which columns are aligned left."""
    body = "".join(f"{line} \\\\\n" for line in lines)
    columns = "".join("l" if left else "r" for left in words)
    first = " & ".join(map(latex_cell, head))
    return (
        f"\\begin{{tabular}}{{{columns}}}\n\\toprule\n{first} \\\\\n\\midrule\n{body}\\bottomrule\n\\end{{tabular}}\n"
    )


def free_for_csv(path: Path, head: Sequence[str]) -> None:
    """Refuses a place that cannot become this CSV file: only a file with the same heads is replaced."""
    first = csv_text(head, ())
    _places.check_file(path, mark=first.rstrip("\n"))


def write_csv(path: Path, head: Sequence[str], rows: Iterable[Sequence[Any]]) -> Path:
    """Writes a table, complete or not at all.

    Raises:
        ScenarioError: something else is there, or it cannot be written.
    """
    free_for_csv(path, head)
    return _places.write_file(path, csv_text(head, rows), mark="")


def csv_text(head: Sequence[str], rows: Iterable[Sequence[Any]]) -> str:
    """A table with every digit; what is missing is empty."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(head)
    writer.writerows([["" if cell is None else cell for cell in row] for row in rows])
    return out.getvalue()
