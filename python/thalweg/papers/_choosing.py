"""What a study's choices decide, as a page, a report and `--choices` show it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from thalweg import _html
from thalweg.papers import _swept
from thalweg.papers._choices import Choice, text
from thalweg.papers._paper import Paper

SCALES = ("quick", "full")


def measured(choice: Choice, table: _swept.Table) -> Iterator[tuple[str, int, int]]:
    """Each value as text, and how many of the choice's claims lie within their bounds under it, of how many."""
    for value in map(text, choice.values):
        rows = table.get(choice.name, {}).get(value, {})
        if rows:
            yield value, sum(r.within_bounds for r in rows.values()), len(rows)


def counts(choice: Choice, table: _swept.Table) -> str:
    """`1s: 1 of 4; 100ms: 4 of 4`."""
    found = [f"{value}: {held} of {of}" for value, held, of in measured(choice, table)]
    return "; ".join(found) or "not swept"


def decided(choice: Choice, table: _swept.Table) -> list[str]:
    """The claims that lie within their bounds under some values, and not under others."""
    under: dict[str, set[bool]] = {}
    for rows in table.get(choice.name, {}).values():
        for i, row in rows.items():
            under.setdefault(i, set()).add(row.within_bounds)
    return [i for i, seen in under.items() if len(seen) == 2]


def listed(paper: Paper, scale: str) -> list[dict[str, Any]]:
    """What `thalweg reproduce NAME --choices --json` prints: every choice, and what the study's folder keeps of its
    sweep at a scale."""
    table = _swept.kept(_swept.file(paper, scale), paper)
    return [
        {
            "name": c.name,
            "what": c.what,
            "section": c.section,
            "value": c.value,
            "why": c.why,
            "alternatives": list(c.alternatives),
            "rows": c.decides([claim.id for claim in paper.claims]),
            "measured": {value: {"within": held, "of": of} for value, held, of in measured(c, table)},
            "decided": decided(c, table),
        }
        for c in paper.choices
    ]


def markdown(paper: Paper) -> str:
    """For a study's page: each choice, and what it decides. Nothing if none was swept."""
    lines: list[str] = []
    for scale in SCALES:
        table = _swept.kept(_swept.file(paper, scale), paper)
        if not table:
            continue
        lines += [f"`--scale {scale}`, choices varied one at a time:", ""]
        lines += ["| choice | left open | value | within bounds, by value | decides |", "|---|---|---|---|---|"]
        for c in paper.choices:
            cells = (f"`{c.name}`", f"{c.what} ({c.section})", text(c.value), counts(c, table))
            deciding = ", ".join(decided(c, table)) or ("none" if c.name in table else "–")
            lines.append("| " + " | ".join(x.replace("|", r"\|") for x in (*cells, deciding)) + " |")
        lines.append("")
    return "\n".join(lines)


def swept(paper: Paper, scale: str, folder: Path | None = None) -> _swept.Table:
    """What the study keeps of its sweeps at a scale, and what an output folder has."""
    here = _swept.kept(folder / _swept.FILE, paper) if folder is not None else {}
    return _swept.kept(_swept.file(paper, scale), paper) | here


def section(paper: Paper, scale: str, folder: Path) -> str:
    """For a study's report: likewise, of what its own folder has or this output folder."""
    if not paper.choices:
        return ""
    table = swept(paper, scale, folder)
    head = ("choice", "left open", "value", "why", "within bounds, by value", "decides")
    rows = [
        (c.name, f"{c.what} ({c.section})", text(c.value), c.why, counts(c, table), ", ".join(decided(c, table)))
        for c in paper.choices
    ]
    return "<p>Varied one at a time.</p>" + _html.table(head, rows)
