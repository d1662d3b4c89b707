"""How many steps the environments take per second of one core: a link of 10 Mb/s, a decision per round trip.

python examples/gym/bench.py
"""

from __future__ import annotations

import time

import numpy as np

from thalweg.gym import CongestionEnv, CongestionVectorEnv

SECONDS = 3.0


def rate(take, each: int) -> float:
    """Steps per second of processor time of something that takes `each` of them."""
    steps, begun = 0, time.process_time()
    while time.process_time() - begun < SECONDS:
        take()
        steps += each
    return steps / (time.process_time() - begun)


def main() -> None:
    for every in ("round-trip", "10ms"):
        for count in (1, 64, 256):
            envs = CongestionVectorEnv(num_envs=count, every=every, action="window")
            envs.reset(seed=1)
            actions = np.ones((count, 1), np.float32)
            print(f"vector of {count}, every {every}: {rate(lambda e=envs, a=actions: e.step(a), count):,.0f} steps/s")
        env = CongestionEnv(every=every, action="window")
        env.reset()
        action = np.ones(1, np.float32)

        def one(env=env, action=action):
            if env.step(action)[3]:
                env.reset()

        print(f"one, every {every}: {rate(one, 1):,.0f} steps/s")
    envs = CongestionVectorEnv(num_envs=64)
    print(f"resets: {rate(envs.reset, 64):,.0f} episodes/s")


if __name__ == "__main__":
    main()
