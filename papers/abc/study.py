"""Which runs the study needs, and what every claim measures in them."""

from __future__ import annotations

from thalweg.study import chapters

from . import beside, company, crossed, many, marks, single, theory, wifi
from .settings import sent

of_chapters = chapters(globals(), single, many, crossed, company, beside, marks, theory, wifi)


def runs(scale: str) -> list:
    return [sent(r) for r in of_chapters(scale)]
