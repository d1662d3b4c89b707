"""Verdicts that a study's folder keeps, `papers/NAME/SCALE/verdicts.json`: small files beside the claims, so that a page can show what quick
runs say beside what runs of hours said, and a quick verdict that the full scale contradicts is known for what it is."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from thalweg import _rundir
from thalweg.errors import refuse
from thalweg.papers._paper import Claim, Paper

DECIDED = ("pass", "fail")


@dataclass(frozen=True)
class Verdict:
    """One claim's, as kept. `seconds`: of all runs that it needed, one after the other."""

    status: str
    measured: float | Mapping[str, float] | None
    bound: str
    runs: int
    seconds: float
    machine: str

    def judged_text(self, claim: Claim) -> str:
        """The values that the bound is on."""
        if self.measured is None:
            return "–"
        if not isinstance(self.measured, Mapping):
            return f"{self.measured:.3g}"
        return "; ".join(f"{k} {x:.3g}" for k, x in self.measured.items() if k in claim.bounds)


def file(paper: Paper, scale: str) -> Path:
    return paper.folder / scale / "verdicts.json"


def kept(paper: Paper, scale: str) -> dict[str, Verdict]:
    """What was judged at a scale, of claims whose bounds are still the same. Empty if nothing was kept."""
    where = file(paper, scale)
    try:
        rows = json.loads(where.read_text(encoding="utf-8"))["claims"]
        found = {i: Verdict(**row) for i, row in rows.items()}
    except FileNotFoundError:
        return {}
    except OSError as e:
        raise refuse(e.strerror or str(e), file=where) from None
    except (ValueError, TypeError, KeyError, AttributeError) as e:
        hint = "`thalweg reproduce --keep-verdicts` writes such a file; remove it and write it anew"
        raise refuse(f"is no file of verdicts ({type(e).__name__}: {e})", file=where, hint=hint) from None
    bounds = {c.id: c.bound_text() for c in paper.claims}
    return {i: v for i, v in found.items() if bounds.get(i) == v.bound}


def keep(paper: Paper, scale: str, rows, cost: Mapping[str, tuple[int, float]]) -> Path:
    """Writes verdicts into the study's folder, beside those of claims that were not asked for now; what is no longer checkable has none.
    `cost`: runs and seconds by claim."""
    found = kept(paper, scale)
    machine = _machine()
    for row in rows:
        if row.status in DECIDED:
            runs, seconds = cost[row.id]
            found[row.id] = Verdict(row.status, row.measured, row.bound, runs, round(seconds, 3), machine)
        elif row.status == "not-checkable":
            found.pop(row.id, None)
    where = file(paper, scale)
    where.parent.mkdir(exist_ok=True)
    lines = [f"{json.dumps(c.id)}: {_row(found[c.id])}" for c in paper.claims if c.id in found]
    where.write_text('{"claims": {\n' + ",\n".join(lines) + "\n}}\n", encoding="utf-8")
    return where


def _row(verdict: Verdict) -> str:
    """One line: what changes in a file of verdicts is seen claim by claim."""

    def short(x):
        return float(f"{x:.4g}") if isinstance(x, float) else x

    measured = verdict.measured
    measured = {k: short(x) for k, x in measured.items()} if isinstance(measured, Mapping) else short(measured)
    return json.dumps(verdict.__dict__ | {"measured": measured}, ensure_ascii=False)


def _machine() -> str:
    found = _rundir.machine()
    return f"{found['cpu']}, {found['cores']} cores"


def together(quick: str, full: str) -> str:
    """What two verdicts on one claim come to. The full scale is the paper's own; quick is not decisive where it says otherwise."""
    if quick in DECIDED and full in DECIDED and quick != full:
        return "not decisive"
    return full if full in DECIDED else quick


def table(paper: Paper) -> str:
    """Markdown: every claim with the verdicts of both scales, and why those that fail do."""
    quick, full = kept(paper, "quick"), kept(paper, "full")
    lines = [_counts(paper, quick, full), ""]
    lines += ["| claim | what | published | quick | | full | |", "|---|---|---|---|---|---|---|"]
    for c in paper.claims:
        cells = [c.id, c.statement, c.published]
        for found, other in ((quick.get(c.id), full.get(c.id)), (full.get(c.id), None)):
            status = found.status if found else "not checkable" if c.unchecked else "–"
            if found and other and together(found.status, other.status) == "not decisive":
                status += ", *not decisive*"
            cells += [found.judged_text(c) if found else "", status]
        lines.append("| " + " | ".join(x.replace("|", r"\|").replace("\n", " ") for x in cells) + " |")
    known = [c for c in paper.claims if (c.known or c.short) and "fail" in _statuses(c, quick, full)]
    if known:
        lines += ["", "Why some do not hold:", ""]
        lines += [f"- **{c.id}**: {'; '.join(x for x in (c.known, c.short) if x)}." for c in known]
    unchecked = [c for c in paper.claims if c.unchecked]
    if unchecked:
        lines += ["", "Not checkable:", ""] + [f"- **{c.id}**: {c.unchecked}." for c in unchecked]
    return "\n".join(lines) + "\n"


def _statuses(claim: Claim, *scales: Mapping[str, Verdict]) -> list[str]:
    return [found[claim.id].status for found in scales if claim.id in found]


def _counts(paper: Paper, quick, full) -> str:
    def said(name, found):
        if not found:
            return f"`--scale {name}`: nothing kept"
        passed = sum(v.status == "pass" for v in found.values())
        return f"`--scale {name}`: {passed} of the {len(found)} claims judged there hold"

    text = f"{said('quick', quick)}; {said('full', full)}."
    apart = [i for i, v in quick.items() if i in full and v.status != full[i].status]
    if apart:
        text += f" Where both were judged and differ ({len(apart)}), quick is *not decisive* and the full scale counts."
    return text
