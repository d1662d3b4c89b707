"""What a policy's numbers are: windows and paces."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from thalweg.errors import nearest, refuse
from thalweg.gym.observations import LIMIT, Seen

# Not-a-number leaves a flow's window or pace as it is.
SAME = np.nan


@dataclass(frozen=True)
class Action:
    """How the numbers of a policy become decisions.

    `size` numbers per flow, from `low` to `high`. `decide(numbers, seen)` is given them in the shape
    `(environments, flows, size)` and returns the windows (payload bytes) and the paces (bit/s on the wire; 0: none) in
    the shape `(environments, flows)`, not-a-number for what is to stay. The engine keeps windows between one segment
    and the largest of the transport (`max_window`), and paces at or below the host's line rate. All of a window may be
    on its way, or wait at the host: one without a bound is as large as the memory.
    """

    size: int
    low: float
    high: float
    decide: Callable[[np.ndarray, Seen], tuple[np.ndarray | float, np.ndarray | float]]


def _pace(share: np.ndarray, seen: Seen) -> np.ndarray:
    # A pace of zero would be none at all.
    return np.maximum(share, 1e-3) * seen.path_rate


def _grown(power: np.ndarray, seen: Seen) -> np.ndarray:
    # Doubled at every step a window would soon hold more packets than there is memory.
    return np.minimum(seen.window * np.exp2(power), LIMIT * seen.bdp)


def _paced(seen: Seen) -> np.ndarray:
    return np.where(seen.pace > 0, seen.pace, seen.path_rate)


ACTIONS = {
    # 2^a times the window.
    "window-factor": Action(1, -1.0, 1.0, lambda a, seen: (_grown(a[..., 0], seen), SAME)),
    # 2^a times the pace; times the path's rate, where there is none yet.
    "pace-factor": Action(1, -1.0, 1.0, lambda a, seen: (SAME, _paced(seen) * np.exp2(a[..., 0]))),
    # The window, in bandwidth-delay products of the empty path.
    "window": Action(1, 0.0, 4.0, lambda a, seen: (a[..., 0] * seen.bdp, SAME)),
    # The pace, as a share of the path's rate.
    "pace": Action(1, 0.0, 2.0, lambda a, seen: (SAME, _pace(a[..., 0], seen))),
    # Both.
    "window-and-pace": Action(2, 0.0, 4.0, lambda a, seen: (a[..., 0] * seen.bdp, _pace(a[..., 1], seen))),
}


def action(of: str | Action) -> Action:
    """An action, by its name or as it is."""
    if isinstance(of, Action):
        return of
    if of not in ACTIONS:
        raise refuse(f"no action is called `{of}`", key="action", hint=nearest(str(of), ACTIONS))
    return ACTIONS[of]
