"""Which ports every flow crosses, and those of its ACKs: the network's own routes, as the simulator lays them.

A *scout* run sends one byte of every flow through the network and records by which ports it and its ACK went. A path
depends on the flow's ends, its number and the switches' salts alone, so that it is that of the whole flow.
"""

from __future__ import annotations

import io
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from thalweg import _core, _toml
from thalweg._arrow import arrow_table, frame
from thalweg.engine import run
from thalweg.errors import refuse
from thalweg.hops import transmissions
from thalweg.scenario import Scenario

if TYPE_CHECKING:
    import polars

    from thalweg.rundata import RunData

# Simulated time that no run here comes to: each ends when its flows have.
FOR_EVER = "1000000s"
# Numbers of ports in the order in which they are crossed.
Ports = tuple[int, ...]


@dataclass(frozen=True)
class Flows:
    """A scenario's flows in the order of their numbers: payload in bytes, starts and ideal completion times in ps,
    `section` is the place of their `[[traffic]]` section."""

    id: np.ndarray
    src: np.ndarray
    dst: np.ndarray
    size: np.ndarray
    start: np.ndarray
    ideal: np.ndarray
    section: np.ndarray
    measured: np.ndarray

    def __len__(self) -> int:
        return len(self.id)

    def only(self, chosen: np.ndarray) -> Flows:
        """Those at these places."""
        return Flows(**{f.name: getattr(self, f.name)[chosen] for f in fields(self)})

    def csv(
        self,
        chosen: np.ndarray,
        src: np.ndarray | None = None,
        dst: np.ndarray | None = None,
        size: np.ndarray | None = None,
        start: np.ndarray | None = None,
    ) -> str:
        """A flow list of the flows at these places; columns that are given replace their own."""
        import polars as pl

        def pick(given: np.ndarray | None, own: np.ndarray) -> np.ndarray:
            return own[chosen] if given is None else given

        return pl.DataFrame(
            {
                "id": self.id[chosen],
                "src": pick(src, self.src),
                "dst": pick(dst, self.dst),
                "size_bytes": pick(size, self.size),
                "start_ps": pick(start, self.start),
            }
        ).write_csv()


@dataclass(frozen=True)
class Network:
    """Ports by their numbers: ends, rates in bit/s, delays of propagation in ps (only of ports that a flow crosses);
    names of nodes."""

    ends: list[tuple[int, int]]
    rate: list[int]
    delay: list[int]
    names: list[str]

    def name(self, port: int) -> str:
        a, b = self.ends[port]
        return f"{self.names[a]} → {self.names[b]}"


@dataclass(frozen=True)
class Paths:
    """Of each flow the ports that its data crosses, and those of its ACKs; a host's own port is the first."""

    network: Network
    data: list[Ports]
    acks: list[Ports]

    def only(self, chosen: np.ndarray) -> Paths:
        """Those of the flows at these places."""
        return Paths(self.network, [self.data[n] for n in chosen], [self.acks[n] for n in chosen])


def flows_of(scenario: Scenario) -> Flows:
    """The flows of a scenario. Nothing is run."""
    import polars as pl

    made = next(table for table in _core.Simulation(scenario._core).tables() if table[0] == "flows")
    table = frame(arrow_table(*made))
    if "src_nic" in table.columns:
        raise refuse("hosts have several links: cannot be estimated link by link", hint="run the whole: `thalweg run`")
    if not table.height:
        raise refuse("there is no flow to estimate", hint="write a section [[traffic]] that has some")
    listed = pl.read_csv(io.StringIO(scenario.flows_csv()), schema_overrides={"start_ns": pl.Float64})
    table = table.join(listed.select("id", "start_ns"), on="id", how="left", maintain_order="left")
    table = table.with_columns(start=(pl.col("start_ns") * 1000).round().cast(pl.Int64))
    names = {"id": "id", "src": "src", "dst": "dst", "size": "size", "ideal": "ideal_ps", "section": "group"}
    columns = {name: table[column].to_numpy().astype(np.int64) for name, column in names.items()}
    return Flows(**columns, start=table["start"].to_numpy(), measured=table["measured"].cast(pl.Boolean).to_numpy())


def paths_of(scenario: Scenario, flows: Flows, progress: bool | None) -> Paths:
    """The paths of all flows."""
    about = scenario.to_dict()
    with tempfile.TemporaryDirectory(prefix="thalweg-") as folder:
        listed = Path(folder) / "flows.csv"
        listed.write_text(flows.csv(np.arange(len(flows)), size=np.ones(len(flows), dtype=np.int64)))
        table = {
            "name": "paths",
            "topology": about["topology"],
            "routing": about["routing"],
            "switch": {"buffer": "unlimited"},
            "traffic": [{"kind": "list", "file": str(listed)}],
            "measure": {"packets": {"hops": True}},
            "run": {"until": FOR_EVER},
        }
        if "link" in about:
            table["link"] = about["link"]
        scout = Scenario(_toml.dumps(table), "<paths>", directory=scenario._directory)
        found = run(scout, out=Path(folder) / "run", progress=progress)
        ports, nodes = found.tables["ports"], found.tables["nodes"]
        hops = _first_packets(found)
        delays = dict(hops.group_by("port").agg(_least()).iter_rows())
        network = Network(
            ends=list(zip(ports["from"].to_list(), ports["to"].to_list(), strict=True)),
            rate=ports["rate_bps"].to_list(),
            delay=[delays.get(port, 0) for port in ports["port"].to_list()],
            names=nodes.sort("node")["name"].to_list(),
        )
        number = {flow: place for place, flow in enumerate(found.flows["id"].to_list())}
        data: list[Ports] = [()] * len(flows)
        acks: list[Ports] = [()] * len(flows)
        for flow, forward, crossed in _by_flow(hops).iter_rows():
            (data if forward else acks)[number[flow]] = tuple(crossed)
    return Paths(network, data, acks)


def _least() -> polars.Expr:
    import polars as pl

    return pl.col("least_ps").min()


def _first_packets(found: RunData) -> polars.DataFrame:
    """The visits to ports of each flow's first packet and of its first ACK."""
    import polars as pl

    hops = transmissions(found, found.packets)
    return hops.filter(pl.col("packet") == pl.col("packet").min().over("flow", "forward"))


def _by_flow(hops: polars.DataFrame) -> polars.DataFrame:
    import polars as pl

    return hops.sort("packet", "hop").group_by("flow", "forward", maintain_order=True).agg(pl.col("port"))


def crossing(paths: Sequence[Ports]) -> dict[int, np.ndarray]:
    """By port the places of the flows that cross it, both in order."""
    found: dict[int, list[int]] = {}
    for place, ports in enumerate(paths):
        for port in ports:
            found.setdefault(port, []).append(place)
    return {port: np.array(found[port]) for port in sorted(found)}
