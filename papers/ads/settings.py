"""What is swept, and what is set on top of scenarios/fabric.toml."""

from __future__ import annotations

from pathlib import Path

from thalweg.study import Key, RunSpec
from thalweg.study.lists import from_scenarios

RATES = ("mintcp", "tcp", "dctcp")
SCHEDULERS = ("fifo", "fq", "sjf", "srpt")
MORE_RATES = ("rcp", "vivace")  # footnote 2: RCP and PCC, which the authors ran and do not show
HOSTS = ("tcp", "dctcp")  # of Figures 2 to 4; CHOICE: minTCP too in Figure 2
ADS_QUEUES = (2, 4, 8)
MAPS = ("static", "dynamic")
WORKLOADS = ("heavy-tailed", "facebook", "web-search", "uniform", "bimodal", "point")

# What is swept (§2.3.2, §3.3.2). The published ends are always there; `quick` leaves out points between them.
LOADS = {"quick": (0.3, 0.5), "full": (0.3, 0.5)}
INITIAL_WINDOWS = {"quick": (2, 21), "full": (2, 4, 7, 10, 17, 21)}
RTO_MIN = {"quick": (16, 500), "full": (16, 24, 100, 200, 500, 1000)}  # us
INTERVALS = {"quick": ("0.5ms", "20ms"), "full": ("0.5ms", "1ms", "10ms", "50ms", "100ms")}  # and 5 ms, with W = 10
WINDOWS = {"quick": (1,), "full": (1, 50)}  # and 10, with I = 5 ms


# --- What is set on top of scenarios/fabric.toml ------------------------------------------------------------


def clock(first: str, last: str, end: str) -> dict:
    """Measured are flows that start in [first, last); the run ends when they are done, at `end` at the latest."""
    return {"measure.from": first, "measure.until": last, "traffic.0.until": end, "run.until": end}


def small() -> dict:
    """A third of the fabric: every port sees the same load, the racks are as large as before."""
    return {"topology.leaves": 3}


def main(scale: str) -> dict:
    """Figures 1 and 2."""
    return {} if scale == "full" else clock("10ms", "20ms", "40ms")


def side(scale: str, workload: str = "heavy-tailed") -> dict:
    """Everything else."""
    sizes = {} if workload == "heavy-tailed" else {"traffic.0.sizes": workload}
    return sizes | ({} if scale == "full" else small() | clock("5ms", "15ms", "30ms"))


# minTCP without SRPT collapses slowly: what waits longer than its timer is sent again, and FIFO at full scale
# takes hours to end, if it does. These runs end early instead. Their flows without an end count with a lower
# bound, which flatters them, and every claim sets them against SRPT run to its end: values depend on where
# they end, but what holds so would hold of longer runs too.
COLLAPSING = {"figures": "400ms", "robustness": "200ms"}


def early(scale: str, what: str, rate: str, scheduler: str) -> dict:
    end = COLLAPSING[what]
    return (
        {"run.until": end, "traffic.0.until": end}
        if (scale, rate) == ("full", "mintcp") and scheduler != "srpt"
        else {}
    )


# The NIC has the same queue as a switch port, under the scheme (§2.2): with DCTCP it marks as they do. The
# other reading, that only switches mark, is run for Figure 1.
NIC_MARKS = {"nic.marking": {"kind": "step", "threshold": "15pkts"}}
SWITCHES_ONLY = "switches-mark"
# As in the simulator whose RCP it is, hosts' queues report rates too: the flows of one host share its NIC.
ROUTER = {"kind": "rcp", "alpha": 0.4, "beta": 0.4, "utilisation": 1.0, "period": "16us", "rtt": "16us"}
NIC_TELLS = {"nic.marking": ROUTER | {"average": "moving", "least": "100Mbps"}}


def marks(rate: str) -> dict:
    return {"dctcp": NIC_MARKS, "rcp": NIC_TELLS}.get(rate, {})


def scheme(rate: str, scheduler: str) -> dict:
    return {"scheme": f"{rate}+{scheduler}"} | marks(rate)


def ads(rate: str, queues: int, table: dict) -> dict:
    return {"scheme": rate, "switch.scheduler": {"kind": "ads", "queues": queues, "map": table}} | marks(rate)


def rto_min(rate: str, us: int) -> dict:
    """RTOmin. CHOICE §2.3.2: before its first sample TCP's timer stands at RTOmin, as in the default;
    minTCP's timer *is* it."""
    if rate == "mintcp":
        return {"transport.rto": {"kind": "fixed", "value": f"{us}us"}}
    return {"transport.rto": {"kind": "rfc6298", "initial": f"{us}us", "min": f"{us}us", "max": "1s"}}


# --- Static maps: recorded under true SRPT with another seed (§3.3) -----------------------------------------


def recording(scale: str, rate: str, workload: str, point: dict) -> RunSpec:
    """A run of true SRPT that counts the packets of each priority at every port; its flows are others than
    those measured."""
    end = "150ms" if scale == "full" else point.get("measure.until", "20ms")
    only = clock("0ms", end, end) | {"run.stop_when_done": False, "seed": 2}
    count = {"measure.priority_histogram": {"cap": "2MB", "mtu": "1500B"}}
    return RunSpec(Key(f"map-{workload}", rate), "scenarios/fabric.toml", point | scheme(rate, "srpt") | only | count)


def static_map(source: str):
    """For `prepare`: writes the recorded histogram as the CSV that a static map reads, and names it in the scenario."""

    def prepare(runs, folder: Path) -> dict:
        recorded = runs[source]
        table = recorded.tables["priorities"].select("port", "priority", "packets").sort("port", "priority")
        path = folder / f"{source.replace(':', '-')}.csv"
        folder.mkdir(parents=True, exist_ok=True)
        path.write_text(table.write_csv(), encoding="utf-8")
        return {"switch.scheduler.map.file": from_scenarios(__file__, path)}

    return prepare
