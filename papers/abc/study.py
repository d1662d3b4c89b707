"""Which runs the study needs, and what every claim measures in them."""

from __future__ import annotations

from thalweg.study import include

from . import beside, company, crossed, many, marks, single, theory, wifi
from .settings import sent

include(globals(), single, many, crossed, company, beside, marks, theory, wifi)


def runs(scale: str) -> list:
    chapters = (single, many, crossed, company, beside, marks, wifi)
    return list({r.key: sent(r) for chapter in chapters for r in chapter.runs(scale)}.values())
