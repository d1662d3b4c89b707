"""The situations of an exam: `situations.toml` as objects."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import cache
from pathlib import Path
from typing import Any

from thalweg import _toml
from thalweg.errors import nearest, refuse
from thalweg.scenario import Scenario

HERE = Path(__file__).parent
FILE = HERE / "situations.toml"


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
        return Scenario(self.text, f"situation {self.name}", HERE, {"transport.congestion": controller, **(set or {})})


def merged(base: Mapping, over: Mapping) -> dict:
    """Tables are merged as far as both have the same `kind`, everything else is replaced."""
    out = dict(base)
    for key, value in over.items():
        there = out.get(key)
        if (
            isinstance(there, Mapping)
            and isinstance(value, Mapping)
            and there.get("kind") == value.get("kind", there.get("kind"))
        ):
            out[key] = merged(there, value)
        else:
            out[key] = value
    return out


@cache
def all_situations() -> tuple[Situation, ...]:
    """In the order of the file."""
    table = tomllib.loads(FILE.read_text(encoding="utf-8"))
    return tuple(_situation(table["base"], dict(one)) for one in table["situation"])


def _situation(base: Mapping, one: dict) -> Situation:
    scenario = merged(base, one.pop("scenario", {}))
    if (rival := one.pop("rival", None)) is not None:
        scenario["transports"] = {"rival": {"kind": "tcp", **base["transport"], "congestion": rival}}
    scenario["name"] = one["name"]
    for key in ("bottleneck", "base_rtt"):
        if key in one:
            one[key] = tuple(one[key])
    return Situation(text=_toml.dumps(scenario), from_=one.pop("from", 0.0), **one)


def chosen(patterns: Sequence[str] = ()) -> list[Situation]:
    """Those whose name matches one of the patterns; all without any."""
    known = all_situations()
    for pattern in patterns:
        if not any(fnmatchcase(s.name, pattern) for s in known):
            raise refuse(f"no situation is called `{pattern}`", hint=nearest(pattern, [s.name for s in known]))
    return [s for s in known if not patterns or any(fnmatchcase(s.name, p) for p in patterns)]
