"""Quantities over the seeds of a point. A point is a key without its seed, its text, or what has one as `key`."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

import numpy as np

from thalweg.study.keys import Key
from thalweg.study.numbers import half_interval


def point_of(what: Any) -> str:
    """The key of a point: its own, or that of a point of a study (`Point.key`)."""
    return what if isinstance(what, str) else what.key


def needs(*points: Any) -> list[str]:
    """All seeds of these points, as `@measure(…, needs=…)` takes them."""
    return [f"{point_of(p)}@*" for p in dict.fromkeys(points)]


def seeds(runs: Mapping[str, Any], what: Any) -> list[Any]:
    """The runs of all seeds that there are of a point."""
    wanted = point_of(what)
    found = [runs[key] for key in runs if Key.of(key).point == wanted]
    if not found:
        raise KeyError(f"no run is called {wanted}")
    return found


def mean(runs: Mapping[str, Any], what: Any, value: Callable[[Any], float]) -> float:
    """Mean over the seeds of a quantity of a run."""
    return float(np.mean([value(results) for results in seeds(runs, what)]))


def interval(runs: Mapping[str, Any], what: Any, value: Callable[[Any], float]) -> float:
    """Half the 95 % interval of that mean, for error bars: NaN, which draws none, if there is one seed."""
    found = [value(results) for results in seeds(runs, what)]
    return half_interval(found) if len(found) > 1 else float("nan")


def extremes(runs: Mapping[str, Any], what: Any, value: Callable[[Any], float], name: str) -> dict[str, float]:
    """Smallest and largest over the seeds, reported with the mean; nothing if there is one seed."""
    found = [value(results) for results in seeds(runs, what)]
    return {f"{name}, least": min(found), f"{name}, most": max(found)} if len(found) > 1 else {}


def spread(runs: Mapping[str, Any], what: Any, value: Callable[[Any], float], name: str) -> dict[str, float]:
    """The same, and half the 95 % interval of the mean."""
    out = extremes(runs, what, value, name)
    return out | {f"{name}, ±": half_interval([value(r) for r in seeds(runs, what)])} if out else {}


def places(runs: Iterable[str]) -> list[str]:
    """Where something was run, in the study's order."""
    return list(dict.fromkeys(Key.of(key).place for key in runs))


def schemes(runs: Iterable[str], place: str) -> list[str]:
    """What was run at a place, in the study's order."""
    return list(dict.fromkeys(key.scheme for key in map(Key.of, runs) if key.place == place))
