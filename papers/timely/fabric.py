"""The large-scale cluster (§3.5.2): remote procedure calls across a Clos network, TIMELY against PFC alone.

The paper had a few hundred machines; here a fat-tree stands in for them (README). Pings of 64 B to random
hosts of other pods measure round trips in the class of data.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

from thalweg.study import Key, NotCheckable, flow_list, mean, measure, once, percentile, run, seconds, steps

from .numbers import saturation
from .outcome import pauses
from .settings import SEEDS
from .silence import READINGS
from .silence import share as saw

K = {"quick": 6, "full": 8}
# ms: what happens in here counts. The incast needs longer to settle: an e-folding of the rate takes 52 ms at 64 KB.
WINDOW = {"quick": (40, 80), "full": (100, 300)}
SETTLED = {"quick": (100, 160), "full": (200, 400)}
LOADS = {
    "quick": (0.1, 0.3, 0.5, 0.6, 0.625, 0.65, 0.675, 0.7, 0.8, 0.9),
    "full": (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.625, 0.65, 0.675, 0.7, 0.8, 0.9, 1.0),
}
BACKGROUND = (0.167, 0.3, 0.5)
FAN_IN = 40
SCHEMES = ("timely", "pfc")
AROUND = (0.6, 0.65, 0.7)  # loads around saturation, at which other readings of Algorithm 1 are shown too
PING_MS = 1.0
# 64 B and an ACK, in the same class as data.
PING = {
    "kind": "rdma",
    "mtu": "1442B",
    "header": "58B",
    "ack_size": "64B",
    "congestion": "fixed",
    "recovery": "go-back-n",
    "acks": "per-packet",
    "timer": "off",
}


def fabric(scheme: str, load: float) -> Key:
    return Key(f"fabric-{load:g}", scheme)


def background(scheme: str, load: float, incast: bool) -> Key:
    return Key(f"{'incast' if incast else 'background'}-{load:g}", scheme)


def runs(scale: str) -> list:
    made = []
    for seed in SEEDS[scale]:
        for s in SCHEMES:
            made += [at(fabric(s, load), load, seed, scale, WINDOW) for load in LOADS[scale]]
            for load in BACKGROUND:
                more = {False: [], True: crowd(K[scale], seed)}
                made += [at(background(s, load, i), load, seed, scale, SETTLED, more[i]) for i in more]
        for name, more in READINGS.items():
            made += [at(fabric(f"timely-{name}", load), load, seed, scale, WINDOW, also=more) for load in AROUND]
    return made


def at(key: Key, load: float, seed: int, scale: str, window: dict, more=(), also=None):
    """Calls at this load, pings, and what else there is."""
    k, (begin, end) = K[scale], window[scale]
    calls = {"kind": "rpc", "load": load, "request": "64KB", "response": "64KB", "servers": "other-pods"}
    calls |= {"connection": "per-pair", "packet_payload": "1442B", "packet_header": "58B"}
    set = {
        "topology.k": k,
        "transports": {"ping": PING},
        "measure.from": f"{begin}ms",
        "measure.until": f"{end}ms",
        "measure.round_trips": True,
        "run.until": f"{end}ms",
    } | (also or {})
    if key.scheme == "pfc":
        set["transport.congestion"] = "fixed"

    def prepare(_, folder: Path) -> dict:
        """The pings, as a list of flows."""
        probes = {"kind": "list", "file": str(pings(k, end, seed, folder)), "transport": "ping"}
        return {"traffic": [calls, *more, probes]}

    return run(key, "fabric", set, seed, prepare=prepare)


def pod(host, k: int):
    return host // (k * k // 4)


def pings(k: int, end_ms: int, seed: int, folder: Path) -> Path:
    """Every host pings a random host of another pod once per millisecond."""
    hosts, draw = k**3 // 4, np.random.default_rng([seed, 1])
    rows = []
    for src in range(hosts):
        there = [h for h in range(hosts) if pod(h, k) != pod(src, k)]
        first = draw.uniform(0, PING_MS)
        for ms in np.arange(first, end_ms, PING_MS):
            rows.append((round(ms * 1e6), src, there[draw.integers(len(there))], 64))
    return flow_list(folder / f"pings-k{k}-{end_ms}ms-{seed}.csv", sorted(rows)).resolve()


def crowd(k: int, seed: int) -> list[dict]:
    """Forty random clients that always have a request for the same server."""
    hosts, draw = k**3 // 4, np.random.default_rng([seed, 2])
    server, *clients = draw.permutation(hosts)[: FAN_IN + 1]
    return [{"kind": "backlogged", "src": int(c), "dst": int(server)} for c in clients]


# --- What a run says ----------------------------------------------------------------------------------------


class Calls:
    """Calls and pings of one run whose start lies in the window, and what arrived in it."""

    def __init__(self, results):
        config = results.scenario.to_dict()
        begin, end = (seconds(config["measure"][x]) for x in ("from", "until"))
        flows = results.flows
        start, received, acked = (results.seconds(c) for c in ("start", "received", "acked"))
        group, size = flows["group"].to_numpy(), flows["size"].to_numpy()
        after = flows["after"].fill_null(-1).to_numpy()
        call = group == 0
        answer = call & (after >= 0)
        asked = np.full(len(start), np.nan)
        asked[answer] = start[after[answer]]
        inside = (received >= begin) & (received < end)
        self.hosts = int(max(flows["src"].max(), flows["dst"].max())) + 1
        self.accepted = float(size[call & inside].sum()) / (end - begin)
        asks = call & ~answer & (start >= begin) & (start < end)
        # Each call offers its request and, if all goes well, the answer.
        self.offered = 2 * float(size[asks].sum()) / (end - begin)
        # A call that has no answer when the run ends counts with its age, a lower bound.
        answered = dict(zip(after[answer], received[answer], strict=True))
        done = np.array([answered.get(n, np.nan) for n in np.flatnonzero(asks)], dtype=float)
        self.unanswered = int(np.isnan(done).sum())
        self.latency = (np.where(np.isnan(done), end, done) - start[asks]) * 1e6
        ping = (group == group.max()) & (start >= begin) & (start < end)
        back = np.where(np.isnan(acked[ping]), end, acked[ping])
        self.lost_pings = int(np.isnan(acked[ping]).sum())
        self.rtt = (back - start[ping]) * 1e6


@once
def calls(results) -> Calls:
    return Calls(results)


def share(results) -> float:
    """Accepted over offered."""
    return calls(results).accepted / calls(results).offered


def accepted(results) -> float:
    """Gb/s of payload of calls."""
    return calls(results).accepted * 8 / 1e9


def rtt(level: float):
    return lambda results: percentile(calls(results).rtt, level)


def latency(level: float):
    return lambda results: percentile(calls(results).latency, level)


def curve(runs, scheme: str, value) -> dict[float, float]:
    return {load: mean(runs, fabric(scheme, load), value) for load in LOADS[runs.scale]}


def limit(runs, scheme: str) -> float:
    return saturation(curve(runs, scheme, share))


def near(runs) -> float:
    """The largest load that both schemes still accept."""
    load = min(limit(runs, s) for s in SCHEMES)
    if load == 0:
        raise NotCheckable("neither scheme accepts the smallest load")
    return load


ALL = [f"fabric-*:{s}@*" for s in SCHEMES]
LOW = 0.3  # loads up to here are before saturation


@measure("TIM-F17-a", needs=ALL)
def saturation_of_both(runs):
    found = {s: limit(runs, s) for s in SCHEMES}
    out = {"TIMELY - PFC": found["timely"] - found["pfc"], "TIMELY": found["timely"], "PFC": found["pfc"]}
    for s in SCHEMES:
        out |= {f"{s}, accepted / offered at {load:g}": x for load, x in curve(runs, s, share).items() if load >= 0.5}
    return out


@measure("TIM-F17-b", needs=[f"fabric-0.[123]:{s}@*" for s in SCHEMES])
def before_saturation(runs):
    both = {load: [mean(runs, fabric(s, load), accepted) for s in SCHEMES] for load in LOADS[runs.scale] if load <= LOW}
    return {"largest |TIMELY / PFC - 1|": max(abs(a / b - 1) for a, b in both.values())}


def ratios(runs, value, load: float) -> float:
    """PFC over TIMELY."""
    return mean(runs, fabric("pfc", load), value) / mean(runs, fabric("timely", load), value)


@measure("TIM-F18-a", needs=ALL)
def pings_of_both(runs):
    load = near(runs)
    out = {"median, PFC / TIMELY": ratios(runs, rtt(50), load), "p99, PFC / TIMELY": ratios(runs, rtt(99), load)}
    out["load"] = load
    for s in SCHEMES:
        for n in (50, 99):
            out |= {f"{s}, p{n} at {x:g} (us)": v for x, v in curve(runs, s, rtt(n)).items() if x >= 0.5}
    return out


def nearly(runs, scheme: str) -> float:
    """The largest of the loads around saturation that a scheme accepts."""
    return saturation({load: mean(runs, fabric(scheme, load), share) for load in AROUND})


@measure("TIM-F18-b", needs=[f"fabric-{load:g}:*" for load in AROUND])
def other_readings(runs):
    """Around saturation: what TIMELY gets to see of it, and what other readings of Algorithm 1 make of that."""
    ping = {n: mean(runs, fabric("pfc", 0.65), rtt(n)) for n in (50, 99)}
    out = {}
    for name in READINGS:
        scheme = f"timely-{name}"
        for n, word in ((50, "median"), (99, "p99")):
            out[f"{name}: {word}, PFC / TIMELY at 0.65"] = ping[n] / mean(runs, fabric(scheme, 0.65), rtt(n))
        # TIM-F17-a with this reading: holds if not below zero.
        out[f"{name}: saturation, TIMELY - PFC"] = nearly(runs, scheme) - nearly(runs, "pfc")
    for load in AROUND:
        for s in ("timely", *(f"timely-{name}" for name in READINGS)):
            words = ("high", "high, of these silent", "moved", "held") if s == "timely" else ("moved", "held")
            out |= {f"{s}, {word} at {load:g}": mean(runs, fabric(s, load), saw(word)) for word in words}
            if s != "timely":
                out |= {f"{s}, p{n} at {load:g} (us)": mean(runs, fabric(s, load), rtt(n)) for n in (50, 99)}
                out[f"{s}, median call at {load:g} (us)"] = mean(runs, fabric(s, load), latency(50))
                out[f"{s}, accepted / offered at {load:g}"] = mean(runs, fabric(s, load), share)
        out[f"pfc, held at {load:g}"] = mean(runs, fabric("pfc", load), saw("held"))
    return out


@measure("TIM-F19-a", needs=ALL)
def calls_of_both(runs):
    load = near(runs)
    tail = [ratios(runs, latency(99), x) for x in LOADS[runs.scale] if x >= load]
    out = {"median, PFC / TIMELY": ratios(runs, latency(50), load), "load": load}
    out["largest step of p99, PFC / TIMELY, from there on"] = max(steps(tail), default=0.0)
    for s in SCHEMES:
        for n in (50, 99):
            out |= {f"{s}, p{n} at {x:g} (us)": v for x, v in curve(runs, s, latency(n)).items() if x >= 0.5}
    return out


CROWDED = "incast-*"
INCAST = [CROWDED, "background-*"]


def lost(runs, scheme: str, load: float) -> float:
    """Fraction of the background's throughput that an incast takes away."""
    return 1 - mean(runs, background(scheme, load, True), accepted) / mean(
        runs, background(scheme, load, False), accepted
    )


@measure("TIM-F20-a", needs=INCAST)
def cost_of_an_incast(runs):
    loss = {s: [lost(runs, s, load) for load in BACKGROUND] for s in SCHEMES}
    out = {
        "PFC loses at 0.5": loss["pfc"][-1],
        "smallest step of PFC's loss": min(steps(loss["pfc"])),
        "most that TIMELY loses": max(loss["timely"]),
    }
    return out | {f"{s} loses at {x:g}": v for s in SCHEMES for x, v in zip(BACKGROUND, loss[s], strict=True)}


@measure("TIM-F20-b", needs=[CROWDED])
def tails_in_an_incast(runs):
    p99 = {(s, x): mean(runs, background(s, x, True), rtt(99)) for s in SCHEMES for x in BACKGROUND}
    out = {"largest p99 RTT, TIMELY / PFC": max(p99["timely", x] / p99["pfc", x] for x in BACKGROUND)}
    out |= {f"{s} at {x:g} (us)": v for (s, x), v in p99.items()}
    return out | {f"pauses, {s} at 0.5": mean(runs, background(s, 0.5, True), pauses) for s in SCHEMES}
