"""Where a setting's value is sought."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from types import ModuleType
from typing import Any

from thalweg import _given
from thalweg.errors import refuse
from thalweg.settings import split, text, typed

_NUMBER = r"[-+]?(?:\d+(?:\.\d+)?|\.\d+)(?:[eE][-+]?\d+)?"
_RANGE = re.compile(rf"\s*({_NUMBER})\s*([A-Za-zµ%]*)\s*\.\.\s*({_NUMBER})\s*([A-Za-zµ%]*)\s*(:log)?\s*")
# Digits of a setting that is not a whole number: what a person would write.
DIGITS = 6


@dataclass(frozen=True)
class Range:
    """Numbers from `low` to `high`, each included, in a unit; or a few values, if there are `choices`.

    >>> Range.of("switch.buffer", "10KB..500KB:log").setting(37)
    '37KB'
    """

    key: str
    low: float = 0.0
    high: float = 0.0
    unit: str = ""
    whole: bool = False
    log: bool = False
    choices: tuple[Any, ...] = ()

    @classmethod
    def of(cls, key: str, what: str | Sequence[Any]) -> Range:
        """From `LOW..HIGH`, `LOW..HIGH:log`, `VALUE,VALUE`, or a list of values. Both ends written as whole numbers:
        whole numbers between them."""
        if not isinstance(what, str):
            return cls._of_values(key, tuple(_given.items(what, key, "LOW..HIGH, or a list of values")))
        found = _RANGE.fullmatch(what)
        if found is None:
            values = typed(split(what))
            if len(values) == 1 and ".." in what:
                hint = "LOW..HIGH in one unit, such as 5KB..500KB or 0.1..10:log"
                raise refuse(f"`{what}` is not a range", key=key, hint=hint)
            return cls._of_values(key, tuple(values))
        low, unit, high, unit_of_high, log = found.groups()
        if unit and unit != unit_of_high:
            hint = "write both ends in one unit, such as 20KB..2000KB"
            raise refuse(f"`{what}` has two units", key=key, hint=hint)
        if not float(low) < float(high):
            raise refuse(f"`{what}` is empty", key=key, hint="the smaller end comes first")
        whole = all(re.fullmatch(r"[-+]?\d+", end) for end in (low, high))
        if log and float(low) <= 0:
            raise refuse(f"`{what}` has no logarithm", key=key, hint="begin above zero, or leave :log out")
        return cls(key, float(low), float(high), unit_of_high, whole, bool(log))

    @classmethod
    def _of_values(cls, key: str, values: tuple[Any, ...]) -> Range:
        if len(values) < 2:
            raise refuse("there is one value: nothing is to be found", key=key, hint="LOW..HIGH, or several values")
        if len({text(v) for v in values}) < len(values):
            raise refuse("a value is there twice", key=key)
        return cls(key, choices=values)

    def distribution(self, optuna: ModuleType) -> Any:
        """As Optuna has it. Values are numbers, or places in `choices`."""
        if self.choices:
            return optuna.distributions.CategoricalDistribution(tuple(range(len(self.choices))))
        if self.whole:
            return optuna.distributions.IntDistribution(int(self.low), int(self.high), log=self.log)
        return optuna.distributions.FloatDistribution(self.low, self.high, log=self.log)

    def setting(self, value: float) -> Any:
        """What a scenario is given for a value."""
        if self.choices:
            return self.choices[int(value)]
        number = int(value) if self.whole else float(f"{value:.{DIGITS}g}")
        if not self.unit:
            return number
        return f"{number if self.whole else format(Decimal(f'{value:.{DIGITS}g}'), 'f')}{self.unit}"

    def at(self, share: float) -> Any:
        """The setting at a share of the way from one end to the other."""
        if self.choices:
            return self.choices[round(share * (len(self.choices) - 1))]
        return self.setting(self.low + share * (self.high - self.low))

    def __str__(self) -> str:
        if self.choices:
            return ",".join(map(text, self.choices))
        low, high = ((int(x) if self.whole else x) for x in (self.low, self.high))
        return f"{low}{self.unit}..{high}{self.unit}{':log' if self.log else ''}"


def ranges(vary: Mapping[str, str | Sequence[Any]]) -> list[Range]:
    """All that is varied."""
    vary = _given.settings(vary, "vary")
    if not vary:
        raise refuse("nothing is varied", hint="give a key and its range, such as switch.buffer=10KB..500KB")
    return [Range.of(str(key), what) for key, what in vary.items()]
