"""How a study is run: what `reproduce` and `sweep` have in common."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

from thalweg import _counts, _given, _input
from thalweg.errors import nearest, refuse
from thalweg.papers._paper import Paper

SCALES = ("quick", "full")


@dataclass(frozen=True)
class Options:
    """The options of `reproduce` and `sweep`.

    `scale`: quick or full. `claim`: a claim, or several, by name or by patterns such as `IRN-F4*`; all if there is
    none. `jobs`: runs at a time. `out`: the output folder, `out/NAME-SCALE` if there is none. `progress`: whether it is
    shown. `check`: also recounts what the engine keeps. `force`: also runs that need more memory than is free.
    `keep_verdicts`: writes what was found into the study's folder. `executor`: as of `thalweg.sweep`.

        thalweg.papers.reproduce("irn", scale="full", claim="IRN-F4*", jobs=2)"""

    scale: str = "quick"
    claim: str | Sequence[str] | None = None
    jobs: int | None = None
    out: str | Path | None = None
    progress: bool | None = None
    check: bool = False
    force: bool = False
    keep_verdicts: bool = False
    executor: Any = None

    def __post_init__(self) -> None:
        if self.scale not in SCALES:
            raise refuse(f"no scale is called `{self.scale}`", hint=nearest(self.scale, SCALES))
        if self.claim is not None:
            object.__setattr__(self, "claim", _given.names(self.claim, "claim", "an id, a pattern, or a list of these"))
        # Frozen, so that what was given cannot change under way: here it is only made what it says.
        object.__setattr__(self, "jobs", _counts.jobs(self.jobs))
        object.__setattr__(self, "out", _input.maybe(self.out, "a folder"))

    @classmethod
    def of(cls, given: dict[str, Any]) -> Options:
        """From keyword arguments; one that there is not is a `TypeError`, as of any function."""
        known = [f.name for f in fields(cls)]
        for name in given:
            if name not in known:
                near = nearest(name, known)
                raise TypeError(f"no option is called `{name}`" + (f": {near}" if near else ""))
        return cls(**given)

    @property
    def claims(self) -> list[str]:
        """The names and patterns; empty for all claims."""
        return list(self.claim or ())

    def folder(self, paper: Paper) -> Path:
        """The output folder."""
        return Path(self.out) if self.out is not None else Path("out") / f"{paper.name}-{self.scale}"

    def runs(self) -> dict[str, Any]:
        """What concerns the runs alone."""
        return {name: getattr(self, name) for name in ("jobs", "progress", "check", "force", "executor")}
