"""Which runs the study needs, and what every claim measures in them: one file per chapter of the paper."""

from __future__ import annotations

from thalweg.study import chapters

from . import edge, fairness, fct, rc3, replays, shares, tail, theory

runs = chapters(globals(), theory, replays, fct, tail, fairness, shares, edge, rc3)
