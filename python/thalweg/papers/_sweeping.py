"""The claims that a choice may decide, judged under each of its values."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

from thalweg import _given, _places
from thalweg.errors import nearest, refuse
from thalweg.papers import _kept, _swept
from thalweg.papers._answer import ClaimResult, counts
from thalweg.papers._choices import FILE, Choice, Value, text
from thalweg.papers._claims import Claim
from thalweg.papers._judging import checkable, judge, sight
from thalweg.papers._options import Options
from thalweg.papers._paper import Paper, RunSpec, find
from thalweg.papers._reproduce import chosen
from thalweg.papers._runs import folder_name, perform, study_of


@dataclass
class Sweep:
    """What became of one choice's claims: `rows` by value, as text, the study's own first."""

    choice: Choice
    rows: dict[str, list[ClaimResult]]

    def verdicts(self) -> dict[str, dict[str, bool | None]]:
        """By claim: under each value, whether it lies within its bounds; `None` where that could not be judged."""
        found: dict[str, dict[str, bool | None]] = {}
        for value, rows in self.rows.items():
            for row in rows:
                found.setdefault(row.id, {})[value] = row.within_bounds
        return found

    def standing(self) -> dict[str, str]:
        """By claim: what the sweep says of it."""
        return {i: _swept.word(under.values()) for i, under in self.verdicts().items()}

    def to_dict(self) -> dict[str, Any]:
        """As `thalweg reproduce --choice NAME --json` has it."""
        values = {v: {"counts": counts(rows), "claims": [r.to_dict() for r in rows]} for v, rows in self.rows.items()}
        return {"name": self.choice.name, "value": text(self.choice.value), "values": values, "rows": self.standing()}


def sweep(name: str | Paper, choice: str | Sequence[str], **options: Any) -> list[Sweep]:
    """Judges the claims that a choice may decide under each of its values: a study's `choices.toml` says which these
    are. `choice`: one or several names, or patterns; `options`: those of `Options`; of these `claim` means only these
    of the choice's claims. The output folder is that of `reproduce`, whose runs are not made again; those that an
    alternative changes lie in `choices/NAME=VALUE`. `choices.json` has what was measured; with `keep_verdicts` so has
    the study's folder (`SCALE/choices.json`).

        for found in thalweg.papers.sweep("abc", "long_flow_starts"):
            print(found.choice.name, found.standing())     # {"ABC-F2.13a": "decided by a choice", ..}"""
    how = Options.of(options)
    paper = name if isinstance(name, Paper) else find(name)
    choices = _named(paper, _given.names(choice, "choice", "a name, a pattern, or a list of these"))
    only = [c.id for c in chosen(paper, how.claims)]
    scale, folder = how.scale, how.folder(paper)
    deciding = [one for one in choices if one.decides(only)]
    if not deciding:
        every = [c.id for c in paper.claims]
        hint = "; ".join(f"{one.name} may decide {', '.join(one.decides(every))}" for one in choices)
        raise refuse("no claim that is requested is among those that the choice may decide", key="--claim", hint=hint)
    _places.claim(folder, "study")
    _kept.check(folder, paper, scale)
    found = []
    for one in deciding:
        rows, claims = {}, [c for c in paper.claims if c.id in one.decides(only) and checkable(c, scale)]
        for value in one.values:
            rows[text(value)] = _judged(paper, one, value, claims, how, folder)
        found.append(Sweep(one, rows))
        with _places.exclusive(folder):
            _swept.add(folder / _swept.FILE, paper, one, rows)
        if how.keep_verdicts:
            with _places.exclusive(paper.folder):
                _swept.add(_swept.file(paper, scale), paper, one, rows)
    return found


def _named(paper: Paper, patterns: Sequence[str]) -> list[Choice]:
    names = [c.name for c in paper.choices]
    if not names:
        raise refuse(
            f"{paper.name} declares no choices", file=paper.folder / FILE, hint="CONTRIBUTING shows such a file"
        )
    for pattern in patterns:
        if not any(fnmatchcase(name, pattern) for name in names):
            hint = nearest(pattern, names) or f"it has {', '.join(names)}"
            raise refuse(f"{paper.name} has no choice `{pattern}`", key="--choice", hint=hint)
    return [c for c in paper.choices if any(fnmatchcase(c.name, pattern) for pattern in patterns)]


def _judged(
    paper: Paper, choice: Choice, value: Value, claims: Sequence[Claim], how: Options, folder: Path
) -> list[ClaimResult]:
    """The claims under one value. Runs that it does not change are those of the study."""
    scale = how.scale
    own = {s.key: s for s in study_of(paper.under({}), scale)[0]}
    under, place = paper.under({}), folder
    if value != choice.value:
        under, place = (
            paper.under({choice.name: value}),
            folder / "choices" / folder_name(f"{choice.name}={text(value)}"),
        )
    specs, measures, _ = study_of(under, scale)
    same = _unchanged(specs, own)
    folders = {
        s.key: (folder if under is paper or s.key in same else place) / "runs" / folder_name(s.key) for s in specs
    }
    sights = {c.id: sight(c, under, measures, specs, {}) for c in claims if c.id in measures}
    needed = {key for seen in sights.values() for key in seen.keys}
    answers = perform(under, specs, needed, folders, place, **how.runs())
    rows = [judge(c, scale, measures.get(c.id), sights.get(c.id), answers, folders, place, None) for c in claims]
    _kept.describe(paper, rows, {})
    return rows


def _unchanged(specs: Sequence[RunSpec], own: Mapping[str, RunSpec]) -> set[str]:
    """Runs that are the same under an alternative as under the study's own value, down to what they are built from.
    One that a function prepares counts as changed: what it writes is not seen here."""
    by_key = {s.key: s for s in specs}

    def same(s: RunSpec) -> bool:
        return s == own.get(s.key) and all(k in by_key and same(by_key[k]) for k in s.behind)

    return {s.key for s in specs if same(s)}
