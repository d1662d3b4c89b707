"""Draws the README's picture: `python docs/picture.py` writes docs/_static/incast.png."""

from pathlib import Path

import numpy as np
import polars as pl

import thalweg
from thalweg import plots

HERE = Path(__file__).parent
STEP = '{ kind = "step", threshold = "20pkts" }'
VARIANTS = {
    "NewReno, FIFO": {},
    "DCTCP, FIFO with marking": {"transport.congestion": "dctcp", "switch.marking": STEP},
    "NewReno, SRPT": {"switch.scheduler": "srpt"},
}


def draw() -> plots.Figure:
    readme = (HERE.parent / "README.md").read_text(encoding="utf-8")
    incast = thalweg.Scenario.from_toml(readme.split("```toml\n")[1].split("```")[0])
    with plots.style():
        fig, (left, right) = plots.figure(7, 2.6, columns=2)
        for n, (name, change) in enumerate(VARIANTS.items()):
            results = thalweg.run(incast.with_(change), progress=False)
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


if __name__ == "__main__":
    plots.save(draw(), HERE / "_static", "incast", ["png"])
