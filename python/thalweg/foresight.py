"""Which numbers runs will have, before any is made."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from thalweg import _core, _given, headline
from thalweg.errors import ScenarioError, nearest, refuse
from thalweg.scenario import Scenario
from thalweg.settings import SEED

# So many settings are looked at for a metric that the first does not have.
MOST_FORESEEN = 20
_STATISTICS = ("count", "mean", "p50", "p95", "p99", "max")


def foresee(metric: str, scenarios: Sequence[Scenario]) -> None:
    """Refuses a metric that no summary of these scenarios will have. Nothing is run: each is built, and lists what it
    would report."""
    _given.name(metric, "metric", "a number of the summary, such as `drops`")
    known: dict[str, None] = {}
    for scenario in scenarios[:MOST_FORESEEN]:
        summary = json.loads(_core.Simulation(scenario._core).summary())
        known |= dict.fromkeys(_foreseen(summary))
        if metric in known:
            return
    raise no_metric(metric, known)


# Numbers that runs have only if a key requests them.
_OPT_IN = (("packet_queueing_us", "measure.delays = true"), ("memory.", "measure.memory = true"))


def no_metric(metric: str, known: Iterable[str]) -> ScenarioError:
    """These runs have no such number: what makes it, or what was meant."""
    key = next((key for begin, key in _OPT_IN if metric.startswith(begin) and metric not in known), None)
    hint = f"set {key}" if key else nearest(metric, known)
    return refuse(f"these runs have no number called `{metric}`", hint=hint)


def _foreseen(summary: Mapping[str, Any], prefix: str = "") -> Iterator[str]:
    """The names of numbers in the summary of a run that has not begun. What has counted nothing will have its
    statistics."""
    words = ("name", "digest", "kind", "violation", "partial", "fct_measured_at", "from", "to", SEED)
    for key, value in headline.scalars(summary).items():
        if isinstance(value, str | bool) or (value is None and "." not in key) or key.rsplit(".", 1)[-1] in words:
            continue
        yield key
        if key.endswith(".count"):
            yield from (
                key.removesuffix("count") + name for name in (*_STATISTICS, "p999")[: 7 if "packet" in key else 6]
            )
    # Once a port has carried something.
    yield from (f"bottleneck.{name}" for name in ("utilisation", "back_utilisation"))
