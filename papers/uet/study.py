"""Which runs the study needs, and what every claim measures in them: one file per chapter."""

from __future__ import annotations

from thalweg.study import chapters

from . import acks, asymmetric, balls, entropies, failures, micro, mixed, symmetric, ultra

runs = chapters(globals(), micro, symmetric, asymmetric, mixed, failures, acks, entropies, balls, ultra)
