"""Which runs the study needs, and what every claim measures in them: one file per chapter of the paper."""

from __future__ import annotations

from thalweg.study import chapters

from . import algorithm, fabric, incast, recovery, reverse, sensitivity

runs = chapters(globals(), algorithm, reverse, incast, sensitivity, recovery, fabric)
