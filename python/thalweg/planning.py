"""What a sweep would run: points, scenarios, folders; parts of it, for machines of their own."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from thalweg._counts import is_whole
from thalweg.errors import refuse
from thalweg.pool import Job, reusable
from thalweg.scenario import Scenario
from thalweg.settings import Point, points, text


@dataclass(frozen=True)
class Shard:
    """The `number`th of `of` parts of a sweep: of its runs every `of`th, so that dear settings are spread.

    >>> Shard.of_text("3/40").chosen(200)[:2]
    [2, 42]
    """

    number: int
    of: int

    def __post_init__(self) -> None:
        if not (is_whole(self.number) and is_whole(self.of) and 1 <= self.number <= self.of):
            raise refuse(f"there is no part {self.number} of {self.of}", hint="parts are counted from 1: 1/4 to 4/4")

    @classmethod
    def given(cls, what: object) -> Shard:
        """From `3/40`, or a pair of numbers."""
        if isinstance(what, str):
            return cls.of_text(what)
        if not isinstance(what, Sequence) or len(what) != 2:
            raise refuse(f"`{what!r}` is not a part such as 3/40", key="shard")
        return cls(*what)

    @classmethod
    def of_text(cls, text: str) -> Shard:
        """From `3/40`."""
        found = re.fullmatch(r"(\d{1,9})/(\d{1,9})", text)
        if found is None:
            raise refuse(f"`{text}` is not a part such as 3/40")
        return cls(int(found[1]), int(found[2]))

    def chosen(self, runs: int) -> list[int]:
        """The places of its runs among all."""
        return list(range(self.number - 1, runs, self.of))

    def __str__(self) -> str:
        return f"{self.number}/{self.of}"


@dataclass(frozen=True)
class Planned:
    """One run of a sweep: what is set, what is run, and its line in the sweep's index."""

    point: Point
    job: Job
    row: Mapping[str, Any]

    @property
    def state(self) -> str:
        """ "complete", "begun" (its snapshot is there), or "missing", in its folder."""
        found = reusable(self.job)
        return "missing" if found is None else "begun" if found.partial else "complete"


def plan(
    base: Scenario,
    vary: Mapping[str, Sequence[Any] | Mapping[str, Mapping[str, Any]]] | Sequence[Mapping[str, Any]],
    folder: Path | None,
    check: bool = False,
) -> list[Planned]:
    """All runs of a sweep, in its order. Nothing is run or written; a setting that cannot be is refused."""
    made: list[Planned] = []
    places: set[Path] = set()
    for n, point in enumerate(points(vary)):
        scenario = base.with_(point.set)
        name = folder_name(point.labels)
        key = f"{n:04d} {name}"
        place = None
        if folder is not None:
            place = folder / f"{name}-{hashlib.sha256(scenario.to_toml().encode()).hexdigest()[:10]}"
            if place in places:
                raise refuse(f"point {n} of the sweep is there twice: {name}")
            places.add(place)
        row = {
            "key": key,
            "set": {k: text(v) for k, v in point.set.items()},
            "labels": {k: v if isinstance(v, int | float | str) else text(v) for k, v in point.labels.items()},
            "run": place.name if place else None,
        }
        made.append(Planned(point, Job(key, scenario, place, check), row))
    return made


def folder_name(labels: Mapping[str, Any]) -> str:
    """What a point is called in the file system."""
    name = ",".join(f"{str(k).rsplit('.', 1)[-1]}={text(v)}" for k, v in labels.items())
    return re.sub(r"[^A-Za-z0-9=,._+-]+", "-", name)[:80].lstrip(".") or "base"
