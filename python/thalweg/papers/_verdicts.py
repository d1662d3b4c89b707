"""Verdicts that a study's folder keeps, `papers/NAME/SCALE/verdicts.json`: small files next to the claims, so that a
page can show what quick runs say and what runs of hours said, and a quick verdict that the full scale contradicts is
known to decide nothing."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from thalweg import _places, _rundir
from thalweg._format import significant
from thalweg.errors import refuse
from thalweg.papers._claims import Claim
from thalweg.papers._paper import Paper

if TYPE_CHECKING:
    from thalweg.papers._answer import ClaimResult

DECIDED = ("pass", "fail")
# Every verdict there is, and the words for it.
STATUSES = (*DECIDED, "not-decided", "not-checkable", "error")
SHORTEST = {"not-decided": "not decided", "not-checkable": "not checkable"}
WORDS = {"not-decided": "not decided at this scale", "not-checkable": "not checkable"}


def words(status: str) -> str:
    """A verdict as it is shown."""
    return WORDS.get(status, status)


@dataclass(frozen=True)
class Verdict:
    """One claim's, as kept. `status`: pass, fail or not-decided; `within_bounds`: whether the measured values lie
    within the bounds. `seconds`: of all runs that it needed, one after the other."""

    status: str
    measured: float | Mapping[str, float] | None
    bound: str
    runs: int
    seconds: float
    machine: str
    within_bounds: bool

    def judged_text(self, claim: Claim) -> str:
        """The values that the bound is on."""
        if self.measured is None:
            return "–"
        if not isinstance(self.measured, Mapping):
            return significant(self.measured, 3)
        return "; ".join(f"{k} {significant(x, 3)}" for k, x in self.measured.items() if k in claim.bounds)


def file(paper: Paper, scale: str) -> Path:
    return paper.folder / scale / "verdicts.json"


def kept(paper: Paper, scale: str) -> dict[str, Verdict]:
    """What was judged at a scale, of claims whose bounds are still the same. Empty if nothing was kept. What quick
    values decide follows from what is kept of the full scale now, whatever was known when they were written."""
    return _counting(paper, scale, _read(paper, scale))


def _counting(paper: Paper, scale: str, rows: Mapping[str, Verdict]) -> dict[str, Verdict]:
    full = kept(paper, "full") if scale != "full" else {}
    found = {}
    for claim in paper.claims:
        row = rows.get(claim.id)
        if row is not None and row.bound == claim.bound_text():
            status = decide(claim, scale, row.within_bounds, full.get(claim.id))
            found[claim.id] = replace(row, status=status)
    return found


def decide(claim: Claim, scale: str, within: bool, full: Verdict | None) -> str:
    """The verdict on values that lie within the bounds, or do not. The full scale is the paper's own; another one
    decides nothing where the full scale is known to differ, or where the claim says that its values lie within the
    bounds only because runs are short."""
    if scale != "full" and ((full is not None and full.within_bounds != within) or (within and claim.short)):
        return "not-decided"
    return "pass" if within else "fail"


def _read(paper: Paper, scale: str) -> dict[str, Verdict]:
    """The rows of a file as they are, those of bounds that have changed included."""
    where, claims = file(paper, scale), {c.id: c for c in paper.claims}
    try:
        rows = json.loads(where.read_text(encoding="utf-8"))["claims"]
        return {i: Verdict(**{"within_bounds": _within(row, claims.get(i))} | row) for i, row in rows.items()}
    except FileNotFoundError:
        return {}
    except OSError as e:
        raise refuse(e.strerror or str(e), file=where) from None
    except (ValueError, TypeError, KeyError, AttributeError) as e:
        hint = "`thalweg reproduce --keep-verdicts` writes such a file; remove it and write it anew"
        raise refuse(f"is not a file of verdicts ({type(e).__name__}: {e})", file=where, hint=hint) from None


def _within(row: Mapping[str, Any], claim: Claim | None) -> bool:
    """Of a row that does not say it, since its status does. (Older files called it a failure, too, if runs were too
    short.)"""
    if row["status"] == "fail" and claim is not None and claim.short and row["measured"] is not None:
        named = row["measured"] if isinstance(row["measured"], Mapping) else {"": row["measured"]}
        return not claim.judge(named)
    return row["status"] == "pass"


def keep(paper: Paper, scale: str, rows: Sequence[ClaimResult], cost: Mapping[str, tuple[int, float]]) -> Path:
    """Writes verdicts into the study's folder, next to those of claims that were not requested now; what is no longer
    checkable has none. `cost`: runs and seconds by claim."""
    where = file(paper, scale)
    where.parent.mkdir(exist_ok=True)
    with _places.exclusive(paper.folder):
        found, machine = _read(paper, scale), _machine()
        for row in rows:
            if row.within_bounds is not None:
                runs, seconds = cost[row.id]
                within = row.within_bounds
                found[row.id] = Verdict(row.status, row.measured, row.bound, runs, round(seconds, 3), machine, within)
            elif row.status == "not-checkable":
                found.pop(row.id, None)
        _write(paper, scale, found)
        # What the full scale says now may change what quick values decide.
        if scale == "full" and (quick := _read(paper, "quick")):
            _write(paper, "quick", quick)
    return where


def _write(paper: Paper, scale: str, rows: Mapping[str, Verdict]) -> None:
    """One line per claim, in the paper's order: what changes in a file of verdicts is seen claim by claim. A verdict
    on a bound that has changed since stays, but does not count."""
    now = _counting(paper, scale, rows)
    lines = [f"{json.dumps(c.id)}: {_row(now.get(c.id, rows[c.id]))}" for c in paper.claims if c.id in rows]
    counts = {status: sum(v.status == status for v in now.values()) for status in (*DECIDED, "not-decided")}
    text = f'{{"counts": {json.dumps(counts)}, "claims": {{\n' + ",\n".join(lines) + "\n}}\n"
    _places.replace(file(paper, scale), text)


def _row(verdict: Verdict) -> str:
    def short(x: float) -> float:
        return float(f"{x:.4g}") if isinstance(x, float) else x

    measured = verdict.measured
    if isinstance(measured, Mapping):
        measured = {k: short(x) for k, x in measured.items()}
    elif measured is not None:
        measured = short(measured)
    row = verdict.__dict__ | {"measured": measured}
    if verdict.status in DECIDED:
        del row["within_bounds"]
    return json.dumps(row, ensure_ascii=False)


def _machine() -> str:
    found = _rundir.machine()
    return f"{found['cpu']}, {found['cores']} cores"
