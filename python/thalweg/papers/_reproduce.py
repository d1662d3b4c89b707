"""Runs what claims need, judges them, draws the figures, writes the report."""

from __future__ import annotations

import re
import time
from collections.abc import Iterator, Sequence
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

from thalweg import _places
from thalweg.errors import nearest, refuse
from thalweg.papers import _kept, _verdicts
from thalweg.papers._answer import Study
from thalweg.papers._judging import Lazy, checkable, cost, judge, sight
from thalweg.papers._pages import draw_figures, report
from thalweg.papers._paper import Claim, Paper, RunSpec, belongs, find
from thalweg.pool import Job, Replay, perform_all
from thalweg.scenario import Scenario

SCALES = ("quick", "full")


def _folder_name(key: str) -> str:
    return re.sub(r"[^A-Za-z0-9=,._+-]+", "-", key)


def _specs(paper: Paper, scale: str) -> tuple[list[RunSpec], dict, dict]:
    study = paper.module("study")
    if study is None:
        raise refuse("the paper has no study.py", file=paper.folder)
    specs = list(study.runs(scale))
    keys = [s.key for s in specs]
    twice = sorted(
        {k for k in keys if keys.count(k) > 1}
        | {k for k in keys if [_folder_name(x) for x in keys].count(_folder_name(k)) > 1}
    )
    if twice:
        raise refuse(f"two runs are called {', '.join(twice)}", file=paper.folder / "study.py")
    by_key = {s.key: s for s in specs}
    for s in specs:
        if s.replay is None:
            continue
        origin = by_key.get(s.replay)
        file = paper.folder / "study.py"
        if origin is None:
            raise refuse(
                f"`{s.key}` replays `{s.replay}`, which the study does not have",
                file=file,
                hint=nearest(s.replay, by_key),
            )
        if origin.replay is not None or s.scenario or s.set or s.after or s.prepare:
            raise refuse(f"`{s.key}` is a replay: it names a recorded run and has no scenario of its own", file=file)
    # A small study draws where it measures.
    figures = getattr(study, "_thalweg_figures", {}) | getattr(paper.module("figures"), "_thalweg_figures", {})
    return specs, getattr(study, "_thalweg_measures", {}), figures


def reproduce(
    name: str | Paper,
    *,
    scale: str = "quick",
    claim: str | Sequence[str] | None = None,
    jobs: int | None = None,
    out: str | Path | None = None,
    progress: bool | None = None,
    check: bool = False,
    draw: bool = True,
    handful: bool = False,
    force: bool = False,
    keep_verdicts: bool = False,
    kept_rows: bool = False,
    executor: Any = None,
) -> Study:
    """Runs a paper's study, or only what the claims named (or matched by patterns such as `IRN-F4*`) need, and judges
    its claims. `draw`: draws the figures, of claims those that belong to them. `handful`: the few claims that the
    study's `claims.toml` names for quick looks, and of the figures those that these claims' runs suffice for.
    `force`: also runs that need more memory than is free. `keep_verdicts`: writes the verdicts into the study's
    folder (`SCALE/verdicts.json`), next to those of other claims that are there. `kept_rows`: a claim about several
    others takes the values of those that are not requested from there, instead of running what they need.
    `executor`: as of `thalweg.sweep`.

    Claims that were judged before into the same folder stay in its `claims.json` and its report (`Study.kept`): a
    call for some of the claims replaces their rows and no others."""
    begun = time.monotonic()
    paper = name if isinstance(name, Paper) else find(name)
    if handful:
        claim = [*([claim] if isinstance(claim, str) else claim or ()), *paper.handful()]
    if scale not in SCALES:
        raise refuse(f"no scale is called `{scale}`", hint=nearest(scale, SCALES))
    known = [c.id for c in paper.claims]
    claims = chosen(paper, [claim] if isinstance(claim, str) else claim)
    folder = Path(out) if out is not None else Path("out") / f"{paper.name}-{scale}"
    specs, measures, figures = _specs(paper, scale)
    orphans = sorted(measures.keys() - set(known))
    if orphans:
        raise refuse(
            f"measures {orphans[0]}, which claims.toml does not have",
            file=paper.folder / "study.py",
            hint=nearest(orphans[0], known),
        )

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
    _places.claim(folder, "study")
    _kept.check(folder, paper, scale)
    answers, folders = {}, {}
    for wave in _waves(specs, needed, paper.folder / "study.py"):
        todo = []
        for s in wave:
            folders[s.key] = folder / "runs" / _folder_name(s.key)
        for s in wave:
            if s.replay is not None:
                continue
            again = [r for r in wave if r.replay == s.key]
            try:
                replays = [
                    Replay(r.key, folders[r.key], r.scheduler, r.preemptive, r.threshold, r.bucket) for r in again
                ]
                scenario = _scenario(s, paper, answers, folders, folder)
                todo.append(Job(s.key, scenario, folders[s.key], check, replays=replays, keep_recording=s.keep))
            except Exception as e:
                answers |= dict.fromkeys((s.key, *(r.key for r in again)), e)
        answers |= perform_all(
            todo, jobs, progress, keep_going=True, keep_results=False, force=force, executor=executor
        )

    rows = [
        judge(c, scale, measures.get(c.id), sights.get(c.id), answers, folders, folder, full.get(c.id)) for c in claims
    ]
    _kept.describe(paper, rows, full)
    if keep_verdicts:
        costs = {name: cost(seen, answers, folders) for name, seen in sights.items()}
        _verdicts.keep(paper, scale, rows, costs)
    study = Study(paper.name, scale, paper.scales.get(scale, {}).get("what", ""), rows, 0.0, folder, runs=answers)
    drawn = draw_figures(wanted, specs, answers, folders, folder, study)
    study.seconds = time.monotonic() - begun
    with _places.exclusive(folder):
        study.kept = _kept.others(folder, paper, scale, rows, full)
        every = _kept.together(paper, study)
        _kept.write(folder, study.to_dict(every))
        there = {s.key: folder / "runs" / _folder_name(s.key) for s in specs}
        study.report = report(paper, study, every, figures, drawn, there, answers)
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


def _waves(specs: Sequence[RunSpec], needed: set[str], file: Path) -> Iterator[list[RunSpec]]:
    """The needed runs and those they are built from, in an order in which each comes behind all of its own."""
    by_key = {s.key: s for s in specs}
    wanted, open_ = set(), sorted(needed)
    while open_:
        key = open_.pop()
        if key not in by_key:
            raise refuse(
                f"a run comes after `{key}`, which the study does not have", file=file, hint=nearest(key, by_key)
            )
        if key not in wanted:
            wanted.add(key)
            open_ += by_key[key].behind
    done: set[str] = set()
    while done != wanted:
        wave = [s for s in specs if s.key in wanted - done and s.replay is None and done.issuperset(s.after)]
        # Replays go with what they replay: its recording need not wait on disk.
        keys = {s.key for s in wave}
        wave += [s for s in specs if s.key in wanted and s.replay in keys]
        if not wave:
            raise refuse(f"the runs {', '.join(sorted(wanted - done))} wait for each other", file=file)
        yield wave
        done |= {s.key for s in wave}


def _scenario(spec: RunSpec, paper: Paper, answers, folders, folder: Path) -> Scenario:
    more = spec.prepare(Lazy(spec.after, answers, folders, folder), folder / "inputs") if spec.prepare else {}
    return Scenario.load(paper.folder / spec.scenario, {**spec.set, **more})
