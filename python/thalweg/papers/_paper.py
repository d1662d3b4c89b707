"""A paper's folder: finding it, reading its claims, importing its study."""

from __future__ import annotations

import importlib
import importlib.util
import os
import re
import sys
import tomllib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fnmatch import fnmatchcase
from functools import partial, wraps
from importlib.machinery import ModuleSpec
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any, TypeVar, overload

from thalweg import _input, installed
from thalweg.errors import Diagnostic, ScenarioError, nearest, refuse
from thalweg.papers import _choices
from thalweg.papers._claims import Claim, read_claim

if TYPE_CHECKING:
    from thalweg.plots import Figure
    from thalweg.results import Results
    from thalweg.rundata import RunData


F = TypeVar("F", bound=Callable[..., Any])
R = TypeVar("R", bound="RunData")
T = TypeVar("T")


class NotCheckable(Exception):
    """Raised by a measure: why these runs cannot decide the claim."""


@dataclass(frozen=True)
class RunSpec:
    """One run of a study: a scenario file of the paper's folder and what is set in it.

    A run that is built from others names them in `after`; once they are done `prepare(runs, folder)` may write files
    into `folder` and returns what else is to be set.

    A replay has no scenario: it names the recorded run that it replays (one that sets `measure.packets`) and how, as
    `thalweg.replay` does. It runs right behind that run, whose recording is then deleted unless the recorded run says
    `keep`."""

    key: str
    scenario: str = ""
    set: Mapping[str, Any] = field(default_factory=dict)
    after: tuple[str, ...] = ()
    prepare: Callable[[Mapping[str, Results], Path], Mapping[str, Any]] | None = None
    replay: str | None = None
    scheduler: str = "lstf"
    preemptive: bool = False
    threshold: str | int | None = None
    bucket: str | int | None = None
    keep: bool = False

    @property
    def behind(self) -> tuple[str, ...]:
        """The runs that must be there first."""
        return (*self.after, self.replay) if self.replay else self.after


@dataclass(frozen=True)
class Measure:
    """What a claim measures, or a figure draws, and the keys (or patterns) of the runs that it needs. `rows`: claims
    (or patterns) that a claim is about; `claims`: those that a figure shows."""

    call: Callable[..., Any]
    needs: tuple[str, ...]
    title: str = ""
    claims: tuple[str, ...] = ()
    rows: tuple[str, ...] = ()

    def keys(self, specs: Sequence[RunSpec], what: str) -> list[str]:
        """The runs needed, in the study's order."""
        for pattern in self.needs:
            if not any(fnmatchcase(s.key, pattern) for s in specs):
                hint = nearest(pattern, [s.key for s in specs])
                raise refuse(f"needs the run `{pattern}`, which the study does not have", file=what, hint=hint)
        return [s.key for s in specs if any(fnmatchcase(s.key, p) for p in self.needs)]


def _registers(
    table: str, name: str, needs: Sequence[str], through: Callable[..., Any] = lambda call: call, **more: Any
) -> Callable[[F], F]:
    def register(call: F) -> F:
        _globals_of(call).setdefault(table, {})[name] = Measure(through(call), tuple(needs), **more)
        return call

    return register


def _globals_of(call: Callable[..., Any]) -> dict[str, Any]:
    """The names of the file that a function is written in."""
    return call.__globals__


def _styled(call: Callable[..., Any]) -> Callable[..., Any]:
    """In the style of all figures."""

    @wraps(call)
    def draw(runs: Mapping[str, Results]) -> Figure:
        from thalweg import plots  # Matplotlib is not needed to measure

        with plots.style():
            return call(runs)

    return draw


def measure(claim: str, needs: Sequence[str], rows: Sequence[str] = ()) -> Callable[[F], F]:
    """Decorator in study.py: this function measures the claim. A claim about several others, the rows of a table, may
    name them: then `runs.rows` has the values of those that are taken as kept (`reproduce(kept_rows=True)`), and
    their runs are not there."""
    return _registers("_thalweg_measures", claim, needs, rows=tuple(rows))


def measure_each(
    claims: Mapping[str, Any], needs: Sequence[str] | Callable[[Any], Sequence[str]] = ()
) -> Callable[[F], F]:
    """Decorator in study.py: this function measures several claims, each of something else, say a row of a table. It is
    called with the runs and what `claims` has for the claim; so is `needs`, if it is a function, to name the runs."""

    def register(call: F) -> F:
        for claim, what in claims.items():
            of_one = partial(_of_one, call, what)
            keys = needs(what) if callable(needs) else needs
            _registers("_thalweg_measures", claim, keys, lambda _, of_one=of_one: of_one)(call)
        return call

    return register


def _of_one(call: Callable[..., Any], what: Any, runs: Mapping[str, Results]) -> Any:
    return call(runs, what)


def figure(name: str, title: str, needs: Sequence[str], claims: Sequence[str] = ()) -> Callable[[F], F]:
    """Decorator in figures.py: this function draws the figure `name`; it need not set `plots.style()`.

    It belongs to the `claims` named (or matched by patterns); without any, to those whose section or name has the
    figure or table that the title names: "Figure 4.1" is of the section "4.3, Figure 4.1" and of the claim
    IRN-F1a."""
    return _registers("_thalweg_figures", name, needs, _styled, title=title, claims=tuple(claims))


# As papers count figures: 4, 4.1a, 3-8, B-5.
_NUMBER = r"(?:[A-Z][.-])?\d+(?:[.-]\d+)*[a-z]?"
_LETTERS = "abcdefghijklmnopqrstuvwxyz"


def numbered(text: str) -> set[str]:
    """The figures and tables that a text names: "Fig 3.2", "Figures 5.8 and 5.9", "Tables 4.2 to 4.8" name all of
    theirs."""
    found = set()
    for word, first, joint, last in re.findall(
        rf"\b(Fig|Table)(?:ure)?s?\.? ({_NUMBER})(?: (and|to) ({_NUMBER}))?", text
    ):
        found |= {f"{word} {n}" for n in _between(first, joint, last)}
    return found


def _between(first: str, joint: str, last: str) -> list[str]:
    parts = re.fullmatch(r"(.*?)(\w+)", first)
    assert parts is not None, "a number ends in a word"
    head, low, high = parts[1], parts[2], re.split(r"[.-]", last)[-1]
    if joint == "to" and low.isdecimal() and high.isdecimal():
        return [f"{head}{n}" for n in range(int(low), int(high) + 1)]
    return [first, last] if last else [first]


def belongs(drawn: Measure, claim: Claim) -> bool:
    """Whether a figure shows what a claim is about: the figure says so, or its title names the figure or table of the
    claim's section or of its name (`IRN-F7d`: Figure 4.7, of chapter 4; `ABC-F2.5a`: Figure 2-5; `ADS-F2.1`, in a
    paper without chapters: Figure 2)."""
    if drawn.claims:
        return any(fnmatchcase(claim.id, pattern) for pattern in drawn.claims)
    shown, cited = numbered(drawn.title), numbered(claim.section)
    by_section = any(a in (b, b.rstrip(_LETTERS)) or b == a.rstrip(_LETTERS) for a in shown for b in cited)
    return by_section or any(_names(claim.id, one) for one in shown)


def _names(claim: str, shown: str) -> bool:
    """Whether a claim's name has the number of a figure or table."""
    kind, number = shown.rstrip(_LETTERS).split()
    letter = shown[len(f"{kind} {number}") :]
    own = re.search(rf"-{kind[0]}(\d+)(\.\d+)?([a-z]?)", claim)
    if own is None or (letter and own[3] and letter != own[3]):
        return False
    chapter, _, last = number.replace("-", ".").rpartition(".")
    return own[1] + own[2] == f"{chapter}.{last}" if chapter and own[2] else own[1] == last


def include(study: dict[str, Any], *parts: ModuleType) -> None:
    """For a study.py whose measures lie in several files: `include(globals(), one, another)`."""
    for part in parts:
        for table in ("_thalweg_measures", "_thalweg_figures"):
            if hasattr(part, table):
                study.setdefault(table, {}).update(getattr(part, table))


@dataclass
class Paper:
    """A folder `papers/NAME`. `choices`: what the paper leaves open; `tried`: what stands in place of the study's own
    values."""

    name: str
    folder: Path
    about: dict[str, Any]
    scales: dict[str, dict[str, Any]]
    claims: list[Claim]
    choices: list[_choices.Choice] = field(default_factory=list)
    tried: Mapping[str, _choices.Value] = field(default_factory=dict)

    @classmethod
    def load(cls, folder: Path) -> Paper:
        folder = _input.path(folder, "a study's folder")
        file = folder / "claims.toml"
        try:
            text = _input.text(file)
            table = tomllib.loads(text)
        except OSError as e:
            raise refuse(e.strerror or str(e), file=file) from None
        except (tomllib.TOMLDecodeError, UnicodeDecodeError) as e:
            raise refuse(str(e), file=file) from None
        claims, wrong = [], []
        for n, entry in enumerate(table.get("claim", [])):
            claim, problems = read_claim(entry, n, file)
            wrong += problems
            if claim is not None:
                claims.append(claim)
        seen = [c.id for c in claims]
        wrong += [
            Diagnostic(f"claim {i} is there twice", str(file)) for i in sorted({i for i in seen if seen.count(i) > 1})
        ]
        if not claims and not wrong:
            wrong.append(Diagnostic("holds no [[claim]]", str(file)))
        if wrong:
            raise ScenarioError(wrong)
        choices = _choices.load(folder, seen)
        return cls(folder.name, folder, table.get("paper", {}), table.get("scale", {}), claims, choices)

    def under(self, tried: Mapping[str, _choices.Value]) -> Paper:
        """The same study with other values of its choices: its files are imported anew."""
        names = [c.name for c in self.choices]
        for name in tried:
            if name not in names:
                hint = nearest(name, names) or "`--choices` lists those that it declares"
                raise refuse(f"{self.name} has no choice `{name}`", file=self.folder / _choices.FILE, hint=hint)
        return replace(self, tried=dict(tried))

    def handful(self) -> list[str]:
        """Patterns of the few claims, some of every figure, that take a minute at most."""
        if not self.about.get("handful"):
            raise refuse("names no handful of claims", file=self.folder / "claims.toml", key="paper.handful")
        return self.about["handful"]

    def module(self, name: str) -> ModuleType | None:
        """study.py or figures.py, as part of a package of the folder's own, which has its `choices`."""
        file = self.folder / f"{name}.py"
        package = f"_thalweg_paper_{abs(hash((str(self.folder.resolve()), tuple(sorted(self.tried.items()))))):x}"
        if package not in sys.modules:
            spec = ModuleSpec(package, None, is_package=True)
            made = importlib.util.module_from_spec(spec)
            made.__path__ = [str(self.folder)]
            vars(made)["choices"] = _choices.Choices(self.folder / _choices.FILE, self.choices, self.tried)
            sys.modules[package] = made
        if not file.is_file():
            return None
        module = importlib.import_module(f"{package}.{name}")
        if name == "study":
            sys.modules[package].choices.check_read()
        return module


def homes() -> list[Path]:
    """Where papers are looked for: $THALWEG_PAPERS, the package (a link in a source checkout), the current folder."""
    here = Path(__file__).resolve().parent
    named = os.environ.get("THALWEG_PAPERS")
    places = [Path(named)] if named else []
    places += [(here / "data").resolve(), Path.cwd() / "papers"]
    return [p for p in dict.fromkeys(places) if p.is_dir()]


def discover() -> dict[str, Path]:
    """The folder of each paper: of those in `homes`, the first that has one, then those of installed packages."""
    found: dict[str, Path] = {}
    for home in homes():
        for claims in sorted(home.glob("*/claims.toml")):
            found.setdefault(claims.parent.name, claims.parent)
    for name, one in installed.studies():
        if (folder := one.study) is not None:
            found.setdefault(name, folder)
    return dict(sorted(found.items()))


def find(name: str | Path) -> Paper:
    """The paper of this name, or of this folder."""
    place = _input.path(name, "a study's name, or its folder")
    if (place / "claims.toml").is_file():
        return Paper.load(place)
    papers, name = discover(), str(place)
    if name in installed.declared(installed.STUDIES):
        folder = installed.study(name)
        if papers[name].resolve() != folder:
            package = installed.only(installed.STUDIES, name).package
            reason = f"`{name}` is a study in {papers[name]} and one of the installed package {package}"
            raise refuse(reason, hint=f"name the folder of the one that you mean: {folder}")
        return replace(Paper.load(folder), name=name)
    if name not in papers:
        hint = nearest(name, papers) or "no papers are installed: set THALWEG_PAPERS to a folder of papers"
        raise refuse(f"no paper is called `{name}`", hint=hint)
    return Paper.load(papers[name])


@overload
def once(read: Callable[[R], T], *, most: int | None = None) -> Callable[[R], T]: ...
@overload
def once(read: None = None, *, most: int | None = None) -> Callable[[Callable[[R], T]], Callable[[R], T]]: ...
def once(read: Callable[..., Any] | None = None, *, most: int | None = None) -> Callable[..., Any]:
    """What a function reads of a run's results, kept: several claims look at the same runs. `most`: of how many runs
    it is kept, of the last ones."""
    if read is None:
        return partial(once, most=most)
    kept: dict[tuple[Path | None, str], Any] = {}

    @wraps(read)
    def asked(results: RunData) -> Any:
        key = (results.path, results.digest)
        if key not in kept:
            while most is not None and len(kept) >= most:
                del kept[next(iter(kept))]
            kept[key] = read(results)
        return kept[key]

    return asked
