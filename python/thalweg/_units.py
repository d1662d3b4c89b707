"""Units that fit: 2.9 s, 1.6 Mb/s, 29.4 ms. A number's unit is chosen by its size, a table's or an axis' by the
largest of its numbers."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable

# What a column's name says its unit is (`fct_us`, `goodput_gbps`): the units of that quantity, largest first, as
# multiples.
_TIMES = ("s", "ms", "us", "ns")
_RATES = ("Tb/s", "Gb/s", "Mb/s", "kb/s", "b/s")
_SIZES = ("TB", "GB", "MB", "KB", "B")


def _steps(units: tuple[str, ...], at: str) -> list[tuple[float, str]]:
    place = units.index(at)
    return [(1000.0 ** (place - n), unit) for n, unit in enumerate(units)]


QUANTITIES: dict[str, list[tuple[float, str]]] = {
    "s": _steps(_TIMES, "s"),
    "ms": _steps(_TIMES, "ms"),
    "us": _steps(_TIMES, "us"),
    "ns": _steps(_TIMES, "ns"),
    "ps": [(scale * 1e3, unit) for scale, unit in _steps(_TIMES, "ns")] + [(1.0, "ps")],
    "gbps": _steps(_RATES, "Gb/s"),
    "Gb/s": _steps(_RATES, "Gb/s"),
    "Mb/s": _steps(_RATES, "Mb/s"),
    "b/s": _steps(_RATES, "b/s"),
    "bps": _steps(_RATES, "b/s"),
    "bytes": _steps(_SIZES, "B"),
    "B": _steps(_SIZES, "B"),
}
_NAMED = re.compile(r"(?:\.|_)(us|ms|ns|ps|s|gbps|bps|bytes|B)(?=\.|$)")


BYTES = {"B": 1, "KB": 10**3, "MB": 10**6, "GB": 10**9, "TB": 10**12, "KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30}


def in_bytes(text: str) -> float:
    """A size of a resolved scenario: "1460B" -> 1460."""
    number = text.rstrip("BKMGTi")
    return float(number) * BYTES[text[len(number) :].strip()]


def in_ps(text: str) -> float:
    """A time of a resolved scenario: "1ns" -> 1000."""
    number = text.rstrip("pnum s")
    return float(number) * {unit: scale for scale, unit in QUANTITIES["ps"]}[text[len(number) :].strip()]


def of_name(column: str) -> str:
    """The unit that a column's name ends in, or has before a statistic (`measured.fct_us.p99`); empty: none."""
    found = _NAMED.search(column)
    return found[1] if found else ""


def without_unit(column: str) -> str:
    """`measured.fct_us.p99` -> `measured.fct.p99`."""
    return _NAMED.sub("", column, count=1)


def fitting(values: Iterable[float | None], unit: str) -> tuple[float, str]:
    """Of numbers in `unit`: what to divide them by, and the unit in which the largest is at least 1."""
    steps = QUANTITIES.get(unit)
    if steps is None:
        return 1.0, unit
    largest = max((abs(v) for v in values if v is not None and math.isfinite(v)), default=0.0)
    if largest == 0:
        return 1.0, next(name for scale, name in steps if scale == 1.0)
    # 999.7 us is 1 ms to three digits.
    return next(((scale, name) for scale, name in steps if largest >= scale * 0.9995), steps[-1])


def digits(value: float) -> str:
    """Three significant digits, never as a power of ten unless there is no other way."""
    if value == 0 or not math.isfinite(value):
        return f"{value:g}"
    if 1e-4 <= abs(value) < 1e6:
        places = max(2 - math.floor(math.log10(abs(value) * 1.0005)), 0)
        text = f"{value:.{places}f}"
        return text.rstrip("0").rstrip(".") if "." in text else text
    return f"{value:.3g}"


def quantity(value: float, unit: str) -> str:
    """A number in `unit`, in the unit that fits it: (841234, "us") -> "841 ms"."""
    scale, name = fitting([value], unit)
    return f"{digits(value / scale)} {name}".rstrip()


def several(values: Iterable[tuple[str, float | None]], unit: str) -> str:
    """Named numbers in one unit: `mean 15.9, smallest 1.62, largest 42.4 Mb/s`."""
    there = [(name, v) for name, v in values if v is not None]
    scale, name = fitting([v for _, v in there], unit)
    return ", ".join(f"{what} {digits(v / scale)}" for what, v in there) + f" {name}"
