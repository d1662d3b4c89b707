"""Balls into bins (§5, Figures 17 and 18): why recycling converges where chance does not. A model, no network."""

from __future__ import annotations

from itertools import pairwise
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
        left = held - (held > 0)
        most[k], total[k] = left.max(), left.sum()
    return most, total


@measure("REPS-F17-a", needs=[])
def queues_of_chance(runs):
    curves = {n: thrown(n, ROUNDS, TRIALS[runs.scale], LOAD) for n in BINS}
    ends = [float(c[-100:].mean()) for c in curves.values()]
    out = {"smallest step with the number of ports": min(b - a for a, b in pairwise(ends))}
    grown = [float(c[-100:].mean() / c[:100].mean()) for c in curves.values()]
    out["smallest growth, last 100 rounds / first 100"] = min(grown)
    return out | {f"{n} ports (packets)": e for n, e in zip(BINS, ends, strict=True)}


FEW, SHORT, FIRST = 5, 200, 2  # Figure 18: eight ports, of which the first rounds are random


def kept(bins: int, few: int, rounds: int, seed: int = 1) -> np.ndarray:
    """The figure's own game, [round, bin]: what leaves a bin that held fewer than `few` is replaced there, all else is
    thrown at random; a ball for each bin and round."""
    rng = np.random.default_rng(seed)
    held = np.zeros(bins, dtype=int)
    out = np.empty((rounds, bins), dtype=int)
    for k in range(rounds):
        stay = (held > 0) & (held < few) & (k >= FIRST)
        where = np.where(stay, np.arange(bins), rng.integers(0, bins, bins))
        held = np.maximum(held - 1, 0) + np.bincount(where, minlength=bins)
        out[k] = held
    return out


def each_thrown(bins: int, rounds: int, seed: int = 1) -> np.ndarray:
    """All of it at random, [round, bin]."""
    return kept(bins, 0, rounds, seed)


@measure("REPS-F18-a", needs=[])
def recycling_against_chance(runs):
    """Eight ports at full rate, means over 20 trials."""
    same = [kept(8, FEW, SHORT, seed)[SHORT // 2 :].max() for seed in range(1, 21)]
    free = [thrown(8, SHORT, 1, 1.0, seed)[SHORT // 2 :].max() for seed in range(1, 21)]
    out = {"recycled, fullest in the second half / threshold": float(np.mean(same)) / FEW}
    out["at random / recycled"] = float(np.mean(free) / np.mean(same))
    return out | {"at random (packets)": float(np.mean(free))}


THEOREM = {"quick": {16: 5, 32: 5, 64: 3}, "full": {16: 10, 32: 10, 64: 10, 128: 3}}  # draws of so many bins


def growth(total: np.ndarray) -> float:
    """The last eighth over the one after the middle."""
    part = len(total) // 8
    return float(total[-part:].mean() / total[len(total) // 2 :][:part].mean())


@measure("REPS-T-a", needs=[])
def logarithmic(runs):
    """With the constants of the theorem, over 40 n ln n rounds."""
    fill, grown, free, out = [], [], [], {}
    for n, draws in THEOREM[runs.scale].items():
        rounds, few, colours = ceil(40 * n * log(n)), ceil(4 * log(n)), ceil(2.4 * log(n))
        found = [recycled(n, colours, few, rounds, seed) for seed in range(1, draws + 1)]
        most = max(float(m.max()) for m, _ in found)
        fill.append(most / log(n))
        grown.append(float(np.mean([growth(total) for _, total in found])))
        chance = thrown(n, rounds, 20, 1.0, n)
        free.append(growth(chance))
        out[f"{n} bins, fullest (balls)"] = most
        out[f"{n} bins at random, fullest at the end (balls)"] = float(chance[-1])
    worst = {"recycled, largest of fullest / ln n": max(fill)}
    worst["recycled, largest growth in the second half"] = max(grown)
    return worst | {"at random, smallest growth in the second half": min(free)} | out
