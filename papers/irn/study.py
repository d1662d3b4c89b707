"""Which runs the study needs, and what every claim measures in them: one file per chapter of the paper's evaluation."""

from __future__ import annotations

from thalweg.study import chapters

from . import basic, factors, hardware, incast, overheads, recovery, sensitivity, tables, traces, verbs, windows

runs = chapters(
    globals(), hardware, verbs, basic, factors, tables, incast, traces, windows, overheads, recovery, sensitivity
)
