"""Which runs the study needs, and what every claim measures in them."""

from __future__ import annotations

from thalweg.papers import include

from . import beside, company, crossed, many, marks, single, theory

include(globals(), single, many, crossed, company, beside, marks, theory)


def runs(scale: str) -> list:
    return list(
        {r.key: r for chapter in (single, many, crossed, company, beside, marks) for r in chapter.runs(scale)}.values()
    )
