"""Runs of a study: one of them, and a grid of places, schemes and seeds."""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from thalweg.papers import RunSpec
from thalweg.study.keys import Key


def run(key: str, scenario: str, set: Mapping[str, Any], seed: int = 1, **more: Any) -> RunSpec:
    """A run of `scenarios/SCENARIO.toml` with a seed. The scenario is called after the point: all its seeds have one
    name. `more`: whatever else `RunSpec` takes."""
    point = Key.of(key).point
    named = {"name": str(point), "seed": seed} | dict(set)
    return RunSpec(point.at(seed), f"scenarios/{scenario}.toml", named, **more)


def section_of(study: str, scenario: str, name: str) -> Any:
    """A section of a scenario file, for runs that vary it. `study`: the `__file__` of a module of the study."""
    text = (Path(study).parent / "scenarios" / f"{scenario}.toml").read_text(encoding="utf-8")
    return tomllib.loads(text)[name]


@dataclass(frozen=True)
class Grid:
    """Every scheme at every place with every seed. `places` and `schemes`: their names, and what is set for each;
    `seeds`: by scale; `base`: what is set in all runs, by scale. All schemes of one place and seed have the same
    flows, as long as they leave `traffic` alone."""

    scenario: str
    places: Mapping[str, Mapping[str, Any]]
    schemes: Mapping[str, Mapping[str, Any]]
    seeds: Mapping[str, Sequence[int]] = field(default_factory=lambda: {"quick": (1,), "full": (1, 2, 3)})
    base: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)

    def runs(self, scale: str) -> list[RunSpec]:
        common = dict(self.base.get(scale, {}))
        return [
            run(Key(place, scheme), self.scenario, common | dict(here) | dict(set), seed)
            for place, here in self.places.items()
            for seed in self.seeds[scale]
            for scheme, set in self.schemes.items()
        ]

    def needs(self, places: Iterable[str] | None = None, schemes: Iterable[str] | None = None) -> list[str]:
        """All seeds of these places and schemes, or of all."""
        chosen = list(self.schemes if schemes is None else schemes)
        return [Key(p, s).every for p in (self.places if places is None else places) for s in chosen]
