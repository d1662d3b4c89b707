"""Runs what claims need, judges them, draws the figures, writes the report."""

from __future__ import annotations

import time
from collections.abc import Sequence
from fnmatch import fnmatchcase
from typing import Any

from thalweg import _places
from thalweg.errors import nearest, refuse
from thalweg.executors.presence import present
from thalweg.papers import _kept, _verdicts
from thalweg.papers._answer import Study
from thalweg.papers._claims import Claim
from thalweg.papers._judging import checkable, cost, judge, sight
from thalweg.papers._options import Options
from thalweg.papers._pages import draw_figures, report
from thalweg.papers._paper import Paper, belongs, find
from thalweg.papers._runs import folder_name, perform, study_of


def reproduce(
    name: str | Paper, *, draw: bool = True, handful: bool = False, kept_rows: bool = False, **options: Any
) -> Study:
    """Runs a paper's study, or only what the claims named (or matched by patterns such as `IRN-F4*`) need, and judges
    its claims. `options`: those of `Options`, such as `scale` and `claim`. `draw`: draws the figures, of claims those
    that belong to them. `handful`: the few claims that the study's `claims.toml` names for quick looks, and of the
    figures those that these claims' runs suffice for. `kept_rows`: a claim about several others takes the values of
    those that are not requested from the study's folder, instead of running what they need.

    With `keep_verdicts` the verdicts go into the study's folder (`SCALE/verdicts.json`), next to those of other claims
    that are there. Claims that were judged before into the same output folder stay in its `claims.json` and its report
    (`Study.kept`): a call for some of the claims replaces their rows and no others."""
    begun = time.monotonic()
    how = Options.of(options)
    scale, paper = how.scale, name if isinstance(name, Paper) else find(name)
    claim = [*how.claims, *(paper.handful() if handful else ())]
    claims, folder = chosen(paper, claim), how.folder(paper)
    specs, measures, figures = study_of(paper, scale)

    requested = {c.id for c in claims}
    kept = {i: v for i, v in _verdicts.kept(paper, scale).items() if i not in requested} if kept_rows else {}
    sights = {c.id: sight(c, paper, measures, specs, kept) for c in claims if checkable(c, scale) and c.id in measures}
    if kept_rows and not any(seen.rows for seen in sights.values()):
        hint = "such a claim is about others, whose verdicts `--keep-verdicts` has kept at this scale"
        raise refuse("no claim that is requested takes rows as kept", key="--kept-rows", hint=hint)
    needed = {key for seen in sights.values() for key in seen.keys}
    wanted = figures if draw else {}
    if claim:
        wanted = {name: drawn for name, drawn in wanted.items() if any(belongs(drawn, c) for c in claims)}
    shown = {name: set(drawn.keys(specs, str(paper.folder / "figures.py"))) for name, drawn in wanted.items()}
    if handful:  # a figure of more runs than the claims need would make it many
        wanted = {name: drawn for name, drawn in wanted.items() if shown[name] <= needed}
    needed = needed.union(*(shown[name] for name in wanted))

    full = _verdicts.kept(paper, "full") if scale != "full" else {}
    present(how.executor, folder)
    _places.claim(folder, "study")
    _kept.check(folder, paper, scale)
    folders = {s.key: folder / "runs" / folder_name(s.key) for s in specs}
    answers = perform(paper, specs, needed, folders, folder, **how.runs())

    rows = [
        judge(c, scale, measures.get(c.id), sights.get(c.id), answers, folders, folder, full.get(c.id)) for c in claims
    ]
    _kept.describe(paper, rows, full)
    if how.keep_verdicts:
        costs = {name: cost(seen, answers, folders) for name, seen in sights.items()}
        _verdicts.keep(paper, scale, rows, costs)
    study = Study(paper.name, scale, paper.scales.get(scale, {}).get("what", ""), rows, 0.0, folder, runs=answers)
    drawn = draw_figures(wanted, specs, answers, folders, folder, study)
    study.seconds = time.monotonic() - begun
    with _places.exclusive(folder):
        study.kept = _kept.others(folder, paper, scale, rows, full)
        every = _kept.together(paper, study)
        _kept.write(folder, study.to_dict(every))
        study.report = report(paper, study, every, figures, drawn, folders, answers)
    return study


def chosen(paper: Paper, patterns: Sequence[str] | None) -> list[Claim]:
    """The claims that are named, or matched by patterns, in the paper's order; all if nothing is named. The letters of
    the paper may be left out: `F2a` is `UPS-F2a`."""

    def match(name: str, pattern: str) -> bool:
        return fnmatchcase(name, pattern) or fnmatchcase(name.partition("-")[2], pattern)

    known = [c.id for c in paper.claims]
    for one in patterns or ():
        if not any(match(i, one) for i in known):
            raise refuse(f"{paper.name} has no claim `{one}`", hint=nearest(one, known))
    return [c for c in paper.claims if not patterns or any(match(c.id, p) for p in patterns)]
