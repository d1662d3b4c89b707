"""Policies of the study, and how they are read."""

from __future__ import annotations

from functools import cache
from pathlib import Path

from thalweg import policies

HERE = Path(__file__).parent / "policies"
# How much is done: packets of a differential run, seeds.
PACKETS = {"quick": 10_000, "full": 100_000}
SEEDS = {"quick": 2, "full": 10}
CYCLE = 1000  # ps
PRELUDE = 'import "openqueue";\n'


@cache
def own(name: str) -> policies.Policy:
    """A policy of this folder."""
    return policies.load(HERE / f"{name}.oq")


@cache
def of_library(name: str) -> policies.Policy:
    return policies.load(name)


@cache
def written(text: str) -> policies.Policy:
    return policies.parse(text)
