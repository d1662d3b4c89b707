"""What TIMELY gets to see of a fabric of sparse connections (§3.5.2): how often a round trip moves a rate,
and how long calls wait in their hosts. Judges nothing; the numbers stand next to `TIM-F18-a`."""

from __future__ import annotations

import numpy as np

from thalweg.study import once, seconds

from .numbers import on_wire, serialization

LINE, MIN_RTT, T_HIGH = 10e9, 30e-6, 500e-6
SEGMENT = 64_000
# How a sample without a predecessor, such as the first after a pause of ten minRTT, is read. The default is
# that it is kept and nothing else; `counts`: an update without a difference, so that the thresholds apply
# (the authors' published snippet); `literal`: that, and pauses are not looked at (Algorithm 1 as printed).
READINGS = {
    "counts": {"transport.congestion.use_first_sample": True},
    "literal": {"transport.congestion.use_first_sample": True, "transport.congestion.reset_after_idle": False},
}


class Seen:
    """Fractions of the segments of calls posted in the window: `high`: the round trip was above T_high;
    `silent`: the connection had had nothing under way for ten minRTT; `moved`: the rate changed; `held`: it
    waited in its host for more than the time that a segment takes on the wire."""

    def __init__(self, results):
        begin, end = (seconds(results.scenario.to_dict()["measure"][x]) for x in ("from", "until"))
        flows, table = results.flows.sort("id"), results.tables["round_trips"].sort("time_ps")
        flow = table["flow"].to_numpy()
        table, flow = table.filter(flows["group"].to_numpy()[flow] == 0), flow[flows["group"].to_numpy()[flow] == 0]
        at, rtt = table["time_ps"].to_numpy() * 1e-12, table["rtt_ps"].to_numpy() * 1e-12
        rate = table["pace"].to_numpy().astype(float)
        wire = serialization(on_wire(SEGMENT), LINE)
        posted = at - rtt - wire
        waited = posted - results.seconds("start")[flow]
        pair = flows["src"].to_numpy().astype(np.int64)[flow] * (1 << 20) + flows["dst"].to_numpy()[flow]
        order = np.argsort(pair, kind="stable")
        same = pair[order][1:] == pair[order][:-1]
        moved, silent = np.zeros(len(at), bool), np.ones(len(at), bool)
        moved[order[1:]] = same & (rate[order][1:] != rate[order][:-1])
        silent[order[1:]] = ~same | (posted[order][1:] - at[order][:-1] > 10 * MIN_RTT)
        inside = (posted >= begin) & (posted < end)
        quantities = {"high": rtt > T_HIGH, "silent": silent, "moved": moved, "held": waited > wire}
        self.segments = int(inside.sum())
        self.share = {name: float(values[inside].mean()) for name, values in quantities.items()}
        self.share["high, of these silent"] = (
            float(silent[inside & (rtt > T_HIGH)].mean()) if self.share["high"] else 0.0
        )


@once
def seen(results) -> Seen:
    return Seen(results)


def share(name: str):
    return lambda results: seen(results).share[name]
