"""Which runs the study needs, and what every claim measures in them."""

from __future__ import annotations

from thalweg.papers import include

from . import estimator, paths, robust, several, synthetic, wan

CHAPTERS = (estimator, synthetic, robust, paths, several, wan)
include(globals(), *CHAPTERS)


def runs(scale: str) -> list:
    return list({r.key: r for chapter in CHAPTERS for r in chapter.runs(scale)}.values())
