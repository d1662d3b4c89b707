"""Gymnasium's environments: what they promise to those who train, and that the engine stays what it is."""

from __future__ import annotations

import copy
import functools
import pickle
import runpy
import subprocess
import sys
import warnings
from pathlib import Path

import numpy as np
import pytest

from thalweg import ScenarioError, _core

gymnasium = pytest.importorskip("gymnasium", reason="needs gymnasium: pip install 'thalweg[gym]'")

import thalweg.gym  # noqa: E402
from thalweg.gym import LINK, Action, CongestionEnv, CongestionVectorEnv, linear  # noqa: E402

ROOT = Path(__file__).parents[2]
# Two flows that are decided, one of which is over soon; one that decides by itself.
THREE = (
    LINK.replace("pairs = 1", "pairs = 3")
    + """
[[traffic]]
kind = "flow"
src = 1
dst = 4
size = "300KB"
start = "200ms"

[[traffic]]
kind = "backlogged"
src = 2
dst = 5
transport = "own"

[transports.own]
kind = "tcp"
congestion = "cubic"
"""
).replace("dst = 1", "dst = 3")


def scenario(text: str) -> thalweg.Scenario:
    return thalweg.Scenario.from_toml(text, set={"run.until": "2s"})


def actions(env, count: int, seed: int = 3) -> list[np.ndarray]:
    space = env.action_space
    chance = np.random.default_rng(seed)
    return [chance.uniform(space.low, space.high).astype(np.float32) for _ in range(count)]


def episode(env, drawn, seed: int = 5):
    """All that an episode gives, and the digest at its end."""
    observations, rewards = [env.reset(seed=seed)[0]], []
    for action in drawn:
        observation, reward, terminated, truncated, info = env.step(action)
        observations.append(observation)
        rewards.append(reward)
        if terminated or truncated:
            return np.array(observations), rewards, info
    return np.array(observations), rewards, {"digest": env.digest()}


def test_gymnasium_finds_nothing_wrong():
    from gymnasium.utils.env_checker import check_env

    for given in ({}, {"action": "window-and-pace", "every": "20ms"}, {"scenario": scenario(THREE)}):
        with warnings.catch_warnings():
            # Rows of flows are not an image; windows and paces have the units of the path.
            warnings.filterwarnings("ignore", message=".*unconventional shape")
            if "action" in given:
                warnings.filterwarnings("ignore", message=".*symmetric and normalized")
            check_env(CongestionEnv(max_steps=40, **given), skip_render_check=True)


def test_the_same_seed_and_actions_are_the_same_episode_and_others_are_not():
    one, other = CongestionEnv(scenario(THREE)), CongestionEnv(scenario(THREE))
    drawn = actions(one, 200)
    first, again = episode(one, drawn), episode(other, drawn)
    assert np.array_equal(first[0], again[0]) and first[1] == again[1]
    assert first[2]["digest"] == again[2]["digest"] == episode(one, drawn)[2]["digest"]
    assert episode(one, actions(one, 200, seed=4))[2]["digest"] != first[2]["digest"]
    assert episode(one, drawn, seed=6)[2]["digest"] != first[2]["digest"], "ties are drawn from the seed"


def test_a_vector_environment_is_its_environments():
    envs = CongestionVectorEnv(scenario(LINK), 3, threads=2)
    alone = [CongestionEnv(scenario(LINK)) for _ in range(3)]
    observations, _ = envs.reset(seed=11)
    assert np.array_equal(observations, [env.reset(seed=11 + n)[0] for n, env in enumerate(alone)])
    ended = np.zeros(3, bool)
    for step, drawn in enumerate(actions(envs, 400)):
        observations, rewards, terminated, truncated, infos = envs.step(drawn)
        for nth, env in enumerate(alone):
            if ended[nth]:
                # The next step begins anew, whatever its action.
                env.reset()
                assert rewards[nth] == 0 and not truncated[nth]
                continue
            seen = env.step(drawn[nth])
            assert np.array_equal(seen[0], observations[nth]), (step, nth)
            assert seen[1:4] == (rewards[nth], terminated[nth], truncated[nth])
            if seen[3]:
                assert infos["digest"][nth] == seen[4]["digest"] and infos["_digest"][nth]
        ended = terminated | truncated
    assert envs.metadata["autoreset_mode"] is gymnasium.vector.AutoresetMode.NEXT_STEP


def test_a_snapshot_goes_on_as_the_episode_and_is_a_saved_run():
    env, other = CongestionEnv(scenario(THREE)), CongestionEnv(scenario(THREE))
    drawn = actions(env, 36)
    env.reset(seed=2)
    for action in drawn[:20]:
        env.step(action)
    saved, digest = env.save(), env.digest()
    assert f"{_core.Simulation.load(saved).digest():016x}" == digest
    env.step(drawn[0])
    assert np.array_equal(other.restore(saved)[0], env.restore(saved)[0]) and env.digest() == digest
    for action in drawn[20:]:
        one, two = env.step(action), other.step(action)
        assert np.array_equal(one[0], two[0])
    assert env.digest() == other.digest() != digest
    with pytest.raises(ScenarioError, match="snapshot cannot be read"):
        env.restore(saved[:-1])


def test_a_window_that_fills_the_path_is_worth_one_and_half_of_it_half():
    env = CongestionEnv(scenario(LINK), action="window", reward=linear(delay=0.0))
    for window, worth in ((1.1, 1.0), (0.5, 0.5)):
        env.reset()
        rewards = [env.step(np.array([window], np.float32))[1] for _ in range(30)]
        # Payload is 1460 of 1538 bytes, or so.
        assert np.mean(rewards[5:]) == pytest.approx(0.95 * worth, rel=0.06)


def test_paces_hold_a_flow_back_as_windows_do():
    env = CongestionEnv(scenario(LINK), action="window-and-pace")
    env.reset()
    for _ in range(20):
        seen, *_ = env.step(np.array([2.0, 0.4], np.float32))
    assert seen[0] == pytest.approx(0.4, abs=0.06) and env.seen.pace[0, 0] == pytest.approx(4e6)


def test_flows_have_rows_and_those_that_are_over_are_zero():
    env = CongestionEnv(scenario(THREE), every="50ms")
    assert env.observation_space.shape == (2, 7) and env.action_space.shape == (2, 1)
    _, info = env.reset()
    waits = [info["waits"].tolist()]
    rows, truncated = [], False
    while not truncated:
        row, _, _, truncated, info = env.step(np.zeros((2, 1), np.float32))
        rows.append(row)
        waits.append(info["waits"].tolist())
    rows = np.array(rows)
    assert waits[0] == [True, False] and [True, True] in waits
    assert rows[-1, 1].max() == 0 < rows[-1, 0].max() and env.flows == [0, 2]


def test_an_episode_ends_with_its_flows_or_at_its_steps():
    short = scenario(LINK.replace('kind = "backlogged"', 'kind = "flow"\nsize = "200KB"'))
    env = CongestionEnv(short)
    _, _, info = episode(env, actions(env, 1000))
    assert len(info["digest"]) == 16
    with pytest.raises(gymnasium.error.ResetNeeded):
        env.step(env.action_space.sample())
    env.reset()
    ends = [env.step(np.zeros(1, np.float32))[2:4] for _ in range(10)]
    assert ends[-1] == (False, False) or (True, False) in ends
    env = CongestionEnv(scenario(LINK), max_steps=5)
    env.reset()
    assert [env.step(np.zeros(1, np.float32))[3] for _ in range(5)] == [False] * 4 + [True]


def test_rewards_features_and_actions_may_be_ones_own():
    env = CongestionEnv(
        scenario(LINK),
        observe={"queue": lambda seen: (seen.rtt_mean - seen.rtt_floor) * 10, "losses": lambda seen: seen.losses},
        action=Action(1, 1.0, 50.0, lambda a, seen: (a[..., 0] * seen.mss, np.nan)),
        reward=lambda seen: -seen.in_flight.sum(axis=1),
    )
    env.reset()
    for _ in range(5):
        seen, reward, *_ = env.step(np.array([20.0], np.float32))
    assert seen.shape == (2,) and reward == -20 * env.seen.mss[0, 0] == -env.seen.window[0, 0]


def test_networks_vary_by_seed_alone():
    def drawn(chance):
        return {"topology.bottleneck_rate": f"{chance.integers(5, 50)}Mbps"}

    envs = CongestionVectorEnv(scenario(LINK), 4, vary=drawn, seeds=range(100))
    envs.reset(seed=3)
    rates = envs.seen.path_rate[:, 0].tolist()
    assert len(set(rates)) > 2 and all(5e6 <= rate < 50e6 for rate in rates)
    envs.reset()
    assert envs.seen.path_rate[:, 0].tolist() != rates
    envs.reset(seed=3)
    assert envs.seen.path_rate[:, 0].tolist() == rates


@pytest.mark.parametrize(
    ("given", "reason"),
    [
        ({"action": "windows"}, "no action is called `windows`; did you mean `window`"),
        ({"observe": ["rtt", "los"]}, "no feature is called `los`; did you mean `lost`"),
        ({"observe": []}, "observes nothing"),
        ({"every": "10 parsecs"}, 'for example "10ms", or "round-trip"'),
        ({"every": "0ms"}, "not a time between decisions"),
        ({"max_steps": 0}, "`max_steps`: `0` is not a whole number above zero"),
        ({"max_steps": 1.5}, "`max_steps`: `1.5` is not a whole number above zero"),
        ({"every": 5}, "not a time between decisions"),
        ({"observe": "rate"}, "`rate` is not a list of features"),
        ({"observe": ["rate", "rate"]}, "named twice"),
        ({"observe": {"mine": 5}}, "`observe.mine`: `5` is not a function of a `Seen`"),
        ({"reward": 5}, "`reward`: `5` is not a function"),
        ({"vary": 5}, "`vary`: `5` is not a function"),
        ({"vary": lambda _: 5}, "`vary` returns keys and their values"),
        ({"seeds": 5}, "`5` are not seeds"),
        ({"seeds": ["x"]}, "`seeds`: `x` is not a seed; a whole number of 64 bits"),
        ({"seeds": [-1]}, "`seeds`: `-1` is not a seed"),
        ({"seeds": []}, "no seed to draw from"),
        ({"render_mode": "human"}, "nothing to render"),
        ({"scenario": scenario(LINK.replace("external", "cubic"))}, "`transport.congestion`"),
        ({"vary": lambda _: {"seed": 3}}, "`vary` sets the seed"),
    ],
)
def test_what_cannot_be_is_refused_with_the_way_out(given, reason):
    with pytest.raises(ScenarioError) as refused:
        CongestionEnv(**given)
    assert reason in str(refused.value) and "\n" not in str(refused.value)


def test_a_run_that_ends_before_any_decision_and_options_are_refused():
    with pytest.raises(ScenarioError, match=r"before a first decision is due; let its flows start earlier"):
        CongestionEnv(thalweg.Scenario.from_toml(LINK, set={"run.until": "1ms"}))
    with pytest.raises(ScenarioError, match="`reset` takes no options"):
        CongestionEnv().reset(options={"rate": 3})


def test_gymnasium_makes_both_by_name():
    env = gymnasium.make("thalweg/Congestion-v0", max_steps=3)
    env.reset(seed=1)
    envs = gymnasium.make_vec("thalweg/Congestion-v0", num_envs=2, vectorization_mode="vector_entry_point", max_steps=3)
    assert envs.reset(seed=1)[0].shape == (2, 7)


def test_without_gymnasium_the_extra_is_named():
    code = "import sys; sys.modules['gymnasium'] = None\nimport thalweg.gym"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode and "pip install 'thalweg[gym]'" in done.stderr


def test_the_example_learns():
    example = runpy.run_path(str(ROOT / "examples" / "gym" / "train.py"))
    learned, aimd = example["main"](generations=20)
    assert learned > aimd + 0.05


def test_actions_that_are_no_numbers_are_refused():
    env = CongestionEnv(max_steps=3)
    env.reset(seed=1)
    for wrong, says in ((np.array([np.nan]), "not a finite number"), (np.zeros((3, 3)), "has the shape")):
        with pytest.raises(ScenarioError, match=says):
            env.step(wrong)
    many = CongestionVectorEnv(None, 2)
    many.reset(seed=1)
    with pytest.raises(ScenarioError, match="has the policy diverged"):
        many.step(np.full((2, 1), np.inf))


def test_a_closed_environment_goes_on_no_more_and_none_before_its_beginning():
    env, envs = CongestionEnv(), CongestionVectorEnv(None, 2)
    env.reset(seed=1)
    saved = env.save()
    with pytest.raises(gymnasium.error.ResetNeeded):
        envs.step(envs.action_space.sample())
    envs.reset(seed=1)
    env.close()
    envs.close()
    goes_on = [
        env.reset,
        lambda: env.step(env.action_space.sample()),
        lambda: env.restore(saved),
        envs.reset,
        lambda: envs.step(envs.action_space.sample()),
        env.save,
        env.digest,
        lambda: envs.digest(0),
    ]
    for one in goes_on:
        with pytest.raises(gymnasium.error.ClosedEnvironmentError, match="closed: make"):
            one()
    env.close()


@pytest.mark.parametrize("made", [CongestionEnv, lambda **given: CongestionVectorEnv(None, 2, **given)])
def test_pickled_and_copied_environments_are_made_anew(made):
    env = made(max_steps=4, action="pace-factor")
    first = env.reset(seed=3)[0]
    for other in (pickle.loads(pickle.dumps(env)), copy.deepcopy(env)):
        assert np.array_equal(other.reset(seed=3)[0], first)
        assert other.action_space == env.action_space
        drawn = env.action_space.sample()
        assert np.array_equal(other.step(drawn)[0], env.step(drawn)[0])
        env.reset(seed=3)


def test_a_reward_is_one_number_for_each_environment():
    envs = CongestionVectorEnv(None, 2, reward=lambda seen: np.zeros(3))
    envs.reset(seed=1)
    with pytest.raises(ScenarioError, match="one number for each of 2"):
        envs.step(envs.action_space.sample())


@pytest.mark.parametrize(("given", "reason"), [({"num_envs": 0}, "`num_envs`"), ({"threads": 2**70}, "`threads`")])
def test_numbers_of_environments_and_threads_are_checked(given, reason):
    with pytest.raises(ScenarioError, match=reason):
        CongestionVectorEnv(None, **given)


@pytest.mark.parametrize("nth", [-1, 2, "x", None, 1.0, True])
def test_an_environment_that_is_not_there_has_no_digest(nth):
    envs = CongestionVectorEnv(None, 2)
    envs.reset(seed=1)
    with pytest.raises(ScenarioError, match=r"there is no environment .*; environments are 0 to 1"):
        envs.digest(nth)


def test_processes_of_gymnasium_give_the_same_and_their_refusals_arrive_in_words():
    alone = CongestionEnv(max_steps=3)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # Gymnasium shows the worker's traceback as one
        made = functools.partial(CongestionEnv, max_steps=3)
        envs = gymnasium.vector.AsyncVectorEnv([made, made], context="spawn")
        try:
            first = alone.reset(seed=7)[0]
            assert np.array_equal(envs.reset(seed=7)[0][0], first)
            act = np.array([0.5], np.float32)
            assert np.array_equal(envs.step(np.stack([act, act]))[0][0], alone.step(act)[0])
            with pytest.raises(ScenarioError, match="`action`: an action is not a finite number"):
                envs.step(np.full((2, 1), np.nan, np.float32))
        finally:
            envs.close(terminate=True)


def test_a_users_controller_next_to_one_that_is_decided_from_outside_may_keep_its_flow():
    @thalweg.controller("test-keeps-flow")
    class Keeps:
        def __init__(self, flow):
            self.flow, self.window = flow, float(flow.initial_window)

        def on_ack(self, ack):
            self.window += self.flow.mss * ack.acked / self.window

        def on_loss(self, loss):
            self.window = max(self.window / 2, self.flow.mss)

        on_timeout = on_loss

    path = {"kind": "dumbbell", "pairs": 2, "bottleneck_rate": "10Mbps", "host_rate": "1Gbps", "base_rtt": "40ms"}
    both = [{"kind": "backlogged", "src": n, "dst": n + 2} for n in range(2)]
    scenario = {
        "topology": path, "transport": {"congestion": "external"}, "traffic": [both[0], both[1] | {"transport": "other"}],
        "transports": {"other": {"congestion": {"kind": "custom", "name": "test-keeps-flow"}}}, "run": {"until": "2s"},
    }  # fmt: skip
    env = thalweg.gym.CongestionEnv(scenario, every="10ms", max_steps=60)
    digests = set()
    for _ in range(2):
        env.reset(seed=4)
        digests.add([env.step([0.05]) for _ in range(60)][-1][-1]["digest"])
    assert len(digests) == 1


def test_an_environment_that_is_restored_knows_the_path_of_its_episode():
    def drawn(chance):
        return {"topology.bottleneck_rate": f"{chance.integers(5, 50)}Mbps"}

    env = CongestionEnv(vary=drawn)
    before, _ = env.reset(seed=1)
    for _ in range(5):
        before, *_ = env.step(np.array([0.1], np.float32))
    rate, saved = env.seen.path_rate.copy(), env.save()
    env.reset(seed=2)
    assert not np.array_equal(env.seen.path_rate, rate)
    after, _ = env.restore(saved)
    assert np.array_equal(after, before) and np.array_equal(env.seen.path_rate, rate)
