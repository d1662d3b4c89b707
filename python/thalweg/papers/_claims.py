"""A claim: a published statement, the bound that decides it, and how claims.toml has both."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from thalweg._format import significant
from thalweg.errors import Diagnostic, nearest

_OPERATORS = {
    "min": ("≥", lambda x, b: x >= b),
    "max": ("≤", lambda x, b: x <= b),
    "above": (">", lambda x, b: x > b),
    "below": ("<", lambda x, b: x < b),
    "equals": ("=", lambda x, b: x == b),
}
# Keys of a [[claim]] that are texts; those that are not.
_TEXTS = (
    "id",
    "statement",
    "section",
    "published",
    "strictness",
    "origin",
    "unchecked",
    "known",
    "short",
    "cause",
)
_CLAIM_KEYS = {*_TEXTS, "bounds", "scales"}
# Why a claim fails: what claims.toml may give as its `cause`, and the words for it.
CAUSES = {
    "setting": "a setting that is not published",
    "baseline": "another scheme that it is compared with",
    "definition": "how a quantity is defined",
    "reading": "what the statement is read to demand",
    "size": "shorter runs or a smaller network",
    "chance": "few flows or few seeds",
    "missing": "a mechanism that thalweg lacks",
    "host": "what real hosts do and simulated ones do not",
    "authors": "not shown by the authors' own code either",
    "open": "not explained by the experiments made",
    "untested": "no experiment says why",
}


@dataclass(frozen=True)
class Claim:
    """A published statement and the bound that decides it. `cause`: of `CAUSES`, why it fails where it does."""

    id: str
    statement: str
    section: str
    published: str
    strictness: str
    origin: str
    bounds: Mapping[str, Mapping[str, float]]
    scales: tuple[str, ...] | None = None
    unchecked: str = ""
    known: str = ""
    short: str = ""
    cause: str = ""

    def bound_text(self) -> str:
        parts = []
        for name, bound in self.bounds.items():
            if {"min", "max"} == bound.keys():
                parts.append(f"{bound['min']:g} ≤ {name or 'value'} ≤ {bound['max']:g}")
            else:
                parts.append(" and ".join(f"{name or 'value'} {_OPERATORS[o][0]} {b:g}" for o, b in bound.items()))
        return "; ".join(parts)

    def judge(self, values: Mapping[str, float]) -> list[str]:
        """What lies outside its bound, in words; nothing if the claim holds."""
        wrong = []
        for name, bound in self.bounds.items():
            if name not in values:
                raise ValueError(f"the study measured {', '.join(values) or 'nothing'}, the bound is on `{name}`")
            x = values[name]
            for op, b in bound.items():
                sign, holds = _OPERATORS[op]
                if not holds(x, b):
                    wrong.append(f"{name or 'measured'} = {significant(x)}, must be {sign} {b:g}")
        return wrong


def read_claim(entry: dict[str, Any], n: int, file: Path) -> tuple[Claim | None, list[Diagnostic]]:
    """A [[claim]] of claims.toml, the `n`th, or what is wrong with it."""
    where = str(entry.get("id", f"number {n + 1}"))
    wrong = [
        Diagnostic(f"claim {where}: unknown key", str(file), key=key, hint=nearest(key, _CLAIM_KEYS))
        for key in sorted(entry.keys() - _CLAIM_KEYS)
    ]
    required = {"id", "statement", "section", "published"} | (set() if "unchecked" in entry else {"bounds", "origin"})
    wrong += [Diagnostic(f"claim {where}: `{key}` is missing", str(file)) for key in sorted(required - entry.keys())]
    bounds = entry.get("bounds", {})
    if bounds and not any(isinstance(b, dict) for b in bounds.values()):
        bounds = {"": bounds}
    for name, bound in bounds.items():
        if not isinstance(bound, dict) or not bound:
            wrong.append(Diagnostic(f"claim {where}: the bound of `{name}` says nothing", str(file)))
            continue
        for op, value in bound.items():
            if op not in _OPERATORS:
                wrong.append(
                    Diagnostic(f"claim {where}: unknown bound", str(file), key=op, hint=nearest(op, _OPERATORS))
                )
            elif isinstance(value, bool) or not isinstance(value, int | float):
                wrong.append(Diagnostic(f"claim {where}: `{op}` must be a number", str(file)))
    if entry.get("cause", "") and entry["cause"] not in CAUSES:
        hint = nearest(str(entry["cause"]), CAUSES) or f"there are {', '.join(CAUSES)}"
        wrong.append(Diagnostic(f"claim {where}: unknown cause `{entry['cause']}`", str(file), key="cause", hint=hint))
    if wrong:
        return None, wrong
    text = {key: str(entry.get(key, "")) for key in _TEXTS}
    scales = tuple(entry["scales"]) if "scales" in entry else None
    return Claim(**text, bounds=bounds, scales=scales), []
