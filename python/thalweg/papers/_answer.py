"""What `reproduce` answers."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from thalweg.papers import _verdicts


@dataclass
class ClaimResult:
    """One row of the answer: `status` is pass, fail, not-checkable or error; `full` what the study's folder keeps of the full scale, if
    anything (pass or fail)."""

    id: str
    status: str
    published: str
    measured: float | dict[str, float] | None
    bound: str
    reason: str
    statement: str = ""
    section: str = ""
    full: str | None = None

    @property
    def decisive(self) -> bool:
        """The full scale does not say otherwise."""
        return _verdicts.together(self.status, self.full or "") != "not decisive"

    def measured_text(self) -> str:
        if self.measured is None:
            return "–"
        if isinstance(self.measured, dict):
            return ", ".join(f"{k} = {v:.4g}" for k, v in self.measured.items())
        return f"{self.measured:.4g}"

    def to_dict(self) -> dict:
        return {k: v for k, v in asdict(self).items() if k not in ("statement", "section")}


@dataclass
class Study:
    """What `reproduce` found."""

    paper: str
    scale: str
    scaled: str
    claims: list[ClaimResult]
    seconds: float
    folder: Path
    report: Path | None = None
    figures: dict[str, list[Path]] = field(default_factory=dict)
    runs: dict[str, Any] = field(default_factory=dict)

    def to_dict(self) -> dict:
        """The object that `thalweg reproduce --json` prints."""
        return {
            "paper": self.paper,
            "scale": self.scale,
            "claims": [c.to_dict() for c in self.claims],
            "seconds": round(self.seconds, 3),
        }

    def count(self, status: str) -> int:
        return sum(c.status == status for c in self.claims)
