"""Which runs the study needs, and what every claim measures in them: one file per part of the evaluation."""

from __future__ import annotations

from thalweg.study import chapters

from . import crowds, evaluation, fabric, link, receivers, switches, theory, variants

runs = chapters(globals(), fabric, evaluation, link, switches, crowds, theory, variants, receivers)
