"""A tenth of the traffic keeps to one path (Figure 6)."""

from __future__ import annotations

import random

import numpy as np

from thalweg.study import mean, measure

from .settings import MEDIUM, flows, marks, point

SEEDS = {"quick": (1, 2, 3), "full": tuple(range(1, 11))}
HOSTS, SHARE, SIZE = 128, 0.1, "8MiB"
ONE_PATH = {"path_selection": "ecmp"}


def cycle(seed: int) -> list[tuple[int, int]]:
    """A random cycle through all hosts."""
    order = list(range(HOSTS))
    random.Random(seed).shuffle(order)
    return sorted(zip(order, order[1:] + order[:1], strict=True))


def stays(seed: int) -> set[int]:
    """Sources that keep to one path."""
    return set(random.Random(-seed).sample(range(HOSTS), round(SHARE * HOSTS)))


def traffic(seed: int) -> list[dict]:
    keep, pairs = stays(seed), cycle(seed)
    sprayed = [pair for pair in pairs if pair[0] not in keep]
    return flows(sprayed, SIZE) + flows([p for p in pairs if p[0] in keep], SIZE, transport=ONE_PATH)


def runs(scale: str) -> list:
    there = MEDIUM | marks(25, 76)
    return [
        point("one-path-tenth", s, there | {"traffic": traffic(seed)}, seed)
        for seed in SEEDS[scale]
        for s in ("reps", "ops")
    ]


def _times(results, stay: bool) -> np.ndarray:
    found = results.flows
    keep = found["src"].is_in(list(stays(results.scenario.seed))).to_numpy()
    return results.seconds("fct")[keep == stay] * 1e6


def of_the_sprayed(results) -> float:
    """Completion of the last flow that is sprayed, us."""
    return float(_times(results, False).max())


def of_one_path(results) -> float:
    """Mean completion of those that keep to one path, us."""
    return float(_times(results, True).mean())


@measure("REPS-F6-a", needs=["one-path-tenth:*"])
def next_to_one_path(runs):
    both = ("reps", "ops")
    stay = {s: mean(runs, f"one-path-tenth:{s}", of_one_path) for s in both}
    spray = {s: mean(runs, f"one-path-tenth:{s}", of_the_sprayed) for s in both}
    return {
        "one path, next to OPS / next to REPS": stay["ops"] / stay["reps"],
        "sprayed, OPS / REPS": spray["ops"] / spray["reps"],
        **{f"one path, next to {s} (us)": x for s, x in stay.items()},
        **{f"sprayed, {s} (us)": x for s, x in spray.items()},
    }
