"""RoCC as a fluid (derived from Algorithm 1, not published): N sources at one rate, updates every T, a delay d.

The published chapter refers to an analysis of stability that it does not contain. What stands here follows
from the equations: K = N ΔF/(8 ΔQ), ratio r, and the open loop L(s) = (K/r) (β̃ s + α̃/T)/s² · exp(−s (d +
T/2)).
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class Fluid:
    """Constants: seconds, bytes, b/s."""

    gbps: int = 40
    update: float = 40e-6
    delay: float = 20e-6
    rate_step: float = 10e6
    queue_step: float = 600.0
    alpha: float = 0.3
    beta: float = 1.5
    reference: float = 150e3
    growth: float = 300e3
    limit: float = 360e3
    decreases: bool = True

    @classmethod
    def at(cls, gbps: int, **more) -> Fluid:
        if gbps == 40:
            return cls(**more)
        return cls(100, alpha=0.45, beta=2.25, reference=300e3, growth=600e3, limit=660e3, **more)

    @property
    def highest(self) -> float:
        return self.gbps * 1e9 / self.rate_step

    def ratio(self, fair: float) -> int:
        level = 2
        while fair < self.highest / level and level < 64:
            level *= 2
        return level // 2

    def run(self, n: int, seconds: float, steps: int = 40):
        """When, F (steps) and the queue (steps), from N sources that start at 0.9 of the link."""
        dt = self.update / steps
        lag = round(self.delay / dt)
        count = round(seconds / dt)
        fair, queue, old = self.highest, 0.0, 0.0
        sent = [0.9 * self.highest] * (lag + 1)
        out = np.empty((count // steps + 1, 3))
        for i in range(count):
            queue = max(
                0.0,
                queue
                + (n * min(sent[0], 0.9 * self.highest) - self.highest) * self.rate_step / 8 / self.queue_step * dt,
            )
            if i % steps == 0:
                fair = self.tick(fair, queue, old)
                old = queue
                out[i // steps] = i * dt, fair, queue
            sent.append(fair)
            sent.pop(0)
        return out[: count // steps].T

    def tick(self, fair: float, queue: float, old: float) -> float:
        high = self.decreases and fair > self.highest / 8
        if high and queue >= self.limit / self.queue_step:
            fair = 10.0
        elif high and queue - old >= self.growth / self.queue_step:
            fair /= 2
        else:
            ratio = self.ratio(fair)
            error = queue - self.reference / self.queue_step
            fair -= (self.alpha * error + self.beta * (queue - old)) / ratio
        return min(max(fair, 10.0), self.highest)

    def margin(self, n: int) -> float:
        """Phase margin in degrees at the equilibrium of N sources."""
        ratio = self.ratio(self.highest / n)
        k = n * self.rate_step / (8 * self.queue_step) / ratio
        # |L| = 1: w⁴ = k² (β² w² + (α/T)²).
        b, a = (k * self.beta) ** 2, (k * self.alpha / self.update) ** 2
        w = math.sqrt((b + math.sqrt(b * b + 4 * a)) / 2)
        return math.degrees(math.atan(w * self.beta * self.update / self.alpha) - w * (self.delay + self.update / 2))

    def most(self) -> int:
        """The largest N with a positive margin."""
        return next(n for n in range(1, 100_000) if self.margin(n + 1) <= 0)


def convergence(model: Fluid, n: int, seconds: float = 0.02) -> float:
    """Seconds until F is within 10 % of its share for good."""
    at, fair, _ = model.run(n, seconds)
    off = np.abs(fair - model.highest / n) > 0.1 * model.highest / n
    return float(at[off].max()) if off.any() else 0.0
