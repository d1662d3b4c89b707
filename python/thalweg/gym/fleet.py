"""Many runs at a time, from decision to decision: what the environments stand on."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from thalweg import _core, _counts
from thalweg.errors import refuse
from thalweg.gym.actions import Action
from thalweg.gym.episodes import Episodes
from thalweg.gym.observations import COLUMNS, Seen


class Fleet:
    """`count` episodes of a scenario, each where it waits for a decision or over."""

    def __init__(self, episodes: Episodes, count: int, threads: int):
        count, threads = _counts.count(count, "num_envs"), _counts.count(threads, "threads")
        self._episodes = episodes
        first = episodes.start(episodes.scenario.seed)
        flows = first.flows()
        self.numbers = [number for number, *_ in flows]
        self._paths = np.empty((3, count, len(flows)))
        self._rows = np.zeros((count, len(flows), len(COLUMNS)))
        self._decided = np.empty((count, len(flows), 2))
        self._sessions = _core.Sessions([first] * count, threads)
        for nth in range(count):
            self._know(nth, first)
        # 1 where a session goes on, and then where it waits: see `_core.Sessions.step`.
        self.goes = np.ones(count, np.uint8)

    def _know(self, nth: int, start: _core.Start) -> None:
        self._paths[:, nth] = np.array([of[1:] for of in start.flows()]).T

    def begin(self, nth: int, seed: int) -> None:
        """One of them begins the episode of a seed."""
        start = self._episodes.start(seed)
        try:
            self._sessions.begin(nth, start)
        except ValueError as e:
            hint = "episodes of one environment have the same flows with `external`"
            raise refuse(f"the episode of seed {seed}: {e}", key="vary", hint=hint) from None
        self._know(nth, start)
        self.goes[nth] = 1

    def look(self) -> Seen:
        """What all have observed since their last decisions; later steps do not change it."""
        self._sessions.observe(self._rows)
        return Seen(self._rows.copy(), *self._paths.copy())

    def step(self, numbers: np.ndarray, action: Action, seen: Seen, only: np.ndarray) -> None:
        """Takes a policy's numbers as decisions where `only` says so, and goes on to the next ones."""
        windows, paces = action.decide(numbers, seen)
        self._decided[..., 0], self._decided[..., 1] = windows, paces
        self.goes[:] = only
        self._sessions.step(self._decided, self.goes)

    def digest(self, nth: int) -> str:
        """As `thalweg run` shows it."""
        return f"{self._sessions.digest(nth):016x}"

    def is_done(self, nth: int) -> bool:
        """Every controlled flow is complete: nothing is left to decide."""
        return self._sessions.is_done(nth)

    def save(self, nth: int) -> bytes:
        """One of them as a snapshot."""
        return self._sessions.save(nth)

    def load(self, nth: int, saved: bytes) -> None:
        """One of them where a snapshot was taken."""
        start = _core.Start.load(saved, self._episodes.every_ps)
        self._sessions.begin(nth, start)
        self._know(nth, start)


def seeds_of(seed: int | Sequence[int | None] | None, count: int) -> list[int | None]:
    """A seed for each environment: as Gymnasium's vector environments count them."""
    if seed is None:
        return [None] * count
    if _counts.is_whole(seed):
        return [_counts.seed(int(seed) + n) for n in range(count)]
    if isinstance(seed, str) or not isinstance(seed, Iterable):
        raise refuse(f"`{seed!r}` is not a seed", key="seed", hint="a whole number of 64 bits, or one per environment")
    found = [None if one is None else _counts.seed(one) for one in seed]
    if len(found) != count:
        raise refuse(f"{len(found)} seeds for {count} environments", key="seed")
    return found
