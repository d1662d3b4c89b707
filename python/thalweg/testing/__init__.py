"""Tests of scenarios, controllers and studies: a plug-in of pytest, which installing thalweg switches on.

    from thalweg.testing import fct_ms, loss, slowdown

    def test_short_answers_are_not_delayed(thalweg_run):
        run = thalweg_run("incast.toml", {"transport.congestion": "author-cc"})
        assert slowdown(run).p99 < 3
        assert fct_ms(run).most < 20 and loss(run) == 0

A failure shows what was measured: `assert 4.2 < 3, where 4.2 = <slowdown of 40 flows: mean 1.7, p50 1.2, …>.p99`.

**Fixtures.** `thalweg_run(scenario, set=None)` runs a scenario (a file, relative to the test's own folder; a text of
TOML; a dictionary; a `thalweg.Scenario`) with invariants checked, and returns its `thalweg.Results`. The same
scenario is run once per session. `thalweg_reproduce(study, claim=None, scale="quick")` judges a study, by its name or
folder, and returns what `thalweg.papers.reproduce` does. `thalweg_marks` makes a test one per situation of the exam,
and is its marks:

    import pytest

    @pytest.mark.thalweg_exam("author-cc", only=["step-*", "vs-cubic"])
    def test_the_link_is_used(thalweg_marks):
        assert thalweg_marks.utilisation > 0.8

**Options.** `pytest --controller NAME` (or `MODULE:CLASS`, `FILE.py:CLASS`) says whose exam it is, in place of the
mark's, and `--situation PATTERN` which situations. Without a test of one's own:

    pytest --pyargs thalweg.testing.exam --controller author-cc

It needs pytest: `pip install 'thalweg[testing]'`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

try:
    import pytest
except ImportError:
    raise ImportError("thalweg.testing needs pytest: pip install 'thalweg[testing]'") from None

from thalweg.testing._samples import Sample, fct_ms, goodput_mbps, loss, slowdown

if TYPE_CHECKING:
    from thalweg import Results
    from thalweg.exams.marks import Marks
    from thalweg.papers import Study

__all__ = ["Sample", "fct_ms", "goodput_mbps", "loss", "slowdown"]

MARK = "thalweg_exam"


def pytest_addoption(parser: pytest.Parser) -> None:
    """`--controller`, `--situation`."""
    group = parser.getgroup("thalweg")
    group.addoption(
        "--controller",
        metavar="NAME",
        help="whose exam `thalweg_marks` is: a name (`thalweg list controllers`), MODULE:CLASS, FILE.py:CLASS",
    )
    group.addoption(
        "--situation",
        action="append",
        default=[],
        metavar="NAME",
        help="only this situation of the exam, or those that a pattern such as 'vs-*' matches (repeatable)",
    )


def pytest_configure(config: pytest.Config) -> None:
    """The mark, so that `--strict-markers` knows it."""
    about = "thalweg_exam(controller, only=[]): whose exam `thalweg_marks` is, and which situations"
    config.addinivalue_line("markers", about)


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """A test with `thalweg_marks` becomes one per situation."""
    if "thalweg_marks" not in metafunc.fixturenames:
        return
    from thalweg.errors import ScenarioError
    from thalweg.exams.situations import chosen

    mark = metafunc.definition.get_closest_marker(MARK)
    options = metafunc.config.option
    controller = options.controller or (mark.args[0] if mark is not None and mark.args else None)
    if controller is None:
        reason = "no controller: give --controller NAME, or @pytest.mark.thalweg_exam(NAME)"
        skipped = pytest.param(None, marks=pytest.mark.skip(reason=reason), id="no controller")
        metafunc.parametrize("thalweg_marks", [skipped], indirect=True)
        return
    try:
        wanted = chosen(options.situation or (mark.kwargs.get("only", ()) if mark is not None else ()))
    except ScenarioError as e:
        raise pytest.UsageError(str(e)) from None
    pairs = [pytest.param((controller, s.name), id=s.name) for s in wanted]
    metafunc.parametrize("thalweg_marks", pairs, indirect=True)


@pytest.fixture
def thalweg_marks(request: pytest.FixtureRequest) -> Marks:
    """The marks of one controller in one situation of the exam; a run that ends in an error has `failed`."""
    from thalweg import exams

    controller, situation = request.param
    done = exams.exam(controller, only=[situation], against=(), progress=False, jobs=1)
    return done.marks[situation, done.names[0]]


@pytest.fixture(scope="session")
def _thalweg_runs() -> dict[str, Results]:
    return {}


@pytest.fixture
def thalweg_run(request: pytest.FixtureRequest, _thalweg_runs: dict[str, Results]) -> Callable[..., Results]:
    """Runs a scenario: a file, a text, a dictionary or a `Scenario`; `set` as `thalweg.run` has it."""
    from thalweg import Scenario, controllers, engine

    def run(scenario: Any, set: Mapping[str, Any] | None = None, *, check: bool = True) -> Results:
        if isinstance(scenario, Scenario):
            found = scenario.with_(set) if set else scenario
        elif isinstance(scenario, Mapping):
            found = Scenario.from_dict(scenario, set)
        elif isinstance(scenario, str) and "\n" in scenario:
            found = Scenario.from_toml(scenario, set)
        else:
            found = Scenario.load(request.path.parent / scenario, set)
        # The code of Python controllers is part of what was run.
        code = "".join(controllers.fingerprint(name) for name in controllers.names())
        key = f"{found.to_toml()}{sorted(found.inputs().items())}{code}{check}"
        if key not in _thalweg_runs:
            _thalweg_runs[key] = engine.run(found, out=None, progress=False, check=check)
        return _thalweg_runs[key]

    return run


@pytest.fixture
def thalweg_reproduce(request: pytest.FixtureRequest, tmp_path: Path) -> Callable[..., Study]:
    """Judges a study's claims without figures, in a folder of the test's own."""
    from thalweg import papers

    def reproduce(study: Any, claim: str | list[str] | None = None, scale: str = "quick") -> Study:
        folder = request.path.parent / str(study)
        name = str(folder) if (folder / "claims.toml").is_file() else str(study)
        return papers.reproduce(name, scale=scale, claim=claim, out=tmp_path / "study", progress=False, draw=False)

    return reproduce
