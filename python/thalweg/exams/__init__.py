"""Runs one controller through some thirty situations, and others through the same to compare it with.

    exam = thalweg.exam("vegas")
    exam.frame                                   # one row per situation and controller
    exam.report("vegas.html")                    # tables and pictures on one page

The situations are data (`data/situations.toml`), the same for Rust (`crates/exam`); `thalweg exam --list` lists them.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from thalweg import _clashes, _counts, _given, _input, _places, controllers, installed, libraries
from thalweg.errors import Diagnostic, ScenarioError, brief, nearest, refuse
from thalweg.exams.marks import Marks, measure
from thalweg.exams.situations import Situation, chosen
from thalweg.executors.presence import present
from thalweg.pool import Job, perform_all

if TYPE_CHECKING:
    import polars

    from thalweg.plots import Figure
    from thalweg.scenario import Scenario

AGAINST = ("cubic", "bbr", "copa")


@dataclass(frozen=True)
class Candidate:
    """A controller: what it is called here, what scenarios write for it, and what else is set for it."""

    name: str
    spec: Any
    set: Mapping[str, Any] = field(default_factory=dict, hash=False)

    def scenario(self, situation: Situation) -> Scenario:
        try:
            return situation.scenario(self.spec, self.set)
        except ScenarioError as e:
            lines = [f"`{self.name}` cannot take the situation `{situation.name}`: {d}" for d in e.diagnostics]
            hint = "what else it needs can be set for all situations, with --set KEY=VALUE (`set` in Python)"
            raise ScenarioError([Diagnostic(reason=line, hint=hint) for line in lines]) from None

    def fingerprint(self) -> str:
        """What its runs depend on besides the scenario."""
        spec = self.spec if isinstance(self.spec, Mapping) else {}
        return controllers.fingerprint(str(spec.get("name", ""))) if spec.get("kind") == "custom" else ""


def candidate(what: str | Mapping[str, Any] | type, set: Mapping[str, Any] | None = None) -> Candidate:
    """From a built-in's name, a registered one's, `FILE.py:Class`, `FILE.so`, `MODULE:Class`, a decorated class, or a
    table as scenarios have it."""
    set = _given.settings(set)
    if controllers.is_registered(what):
        what = what.thalweg_name
    if isinstance(what, Mapping):
        rest = ",".join(f"{k}={v}" for k, v in what.items() if k not in ("kind", "name"))
        name = str(what.get("name", what.get("kind", "")))
        return Candidate(f"{name}({rest})" if rest else name, dict(what), set)
    if not isinstance(what, str):
        raise refuse(f"`{brief(what)}` is not a controller", hint="a name, FILE.py:Class, or a table with `kind`")
    if what.lstrip().startswith("{"):
        return candidate(_table(what), set)
    if ":" in what or what.endswith(".py") or libraries.is_library(what):
        what = controllers.named(what)
    if what in installed.declared(installed.CONTROLLERS):
        installed.load(what)
    if what in controllers.names():
        return Candidate(what, {"kind": "custom", "name": what}, set)
    known = installed.built_in()
    if what not in known:
        others = [*controllers.names(), *installed.declared(installed.CONTROLLERS)]
        raise refuse(f"no controller is called `{what}`", hint=nearest(what, [*known, *others]))
    return Candidate(what, what, set)


def _table(text: str) -> dict[str, Any]:
    import tomllib

    try:
        found = tomllib.loads(f"controller = {text}")["controller"]
    except tomllib.TOMLDecodeError as e:
        raise refuse(f"`{text}` is not a table: {e}", hint='write { kind = "copa", delta = 0.1 }') from None
    if not isinstance(found, dict) or "kind" not in found:
        raise refuse(f"`{text}` has no `kind`", hint='write { kind = "copa", delta = 0.1 }')
    return found


def exam(
    controller: str | Mapping[str, Any] | type,
    *,
    only: Sequence[str] = (),
    against: Sequence[str | Mapping[str, Any]] = AGAINST,
    set: Mapping[str, Any] | None = None,
    jobs: int | None = None,
    progress: bool | None = None,
    out: str | Path | None = None,
    executor: Any = None,
) -> Exam:
    """Runs a controller through the situations, and those that it is compared `against` through the same.

    `only`: names of situations, or patterns. `set`: dotted keys of scenarios, changed for the controller
    examined alone (what it needs of switches; options of TCP). With `out`, each run is kept there: an exam
    that was interrupted, or is requested again, or of another controller, runs only what is missing.
    `executor`: as of `thalweg.sweep`.
    """
    jobs, folder = _counts.jobs(jobs), _input.maybe(out, "a folder")
    situations = chosen(_given.names(only, "only", 'for example ["steady", "vs-*"]'))
    files = _clashes.Files()
    with files.one_more():
        examined = candidate(controller, set)
    others = []
    for other in _given.items(against, "against", 'for example ["cubic"]'):
        with files.one_more():
            others.append(candidate(other))
    others = [c for c in others if c != examined]
    if any(c.name == examined.name for c in others):  # the same with other settings
        examined = Candidate(f"{examined.name}*", examined.spec, examined.set)
    candidates = [examined, *others]
    work: list[tuple[Situation, Candidate, Job]] = []
    for s in situations:
        for c in candidates:
            scenario = c.scenario(s)
            place = None
            if folder is not None:
                digest = hashlib.sha256((scenario.to_toml() + c.fingerprint()).encode()).hexdigest()[:10]
                place = folder / f"{file_name(c.name)}-{s.name}-{digest}"
            work.append((s, c, Job(f"{s.name} {c.name}", scenario, place)))
    present(executor, folder)
    if folder is not None:
        _places.claim(folder, "exam")
    answers = perform_all([job for *_, job in work], jobs, progress, keep_going=True, executor=executor)
    marks: dict[tuple[str, str], Marks] = {}
    for s, c, job in work:
        answer = answers[job.key]
        if isinstance(answer, Exception):
            marks[s.name, c.name] = Marks(failed=" ".join(str(answer).split()))
        else:
            marks[s.name, c.name] = measure(s, answer)
    return Exam(situations, [c.name for c in candidates], marks)


def file_name(name: str) -> str:
    """What a controller is called in the file system."""
    return re.sub(r"[^A-Za-z0-9._+-]+", "-", name).strip("-.")[:60] or "controller"


@dataclass
class Exam:
    """What came out: marks by situation and controller; the one examined comes first in `names`."""

    situations: list[Situation]
    names: list[str]
    marks: dict[tuple[str, str], Marks]

    @property
    def failures(self) -> list[str]:
        """One line for every run that ended in an error."""
        return [f"{s.name}: {m.failed}" for s in self.situations for m in self.of(s) if m.failed]

    def of(self, situation: Situation) -> list[Marks]:
        """In the order of `names`."""
        return [self.marks[situation.name, name] for name in self.names]

    @property
    def frame(self) -> polars.DataFrame:
        """One row per situation and controller; what there is not is null, a time to converge that never came
        is infinite."""
        import polars as pl

        rows = [
            {"situation": s.name, "controller": name} | self.marks[s.name, name].row()
            for s in self.situations
            for name in self.names
        ]
        return pl.DataFrame(rows, infer_schema_length=None, strict=False)

    def plot(self) -> Figure:
        """All situations on one page: a dot per controller and mark."""
        from thalweg.exams import pictures

        return pictures.overview(self)

    def picture(self, situation: str) -> Figure:
        """One situation over time: rates above, queueing delays below."""
        from thalweg.exams import pictures

        found = [s for s in self.situations if s.name == situation]
        if not found:
            raise refuse(
                f"the exam had no situation `{situation}`", hint=nearest(situation, [s.name for s in self.situations])
            )
        return pictures.over_time(self, found[0])

    def report(self, path: str | Path) -> Path:
        """Writes one self-contained HTML page."""
        from thalweg.exams import pictures

        return pictures.page(self, _input.path(path, "a page"))

    def __repr__(self) -> str:
        return f"<thalweg.Exam of {self.names[0]}: {len(self.situations)} situations, against {', '.join(self.names[1:]) or 'none'}>"
