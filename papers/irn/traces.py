"""Traces: the authors' own incast (§4.5.2), by which the rule is chosen that restarts IRN's timer, and
TIMELY's rates in an incast of ten, which show why IRN-F9a and F9b fail.

`$THALWEG_IRN_TRACES` names a folder with the authors' receiver trace, `recvInput-40Gbps-incast.txt` and
`recvOutput-40Gbps-incast.txt` (`irn_receiver/traces` of the public repository NetSys/irn-vivado-hls); it is
not part of this repository."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np

from thalweg import _core
from thalweg.study import Key, NotCheckable, measure, run

from . import numbers
from .incast import events
from .settings import BASELINES, Point, scheme

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
    """Packets that arrived, in the order of their arrival: (flow, PSN or cumulative PSN, wire bytes, sent ps,
    arrived ps)."""
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


SILENCE, BIN = 330e-6, 100e-6  # s: longer than RTO_high, and a bin of the histogram


def silences(flow) -> np.ndarray:
    """Seconds of each silence of a flow of at least 330 us, for arrivals in their order. The authors' trace
    has no times: the link to the receiver is busy all along, so an arrival stands for a packet's time on the
    wire, here as there."""
    packet = numbers.WIRE * 8 / 40e9
    found = np.concatenate([np.diff(np.flatnonzero(flow == f)) for f in np.unique(flow)]) * packet
    return found[found >= SILENCE]


def quiet(flow) -> dict[str, float]:
    """How many silences there are, and where most of them lie."""
    found = silences(flow)
    count, edges = np.histogram(found, np.arange(0.0, 3e-3, BIN))
    return {"silences": len(found), "fullest bin from (us)": round(1e6 * edges[int(count.argmax())])}


@measure("IRN-V1c", needs=["trace:*", "trace-progress:*"])
def silent_flows(runs):
    found = {Key.of(key).place: quiet(recorded(results, True)[0]) for key, results in runs.items()}
    return found["trace"] | {f"{k}, timer restarted by progress only": x for k, x in found["trace-progress"].items()}


def authors() -> tuple[np.ndarray, np.ndarray]:
    """The authors' receiver trace: queue pair and number of every arrival; the answers: NACK or not, and the
    number expected next."""
    folder = os.environ.get("THALWEG_IRN_TRACES")
    if not folder:
        raise NotCheckable(
            "the authors' trace is not part of this repository: THALWEG_IRN_TRACES names no folder with it (see README.md)"
        )
    tables = []
    for name, skip in (("recvInput", 1), ("recvOutput", 0)):
        file = Path(folder) / f"{name}-40Gbps-incast.txt"
        try:
            tables.append(np.loadtxt(file, dtype=np.int64, skiprows=skip, ndmin=2))
        except (OSError, ValueError) as e:
            raise NotCheckable(f"{file}: {str(e).splitlines()[0]}") from None
    came, said = tables
    if len(came) != len(said) or came.ndim != 2 or said.ndim != 2 or came.shape[1] < 3 or said.shape[1] < 2:
        raise NotCheckable(f"{folder}: {len(came)} arrivals and {len(said)} answers of other columns than the authors'")
    return came[:, (0, 2)], said[:, :2]


@measure("IRN-V1a", needs=[])
def modules_and_traces(runs):
    """The receiver's half: the engine's own receiver on the authors' arrivals, answer by answer."""
    came, said = authors()
    nack, expected = _core.irn_answers(came[:, 0].tolist(), came[:, 1].tolist())
    alike = (np.array(nack, dtype=np.int64) == said[:, 0]) & (np.array(expected) == said[:, 1])
    return {"answers alike / answers": float(alike.mean()), "answers": len(alike)} | quiet(came[:, 0])


@measure("IRN-V1b", needs=["trace:*", "trace-progress:*"])
def trace_of_the_incast(runs):
    """Judged with the study's rule for the timer; next to it, the same with the other."""
    found = {Key.of(key).place: answered(results) for key, results in runs.items()}
    other = ("NACK fraction", "duplicates", "timeouts")
    return found["trace"] | {f"{k}, timer restarted by progress only": found["trace-progress"][k] for k in other}


@measure("IRN-V2a", needs=["trace:*"])
def bounds_of_packets_ahead(runs):
    """Of the receivers from what arrived, of the senders from what they sent and received."""
    (results,) = runs.values()
    flow, psn, _, _, _ = recorded(results, True)
    ahead = max(int(numbers.out_of_order(psn[flow == f])[0].max()) for f in np.unique(flow))
    return {
        "cap - largest distance out of order": TRACE_CAP - ahead,
        "cap - most outstanding": TRACE_CAP - most(results),
    }


def most(results) -> int:
    """The most packets that any sender had outstanding. What is lost is not in the recording; that it was sent is shown
    by the next one that arrives."""
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
