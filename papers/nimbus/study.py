"""Which runs the study needs, and what every claim measures in them."""

from __future__ import annotations

from thalweg.study import include

from . import estimator, internet, paths, robust, several, synthetic, video, wan

CHAPTERS = (estimator, synthetic, robust, paths, several, wan, video, internet)
include(globals(), *CHAPTERS)


def runs(scale: str) -> list:
    return list({r.key: r for chapter in CHAPTERS for r in chapter.runs(scale)}.values())
