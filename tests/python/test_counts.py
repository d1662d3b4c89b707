"""Numbers that callers give, of jobs, threads, seeds: wrong ones are refused in words by every function."""

import math

import numpy as np
import pytest

import thalweg
from conftest import SCENARIO, SEED
from thalweg import ScenarioError, _counts, papers

gym = pytest.importorskip("thalweg.gym", reason="pip install 'thalweg[gym]'")
optuna = pytest.importorskip("optuna", reason="pip install 'thalweg[tune]'")

WRONG = ["x", "2", [], [1], math.nan, math.inf, 0, -1, True, 1.5, 2**70, {}]


def tuned(**given):
    return thalweg.tune(of(), {SEED: "1..5"}, "drops", **({"out": "out"} | given))


def of():
    return thalweg.Scenario.from_toml(SCENARIO)


# What is given, and where: each is refused before anything is run, or written.
DOORS = {
    "sweep jobs": lambda n: thalweg.sweep(of(), {SEED: [1]}, jobs=n, out="out"),
    "exam jobs": lambda n: thalweg.exam("cubic", jobs=n, out="out"),
    "tune jobs": lambda n: tuned(jobs=n),
    "tune trials": lambda n: tuned(trials=n),
    "tune seeds": lambda n: tuned(seeds=n),
    "tune batch": lambda n: tuned(batch=n),
    "estimate_fct jobs": lambda n: of().estimate_fct(jobs=n),
    "estimate_fct draws": lambda n: of().estimate_fct(draws=n),
    "reproduce jobs": lambda n: papers.reproduce("irn", jobs=n, out="out"),
    "papers.sweep jobs": lambda n: papers.sweep("irn", "*", jobs=n, out="out"),
    "run threads": lambda n: thalweg.run(of(), out="out", threads=n),
    "resume threads": lambda n: thalweg.resume("out", threads=n),
    "environments threads": lambda n: gym.CongestionVectorEnv(None, 2, threads=n),
    "environments num_envs": lambda n: gym.CongestionVectorEnv(None, n),
    "environment max_steps": lambda n: gym.CongestionEnv(max_steps=n),
}


@pytest.mark.parametrize("door", DOORS)
def test_what_counts_nothing_is_refused_before_anything_is_made(door, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for wrong in WRONG:
        with pytest.raises(ScenarioError, match=r"is not a whole number above zero|is too large") as refused:
            DOORS[door](wrong)
        assert str(refused.value).startswith(f"`{door.split()[1]}`: `")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("wrong", ["x", [], math.nan, -1, True, 1.5, 2**64])
def test_a_seed_is_a_whole_number_of_64_bits(wrong, tmp_path):
    doors = [lambda s: tuned(seed=s, out=tmp_path / "out"), lambda s: of().estimate_fct(seed=s)]
    doors += [lambda s: gym.CongestionEnv(seeds=[s]), lambda s: gym.CongestionVectorEnv(None, 1).reset(seed=[s])]
    for door in doors:
        with pytest.raises(ScenarioError, match=r"`seeds?`: `.*` is not a seed; a whole number of 64 bits, from 0"):
            door(wrong)
    assert not list(tmp_path.iterdir())


def test_numbers_of_numpy_count():
    assert _counts.jobs(np.int64(2)) == 2 and type(_counts.jobs(np.int64(2))) is int
    envs = gym.CongestionVectorEnv(None, np.int32(2), max_steps=np.int64(1))
    first = envs.reset(seed=np.int64(3))[0]
    assert np.array_equal(first, envs.reset(seed=[3, 4])[0])


@pytest.mark.parametrize("wrong", ["x", math.nan, -1, True, []])
def test_a_time_budget_is_a_number_of_seconds(wrong, tmp_path):
    with pytest.raises(ScenarioError, match=r"`max_seconds`: `.*` is not a number of seconds"):
        thalweg.run(of(), out=tmp_path / "out", max_seconds=wrong)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("wrong", ["x", 5, (1,), (1, "x"), (1.0, 2), (3, 2), (0, 1), True])
def test_a_part_of_a_sweep_is_one_of_so_many(wrong, tmp_path):
    with pytest.raises(ScenarioError, match=r"is not a part such as 3/40|there is no part"):
        thalweg.sweep(of(), {SEED: [1]}, shard=wrong, out=tmp_path / "out")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("wrong", [None, 5, [], "fast"])
def test_a_scale_is_one_that_there_is(wrong):
    with pytest.raises(ScenarioError, match=r"no scale is called `.*` \(known: full, quick\)"):
        papers.reproduce("irn", scale=wrong)
