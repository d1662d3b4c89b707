"""Which runs the study needs, and what every claim measures in them: one file per chapter of the paper."""

from __future__ import annotations

from thalweg.study import include

from . import edge, fairness, fct, rc3, replays, shares, tail, theory

CHAPTERS = (replays, fct, tail, fairness, shares, edge, rc3)
include(globals(), theory, *CHAPTERS)


def runs(scale: str) -> list:
    return [r for chapter in CHAPTERS for r in chapter.runs(scale)]
