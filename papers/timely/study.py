"""Which runs the study needs, and what every claim measures in them: one file per chapter of the paper."""

from __future__ import annotations

from thalweg.papers import include

from . import algorithm, fabric, incast, recovery, reverse, sensitivity

CHAPTERS = (algorithm, reverse, incast, sensitivity, recovery, fabric)
include(globals(), *CHAPTERS)


def runs(scale: str) -> list:
    return list({r.key: r for chapter in CHAPTERS for r in chapter.runs(scale)}.values())
