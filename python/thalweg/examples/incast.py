"""The README's example: sixteen hosts answer one at the same instant, under three combinations of congestion
control and scheduler."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import polars as pl

import thalweg
from thalweg import plots

SCENARIO = """\
name = "incast"

[topology]
kind = "star"
hosts = 17
rate = "10Gbps"
delay = "2us"

[switch]
buffer = "200KB"

[transport]
rto = { kind = "rfc6298", initial = "1ms", min = "1ms" }

[[traffic]]
kind = "incast"
fan_in = 16
size = "500KB"
receiver = 0

[measure]
queues = { every = "5us" }

[run]
until = "100ms"
"""
STEP = '{ kind = "step", threshold = "20pkts" }'
VARIANTS = {
    "NewReno, FIFO": {},
    "DCTCP, FIFO with marking": {"transport.congestion": "dctcp", "switch.marking": STEP},
    "NewReno, SRPT": {"switch.scheduler": "srpt"},
}


def runs(progress: bool | None = False) -> Iterator[tuple[str, thalweg.Results]]:
    """Each variant's name and results, as they come."""
    incast = thalweg.Scenario.from_toml(SCENARIO)
    for name, change in VARIANTS.items():
        yield name, thalweg.run(incast.with_(change), progress=progress)


def draw(found: dict[str, thalweg.Results]) -> plots.Figure:
    """The queue at the receiver's port, and how many flows have completed, over time."""
    with plots.style():
        fig, (left, right) = plots.figure(7, 2.6, columns=2)
        for n, (name, results) in enumerate(found.items()):
            queues = results.tables["queues"]
            busiest = queues.group_by("port").agg(pl.col("bytes").sum()).sort("bytes")["port"][-1]
            queue = queues.filter(pl.col("port") == busiest)
            left.plot(queue["time_ps"] * 1e-9, queue["bytes"] * 1e-3, color=plots.COLOURS[n], label=name, linewidth=1)
            done = np.sort(results.seconds("fct")) * 1e3
            right.step(np.concatenate([[0], done]), np.arange(len(done) + 1), where="post", color=plots.COLOURS[n])
        left.set(xlabel="time (ms)", ylabel="queue at the receiver's port (KB)", ylim=(0, None), xlim=(0, 7))
        right.set(xlabel="time (ms)", ylabel="flows completed", ylim=(0, 16.5), xlim=(0, 7), yticks=[0, 4, 8, 12, 16])
        fig.legend(loc="outside upper center", ncols=3)
        return fig
