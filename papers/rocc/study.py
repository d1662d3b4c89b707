"""Which runs the study needs, and what every claim measures in them: one file per part of the evaluation."""

from __future__ import annotations

from thalweg.study import chapters

from . import corners, large, micro

runs = chapters(globals(), micro, corners, large)
