"""Claims decided: what their measures look at, what these say, whether it lies within the bounds."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

from thalweg import _faults
from thalweg.errors import nearest, refuse
from thalweg.papers import _verdicts
from thalweg.papers._answer import ClaimResult
from thalweg.papers._claims import Claim
from thalweg.papers._paper import Measure, NotCheckable, Paper, RunSpec
from thalweg.results import Results


class Lazy(Mapping[str, Any]):
    """The runs a measure may look at, opened from disk on request; only those that it said it needs.

    `scale` sets how much a measure that needs no runs does; `rows` has what other claims measured, of those whose
    runs are not here. `folder` is for what a measure makes itself and others look at, too: it need not exist."""

    def __init__(
        self,
        keys: Sequence[str],
        answers: Mapping[str, Any],
        folders: Mapping[str, Path],
        folder: Path,
        scale: str = "",
        rows: Mapping[str, float | Mapping[str, float] | None] | None = None,
    ):
        self._keys, self._answers, self._folders = list(keys), answers, folders
        self.folder, self.scale, self.rows = folder / "made", scale, rows or {}

    def __getitem__(self, key: str) -> Results:
        if key not in self._keys:
            raise KeyError(f"the run {key!r} is not among those that this measure needs")
        answer = self._answers.get(key)
        if isinstance(answer, Exception):
            raise answer
        results = Results.load(self._folders[key])
        if results.summary.get("violation"):
            raise RuntimeError(f"run {key}: an invariant does not hold: {results.summary['violation']}")
        if results.partial:
            raise NotCheckable(f"the run {key} is partial")
        return results

    def __iter__(self) -> Iterator[str]:
        return iter(self._keys)

    def __len__(self) -> int:
        return len(self._keys)


@dataclass(frozen=True)
class Sight:
    """What a claim's measure looks at: runs, and claims as they were judged before, whose runs it need not see."""

    keys: list[str]
    rows: dict[str, _verdicts.Verdict]


def sight(
    claim: Claim,
    paper: Paper,
    measures: Mapping[str, Measure],
    specs: Sequence[RunSpec],
    kept: Mapping[str, _verdicts.Verdict],
) -> Sight:
    """What there is to look at; `kept`: verdicts that may be taken as they are."""
    file, measured = str(paper.folder / "study.py"), measures[claim.id]
    known = [c.id for c in paper.claims]
    for pattern in measured.rows:
        if not any(fnmatchcase(i, pattern) for i in known):
            hint = nearest(pattern, known)
            raise refuse(f"{claim.id} is about `{pattern}`, which claims.toml does not have", file=file, hint=hint)
    rows = {i: v for i, v in kept.items() if i in measures and any(fnmatchcase(i, p) for p in measured.rows)}
    seen = {key for i in rows for key in measures[i].keys(specs, file)}
    return Sight([key for key in measured.keys(specs, file) if key not in seen], rows)


def checkable(claim: Claim, scale: str) -> bool:
    """Whether this scale can decide the claim."""
    return not claim.unchecked and (claim.scales is None or scale in claim.scales)


def judge(
    claim: Claim,
    scale: str,
    measured: Measure | None,
    sight: Sight | None,
    answers: Mapping[str, Any],
    folders: Mapping[str, Path],
    folder: Path,
    full: _verdicts.Verdict | None,
) -> ClaimResult:
    """The verdict, if the runs are there. `full`: the one that is kept of the full scale, if this is another and
    there is one."""
    row = ClaimResult(claim.id, "error", claim.published, None, claim.bound_text(), "")
    if not checkable(claim, scale):
        row.status = "not-checkable"
        row.reason = claim.unchecked or f"needs --scale {' or '.join(claim.scales or ())}"
        return row
    if measured is None or sight is None:
        row.reason = "study.py has no measure for this claim"
        return row
    try:
        broken = [k for k in sight.keys if isinstance(answers.get(k), Exception)]
        if broken:
            row.reason = f"run {broken[0]}: {one_line(answers[broken[0]])}"
            return row
        rows = {i: v.measured for i, v in sight.rows.items()}
        value = measured.call(Lazy(sight.keys, answers, folders, folder, scale, rows))
        named = dict(value) if isinstance(value, Mapping) else {"": value}
        named = {k: float(v) for k, v in named.items()}
        row.measured = named if isinstance(value, Mapping) else named[""]
        bad = [k for k, v in named.items() if not math.isfinite(v)]
        if bad:
            row.reason, row.measured = f"{bad[0] or 'the measured value'} is not a finite number", None
            return row
        wrong = claim.judge(named)
    except NotCheckable as e:
        row.status, row.reason = "not-checkable", _faults.said(e)
        return row
    except Exception as e:
        row.reason = f"{type(e).__name__}: {one_line(e)}"
        return row
    row.within_bounds = not wrong
    row.status = _verdicts.decide(claim, scale, row.within_bounds, full)
    row.reason = "; ".join(wrong) + (f" ({claim.known})" if wrong and claim.known else "")
    if not wrong and scale != "full" and claim.short:
        row.reason = f"within its bounds only because runs are short: {claim.short}"
    if full is not None and full.within_bounds != row.within_bounds:
        here = "within" if row.within_bounds else "outside"
        said = f"{here} its bounds at this scale, {full.status} at full scale"
        row.reason = "; ".join(x for x in (said, row.reason) if x)
    if sight.rows:
        row.reason = "; ".join(x for x in (row.reason, f"taken as kept: {', '.join(sight.rows)}") if x)
    return row


def cost(sight: Sight, answers: Mapping[str, Any], folders: Mapping[str, Path]) -> tuple[int, float]:
    """How many runs a claim needed, and how long they took one after the other; those of rows that were taken as kept
    included."""
    ran = [k for k in sight.keys if k in folders and not isinstance(answers.get(k), Exception)]
    runs = len(ran) + sum(v.runs for v in sight.rows.values())
    return runs, sum(Results.load(folders[k]).meta.get("seconds") or 0.0 for k in ran) + sum(
        v.seconds for v in sight.rows.values()
    )


def one_line(e: BaseException) -> str:
    try:
        return (str(e).splitlines() or [""])[0] or type(e).__name__
    except (Exception, SystemExit):
        return _faults.said(e)
