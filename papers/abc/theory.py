"""The fluid model (Appendix A): x' = A − max(x(t − τ) − d_t, 0) / δ, and what Theorem 1 says of it."""

from __future__ import annotations

import numpy as np

from thalweg.study import checked, measure, measure_each

STEP = 1e-4  # s, Euler
D_T, TAU = 0.05, 0.1


def integrate(a, delta, taus=(TAU,), start: float = 0.4, until: float = 50.0) -> np.ndarray:
    """x over time, a row per pair of A and δ. With several delays each flow sees its own: the mean of what
    they read."""
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
def stability(runs):
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
def several_delays(runs):
    taus = (0.02, 0.06, 0.1)
    mean, swing = settled(integrate(0.05, 0.67 * max(taus), taus, until=30.0))
    return {"|x - (Aδ + d_t)| (ms)": abs(mean[0] - (0.05 * 0.067 + D_T)) * 1e3, "swing (ms)": swing[0] * 1e3}


@measure("ABC-D4", needs=[])
def queue_drains(runs):
    """No delay, eq = tr: x' = −(x − d_t)/δ − (1 − η)."""
    delta, worst = 0.133, 0.0
    for eta in (0.9, 0.98, 1.0):
        x, x0 = 0.5, 0.5
        for n in range(1, 20_000):
            x = max(x + STEP * (eta - 1 - max(x - D_T, 0.0) / delta), 0.0)
            worst = max(worst, (x - D_T) - (x0 - D_T) * float(np.exp(-n * STEP / delta)))
    return {"largest excess over (x₀ - d_t) e^(-t/δ) (ms)": worst * 1e3}


REPORTED = {"instances": "cases", "packets": "packets", "violations": "violations"}


EXACT = ("ABC-VCPa", "ABC-D1", "ABC-D2", "ABC-D3", "ABC-D5", "ABC-D6", "ABC-D9")


@measure_each({claim: claim for claim in EXACT})
def packet_by_packet(runs, claim: str):
    """By the engine's own router and controllers (`crates/theory/src/abc.rs`)."""
    return checked(runs, claim, REPORTED)
