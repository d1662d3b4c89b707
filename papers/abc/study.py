"""Which runs the study needs, and what every claim measures in them."""

from __future__ import annotations

from thalweg.study import include

from . import beside, company, crossed, many, marks, single, theory, wifi

include(globals(), single, many, crossed, company, beside, marks, theory, wifi)


def runs(scale: str) -> list:
    return list(
        {
            r.key: r for chapter in (single, many, crossed, company, beside, marks, wifi) for r in chapter.runs(scale)
        }.values()
    )
