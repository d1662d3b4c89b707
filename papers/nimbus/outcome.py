"""What a run says: rates, queueing delay, the detector's output and the mode over time. Times in s, rates in Mb/s,
delays in ms."""

from __future__ import annotations

import numpy as np

from thalweg.study import once

from .settings import RATE

WARM = 10.0  # s: what is before does not count


@once
def tested(results):
    """The tested flow's samples, in the order of time."""
    table = results.tables["controllers"]
    return table.filter(table["flow"] == 0).sort("time_ps")


def series(results, column: str) -> tuple[np.ndarray, np.ndarray]:
    """When, and what: of samples that have a value."""
    table = tested(results).drop_nulls(column)
    return table["time_ps"].to_numpy() * 1e-12, table[column].to_numpy().astype(float)


def within(at, values, begin: float, end: float):
    return values[(at >= begin) & (at < end)]


def goodput(results, begin: float = WARM, end: float = np.inf) -> float:
    """Mb/s of payload, brought to the wire's: shares of the link count headers."""
    at, bytes = series(results, "arrived")
    inside = (at >= begin) & (at <= end)
    at, bytes = at[inside], bytes[inside]
    return float((bytes[-1] - bytes[0]) * 8e-6 / (at[-1] - at[0])) * 1500 / 1448


@once
def queue(results) -> tuple[np.ndarray, np.ndarray]:
    """When, and what waits, in ms of the link."""
    table = results.tables["queues"].sort("time_ps")
    return table["time_ps"].to_numpy() * 1e-12, table["bytes"].to_numpy() * 8e-3 / RATE


def delays(results, begin: float = WARM, end: float = np.inf) -> np.ndarray:
    return within(*queue(results), begin, end)


def waits(results, begin: float = WARM, end: float = np.inf) -> float:
    """Mean queueing delay, ms."""
    return float(delays(results, begin, end).mean())


def competes(results, begin: float = WARM, end: float = np.inf) -> float:
    """Part of the time in which it competes."""
    return float(within(*series(results, "competes"), begin, end).mean())


def accuracy(results, elastic: bool, begin: float = WARM, end: float = np.inf) -> float:
    part = competes(results, begin, end)
    return part if elastic else 1.0 - part


def switches(results, begin: float = WARM, end: float = np.inf) -> int:
    return int(np.abs(np.diff(within(*series(results, "competes"), begin, end))).sum())


def etas(results, begin: float = WARM, end: float = np.inf) -> np.ndarray:
    return within(*series(results, "eta"), begin, end)
