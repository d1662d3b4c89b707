"""Which runs the study needs, and what every claim measures in them: one file per part of the evaluation."""

from __future__ import annotations

from thalweg.study import include

from . import corners, large, micro

CHAPTERS = (micro, corners, large)
include(globals(), *CHAPTERS)


def runs(scale: str) -> list:
    return [r for chapter in CHAPTERS for r in chapter.runs(scale)]
