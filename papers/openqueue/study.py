"""What every claim measures: policies in the software datapath, and a port of the simulator against it."""

from __future__ import annotations

from thalweg.study import include

from . import differential, language, line, measured, model, properties, switch

include(globals(), language, differential, properties, model, line, switch, measured)


def runs(scale: str) -> list:
    return []
