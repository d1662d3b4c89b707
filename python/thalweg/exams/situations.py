"""The situations of an exam, as the engine has them (`crates/exam`): Rust and Python go through the same."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import cache
from pathlib import Path
from typing import Any

from thalweg import _core
from thalweg.errors import nearest, refuse
from thalweg.scenario import Scenario

# A link to the data of `crates/exam`: what situations say, and the files that they name.
FILES = Path(__file__).parent / "data"


@dataclass(frozen=True)
class Situation:
    """One network with its traffic, and what is looked at in it. The fields are described in `situations.toml`."""

    name: str
    about: str
    text: str
    from_: float = 0.0
    event: float = 0.0
    settles: str = ""
    window: float = 1.0
    bottleneck: tuple[str, str] = ("switch0", "switch1")
    base_rtt: tuple[float, ...] = ()

    def scenario(self, controller: Any, set: Mapping[str, Any] | None = None) -> Scenario:
        """With this controller. Raises `ScenarioError` if it cannot stand there."""
        return Scenario(self.text, f"situation {self.name}", FILES, {"transport.congestion": controller, **(set or {})})


@cache
def all_situations() -> tuple[Situation, ...]:
    """In the order of the file."""
    return tuple(_situation(one) for one in _core.exam_situations())


def _situation(one: Mapping[str, Any]) -> Situation:
    lists = {key: tuple(one[key]) for key in ("bottleneck", "base_rtt")}
    return Situation(**{**one, **lists})


def chosen(patterns: Sequence[str] = ()) -> list[Situation]:
    """Those whose name matches one of the patterns; all without any."""
    known = all_situations()
    for pattern in patterns:
        if not any(fnmatchcase(s.name, pattern) for s in known):
            raise refuse(f"no situation is called `{pattern}`", hint=nearest(pattern, [s.name for s in known]))
    return [s for s in known if not patterns or any(fnmatchcase(s.name, p) for p in patterns)]
