"""Runs what claims need, judges them, draws the figures, writes the report."""

from __future__ import annotations

import math
import re
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from fnmatch import fnmatchcase
from html import escape
from pathlib import Path
from typing import Any

from thalweg import _places, recording
from thalweg.errors import nearest, refuse
from thalweg.papers import _verdicts
from thalweg.papers._paper import Claim, Measure, NotCheckable, Paper, RunSpec, belongs, find
from thalweg.pool import Job, Replay, perform_all
from thalweg.results import Results
from thalweg.scenario import Scenario

SCALES = ("quick", "full")


@dataclass
class ClaimResult:
    """One row of the answer: `status` is pass, fail, not-checkable or error; `full` what the study's folder keeps of the full scale, if
    anything (pass or fail)."""

    id: str
    status: str
    published: str
    measured: float | dict[str, float] | None
    bound: str
    reason: str
    statement: str = ""
    section: str = ""
    full: str | None = None

    @property
    def decisive(self) -> bool:
        """The full scale does not say otherwise."""
        return _verdicts.together(self.status, self.full or "") != "not decisive"

    def measured_text(self) -> str:
        if self.measured is None:
            return "–"
        if isinstance(self.measured, dict):
            return ", ".join(f"{k} = {v:.4g}" for k, v in self.measured.items())
        return f"{self.measured:.4g}"

    def to_dict(self) -> dict:
        return {k: v for k, v in asdict(self).items() if k not in ("statement", "section")}


@dataclass
class Study:
    """What `reproduce` found."""

    paper: str
    scale: str
    scaled: str
    claims: list[ClaimResult]
    seconds: float
    folder: Path
    report: Path | None = None
    figures: dict[str, list[Path]] = field(default_factory=dict)
    runs: dict[str, Any] = field(default_factory=dict)

    def to_dict(self) -> dict:
        """The object that `thalweg reproduce --json` prints."""
        return {
            "paper": self.paper,
            "scale": self.scale,
            "claims": [c.to_dict() for c in self.claims],
            "seconds": round(self.seconds, 3),
        }

    def count(self, status: str) -> int:
        return sum(c.status == status for c in self.claims)


class Lazy(Mapping):
    """The runs a measure may look at, opened from disk when asked for; only those that it said it needs.

    `scale` tells a measure that needs no runs how much to do; `rows` has what other claims measured, of those whose runs are not here.
    """

    def __init__(
        self, keys: Sequence[str], answers: Mapping[str, Any], folders: Mapping[str, Path], scale="", rows=None
    ):
        self._keys, self._answers, self._folders = list(keys), answers, folders
        self.scale, self.rows = scale, rows or {}

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
    figures = paper.module("figures")
    return (
        specs,
        getattr(study, "_thalweg_measures", {}),
        getattr(figures, "_thalweg_figures", {}) if figures else {},
    )


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
) -> Study:
    """Runs a paper's study, or only what the claims named (or matched by patterns such as `IRN-F4*`) need, and judges its claims. `draw`:
    draws the figures, of claims those that belong to them. `handful`: the few claims that the study's `claims.toml` names for quick
    looks. `force`: also runs that need more memory than is free. `keep_verdicts`: writes the verdicts into the study's folder
    (`SCALE/verdicts.json`), beside those of other claims that are there. `kept_rows`: a claim about several others takes the values of
    those that are not asked for from there, instead of running what they need."""
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

    asked = {c.id for c in claims}
    kept = {i: v for i, v in _verdicts.kept(paper, scale).items() if i not in asked} if kept_rows else {}
    sights = {
        c.id: _sight(c, paper, measures, specs, kept) for c in claims if _checkable(c, scale) and c.id in measures
    }
    if kept_rows and not any(sight.rows for sight in sights.values()):
        hint = "such a claim is about others, whose verdicts `--keep-verdicts` has kept at this scale"
        raise refuse("no claim that is asked for takes rows as kept", key="--kept-rows", hint=hint)
    needed = {key for sight in sights.values() for key in sight.keys}
    if not draw:
        figures = {}
    elif claim:
        figures = {name: drawn for name, drawn in figures.items() if any(belongs(drawn, c) for c in claims)}
    for drawn in figures.values():
        needed |= set(drawn.keys(specs, str(paper.folder / "figures.py")))

    _places.claim(folder, "study")
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
        answers |= perform_all(todo, jobs, progress, keep_going=True, keep_results=False, force=force)

    rows = [_judge(c, scale, measures.get(c.id), sights.get(c.id), answers, folders) for c in claims]
    _note_full(rows, paper, scale)
    if keep_verdicts:
        cost = {c.id: _cost(sights[c.id], answers, folders) for c in claims if c.id in sights}
        _verdicts.keep(paper, scale, rows, cost)
    study = Study(paper.name, scale, paper.scales.get(scale, {}).get("what", ""), rows, 0.0, folder, runs=answers)
    drawings = list(_draw(figures, specs, answers, folders, folder, study))
    study.seconds = time.monotonic() - begun
    study.report = _report(paper, study, drawings, folders, answers)
    _places.write_json(folder / "claims.json", study.to_dict())
    return study


@dataclass(frozen=True)
class Sight:
    """What a claim's measure looks at: runs, and claims as they were judged before, whose runs it need not see."""

    keys: list[str]
    rows: dict[str, _verdicts.Verdict]


def _sight(claim: Claim, paper: Paper, measures, specs: Sequence[RunSpec], kept) -> Sight:
    file, measured = str(paper.folder / "study.py"), measures[claim.id]
    known = [c.id for c in paper.claims]
    for pattern in measured.rows:
        if not any(fnmatchcase(i, pattern) for i in known):
            hint = nearest(pattern, known)
            raise refuse(f"{claim.id} is about `{pattern}`, which claims.toml does not have", file=file, hint=hint)
    rows = {i: v for i, v in kept.items() if i in measures and any(fnmatchcase(i, p) for p in measured.rows)}
    seen = {key for i in rows for key in measures[i].keys(specs, file)}
    return Sight([key for key in measured.keys(specs, file) if key not in seen], rows)


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
    more = spec.prepare(Lazy(spec.after, answers, folders), folder / "inputs") if spec.prepare else {}
    return Scenario.load(paper.folder / spec.scenario, {**spec.set, **more})


def _checkable(claim: Claim, scale: str) -> bool:
    return not claim.unchecked and (claim.scales is None or scale in claim.scales)


def _judge(claim: Claim, scale: str, measured: Measure | None, sight: Sight | None, answers, folders) -> ClaimResult:
    row = ClaimResult(claim.id, "error", claim.published, None, claim.bound_text(), "", claim.statement, claim.section)
    if not _checkable(claim, scale):
        row.status = "not-checkable"
        row.reason = claim.unchecked or f"needs --scale {' or '.join(claim.scales)}"
        return row
    if measured is None or sight is None:
        row.reason = "study.py has no measure for this claim"
        return row
    try:
        broken = [k for k in sight.keys if isinstance(answers.get(k), Exception)]
        if broken:
            row.reason = f"run {broken[0]}: {_one_line(answers[broken[0]])}"
            return row
        rows = {i: v.measured for i, v in sight.rows.items()}
        value = measured.call(Lazy(sight.keys, answers, folders, scale, rows))
        named = dict(value) if isinstance(value, Mapping) else {"": value}
        named = {k: float(v) for k, v in named.items()}
        row.measured = named if isinstance(value, Mapping) else named[""]
        bad = [k for k, v in named.items() if not math.isfinite(v)]
        if bad:
            row.reason, row.measured = f"{bad[0] or 'the measured value'} is not a finite number", None
            return row
        wrong = claim.judge(named)
    except NotCheckable as e:
        row.status, row.reason = "not-checkable", str(e)
        return row
    except Exception as e:
        row.reason = f"{type(e).__name__}: {_one_line(e)}"
        return row
    row.status = "fail" if wrong else "pass"
    row.reason = "; ".join(wrong) + (f" ({claim.known})" if wrong and claim.known else "")
    if not wrong and scale == "quick" and claim.short:
        row.status, row.reason = "fail", f"within its bounds only because runs are short: {claim.short}"
    if sight.rows:
        row.reason = "; ".join(x for x in (row.reason, f"taken as kept: {', '.join(sight.rows)}") if x)
    return row


def _note_full(rows: Sequence[ClaimResult], paper: Paper, scale: str) -> None:
    """Beside a quick verdict stands what the full scale was found to say."""
    if scale == "full":
        return
    found = _verdicts.kept(paper, "full")
    for row in rows:
        row.full = getattr(found.get(row.id), "status", None)
        if not row.decisive:
            row.reason = "; ".join(x for x in (f"not decisive: {row.full} at full scale", row.reason) if x)


def _cost(sight: Sight, answers, folders) -> tuple[int, float]:
    """How many runs a claim needed, and how long they took one after the other; those of rows that were taken as kept included."""
    ran = [k for k in sight.keys if k in folders and not isinstance(answers.get(k), Exception)]
    runs = len(ran) + sum(v.runs for v in sight.rows.values())
    return runs, sum(Results.load(folders[k]).meta.get("seconds") or 0.0 for k in ran) + sum(
        v.seconds for v in sight.rows.values()
    )


def _one_line(e: BaseException) -> str:
    return (str(e).splitlines() or [""])[0] or type(e).__name__


def _draw(figures, specs, answers, folders, folder: Path, study: Study):
    from thalweg import plots

    for name, drawn in figures.items():
        try:
            fig = drawn.call(Lazy(drawn.keys(specs, "figures.py"), answers, folders, study.scale))
            study.figures[name] = plots.save(fig, folder / "figures", name)
            yield drawn.title, fig
        except Exception as e:
            yield f"{drawn.title}: not drawn: {type(e).__name__}: {_one_line(e)}", None


def _report(paper: Paper, study: Study, drawings, folders, answers) -> Path:
    from thalweg import _html, report

    about = paper.about
    head = ("id", "statement", "§", "published", "measured", "bound", "status", "full scale", "reason")
    rows = [
        (
            c.id,
            c.statement,
            c.section,
            c.published,
            c.measured_text(),
            c.bound,
            (c.status, c.status),
            (c.full, c.full) if c.full else "",
            c.reason,
        )
        for c in study.claims
    ]
    counts = ", ".join(f"{study.count(s)} {s}" for s in ("pass", "fail", "not-checkable", "error"))
    runs, deleted = [], False
    for key, path in folders.items():
        if isinstance(answers.get(key), Exception):
            runs.append((key, ("error", "error"), "", "", _one_line(answers[key])))
            continue
        found = Results.load(path)
        deleted |= found.recorded and not recording.present(path)
        runs.append(
            (
                key,
                found.digest,
                found.meta.get("packet_hops"),
                f"{found.meta.get('seconds', 0):.2f} s",
                str(path.relative_to(study.folder)),
            )
        )
    note = "<p class=soft>Recordings of packets were deleted after their replays, to save disk.</p>" if deleted else ""
    missing = "".join(f"<p class=error>{escape(title)}</p>" for title, fig in drawings if fig is None)
    sections = [
        (
            "What was scaled",
            f"<p class=banner>Scale <b>{study.scale}</b>: {escape(study.scaled)}</p>" if study.scaled else "",
        ),
        ("Claims", f"<p>{counts}</p>" + _html.table(head, rows)),
        ("Figures", report.pictures((title, fig) for title, fig in drawings if fig is not None) + missing),
        ("Runs", _html.table(("run", "digest", "packet-hops", "time", "folder or reason"), runs) + note),
        ("Made by", report.provenance_table()),
    ]
    lead = " · ".join(str(about[k]) for k in ("authors", "venue") if k in about)
    return report.write(study.folder / "report.html", report.page(about.get("title", paper.name), lead, sections))
