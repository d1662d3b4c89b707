"""The simulator's leg of OQ-D3: what came to a port of a simulated switch goes through the software datapath too."""

from __future__ import annotations

import re
import tempfile
from pathlib import Path

import numpy as np

import thalweg
from thalweg import policies
from thalweg.errors import ScenarioError
from thalweg.scenario import Scenario

HOSTS, RATE = 4, "10Gbps"
# `notify` is refused where no sender listens, and those of datagrams do not.
OTHERWISE = {"lstf": (" & notify", "")}
# What a record of one port cannot hold, or a port of a network refuses, or refuses of datagrams.
REFUSED = {
    "a2": "a record is of one port",
    "a3": "a record is of one port",
    "lqd": "a record is of one port",
    "tail-drop": "a rate of the port",
    "srpt": "works, which no datagram carries",
    "rsrpt": "works, which no datagram carries",
    "steps": "marks, which no datagram can carry",
}
# What it takes, and what cannot be compared.
APART = {"policy-file": "draws: a port's are of a stream of its own"}


def text(name: str) -> str:
    """A policy of the library, as it is compared."""
    return policies.load(name).text.replace(*OTHERWISE.get(name, ("", "")))


def scenario(name: str, each: int) -> Scenario:
    """Four hosts send `each` datagrams to a fifth, at 1.6 times its link's rate."""
    written = text(name)
    policy = policies.parse(written)
    reads = set(re.findall(r"\b(TOS|value|slack)\b", re.sub(r"//.*", "", written)))
    several = len(policy.queues) if len(policy.queues) > 1 else HOSTS if reads & {"TOS", "value"} else 1
    scheduler = {"kind": "policy", "text": written}

    def flow(host: int) -> dict:
        payload = 200 + 300 * host
        size = {"payload": f"{payload}B", "size": f"{payload * each}B"}
        return {"kind": "udp", "src": host, "dst": HOSTS, "rate": "4Gbps", "spacing": "poisson", **size} | (
            {"class": host % several} if host % several else {}
        )

    table = {
        "topology": {"kind": "star", "hosts": HOSTS + 1, "rate": RATE, "delay": "1us"},
        "switch": {"scheduler": scheduler},
        "nic": {"scheduler": "fifo"},
        "transport": {"kind": "udp"},
        "traffic": [flow(host) for host in range(HOSTS)],
        "run": {"until": "1s"},
    }
    return Scenario.from_dict(table | ({"slack": {"kind": "constant", "value": "100us"}} if "slack" in reads else {}))


def trace(name: str, each: int):
    """The class of each flow, and what came to the port in order of arrival: `at`, and `start`, when it began to leave
    (-1: it was dropped)."""
    import polars as pl

    with tempfile.TemporaryDirectory() as folder:
        run = scenario(name, each)
        thalweg.run(run, out=Path(folder) / "run", progress=False, record="hops")
        rows = pl.read_parquet(Path(folder) / "run" / "packets.parquet")
    came = rows.filter(pl.col("ports").list.len() > 0).with_columns(
        at=pl.col("arrivals_ps").list.first(), start=pl.col("starts_ps").list.first().fill_null(-1)
    )
    classes = [flow.get("class", 0) for flow in run.to_dict()["traffic"]]
    return classes, came.sort("at")


def offered(name: str, each: int) -> tuple[policies.Policy, dict[str, np.ndarray], np.ndarray]:
    """A policy, what came to the port as a trace for other engines, and when it began to send each (-1: never)."""
    classes, came = trace(name, each)
    flows = came["flow"].to_numpy()
    tos = np.array(classes)[flows]
    policy = policies.parse(text(name))
    packets = {
        "at_ps": came["at"].to_numpy(),
        "queue": np.minimum(tos, len(policy.queues) - 1),
        "size": came["wire"].to_numpy(),
        "tos": tos,
        "value": 255 - tos,
        "flow": flows,
    }
    return policy, packets, came["start"].to_numpy()


def in_order(start: np.ndarray) -> np.ndarray:
    """Packets that a port sent, in that order."""
    return np.flatnonzero(start >= 0)[np.argsort(start[start >= 0], kind="stable")]


def compared(name: str, each: int) -> dict[str, int]:
    """Packets of which the simulator and the datapath decide differently: kept or not, and in which order."""
    policy, packets, start = offered(name, each)
    ran, order = policy.run(packets, link=RATE), in_order(start)
    kept = int(((ran.fate == 1) != (start >= 0)).sum())
    turned = int((ran.departures != order).sum()) if len(order) == len(ran.departures) else len(order)
    return {"packets": len(start), "dropped": int((start < 0).sum()), "differences": kept + turned}


def all_of_them(each: int) -> dict[str, float]:
    """Every policy of the library that can be compared."""
    found = {"packets simulated": 0, "dropped there": 0, "differences of the simulator": 0, "policies simulated": 0}
    for name in policies.names():
        if name in REFUSED or name in APART:
            continue
        one = compared(name, each)
        found["packets simulated"] += one["packets"]
        found["dropped there"] += one["dropped"]
        found["differences of the simulator"] += one["differences"]
        found["policies simulated"] += 1
    return found


def is_refused(name: str) -> bool:
    """Whether a port of a network does not take the policy."""
    try:
        scenario(name, 10)
    except ScenarioError:
        return True
    return False
