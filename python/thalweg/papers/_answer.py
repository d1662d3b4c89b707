"""What `reproduce` returns."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path
from typing import Any

from thalweg.papers._verdicts import STATUSES


@dataclass
class ClaimResult:
    """One row of the answer.

    `status`: pass, fail, not-decided (this scale cannot decide it: the full scale is known to differ, or the claim's `short` says why),
    not-checkable or error. `within_bounds`: whether the measured values lie within the bounds, whatever that decides; `None` if there
    are none. `full`: the kept verdict of the full scale, if there is one (pass or fail)."""

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

    @property
    def decisive(self) -> bool:
        """Whether this scale decides the claim."""
        return self.status in ("pass", "fail")

    def measured_text(self) -> str:
        if self.measured is None:
            return "–"
        if isinstance(self.measured, dict):
            return ", ".join(f"{k} = {v:.4g}" for k, v in self.measured.items())
        return f"{self.measured:.4g}"

    def to_dict(self) -> dict:
        return asdict(self)

    @classmethod
    def from_dict(cls, row: Mapping) -> ClaimResult:
        """As `claims.json` has it; what an older thalweg did not write is left empty."""
        return cls(**{f.name: row[f.name] for f in fields(cls) if f.name in row})


@dataclass
class Study:
    """What `reproduce` found. `claims`: those judged now; `kept`: those that `claims.json` has from earlier calls into the same folder."""

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

    def to_dict(self, claims: Sequence[ClaimResult] | None = None) -> dict:
        """The object that `thalweg reproduce --json` prints; of other claims than those judged now, if they are given."""
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
    """Verdicts counted per figure or table of the paper, or per section where a claim belongs to neither, in the order of the claims."""
    placed = [_figure(c.section) or None for c in claims]
    last = {label.split()[0] + re.split(r"[.-]", label.split()[1])[-1]: label for label in placed if label}
    found: dict[str, Counter[str]] = {}
    for c, place in zip(claims, placed, strict=True):
        label = place
        if label is None and (named := re.search(r"-([FT])(\d+(?:[.-]\d+)*)", c.id)):
            kind = {"F": "Figure", "T": "Table"}[named[1]]
            # A paper's own number ("Figure 1" of IRN-F1a) is the last part of a chapter's ("Figure 4.1").
            label = last.get(kind + named[2], f"{kind} {named[2]}")
        found.setdefault(label or section(c.section) or "elsewhere", Counter())[c.status] += 1
    return found


def _figure(text: str) -> str:
    """The first figure or table that a section names: `4.3, Fig 4.1a` has Figure 4.1."""
    named = re.search(r"\b(Fig|Table)(?:ure)?s?\.? ([A-Z]?[.-]?\d+(?:[.-]\d+)*)", text)
    return f"{'Table' if named[1] == 'Table' else 'Figure'} {named[2]}" if named else ""


def section(text: str) -> str:
    """A section as it is cited: `§2.3`; what is no number stays as it is."""
    return f"§{text}" if text[:1].isdigit() else text
