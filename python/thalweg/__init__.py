"""thalweg: a network laboratory.

    import thalweg

    results = thalweg.run("incast.toml", set={"seed": 7})
    results.flows                      # a polars data frame, one row per flow
    results.report("report.html")      # one self-contained page

Everything is imported when it is first needed, so `import thalweg` is quick.
"""

TYPE_CHECKING = False  # importing `typing` for it would be the slowest line here
if TYPE_CHECKING:
    __version__: str
    from thalweg.comparison import compare
    from thalweg.controllers import controller
    from thalweg.engine import resume, run
    from thalweg.errors import ControllerError, Diagnostic, ScenarioError
    from thalweg.exams import Exam, exam
    from thalweg.replaying import replay
    from thalweg.results import Interrupted, Results
    from thalweg.scenario import Scenario
    from thalweg.sweeps import Runs, sweep
    from thalweg.tuning import Tuning, tune

_HOMES = {
    "ControllerError": "errors",
    "Diagnostic": "errors",
    "Exam": "exams",
    "Interrupted": "results",
    "Results": "results",
    "Runs": "sweeps",
    "Scenario": "scenario",
    "ScenarioError": "errors",
    "Tuning": "tuning",
    "compare": "comparison",
    "controller": "controllers",
    "exam": "exams",
    "replay": "replaying",
    "resume": "engine",
    "run": "engine",
    "sweep": "sweeps",
    "tune": "tuning",
}

__all__ = [
    "ControllerError",
    "Diagnostic",
    "Exam",
    "Interrupted",
    "Results",
    "Runs",
    "Scenario",
    "ScenarioError",
    "Tuning",
    "__version__",
    "compare",
    "controller",
    "exam",
    "replay",
    "resume",
    "run",
    "sweep",
    "tune",
]


def __getattr__(name: str) -> object:
    if name == "__version__":
        from thalweg import _core

        return _core.VERSION
    if name in _HOMES:
        from importlib import import_module

        value = getattr(import_module(f"thalweg.{_HOMES[name]}"), name)
        globals()[name] = value
        return value
    raise AttributeError(f"module 'thalweg' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
