"""A study of several files: each a chapter, with its measures and the runs that these need."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from types import ModuleType
from typing import Any

from thalweg.papers import RunSpec, include


def chapters(study: dict[str, Any], *parts: ModuleType) -> Callable[[str], list[RunSpec]]:
    """For a study.py whose chapters lie in several files: `runs = chapters(globals(), one, another)` takes in what they
    measure and makes the study's `runs` of theirs, in this order. One that needs no runs has no `runs`.

    A run that several chapters need is there once. Two that differ but have one key both stay, and are refused."""
    include(study, *parts)

    def runs(scale: str) -> list[RunSpec]:
        made = [run for part in parts if hasattr(part, "runs") for run in part.runs(scale)]
        first: dict[str, RunSpec] = {}
        return [run for run in made if first.setdefault(run.key, run) is run or _differ(run, first[run.key])]

    return runs


def _differ(one: RunSpec, other: RunSpec) -> bool:
    """What prepares them apart: functions made alike are not equal."""
    return replace(one, prepare=None) != replace(other, prepare=None)
