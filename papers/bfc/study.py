"""Which runs the study needs, and what every claim measures in them: one file per part of the evaluation."""

from __future__ import annotations

from thalweg.study import include

from . import crowds, evaluation, fabric, link, receivers, switches, theory, variants

include(globals(), evaluation, link, switches, crowds, theory, variants, receivers)


def runs(scale: str) -> list:
    return fabric.runs(scale) + link.runs(scale) + switches.runs(scale) + crowds.runs(scale)
