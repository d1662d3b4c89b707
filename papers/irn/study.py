"""Which runs the study needs, and what every claim measures in them: one file per chapter of the paper's evaluation."""

from __future__ import annotations

from thalweg.study import include

from . import basic, factors, hardware, incast, overheads, recovery, sensitivity, tables, traces, verbs, windows

CHAPTERS = (basic, factors, tables, incast, traces, windows, overheads, recovery, sensitivity)
include(globals(), hardware, verbs, *CHAPTERS)


def runs(scale: str) -> list:
    return [r for chapter in CHAPTERS for r in chapter.runs(scale)]
