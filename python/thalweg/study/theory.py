"""Claims that are exact: checked by the engine, without runs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from thalweg import _core


def checked(runs: Any, claim: str, reported: Mapping[str, str]) -> dict[str, float]:
    """What `crates/theory` finds of a claim, on fewer inputs at quick scale. `reported`: which counts, and what they
    are called."""
    found = _core.theory_run(claim, runs.scale == "quick", 1)
    return {text: found[key] for key, text in reported.items()}
