"""Which runs the study needs, and what every claim measures in them: one file per network."""

from __future__ import annotations

from thalweg.study import include

from . import hol, ring, trees

CHAPTERS = (ring, trees, hol)
include(globals(), *CHAPTERS)


def runs(scale: str) -> list:
    return [r for chapter in CHAPTERS for r in chapter.runs(scale)]
