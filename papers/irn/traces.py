"""Traces: the authors' own incast (§4.5.2), by which the rule is chosen that restarts IRN's timer, and TIMELY's rates in an incast
of ten, which show why IRN-F9a and F9b fail."""

from __future__ import annotations

import numpy as np

from thalweg.papers import measure

from . import numbers
from .incast import events
from .settings import BASELINES, Point, run, scheme

TRACE_CAP, TRACE_PACKETS = 111, 2807
RULES = {
    "trace": "answer",
    "trace-progress": "progress",
}  # what restarts the timer: the study's rule, and the other reading


def trace(place: str):
    """50 senders of 2807 packets each, cap 111, neither congestion nor flow control; every packet is recorded."""
    point = Point()
    set = point.network() | scheme("irn", "none", point)
    more = {
        "traffic.0.fan_in": 50,
        "traffic.0.size": f"{TRACE_PACKETS * numbers.MTU}B",
        "transport.cap": TRACE_CAP,
        "transport.timer_restart": RULES[place],
        "measure.packets": {},
        "run.until": "1s",
    }
    return run(f"{place}:irn.none", "incast", set | more, 1, keep=True)


def burst(name: str):
    """One incast of ten with TIMELY, whose rates are sampled; Figure 4.9's first event has the same senders."""
    point = Point()
    set = events(10, point, "quick") | scheme(name, "timely", point)
    set |= {"traffic.0.repeat": 1, "measure.controllers": {"every": "50us"}, "run.until": "1s"}
    del set["traffic.0.period"]
    return run(f"burst:{name}.timely", "incast", set, 1, keep=True)


def runs(scale: str) -> list:
    return [*(trace(place) for place in RULES), *(burst(name) for name in BASELINES)]


def recorded(results, forward: bool):
    """Packets that arrived, in the order of their arrival: (flow, PSN or cumulative PSN, wire bytes, sent ps, arrived ps)."""
    import polars as pl

    rows = results.packets.filter((pl.col("forward") == int(forward)) & (pl.col("exit_ps") >= 0))
    table = rows.select("flow", "seq", "wire", "ingress_ps", "exit_ps").sort("exit_ps", "ingress_ps").collect()
    flow, seq, wire, sent, arrived = (table[c].to_numpy().astype(np.int64) for c in table.columns)
    # The last packet's cumulative acknowledgement is the flow's size, which need not be a multiple of the MTU.
    return flow, -(-seq // numbers.MTU), wire, sent, arrived


NACK = 74  # B on the wire


def answered(results) -> dict[str, float]:
    """What the receivers of such an incast saw and said."""
    flow, psn, _, _, _ = recorded(results, True)
    _, _, wire, _, _ = recorded(results, False)
    found = [numbers.out_of_order(psn[flow == f]) for f in np.unique(flow)]
    ahead = np.concatenate([a for a, _ in found])
    again = np.concatenate([b for _, b in found])
    end = np.array([np.flatnonzero(flow == f)[-1] + 1 for f in np.unique(flow)]) / len(flow)
    nacks = np.array([int((a > 0).sum()) for a, _ in found])
    first = int(np.argmin(end))
    return {
        "NACK fraction": (ahead > 0).sum() / len(ahead),
        "duplicates": again.sum() / len(again),
        "cap - 1 - largest distance out of order": TRACE_CAP - 1 - int(ahead.max()),
        "NACKs that came back / arrivals": (wire == NACK).sum() / len(ahead),
        "end of the first flow (fraction of arrivals)": float(end.min()),
        "end of the median flow": float(np.median(end)),
        "NACKs of the first flow": int(nacks[first]),
        "arrivals": len(ahead),
        "timeouts": int(results.flows["timeouts"].sum()),
    }


@measure("IRN-V1b", needs=["trace:*", "trace-progress:*"])
def _(runs):
    """Judged with the study's rule for the timer; beside it, the same with the other."""
    found = {key.split(":")[0]: answered(results) for key, results in runs.items()}
    other = ("NACK fraction", "duplicates", "timeouts")
    return found["trace"] | {f"{k}, timer restarted by progress only": found["trace-progress"][k] for k in other}


@measure("IRN-V2a", needs=["trace:*"])
def _(runs):
    """Of the receivers from what arrived, of the senders from what they sent and heard."""
    (results,) = runs.values()
    flow, psn, _, _, _ = recorded(results, True)
    ahead = max(int(numbers.out_of_order(psn[flow == f])[0].max()) for f in np.unique(flow))
    return {
        "cap - largest distance out of order": TRACE_CAP - ahead,
        "cap - most outstanding": TRACE_CAP - most(results),
    }


def most(results) -> int:
    """The most packets that any sender had outstanding. What is lost is not in the recording; that it was sent is told by the
    next one that arrives."""
    import polars as pl

    sent = results.packets.filter((pl.col("forward") == 1) & (pl.col("ingress_ps") >= 0)).select(
        "flow", "seq", "ingress_ps"
    )
    table = sent.collect()
    flow, psn, when = (table[c].to_numpy().astype(np.int64) for c in table.columns)
    psn //= numbers.MTU
    of, cumulative, _, _, arrived = recorded(results, False)
    out = 0
    for f in np.unique(flow):
        mine, heard = flow == f, of == f
        out = max(
            out,
            numbers.outstanding(
                zip(when[mine], psn[mine], strict=True), zip(arrived[heard], cumulative[heard], strict=True)
            ),
        )
    return out


def slowest(results) -> tuple[np.ndarray, np.ndarray]:
    """Seconds and rates (b/s) of the flow that ends last."""
    last = results.flows["id"].to_numpy()[int(np.nanargmax(results.seconds("fct")))]
    table = results.tables["controllers"]
    mine = (table["flow"] == last).to_numpy() & (table["time_ps"] > 0).to_numpy()
    return table["time_ps"].to_numpy()[mine] * 1e-12, table["pace"].to_numpy()[mine].astype(float)
