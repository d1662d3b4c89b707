"""Numbers for people."""

from __future__ import annotations

import math


def si(value: float, unit: str = "") -> str:
    """1 234 567 -> '1.23 M'; three significant digits."""
    if value == 0 or not math.isfinite(value):
        return f"{value:g} {unit}".rstrip()
    for scale, prefix in ((1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k")):
        if abs(value) >= scale * 0.9995:
            return f"{value / scale:.3g} {prefix}{unit}"
    return f"{value:.3g} {unit}".rstrip()


def memory(value: float) -> str:
    """Bytes, in powers of 1024."""
    for scale, unit in ((1 << 30, "GiB"), (1 << 20, "MiB"), (1 << 10, "KiB")):
        if value >= scale:
            return f"{value / scale:.3g} {unit}"
    return f"{value:.0f} B"


def simulated(ps: float) -> str:
    """A simulated time given in picoseconds."""
    for scale, unit in ((1e12, "s"), (1e9, "ms"), (1e6, "us"), (1e3, "ns")):
        if ps >= scale:
            return f"{ps / scale:.4g} {unit}"
    return f"{ps:.0f} ps"


def plural(count: float, one: str, many: str | None = None) -> str:
    """`1 flow`, `20 flows`, `1.2 M packets`."""
    text = number(int(count)) if count < 10_000 else si(count)
    return f"{text} {one if count == 1 else many or one + 's'}"


def counted(count: int, one: str, many: str) -> str:
    """The same with all digits: `36 407 drops`."""
    return f"{number(count)} {one if count == 1 else many}"


def wall(seconds: float) -> str:
    """A span of the user's time."""
    if not math.isfinite(seconds):
        return "?"
    if seconds < 1:
        return f"{seconds * 1000:.0f} ms"
    if seconds < 100:
        return f"{seconds:.1f} s"
    minutes, rest = divmod(round(seconds), 60)
    if minutes < 100:
        return f"{minutes} min {rest:02d} s"
    return f"{minutes // 60} h {minutes % 60:02d} min"


def number(value: object) -> str:
    """A table's cell: four significant digits for floats, everything else as it is."""
    if isinstance(value, bool) or value is None:
        return "–" if value is None else str(value).lower()
    if isinstance(value, int):
        return f"{value:,}".replace(",", "\u202f") if abs(value) >= 10_000 else str(value)
    if isinstance(value, float):
        return str(value) if not math.isfinite(value) else significant(value)
    return str(value)


def significant(value: float, digits: int = 4) -> str:
    """So many significant digits, and all before the point below ten million: `1625`, not `1.62e+03`."""
    text = f"{value:.{digits}g}"
    return f"{value:.0f}" if "e+" in text and abs(value) < 1e7 else text
