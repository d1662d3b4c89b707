"""What flows have observed between two decisions, as arrays; what a policy sees of it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from thalweg import _core
from thalweg.errors import nearest, refuse
from thalweg.gym.checks import function

COLUMNS = {name: (unit, doc) for name, unit, doc in _core.session_columns()}
_PLACES = {name: n for n, name in enumerate(COLUMNS)}
# Features are ratios; what is larger than this is cut.
LIMIT = 10.0


@dataclass(frozen=True)
class Seen:
    """What every controlled flow has observed since its last decision: arrays of shape `(environments, flows)`.

    `waits`, `time` (s), `elapsed` (s), `delivered`, `sent`, `lost`, `marked`, `in_flight` (payload bytes),
    `rtt_mean`, `rtt_min`, `rtt_floor` (s), `losses`, `timeouts`, `window` (bytes), `pace` (bit/s, 0: none); of the
    flow's path when nothing waits `path_rate` (bit/s: its slowest link), `path_rtt` (s), and `mss` (bytes). All are
    0 of flows that are not active, but `time` and what is of the path.

    >>> envs.seen.delivered * 8 / envs.seen.elapsed     # bit/s
    """

    rows: np.ndarray
    path_rate: np.ndarray
    path_rtt: np.ndarray
    mss: np.ndarray

    def __getattr__(self, name: str) -> np.ndarray:
        if name in _PLACES:
            return self.rows[..., _PLACES[name]]
        raise AttributeError(f"no column {name!r} is observed {nearest(name, COLUMNS)}")

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), *COLUMNS]

    @property
    def bdp(self) -> np.ndarray:
        """Bytes that the empty path holds: the product of `path_rate` and `path_rtt`."""
        return self.path_rate * self.path_rtt / 8


def _share(part: np.ndarray, whole: np.ndarray) -> np.ndarray:
    return np.divide(part, whole, out=np.zeros_like(part), where=whole > 0)


# Name, and how it is computed of `Seen`: ratios, so that a policy may be carried from one path to another.
FEATURES: dict[str, Callable[[Seen], np.ndarray]] = {
    "rate": lambda seen: _share(seen.delivered * 8, seen.elapsed) / seen.path_rate,
    "rtt": lambda seen: seen.rtt_mean / seen.path_rtt,
    "rtt_min": lambda seen: seen.rtt_min / seen.path_rtt,
    # What is found lost while nothing is sent is all of it.
    "lost": lambda seen: _share(seen.lost, np.maximum(seen.sent, seen.lost)),
    "marked": lambda seen: _share(seen.marked, seen.delivered),
    "timeouts": lambda seen: seen.timeouts,
    "window": lambda seen: seen.window / seen.bdp,
    "in_flight": lambda seen: seen.in_flight / seen.bdp,
    "pace": lambda seen: seen.pace / seen.path_rate,
}
DEFAULT = ("rate", "rtt", "rtt_min", "lost", "marked", "window", "in_flight")

Observe = Sequence[str] | Mapping[str, Callable[[Seen], np.ndarray]]


def features(observe: Observe | None) -> dict[str, Callable[[Seen], np.ndarray]]:
    """Names of features, or functions by name, as functions by name."""
    wanted = DEFAULT if observe is None else observe
    if isinstance(wanted, Mapping):
        return {name: function(feature, f"observe.{name}", "of a `Seen`") for name, feature in wanted.items()}
    if isinstance(wanted, str) or not isinstance(wanted, Iterable):
        raise refuse(f"`{wanted}` is not a list of features", key="observe", hint='for example ["rate", "rtt"]')
    wanted = list(wanted)
    for name in wanted:
        if wanted.count(name) > 1:
            raise refuse(f"the feature `{name}` is named twice", key="observe", hint="once will do")
        if name not in FEATURES:
            raise refuse(f"no feature is called `{name}`", key="observe", hint=nearest(name, FEATURES))
    if not wanted:
        raise refuse("a policy that observes nothing learns nothing", key="observe", hint=nearest("", FEATURES))
    return {name: FEATURES[name] for name in wanted}


def observed(seen: Seen, of: Mapping[str, Callable[[Seen], np.ndarray]]) -> np.ndarray:
    """The features of all flows, cut at `LIMIT`: shape `(environments, flows, features)`."""
    values = np.empty((*seen.rows.shape[:2], len(of)), np.float32)
    for n, feature in enumerate(of.values()):
        values[..., n] = feature(seen)
    return np.clip(values, 0.0, LIMIT, out=values)
