"""What `reproduce` returns."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path
from typing import Any

from thalweg._format import significant
from thalweg.papers._claims import Claim
from thalweg.papers._verdicts import STATUSES


@dataclass
class ClaimResult:
    """One row of the answer.

    `status`: pass, fail, not-decided (this scale cannot decide it: the full scale is known to differ, or the claim's
    `short` says why), not-checkable or error. `within_bounds`: whether the measured values lie within the bounds,
    whatever that decides; `None` if there are none. `full`: the kept verdict of the full scale, if there is one (pass
    or fail). `figure`: the figure, table or section of the paper that it belongs to."""

    id: str
    status: str
    published: str
    measured: float | dict[str, float] | None
    bound: str
    reason: str
    statement: str = ""
    section: str = ""
    full: str | None = None
    within_bounds: bool | None = None
    figure: str = ""

    def measured_text(self) -> str:
        if self.measured is None:
            return "–"
        if isinstance(self.measured, dict):
            return ", ".join(f"{k} = {significant(v)}" for k, v in self.measured.items())
        return significant(self.measured)

    def to_dict(self) -> dict[str, Any]:
        return asdict(self)

    @classmethod
    def from_dict(cls, row: Mapping[str, Any]) -> ClaimResult:
        """As `claims.json` has it; what an older thalweg did not write is left empty."""
        return cls(**{f.name: row[f.name] for f in fields(cls) if f.name in row})


@dataclass
class Study:
    """What `reproduce` found. `claims`: those judged now; `kept`: those that `claims.json` has from earlier calls
    into the same folder."""

    paper: str
    scale: str
    scaled: str
    claims: list[ClaimResult]
    seconds: float
    folder: Path
    report: Path | None = None
    figures: dict[str, list[Path]] = field(default_factory=dict)
    runs: dict[str, Any] = field(default_factory=dict)
    kept: list[ClaimResult] = field(default_factory=list)

    def to_dict(self, claims: Sequence[ClaimResult] | None = None) -> dict[str, Any]:
        """The object that `thalweg reproduce --json` prints; of other claims than those judged now, if they are
        given."""
        claims = self.claims if claims is None else claims
        return {
            "paper": self.paper,
            "scale": self.scale,
            "counts": counts(claims),
            "claims": [c.to_dict() for c in claims],
            "seconds": round(self.seconds, 3),
        }

    def count(self, status: str) -> int:
        return sum(c.status == status for c in self.claims)


def counts(claims: Sequence[ClaimResult]) -> dict[str, int]:
    """How many claims have which verdict; every verdict is named."""
    return {status: sum(c.status == status for c in claims) for status in STATUSES}


def by_figure(claims: Sequence[ClaimResult]) -> dict[str, Counter[str]]:
    """Verdicts counted per figure or table of the paper, or per section, in the order of the claims."""
    found: dict[str, Counter[str]] = {}
    for c in claims:
        found.setdefault(c.figure or "elsewhere", Counter())[c.status] += 1
    return found


def places(claims: Sequence[Claim]) -> dict[str, str]:
    """Where each claim of a paper belongs: to the figure or table that its section or its name has, else to its
    section.

    Names count as the paper does where sections count by chapter: F4 is Figure 4.4 if F1 is Figure 4.1; F2.8 is
    Figure 2-8 if F2.7 is Figure 2-7."""
    named = {c.id: _figure(c.section) for c in claims}
    own = {c.id: found.groups() for c in claims if (found := re.search(r"-([FT])([1-9]\d*)(\.\d+)?", c.id))}
    joints, chapters = {}, {}
    for i, (kind, first, second) in own.items():
        there = re.fullmatch(r"\w+ (\w+)([.-])(\d+)", named[i])
        if there:
            joints[kind] = there[2]
            if second is None and there[3] == first:
                chapters[kind] = there[1] + there[2]
    for i, (kind, first, second) in own.items():
        if named[i]:
            continue
        if second is None:
            number = chapters.get(kind, "") + first
        else:  # without chapters it is the second claim of a figure: F2.5
            number = first + joints[kind] + second[1:] if kind in joints else first
        named[i] = f"{_KINDS[kind]} {number}"
    return {c.id: named[c.id] or section(c.section) for c in claims}


_KINDS = {"F": "Figure", "T": "Table"}


def _figure(text: str) -> str:
    """The first figure or table that a section names: `4.3, Fig 4.1a` has Figure 4.1."""
    found = re.search(r"\b(Fig|Table)(?:ure)?s?\.? ([A-Z]?[.-]?\d+(?:[.-]\d+)*)", text)
    return f"{'Table' if found[1] == 'Table' else 'Figure'} {found[2]}" if found else ""


def section(text: str) -> str:
    """A section as it is cited: `§2.3`; what is not a number stays as it is."""
    return f"§{text}" if text[:1].isdigit() else text
