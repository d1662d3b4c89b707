"""Environments of Gymnasium for learning congestion control: the engine in the same process, one step per decision.

    import thalweg.gym

    env = thalweg.gym.CongestionEnv("link.toml")               # a flow with `congestion = "external"`
    envs = thalweg.gym.CongestionVectorEnv("link.toml", 64)    # 64 of them, one call per step
    env = gymnasium.make("thalweg/Congestion-v0")              # after the import; a link of 10 Mb/s

Needs Gymnasium: `pip install 'thalweg[gym]'`.
"""

from __future__ import annotations

try:
    import gymnasium
except ImportError:
    raise ImportError("gymnasium is not installed: pip install 'thalweg[gym]'") from None

from thalweg.gym.actions import ACTIONS, Action
from thalweg.gym.envs import CongestionEnv, CongestionVectorEnv
from thalweg.gym.episodes import LINK, ROUND_TRIP
from thalweg.gym.observations import FEATURES, Seen
from thalweg.gym.rewards import linear

__all__ = [
    "ACTIONS",
    "FEATURES",
    "LINK",
    "ROUND_TRIP",
    "Action",
    "CongestionEnv",
    "CongestionVectorEnv",
    "Seen",
    "linear",
]

gymnasium.register(
    id="thalweg/Congestion-v0",
    entry_point="thalweg.gym:CongestionEnv",
    vector_entry_point="thalweg.gym:CongestionVectorEnv",
)
