"""What a decision was worth."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from thalweg.gym.observations import FEATURES, Seen

Reward = Callable[[Seen], np.ndarray]


def linear(delay: float = 0.5, loss: float = 10.0) -> Reward:
    """The share of the path's rate that was delivered, less `delay` times the time that packets waited in round trips
    of the empty path, less `loss` times the share of bytes that were lost: the mean of the active flows.

    A flow that fills its path without a queue is worth 1 per decision. The form is Aurora's (Jay et al., ICML 2019,
    §4.3); the weights are of numbers without a unit.

    >>> CongestionEnv("link.toml", reward=linear(delay=2.0))
    """

    def reward(seen: Seen) -> np.ndarray:
        waited = np.maximum(FEATURES["rtt"](seen) - 1, 0)
        worth = FEATURES["rate"](seen) - delay * waited - loss * FEATURES["lost"](seen)
        active = seen.elapsed > 0
        return np.where(active, worth, 0).sum(axis=1) / np.maximum(active.sum(axis=1), 1)

    return reward
