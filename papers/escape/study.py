"""Which runs the study needs, and what every claim measures in them: one file per network."""

from __future__ import annotations

from thalweg.study import chapters

from . import hol, ring, trees

runs = chapters(globals(), ring, trees, hol)
