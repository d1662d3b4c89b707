"""Balls into bins (§5, Figures 17 and 18): why recycling converges where chance does not. A model, no network."""

from __future__ import annotations

from math import ceil, log

import numpy as np

from thalweg.study import measure

BINS = (4, 8, 16, 32, 64, 128)
LOAD, ROUNDS, TRIALS = 0.99, 1000, {"quick": 50, "full": 500}


def thrown(bins: int, rounds: int, trials: int, load: float, seed: int = 1) -> np.ndarray:
    """Mean over trials of the fullest bin after each round: so many balls of size `load` at random, then a ball leaves
    each bin."""
    rng = np.random.default_rng(seed)
    held = np.zeros((trials, bins))
    out = np.empty(rounds)
    rows = np.repeat(np.arange(trials), bins)
    for k in range(rounds):
        chosen = rng.integers(0, bins, trials * bins)
        came = np.bincount(rows * bins + chosen, minlength=trials * bins).reshape(trials, bins)
        held = np.maximum(held + load * came - 1, 0)
        out[k] = held.max(axis=1).mean()
    return out


def recycled(bins: int, colours: int, few: int, rounds: int, seed: int = 1) -> tuple[np.ndarray, np.ndarray]:
    """The fullest bin and all balls after each round: `bins` balls a round, whose colours take turns (so many for each
    bin). A colour whose ball left a bin of at most `few` goes there again; otherwise at random."""
    rng = np.random.default_rng(seed)
    kept = np.full(colours * bins, -1)
    queues: list[list[int]] = [[] for _ in range(bins)]
    heads = [0] * bins
    most, total = np.empty(rounds), np.empty(rounds)
    for k in range(rounds):
        first = (k % colours) * bins
        mine = kept[first : first + bins]
        where = np.where(mine >= 0, mine, rng.integers(0, bins, bins))
        for n, b in enumerate(where.tolist()):
            queues[b].append(first + n)
        held = np.array([len(q) - h for q, h in zip(queues, heads, strict=True)])
        for b in np.flatnonzero(held).tolist():
            colour = queues[b][heads[b]]
            heads[b] += 1
            kept[colour] = b if held[b] <= few else -1
            if heads[b] > 4096:
                del queues[b][: heads[b]]
                heads[b] = 0
        left = held - (held > 0)
        most[k], total[k] = left.max(), left.sum()
    return most, total


@measure("REPS-F17-a", needs=[])
def queues_of_chance(runs):
    curves = {n: thrown(n, ROUNDS, TRIALS[runs.scale], LOAD) for n in BINS}
    ends = [float(c[-100:].mean()) for c in curves.values()]
    out = {"smallest step with the number of ports": min(b - a for a, b in zip(ends, ends[1:], strict=False))}
    out["smallest growth, last 100 rounds / first 100"] = min(float(c[-100:].mean() / c[:100].mean()) for c in curves.values())
    return out | {f"{n} ports (packets)": e for n, e in zip(BINS, ends, strict=True)}


FEW, SHORT = 5, 200  # Figure 18: eight ports


@measure("REPS-F18-a", needs=[])
def recycling_against_chance(runs):
    """Eight ports at full rate, means over 20 trials; a sender has one value under way, as in the figure."""
    same, free = [], []
    for seed in range(1, 21):
        most, _ = recycled(8, ceil(2.4 * log(8)), FEW, SHORT, seed)
        same.append(most[SHORT // 2 :].max())
        free.append(thrown(8, SHORT, 1, 1.0, seed)[SHORT // 2 :].max())
    out = {"recycled, fullest in the second half / threshold": float(np.mean(same)) / FEW}
    return out | {"at random / recycled": float(np.mean(free) / np.mean(same)), "at random (packets)": float(np.mean(free))}


THEOREM = {"quick": (16, 32, 64), "full": (16, 32, 64, 128)}


@measure("REPS-T-a", needs=[])
def logarithmic(runs):
    """With the constants of the theorem, over 20 n ln n balls for each bin."""
    fill, growth, free, out = [], [], [], {}
    for n in THEOREM[runs.scale]:
        rounds = ceil(20 * n * log(n) / 4)
        most, total = recycled(n, ceil(2.4 * log(n)), ceil(4 * log(n)), rounds, n)
        half = rounds // 2
        fill.append(float(most.max() / log(n)))
        growth.append(float(total[-half // 4 :].mean() / total[half : half + half // 4].mean()))
        chance = thrown(n, rounds, 20, 1.0, n)
        free.append(float(chance[-half // 4 :].mean() / chance[half : half + half // 4].mean()))
        out[f"{n} bins, fullest (balls)"] = float(most.max())
        out[f"{n} bins at random, fullest at the end (balls)"] = float(chance[-1])
    worst = {"recycled, largest of fullest / ln n": max(fill), "recycled, largest growth in the second half": max(growth)}
    return worst | {"at random, smallest growth in the second half": min(free)} | out
