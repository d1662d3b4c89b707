"""A report's tables of claims: those that do not hold, with cause and reason, and all of them, folded."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from html import escape

from thalweg import _html
from thalweg._format import significant
from thalweg.papers import _verdicts
from thalweg.papers._answer import ClaimResult, by_figure, counts, section
from thalweg.papers._paper import Paper
from thalweg.papers._swept import Standing


def failing(paper: Paper, claims: Sequence[ClaimResult], standings: Mapping[str, Standing]) -> str:
    """What lies outside its bounds, is not decided, or could not be evaluated. Nothing if there is no such claim."""
    defined, rows = {c.id: c for c in paper.claims}, []
    for c in claims:
        if c.status in ("pass", "not-checkable"):
            continue
        cause = (
            ("could not be evaluated", "error") if c.status == "error" else (standings[c.id].why(), "why " + c.status)
        )
        known = "; ".join(x for x in (defined[c.id].known, defined[c.id].short) if x)
        found = measured(c, bound_only=True) + _bound(c)
        rows.append((_html.Raw(_named(c)), c.published, _html.Raw(found), cause, known or c.reason))
    head = ("claim", "published", "measured", "cause", "why, by experiment")
    return _html.table(head, rows, kind="'verdicts failing'") if rows else ""


def table(paper: Paper, scale: str, claims: Sequence[ClaimResult]) -> str:
    """How many claims hold of each figure, then every claim in five columns, folded: why it does not hold under its
    verdict, what was measured at full scale under what was measured here."""
    total, full = counts(claims), _verdicts.kept(paper, "full") if scale != "full" else {}
    defined = {c.id: c for c in paper.claims}
    statuses = [s for s in _verdicts.STATUSES if total[s]]
    lines = [(place, n.total(), *(n[s] or "" for s in statuses)) for place, n in by_figure(claims).items()]
    few = _html.table(("figure or table", "claims", *map(_verdicts.words, statuses)), lines)
    summary = few if len(lines) <= 12 else _html.folded(f"by figure ({len(lines)})", few)
    rows = []
    for c in claims:
        found = measured(c)
        if c.id in full:
            text = escape(full[c.id].judged_text(defined[c.id]))
            found += f"<br><span class=soft>full scale: {text}</span>"
        bound = _whole(c.bound.replace("; ", "\n"))
        rows.append((_html.Raw(_named(c)), c.published, _html.Raw(found), bound, _html.Raw(_verdict(c))))
    head = ("claim", "published", "measured", "bound", "verdict")
    return summary + _html.folded(f"every claim ({len(rows)})", _html.table(head, rows, kind="verdicts"))


def _named(c: ClaimResult) -> str:
    where = f" · {section(c.section)}" if c.section else ""
    return f"<b>{escape(c.id)}</b><span class=soft>{escape(where)}</span><br>{escape(c.statement)}"


def _verdict(c: ClaimResult) -> str:
    said = f"<span class='{c.status}'>{escape(_verdicts.words(c.status))}</span>"
    if c.full:
        said += f"<br><span class=soft>full scale: {escape(_verdicts.words(c.full))}</span>"
    return said + (_html.folded("why", f"<span class=why>{escape(c.reason)}</span>") if c.reason else "")


def _bound(c: ClaimResult) -> str:
    """What stands under the measured values of a claim: its bound, folded where it is one on each of many."""
    text, many = _whole(escape(c.bound)), c.bound.count("; ") + 1
    if many <= 4:
        return f"<br><span class=soft>bound: {text}</span>"
    return _html.folded(f"{many} bounds", f"<span class=soft>{text.replace('; ', '<br>')}</span>")


def _whole(text: str) -> str:
    """No line of a narrow column begins with a sign or with the number behind it."""
    return re.sub(r" (=|≤|≥|&lt;|&gt;|<|>) ", "\u00a0\\1\u00a0", text)


def measured(c: ClaimResult, bound_only: bool = False) -> str:
    """Measured values, one under the other; those that no bound is on are softer, or left out."""
    if not isinstance(c.measured, dict):
        return escape(c.measured_text())
    found = []
    for name, value in c.measured.items():
        line = _whole(escape(f"{name} = {significant(value)}"))
        if name in c.bound:
            found.append(line)
        elif not bound_only:
            found.append(f"<span class=soft>{line}</span>")
    return "<br>".join(found)
