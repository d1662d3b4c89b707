"""Episodes: a scenario's run at its first decision, made once per seed and copied for every reset."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from thalweg import _core
from thalweg.errors import refuse
from thalweg.gym.checks import function
from thalweg.scenario import Scenario, as_scenario

# Seeds of which the first decision is kept.
KEPT = 256
ROUND_TRIP = "round-trip"
# The environment that is made of nothing else: one flow on a link of 10 Mb/s whose buffer holds a round trip.
LINK = """\
name = "link"

[topology]
kind = "dumbbell"
pairs = 1
host_rate = "1Gbps"
bottleneck_rate = "10Mbps"
base_rtt = "40ms"

[switch]
buffer = "50KB"

[transport]
congestion = "external"

[[traffic]]
kind = "backlogged"
src = 0
dst = 1

[run]
until = "20s"
"""

Vary = Callable[[np.random.Generator], Mapping[str, Any]]


def interval_ps(every: str) -> int | None:
    """`"10ms"` in picoseconds; `None` for `"round-trip"`."""
    if every == ROUND_TRIP:
        return None
    hint = f'for example "10ms", or "{ROUND_TRIP}"'
    if not isinstance(every, str):
        raise refuse(f"`{every}` is not a time between decisions", key="every", hint=hint)
    try:
        ps = _core.span_ps(every)
        if not 1 <= ps < 2**63:
            raise ValueError
    except ValueError:
        raise refuse(f"`{every}` is not a time between decisions", key="every", hint=hint) from None
    return ps


class Episodes:
    """The beginnings of a scenario's episodes, by seed."""

    def __init__(self, scenario: Scenario | str | Path | Mapping[str, Any] | None, every: str, vary: Vary | None):
        self.scenario = Scenario.from_toml(LINK) if scenario is None else as_scenario(scenario)
        self.every_ps = interval_ps(every)
        self._vary = None if vary is None else function(vary, "vary", "of a generator")
        self._kept: OrderedDict[int, _core.Start] = OrderedDict()

    def start(self, seed: int) -> _core.Start:
        """The episode of a seed: the scenario with this seed, and with what `vary` draws of it."""
        if seed in self._kept:
            self._kept.move_to_end(seed)
            return self._kept[seed]
        drawn = self._vary(np.random.default_rng(seed)) if self._vary else {}
        if not isinstance(drawn, Mapping):
            raise refuse(f"`vary` returns keys and their values, not `{drawn!r}`", key="vary", hint="a dictionary")
        if "seed" in drawn:
            raise refuse("`vary` sets the seed, which `reset` gives", key="seed", hint="leave it out")
        try:
            made = _core.Start.of(self.scenario.with_({**drawn, "seed": seed})._core, self.every_ps)
        except ValueError as e:
            if "first decision" in str(e):
                hint = "let its flows start earlier, or the run end later (`run.until`)"
                raise refuse(str(e), file=self.scenario._file, hint=hint) from None
            raise
        self._kept[seed] = made
        if len(self._kept) > KEPT:
            self._kept.popitem(last=False)
        return made
