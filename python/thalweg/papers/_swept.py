"""What sweeps of choices found, as files keep it (`papers/NAME/SCALE/choices.json`), and what follows for a claim."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from thalweg import _places
from thalweg.errors import refuse
from thalweg.papers._answer import ClaimResult
from thalweg.papers._choices import Choice, text
from thalweg.papers._claims import CAUSES, Claim
from thalweg.papers._paper import Paper

if TYPE_CHECKING:
    from thalweg.papers._answer import ClaimResult
    from thalweg.papers._verdicts import Verdict

FILE = "choices.json"
ROBUST, DECIDED, FAILS, UNCHECKED = "robust", "decided by a choice", "fails whatever is chosen", "not checkable"
UNCLASSIFIED = "cause not classified"
HOLDS, UNVARIED, OPEN = "within bounds, nothing varied", "outside bounds, nothing varied", "not decided at this scale"
# Every standing of a claim, as it is counted.
STANDINGS = (ROBUST, DECIDED, FAILS, HOLDS, UNVARIED, OPEN, UNCHECKED)


def word(within: Iterable[bool | None]) -> str:
    """What verdicts under all values of a choice come to."""
    seen = set(within)
    if {True, False} <= seen:
        return DECIDED
    return ROBUST if seen == {True} else FAILS if seen == {False} else UNCHECKED


@dataclass(frozen=True)
class Standing:
    """One claim's. `choices`: those that decide it; `cause`: why it fails, as the study has it; `within`: whether it
    lies within its bounds under the study's own choices, `None` if that is not decided."""

    word: str
    choices: tuple[str, ...] = ()
    cause: str = ""
    within: bool | None = None

    def why(self) -> str:
        """Its cause in words: the choices that decide it, or why it fails."""
        if self.word == DECIDED:
            return f"{DECIDED}: {', '.join(self.choices)}"
        return CAUSES.get(self.cause, UNCLASSIFIED) if self.word in (FAILS, UNVARIED) else self.word


@dataclass(frozen=True)
class Row:
    """A claim under one value of a choice. `bound`: the one that it was judged by, in words."""

    within_bounds: bool
    measured: float | Mapping[str, float]
    bound: str


Table = dict[str, dict[str, dict[str, Row]]]  # by choice, value as text, and claim


def file(paper: Paper, scale: str) -> Path:
    return paper.folder / scale / FILE


def kept(where: Path, paper: Paper) -> Table:
    """What a file has, of values that are still tried, claims that still count as the choice's, and bounds that are
    still the same."""
    table = _read(where)
    found: Table = {}
    for choice in paper.choices:
        mine = choice.decides([c.id for c in paper.claims])
        bounds = {c.id: c.bound_text() for c in paper.claims if c.id in mine}
        for value in map(text, choice.values):
            rows = table.get(choice.name, {}).get(value, {})
            inside = {i: r for i, r in rows.items() if r.bound == bounds.get(i)}
            if inside:
                found.setdefault(choice.name, {})[value] = inside
    return found


def _read(where: Path) -> Table:
    try:
        table = json.loads(where.read_text(encoding="utf-8"))
        return {
            choice: {value: {i: Row(**row) for i, row in rows.items()} for value, rows in values.items()}
            for choice, values in table.items()
        }
    except FileNotFoundError:
        return {}
    except OSError as e:
        raise refuse(e.strerror or str(e), file=where) from None
    except (ValueError, TypeError, AttributeError) as e:
        hint = "`thalweg reproduce NAME --choice '*'` writes such a file; remove it and write it anew"
        raise refuse(f"is not a file of swept choices ({type(e).__name__}: {e})", file=where, hint=hint) from None


def add(where: Path, paper: Paper, choice: Choice, rows: Mapping[str, Sequence[ClaimResult]]) -> None:
    """Writes what one sweep found next to what others did: a line per claim, in the paper's order. What could not be
    judged has none; choices that are no longer declared and values that are no longer tried go."""
    table = _read(where)
    here = table.setdefault(choice.name, {})
    for value, found in rows.items():
        there = here.setdefault(value, {})
        for r in found:
            there.pop(r.id, None)
            if r.within_bounds is not None and r.measured is not None:
                there[r.id] = Row(r.within_bounds, _rounded(r.measured), r.bound)
    where.parent.mkdir(exist_ok=True)
    _places.replace(where, _braces([(c.name, _of_choice(paper, c, table[c.name])) for c in _in(paper, table)]) + "\n")


def _in(paper: Paper, table: Table) -> list[Choice]:
    return [c for c in paper.choices if c.name in table]


def _of_choice(paper: Paper, choice: Choice, table: Mapping[str, Mapping[str, Row]]) -> str:
    def of_value(rows: Mapping[str, Row]) -> str:
        lines = [(c.id, json.dumps(rows[c.id].__dict__, ensure_ascii=False)) for c in paper.claims if c.id in rows]
        return _braces(lines)

    return _braces([(value, of_value(table[value])) for value in map(text, choice.values) if value in table])


def _braces(lines: Sequence[tuple[str, str]]) -> str:
    return "{\n" + ",\n".join(f"{json.dumps(key, ensure_ascii=False)}: {value}" for key, value in lines) + "\n}"


def _rounded(measured: float | Mapping[str, float]) -> float | dict[str, float]:
    if isinstance(measured, Mapping):
        return {k: float(f"{x:.4g}") for k, x in measured.items()}
    return float(f"{measured:.4g}")


def standing(claim: Claim, verdict: Verdict | ClaimResult | None, choices: Sequence[Choice], swept: Table) -> Standing:
    """By a verdict (of a run, or as kept; `None` if there is none) and what sweeps found, at the same scale or at a
    shorter one: what such a sweep says of a claim that came out otherwise counts only if it flips it."""
    if claim.unchecked or verdict is None or verdict.within_bounds is None:
        return Standing(UNCHECKED)
    words = {}
    for choice in choices:
        under = [rows[claim.id].within_bounds for rows in swept.get(choice.name, {}).values() if claim.id in rows]
        # That a claim flips is seen before every value was tried; that it does not, after.
        if word(under) == DECIDED or len(under) == len(choice.values):
            words[choice.name] = word(under)
    within = None if verdict.status == "not-decided" else verdict.within_bounds
    deciding = tuple(name for name, found in words.items() if found == DECIDED)
    if deciding:
        return Standing(DECIDED, deciding, claim.cause, within)
    if within is None:
        return Standing(OPEN)
    varied = bool(words) and set(words.values()) == {ROBUST if within else FAILS}
    if within:
        return Standing(ROBUST if varied else HOLDS, within=True)
    return Standing(FAILS if varied else UNVARIED, cause=claim.cause, within=False)


def counted(found: Mapping[str, Standing]) -> str:
    """In words: how many claims stand how; those that a choice decides by choice, those that fail by cause."""
    parts = []
    for said in STANDINGS:
        mine = [s for s in found.values() if s.word == said]
        why: Counter[str] = Counter()
        if said == DECIDED:
            why.update(", ".join(s.choices) for s in mine)
        elif said in (FAILS, UNVARIED):
            why.update(CAUSES.get(s.cause, UNCLASSIFIED) for s in mine)
        named = "; ".join(f"{n} {what}" for what, n in why.most_common())
        if mine:
            verb = said.replace("fails", "fail") if len(mine) > 1 else said
            parts.append(f"{len(mine)} {verb}" + (f" ({named})" if named else ""))
    return ", ".join(parts)
