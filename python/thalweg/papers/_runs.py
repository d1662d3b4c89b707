"""The runs of a study: which there are, in what order they are made, where each is kept."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from thalweg.errors import nearest, refuse
from thalweg.papers._judging import Lazy
from thalweg.papers._paper import Paper, RunSpec
from thalweg.pool import Job, Replay, perform_all
from thalweg.scenario import Scenario


def folder_name(key: str) -> str:
    """What the folder of a run is called."""
    return re.sub(r"[^A-Za-z0-9=,._+-]+", "-", key)


def study_of(paper: Paper, scale: str) -> tuple[list[RunSpec], dict[str, Any], dict[str, Any]]:
    """What a study has: its runs at a scale, its measures by claim, its figures by name."""
    study = paper.module("study")
    if study is None:
        raise refuse("the paper has no study.py", file=paper.folder)
    specs = list(study.runs(scale))
    keys = [s.key for s in specs]
    twice = sorted(
        {k for k in keys if keys.count(k) > 1}
        | {k for k in keys if [folder_name(x) for x in keys].count(folder_name(k)) > 1}
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
    measures, known = getattr(study, "_thalweg_measures", {}), [c.id for c in paper.claims]
    for orphan in sorted(measures.keys() - set(known)):
        reason = f"measures {orphan}, which claims.toml does not have"
        raise refuse(reason, file=paper.folder / "study.py", hint=nearest(orphan, known))
    return specs, measures, figures


def perform(
    paper: Paper,
    specs: Sequence[RunSpec],
    needed: set[str],
    folders: Mapping[str, Path],
    folder: Path,
    *,
    jobs: int | None = None,
    progress: bool | None = None,
    check: bool = False,
    **how: Any,
) -> dict[str, Any]:
    """Makes the runs that are needed, and those that they are built from, each in its folder, unless they are there;
    why one could not be made stands in its place. `folder`: of the study, for files that runs are made from; `how`:
    `force` and `executor` of `reproduce`."""
    answers: dict[str, Any] = {}
    for wave in _waves(specs, needed, paper.folder / "study.py"):
        todo = []
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
        answers |= perform_all(todo, jobs, progress, keep_going=True, keep_results=False, **how)
    return answers


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


def _scenario(
    spec: RunSpec, paper: Paper, answers: Mapping[str, Any], folders: Mapping[str, Path], folder: Path
) -> Scenario:
    more = spec.prepare(Lazy(spec.after, answers, folders, folder), folder / "inputs") if spec.prepare else {}
    return Scenario.load(paper.folder / spec.scenario, {**spec.set, **more})
