"""The fluid model (Appendix A): x' = A − max(x(t − τ) − d_t, 0) / δ, and what Theorem 1 says of it."""

from __future__ import annotations

import numpy as np

from thalweg.papers import measure

STEP = 1e-4  # s, Euler
D_T, TAU = 0.05, 0.1


def integrate(a, delta, taus=(TAU,), start: float = 0.4, until: float = 50.0) -> np.ndarray:
    """x over time, a row per pair of A and δ. With several delays each flow sees its own: the mean of what they read."""
    a, delta = np.broadcast_arrays(np.atleast_1d(a).astype(float), np.asarray(delta, float))
    lags = [round(tau / STEP) for tau in taus]
    longest, steps = max(lags), round(until / STEP)
    x = np.full((longest + 1 + steps, len(a)), start)
    gain = STEP / (delta * len(lags))
    # Nothing of the next `block` steps depends on them but by the floor at 0, which adds what is missing.
    block = min(lags)
    for n in range(longest, longest + steps, block):
        m = min(block, longest + steps - n)
        drained = sum(np.maximum(x[n - lag : n - lag + m] - D_T, 0.0) for lag in lags)
        free = x[n] + np.cumsum(STEP * a - gain * drained, axis=0)
        x[n + 1 : n + m + 1] = free + np.maximum(np.maximum.accumulate(-free, axis=0), 0.0)
    return x[longest:].T


def settled(x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Mean and peak to peak of the last five seconds."""
    last = x[:, -round(5 / STEP) :]
    return last.mean(axis=1), last.max(axis=1) - last.min(axis=1)


@measure("ABC-THM1a", needs=[])
def _(runs):
    pairs = np.array([(a, part * TAU) for a in (0.03, 0.1) for part in (0.67, 0.8, 1.33, 0.5, 0.6)])
    mean, swing = settled(integrate(*pairs.T))
    stable = pairs[:, 1] > 2 * TAU / 3
    falls, below = settled(integrate(-0.01, 0.2 * TAU))
    return {
        "largest |x - (Aδ + d_t)| (ms)": np.abs(mean - (pairs.prod(axis=1) + D_T))[stable].max() * 1e3,
        "largest swing, δ > 2τ/3 (ms)": swing[stable].max() * 1e3,
        "smallest swing, δ ≤ 0.6 τ (ms)": swing[~stable].min() * 1e3,
        "x at A = -0.01 (ms)": (falls + below)[0] * 1e3,
    }


@measure("ABC-THM1c", needs=[])
def _(runs):
    taus = (0.02, 0.06, 0.1)
    mean, swing = settled(integrate(0.05, 0.67 * max(taus), taus, until=30.0))
    return {"|x - (Aδ + d_t)| (ms)": abs(mean[0] - (0.05 * 0.067 + D_T)) * 1e3, "swing (ms)": swing[0] * 1e3}


@measure("ABC-D4", needs=[])
def _(runs):
    """No delay, eq = tr: x' = −(x − d_t)/δ − (1 − η)."""
    delta, worst = 0.133, 0.0
    for eta in (0.9, 0.98, 1.0):
        x, x0 = 0.5, 0.5
        for n in range(1, 20_000):
            x = max(x + STEP * (eta - 1 - max(x - D_T, 0.0) / delta), 0.0)
            worst = max(worst, (x - D_T) - (x0 - D_T) * float(np.exp(-n * STEP / delta)))
    return {"largest excess over (x₀ - d_t) e^(-t/δ) (ms)": worst * 1e3}


@measure("ABC-VCPa", needs=[])
def _(runs):
    return next(n for n in range(1, 100) if 1.0625**n >= 2)


@measure("ABC-D1", needs=[])
def _(runs):
    """By the packet, without the additive increase: w ACKs of which a share f accelerates."""
    worst = 0.0
    for w, accelerate in [(100, 0), (100, 1), (100, 30), (100, 50), (100, 75), (100, 100)]:
        after = w + sum(1 if n < accelerate else -1 for n in range(w))
        worst = max(worst, abs(after - 2 * accelerate))
    return worst


class Router:
    """Algorithm 1."""

    def __init__(self, token: float = 0.0, limit: float = 5.0):
        self.token, self.limit = token, limit

    def accelerates(self, f: float, came: bool = True) -> bool:
        self.token = min(self.token + f, self.limit)
        if not came or self.token <= 1:
            return False
        self.token -= 1
        return True


@measure("ABC-D2", needs=[])
def _(runs):
    rng = np.random.default_rng(1)
    above, apart = 0.0, 0.0
    for _ in range(20):
        router, shares = Router(5.0), rng.random(2000)
        kept = np.cumsum([router.accelerates(f) for f in shares])
        above = max(above, float((kept - np.cumsum(shares)).max()))
    for f in np.arange(0.1, 1.01, 0.1):
        kept = np.cumsum([Router.accelerates(r, f) for r in [Router()] * 3000])
        apart = max(apart, float(np.abs(kept - f * np.arange(1, 3001)).max()))
    return {"most above Σf": above, "largest |kept - f n|, token at first 0": apart}


@measure("ABC-D3", needs=[])
def _(runs):
    worst = 0.0
    for shares in ((0.6, 0.5), (0.49, 0.5, 0.51), (0.9, 0.5, 0.7)):
        chain, kept = [Router() for _ in shares], 0
        for _ in range(20_000):
            accelerates = True
            for router, f in zip(chain, shares, strict=True):
                accelerates = router.accelerates(f, accelerates)
            kept += accelerates
        worst = max(worst, abs(kept / 20_000 - min(shares)))
    return worst


@measure("ABC-D5", needs=[])
def _(runs):
    worst = 0.0
    for f in (0.4, 0.45, 0.48, 0.49, 0.495):
        w, token, total, count = 20.0, 0.0, 0.0, 0
        for n in range(80_000):
            token += f
            up = token >= 1
            token -= up
            w = max(w + (1 if up else -1) + 1 / w, 2.0)
            if n >= 40_000:
                total, count = total + w, count + 1
        worst = max(worst, abs(total / count * (1 - 2 * f) - 1))
    return worst


@measure("ABC-D6", needs=[])
def _(runs):
    rng, worst = np.random.default_rng(1), 0.0
    for f in (0.2, 0.4, 0.6, 0.9):
        for p in (0.3, 0.7, 1.0):
            marks = np.where(rng.random((4000, 100)) < f, 1, -1)
            change = float((marks * (rng.random(marks.shape) < p)).sum(axis=1).mean())
            worst = max(worst, abs(change - (2 * f - 1) * p * 100))
    return worst
