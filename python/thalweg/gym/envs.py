"""The environments: one flow's controller, or several, one episode or many."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
from gymnasium.spaces import Box
from gymnasium.utils import EzPickle
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space
from numpy.typing import ArrayLike

from thalweg import _counts
from thalweg.errors import refuse
from thalweg.gym.actions import Action, action
from thalweg.gym.checks import function
from thalweg.gym.episodes import ROUND_TRIP, Episodes, Vary
from thalweg.gym.fleet import Fleet, seeds_of
from thalweg.gym.observations import LIMIT, Observe, Seen, features, observed
from thalweg.gym.rewards import Reward, linear
from thalweg.scenario import Scenario


class _Task:
    """What is observed, decided and rewarded, the same for one environment and for many."""

    def __init__(
        self,
        scenario: Scenario | str | Path | Mapping[str, Any] | None,
        count: int,
        *,
        every: str,
        observe: Observe | None,
        act: str | Action,
        reward: Reward | None,
        vary: Vary | None,
        max_steps: int | None,
        seeds: Sequence[int] | None,
        threads: int,
    ):
        max_steps = None if max_steps is None else _counts.count(max_steps, "max_steps")
        self.features, self.action = features(observe), action(act)
        self.reward = linear() if reward is None else function(reward, "reward", "of a `Seen`")
        self.max_steps, self.seeds = max_steps, _drawn_seeds(seeds)
        episodes = Episodes(scenario, every, vary)
        self.fleet = Fleet(episodes, count, threads)
        self.scenario_seed = episodes.scenario.seed
        self.seen = self.fleet.look()
        flows = len(self.fleet.numbers)
        self.shape = (len(self.features),) if flows == 1 else (flows, len(self.features))
        self.acts = (self.action.size,) if flows == 1 else (flows, self.action.size)
        self.observation_space = Box(0.0, LIMIT, self.shape, np.float32)
        self.action_space = Box(self.action.low, self.action.high, self.acts, np.float32)
        self.steps = np.zeros(count, np.int64)

    def begin(self, nth: int, seed: int | None, chance: np.random.Generator) -> None:
        """One episode begins: of this seed, of one that is drawn, or of the scenario's own."""
        if seed is None:
            seed = self.scenario_seed if self.seeds is None else int(chance.choice(self.seeds))
        self.fleet.begin(nth, seed)
        self.steps[nth] = 0

    def look(self) -> np.ndarray:
        self.seen = self.fleet.look()
        return observed(self.seen, self.features).reshape(len(self.steps), *self.shape)

    def step(self, given: ArrayLike, only: np.ndarray) -> tuple[np.ndarray, ...]:
        """Observations, rewards, and which episodes are terminated and truncated now, of those that go on."""
        shape = (len(self.steps), len(self.fleet.numbers), self.action.size)
        numbers = np.asarray(given, float)
        if numbers.size != np.prod(shape):
            many = f" for each of {shape[0]} environments" if shape[0] > 1 else ""
            raise refuse(f"an action has the shape {self.acts}{many}, not {numbers.shape}", key="action")
        if not np.isfinite(numbers).all():
            raise refuse("an action is not a finite number", key="action", hint="has the policy diverged?")
        numbers = np.clip(numbers.reshape(shape), self.action.low, self.action.high)
        self.fleet.step(numbers, self.action, self.seen, only)
        self.steps += only
        looked = self.look()
        rewards = np.where(only, self._rewards(), 0.0)
        over = only & (self.fleet.goes == 0)
        done = np.zeros(len(only), bool)
        for nth in np.flatnonzero(over):
            done[nth] = self.fleet.is_done(int(nth))
        late = only & (self.steps >= self.max_steps) if self.max_steps else np.zeros(len(only), bool)
        return looked, rewards, done, (over | late) & ~done

    def _rewards(self) -> np.ndarray:
        rewards = np.asarray(self.reward(self.seen), float)
        if rewards.shape not in ((), self.steps.shape):
            reason = f"a reward is one number for each of {len(self.steps)} environments, not {rewards.shape}"
            raise refuse(reason, key="reward")
        return rewards


def _drawn_seeds(seeds: Sequence[int] | None) -> list[int] | None:
    """Those that `reset()` draws from."""
    if seeds is None:
        return None
    if not isinstance(seeds, Iterable):
        raise refuse(f"`{seeds}` are not seeds", key="seeds", hint="a list of whole numbers of 64 bits")
    found = [_counts.seed(seed, "seeds") for seed in seeds]
    if not found:
        raise refuse("there is no seed to draw from", key="seeds", hint="leave it out for the scenario's own")
    return found


class _Observed:
    """What both environments show of their flows."""

    _task: _Task

    @property
    def seen(self) -> Seen:
        """What the flows have observed, in units: arrays of shape `(environments, flows)`."""
        return self._task.seen

    @property
    def flows(self) -> list[int]:
        """The numbers of the controlled flows, in the order of rows."""
        return self._task.fleet.numbers


class CongestionEnv(_Observed, gymnasium.Env, EzPickle):
    """A scenario whose flows with `congestion = "external"` are decided by a policy, one decision per step.

    `scenario`: a `Scenario`, a path, a dictionary; nothing: one flow on a link of 10 Mb/s (`LINK`). `every`:
    `"round-trip"`, a smoothed one of the flow's own between two decisions, or a time such as `"10ms"`, at whose
    multiples all flows decide together. `observe`: names of `FEATURES`, or functions of a `Seen` by name. `action`: a
    name of `ACTIONS`, or an `Action`. `reward`: a function of a `Seen` that returns an array with a value per
    environment; `linear()` if not given. `vary`: a function of a NumPy generator that returns keys to override, drawn
    anew for each seed. `max_steps`: after so many steps the episode is truncated; it always is at `run.until`.
    `seeds`: those that `reset()` without one draws from; the scenario's own if not given.

    Observations and actions have one number per feature, or one row of them per flow if there are several. In
    `info`: `time` (s) and `waits`, which flows wait for a decision (those of the others have no effect); at the end
    of an episode `digest`. Raises `ScenarioError`; after `close`, `gymnasium.error.ClosedEnvironmentError`.

    Pickled or copied, it is made anew of its arguments, and begins with `reset`; an episode is carried on by `save`
    and `restore`.

    >>> env = CongestionEnv(action="window-factor", max_steps=200)
    >>> observation, info = env.reset(seed=7)
    >>> observation, reward, terminated, truncated, info = env.step(env.action_space.sample())
    """

    metadata = {"render_modes": []}  # noqa: RUF012

    def __init__(
        self,
        scenario: Scenario | str | Path | Mapping[str, Any] | None = None,
        *,
        every: str = ROUND_TRIP,
        observe: Observe | None = None,
        action: str | Action = "window-factor",
        reward: Reward | None = None,
        vary: Vary | None = None,
        max_steps: int | None = None,
        seeds: Sequence[int] | None = None,
        render_mode: None = None,
    ):
        if render_mode is not None:
            raise refuse("there is nothing to render", key="render_mode", hint="leave it out")
        how: dict[str, Any] = {"every": every, "observe": observe, "reward": reward, "vary": vary}
        how |= {"max_steps": max_steps, "seeds": seeds}
        EzPickle.__init__(self, scenario, action=action, **how)
        self._task = _Task(scenario, 1, act=action, threads=1, **how)
        self.observation_space, self.action_space = self._task.observation_space, self._task.action_space
        self._ended, self._closed = True, False

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[np.ndarray, dict[str, Any]]:
        """Begins an episode: that of the scenario with this seed."""
        self._check_open()
        super().reset(seed=seed)
        _refuse_options(options)
        self._task.begin(0, seed, self.np_random)
        self._ended = False
        return self._task.look()[0], self._info()

    def step(self, action: ArrayLike) -> tuple[np.ndarray, float, bool, bool, dict[str, Any]]:
        """Decides for the flows that wait, and goes on to the next decision."""
        self._check_open()
        if self._ended:
            raise gymnasium.error.ResetNeeded("the episode is over, or has not begun: call `reset`")
        looked, rewards, done, late = self._task.step(action, np.ones(1, bool))
        self._ended = bool(done[0] or late[0])
        return looked[0], float(rewards[0]), bool(done[0]), bool(late[0]), self._info()

    def digest(self) -> str:
        """The hash of everything that has happened in the episode so far."""
        self._check_open()
        return self._task.fleet.digest(0)

    def save(self) -> bytes:
        """The episode as a snapshot: `restore` goes on from it, in this process or another."""
        self._check_open()
        return self._task.fleet.save(0)

    def restore(self, saved: bytes) -> tuple[np.ndarray, dict[str, Any]]:
        """Goes on where a snapshot was taken; as `reset`. Steps are counted anew."""
        self._check_open()
        try:
            self._task.fleet.load(0, saved)
        except ValueError as e:
            raise refuse(f"the snapshot cannot be read: {e}") from None
        self._task.steps[:], self._ended = 0, False
        return self._task.look()[0], self._info()

    def close(self) -> None:
        """Nothing goes on after it."""
        self._closed = True

    def _check_open(self) -> None:
        if self._closed:
            raise gymnasium.error.ClosedEnvironmentError("the environment is closed: make another")

    def _info(self) -> dict[str, Any]:
        info = {"time": float(self.seen.time[0, 0]), "waits": self.seen.waits[0] > 0}
        return info | ({"digest": self.digest()} if self._ended else {})


class CongestionVectorEnv(_Observed, VectorEnv, EzPickle):
    """As `CongestionEnv`, `num_envs` episodes at a time: one call of the engine per step, without the interpreter.

    `threads`: so many episodes go on at once; 1 is right for several processes of one machine. An episode that has
    ended begins anew with the next step, which ignores its action (`AutoresetMode.NEXT_STEP`). `reset(seed=s)` gives
    environment `n` the seed `s + n`.

    >>> envs = CongestionVectorEnv("link.toml", 64, max_steps=500)
    >>> observations, infos = envs.reset(seed=1)
    >>> observations, rewards, terminated, truncated, infos = envs.step(envs.action_space.sample())
    """

    metadata = {"render_modes": [], "autoreset_mode": AutoresetMode.NEXT_STEP}  # noqa: RUF012

    def __init__(
        self,
        scenario: Scenario | str | Path | Mapping[str, Any] | None = None,
        num_envs: int = 1,
        *,
        every: str = ROUND_TRIP,
        observe: Observe | None = None,
        action: str | Action = "window-factor",
        reward: Reward | None = None,
        vary: Vary | None = None,
        max_steps: int | None = None,
        seeds: Sequence[int] | None = None,
        threads: int = 1,
        render_mode: None = None,
    ):
        if render_mode is not None:
            raise refuse("there is nothing to render", key="render_mode", hint="leave it out")
        how: dict[str, Any] = {"every": every, "observe": observe, "reward": reward, "vary": vary}
        how |= {"max_steps": max_steps, "seeds": seeds, "threads": threads}
        EzPickle.__init__(self, scenario, num_envs, action=action, **how)
        self._task = _Task(scenario, num_envs, act=action, **how)
        self.num_envs = num_envs
        self.single_observation_space = self._task.observation_space
        self.single_action_space = self._task.action_space
        self.observation_space = batch_space(self.single_observation_space, num_envs)
        self.action_space = batch_space(self.single_action_space, num_envs)
        self._ended, self._begun = np.ones(num_envs, bool), False

    def reset(
        self, *, seed: int | Sequence[int | None] | None = None, options: dict[str, Any] | None = None
    ) -> tuple[np.ndarray, dict[str, Any]]:
        """Begins all episodes."""
        self._check_open()
        _refuse_options(options)
        wanted = seeds_of(seed, self.num_envs)
        super().reset(seed=wanted[0])
        for nth, one in enumerate(wanted):
            self._task.begin(nth, one, self.np_random)
        self._ended[:], self._begun = False, True
        return self._task.look(), self._infos()

    def step(self, actions: ArrayLike) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray, dict[str, Any]]:
        """Decides for all flows that wait, and goes on to the next decision of each environment."""
        self._check_open()
        if not self._begun:
            raise gymnasium.error.ResetNeeded("no episode has begun: call `reset`")
        again = self._ended.copy()
        for nth in np.flatnonzero(again):
            self._task.begin(int(nth), None, self.np_random)
        looked, rewards, done, late = self._task.step(actions, ~again)
        self._ended = done | late
        return looked, rewards, done, late, self._infos()

    def digest(self, nth: int) -> str:
        """The hash of everything that has happened in an episode so far."""
        self._check_open()
        if not _counts.is_whole(nth) or not 0 <= nth < self.num_envs:
            raise refuse(f"there is no environment {nth!r}", hint=f"environments are 0 to {self.num_envs - 1}")
        return self._task.fleet.digest(nth)

    def _check_open(self) -> None:
        if self.closed:
            raise gymnasium.error.ClosedEnvironmentError("the environments are closed: make others")

    def _infos(self) -> dict[str, Any]:
        infos: dict[str, Any] = {"time": self.seen.time[:, 0], "waits": self.seen.waits > 0}
        if self._ended.any():
            digests = [self.digest(nth) if ended else None for nth, ended in enumerate(self._ended)]
            infos |= {"digest": np.array(digests, object), "_digest": self._ended.copy()}
        return infos


def _refuse_options(options: Mapping[str, Any] | None) -> None:
    if options:
        raise refuse("`reset` takes no options", key=", ".join(map(str, options)), hint="see `vary` and `seeds`")
