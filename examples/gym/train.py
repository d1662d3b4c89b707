"""A policy of 65 numbers learns congestion control and is compared with AIMD on the link it learned on.

    python examples/gym/train.py            # a minute on one core; needs `pip install 'thalweg[gym]'`

The link is `thalweg.gym.LINK`: 10 Mb/s, a round trip of 40 ms, a buffer of one bandwidth-delay product. The policy, a
layer of eight, is given what a flow has observed in the last round trip and multiplies the window by 1/2 to 2. It is
trained by an evolution strategy (Salimans et al., 2017): every generation 32 copies, in pairs of opposite noise, run an
episode each in one vector environment, and the weights move towards the copies that were worth more.
"""

from __future__ import annotations

import argparse
import time

import numpy as np

from thalweg.gym import FEATURES, CongestionVectorEnv

OBSERVE = ("rate", "rtt", "rtt_min", "lost", "window", "in_flight")
HIDDEN, COPIES, NOISE, PACE = 8, 32, 0.1, 0.06
SIZES = (len(OBSERVE) * HIDDEN, HIDDEN, HIDDEN, 1)
STEPS = 300


def act(weights: np.ndarray, observations: np.ndarray) -> np.ndarray:
    """Of copies of the policy, one per environment: `(n, weights)` and `(n, features)` to `(n, 1)`."""
    parts = np.split(weights, np.cumsum(SIZES)[:-1], axis=1)
    inputs = observations - np.array([1.0, 1.0, 1.0, 0.0, 1.0, 1.0])
    first = parts[0].reshape(len(weights), HIDDEN, len(OBSERVE))
    hidden = np.tanh(np.einsum("nhf,nf->nh", first, inputs) + parts[1])
    return np.tanh((hidden * parts[2]).sum(axis=1, keepdims=True) + parts[3])


def train(generations: int, seed: int = 1) -> np.ndarray:
    """The weights after so many generations."""
    chance = np.random.default_rng(seed)
    envs = CongestionVectorEnv(num_envs=COPIES, observe=OBSERVE, action="window-factor", max_steps=STEPS)
    weights = chance.normal(0, 0.3, sum(SIZES))
    for generation in range(generations):
        noise = chance.normal(size=(COPIES // 2, len(weights)))
        noise = np.concatenate([noise, -noise])
        observations, _ = envs.reset(seed=[seed] * COPIES)
        worth = np.zeros(COPIES)
        for _ in range(STEPS):
            observations, rewards, *_ = envs.step(act(weights + NOISE * noise, observations))
            worth += rewards / STEPS
        ranks = np.argsort(np.argsort(worth)) / (COPIES - 1) - 0.5
        weights += PACE / NOISE * ranks @ noise / COPIES
        if generation % 10 == 9:
            print(f"generation {generation + 1}: {worth.mean():.3f} per decision, at best {worth.max():.3f}")
    return weights


def evaluate(name: str, action: str, policy, seed: int = 7) -> float:
    """The mean reward of an episode of the whole 20 s, said in words."""
    observe = {name: FEATURES[name] for name in OBSERVE} | {"losses": lambda seen: seen.losses}
    envs = CongestionVectorEnv(num_envs=1, observe=observe, action=action)
    observations, _ = envs.reset(seed=seed)
    worth, shares, trips, lost, ended = [], [], [], 0.0, False
    while not ended:
        observations, rewards, terminated, truncated, infos = envs.step(policy(observations))
        seen, ended = envs.seen, terminated[0] or truncated[0]
        worth.append(rewards[0])
        shares.append(observations[0, 0])
        trips.append(seen.rtt_mean[0, 0] * 1e3)
        lost += seen.lost[0, 0]
    print(
        f"{name}: {np.mean(worth):.3f} per decision; {np.mean(shares):.0%} of the link, round trips of "
        f"{np.mean(trips):.1f} ms, {lost / 1e3:.0f} KB lost; digest {infos['digest'][0]}"
    )
    return float(np.mean(worth))


def aimd(observations: np.ndarray) -> np.ndarray:
    """One segment more per round trip, half once per episode of losses: windows in bandwidth-delay products."""
    losses, window = observations[:, 6], observations[:, 4]
    return np.where(losses > 0, window / 2, window + 1460 / 50_000)[:, None]


def main(generations: int) -> tuple[float, float]:
    """Trains and compares: the worth of the policy, and of AIMD."""
    begun = time.monotonic()
    weights = train(generations)
    print(f"trained in {time.monotonic() - begun:.0f} s")
    learned = evaluate("learned", "window-factor", lambda seen: act(weights[None], seen[:, : len(OBSERVE)]))
    return learned, evaluate("AIMD", "window", aimd)


if __name__ == "__main__":
    options = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    options.add_argument("--generations", type=int, default=60, help="of the training (default: 60)")
    main(options.parse_args().generations)
