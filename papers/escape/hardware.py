"""What is about an FPGA: arithmetic of the published numbers."""

from __future__ import annotations

from thalweg.papers import measure

CLOCK, PERIOD = 226.71e6, 4.41e-9  # §4.5.2


def runs(scale: str) -> list:
    return []


@measure("ESC-H1a", needs=[])
def _(runs):
    """One frame of 1500 B per cycle, of the clock and of the latency that the paper gives."""
    return {"Tb/s": CLOCK * 1500 * 8 / 1e12, "period x clock": CLOCK * PERIOD}
