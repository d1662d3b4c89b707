"""What an output folder keeps of a study, `claims.json`: a call for some of the claims adds to it and takes nothing
away."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from thalweg import _places
from thalweg.errors import refuse
from thalweg.papers import _verdicts
from thalweg.papers._answer import ClaimResult, Study, places
from thalweg.papers._paper import Paper

FILE = "claims.json"


def check(folder: Path, paper: Paper, scale: str) -> None:
    """Refuses a folder that keeps another study, or another scale: their runs have the same names."""
    found = _places.read_json(folder / FILE) or {}
    theirs = (found.get("paper", paper.name), found.get("scale", scale))
    if theirs != (paper.name, scale):
        reason = f"this folder keeps the study {theirs[0]} at {theirs[1]} scale"
        raise refuse(reason, file=_places.shown(folder), hint="choose another --out")


def others(
    folder: Path, paper: Paper, scale: str, now: Sequence[ClaimResult], full: Mapping[str, _verdicts.Verdict]
) -> list[ClaimResult]:
    """The claims that were judged into this folder before and are not now. A verdict on a bound that has changed is
    none, and what the full scale is known to say today decides of quick ones."""
    rows = (_places.read_json(folder / FILE) or {}).get("claims")
    rows = {r["id"]: r for r in rows if isinstance(r, dict) and "id" in r} if isinstance(rows, list) else {}
    judged, found = {c.id for c in now}, []
    for claim in paper.claims:
        row = rows.get(claim.id)
        if row is None or claim.id in judged or row.get("bound") != claim.bound_text():
            continue
        try:
            one = ClaimResult.from_dict({"within_bounds": {"pass": True, "fail": False}.get(row["status"])} | row)
        except (TypeError, KeyError):
            continue  # written by something else
        if one.within_bounds is not None:
            one.status = _verdicts.decide(claim, scale, one.within_bounds, full.get(claim.id))
        found.append(one)
    describe(paper, found, full)
    return found


def describe(paper: Paper, rows: Sequence[ClaimResult], full: Mapping[str, _verdicts.Verdict]) -> None:
    """Writes into rows what is known of their claims without a run: text, place, and the verdict of the full scale."""
    defined, where = {c.id: c for c in paper.claims}, places(paper.claims)
    for row in rows:
        claim = defined[row.id]
        row.statement, row.section, row.figure = claim.statement, claim.section, where[row.id]
        row.full = full[row.id].status if row.id in full else None


def together(paper: Paper, study: Study) -> list[ClaimResult]:
    """What was judged now and before, in the paper's order."""
    rows = {c.id: c for c in (*study.kept, *study.claims)}
    return [rows[c.id] for c in paper.claims if c.id in rows]


def write(folder: Path, found: Mapping[str, Any]) -> None:
    _places.write_json(folder / FILE, found)
