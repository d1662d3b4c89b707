"""Small networks: one link with what leads to it and away from it, or one path on its own.

For a link, as in §3.2 of the paper (Zhao et al., NSDI 2023): every source keeps the rate of its own link, which smooths
its bursts as in the whole network, and is then as far from the link as it is there; behind the link every destination
has a link of its own that is too fast for a queue. A flow's round trip stays what it was: propagation and serialisation
of full packets at the ports that are left out are part of the delays.
"""

from __future__ import annotations

import json
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from thalweg import _toml, _units
from thalweg.estimating.paths import FOR_EVER, Flows, Network, Ports
from thalweg.scenario import Scenario, transport_of

# How much faster than the fastest link of the network a link is that has no queue (the paper's: 10 times).
FAT = 10
PS = 10**12
# Of each link of a path on its own: bit/s, and ps of propagation.
Shape = tuple[tuple[int, int], ...]


@dataclass(frozen=True)
class Packets:
    """Of a section of traffic: payload of a full packet, and that packet on the wire, in bytes."""

    payload: int
    wire: int

    @classmethod
    def of(cls, transport: Mapping[str, Any]) -> Packets:
        """From a resolved table `transport` of kind `tcp` or `rdma`."""
        sizes = {k: int(_units.in_bytes(v)) for k, v in transport.items() if isinstance(v, str) and v[-1:] == "B"}
        payload = sizes["mss" if transport["kind"] == "tcp" else "mtu"]
        heads = ("header", "extra_header", "telemetry")
        return cls(payload, payload + sum(sizes.get(head, 0) for head in heads))


class Reducer:
    """Writes small scenarios that have all of a scenario but its network and its traffic.

    `folder`: where their files are; it must be there for as long as they are run.
    """

    def __init__(self, scenario: Scenario, network: Network, folder: Path):
        self.network, self._folder = network, folder
        self._about = tomllib.loads(scenario.to_toml())
        resolved = scenario.to_dict()
        self.packets = [Packets.of(transport_of(resolved, section)) for section in resolved["traffic"]]
        self._wire = max(p.wire for p in self.packets)
        self._fat = FAT * max(network.rate)
        if quantum := _units.in_ps(self._about["topology"].get("time_quantum", "0ps")):
            # A packet takes one at least: with none a link would be infinitely fast, which is refused.
            self._fat = min(self._fat, int(self._wire * 8 * PS / quantum))

    def shape(self, path: Ports) -> Shape:
        """A whole path on its own."""
        return tuple((self.network.rate[port], self.network.delay[port]) for port in path)

    def part(self, path: Ports, port: int) -> tuple[int, int]:
        """How far a flow's source is from the link, beyond its own link's serialisation, and how far its destination
        behind it, beyond that of a fast link; in ps. 0: there is nothing."""
        at = path.index(port)
        up = self.network.delay[path[0]] + sum(map(self._passes, path[1:at])) if at else 0
        down = sum(map(self._passes, path[at + 1 :]))
        return up, max(down - self._takes(self._fat), 1) if down else 0

    def part_shape(self, path: Ports, port: int) -> Shape:
        """The path on its own that a flow has in the network of a link."""
        up, down = self.part(path, port)
        first = [(self.network.rate[path[0]], up)] if port != path[0] else []
        last = [(self._fat, down)] if port != path[-1] else []
        return (*first, (self.network.rate[port], self.network.delay[port]), *last)

    def link(
        self, port: int, flows: Flows, chosen: np.ndarray, paths: Sequence[Ports], less: Mapping[int, int]
    ) -> Scenario:
        """One link with the flows that cross it (those at the places `chosen`). `less`: by port the bit/s that ACKs
        take there."""
        parts = [self.part(paths[n], port) for n in chosen]
        ups = _means(flows.src[chosen], [up for up, _ in parts])
        downs = _means(flows.dst[chosen], [down for _, down in parts])
        hosts = {("src", node): n for n, node in enumerate(ups)}
        hosts |= {("dst", node): len(ups) + n for n, node in enumerate(downs)}
        first = any(paths[n][0] == port for n in chosen)
        last = any(paths[n][-1] == port for n in chosen)
        count = len(hosts)
        entry = hosts["src", next(iter(ups))] if first else count
        leave = hosts["dst", next(iter(downs))] if last else count + (not first)
        rate = lambda port: self.network.rate[port] - less.get(port, 0)  # noqa: E731
        own = {int(flows.src[n]): paths[n][0] for n in chosen}
        links = [(entry, leave, rate(port), self.network.delay[port])]
        if not first:
            links += [(hosts["src", node], entry, rate(own[node]), up) for node, up in ups.items()]
        if not last:
            links += [(leave, hosts["dst", node], self._fat, down) for node, down in downs.items()]
        renamed = {
            "src": np.array([hosts["src", int(node)] for node in flows.src[chosen]]),
            "dst": np.array([hosts["dst", int(node)] for node in flows.dst[chosen]]),
        }
        graph = (count, (not first) + (not last), links)
        return self._scenario(f"link {self.network.name(port)}", f"link-{port}", graph, flows, chosen, renamed)

    def alone(self, number: int, shape: Shape, section: int, sizes: np.ndarray) -> Scenario:
        """A path on its own with one flow of each size, one after the other, so that no two meet."""
        nodes = [0, *range(2, len(shape) + 1), 1]
        links = [(a, b, rate, delay) for (a, b), (rate, delay) in zip(pairwise(nodes), shape, strict=True)]
        slowest = min(rate for rate, _ in shape)
        # Long enough for eight times the flow, and for some expiries of a timer.
        gaps = PS + sizes.astype(np.int64) * 64 * (PS // slowest)
        none = np.zeros(len(sizes), dtype=np.int64)
        flows = Flows(
            id=np.arange(len(sizes)),
            src=none,
            dst=none + 1,
            size=sizes,
            start=np.cumsum(gaps) - gaps[0],
            ideal=none,
            section=none + section,
            measured=none == 0,
        )
        graph = (2, len(shape) - 1, links)
        return self._scenario(f"path {number}", f"path-{number}", graph, flows, np.arange(len(sizes)), {})

    def _passes(self, port: int) -> int:
        """What a full packet needs to a port's other end, ps."""
        return self.network.delay[port] + self._takes(self.network.rate[port])

    def _takes(self, rate: int) -> int:
        return -(-self._wire * 8 * PS // rate)

    def _scenario(
        self,
        name: str,
        stem: str,
        graph: tuple[int, int, list[Any]],
        flows: Flows,
        chosen: np.ndarray,
        renamed: dict[str, Any],
    ) -> Scenario:
        hosts, switches, links = graph
        file = f"{stem}.json"
        keys = ("a", "b", "rate", "delay")
        written = [dict(zip(keys, (a, b, f"{rate}bps", f"{delay}ps"), strict=True)) for a, b, rate, delay in links]
        (self._folder / file).write_text(json.dumps({"hosts": hosts, "switches": switches, "links": written}))
        traffic = []
        for n, section in enumerate(self._about["traffic"]):
            mine = np.flatnonzero(flows.section[chosen] == n)
            if not len(mine):
                continue
            listed = f"{stem}-{n}.csv"
            columns = {k: v[mine] for k, v in renamed.items()}
            (self._folder / listed).write_text(flows.csv(chosen[mine], **columns))
            traffic.append({"kind": "list", "file": listed} | _kept(section))
        table: dict[str, Any] = {k: self._about[k] for k in ("seed", "switch", "nic", "transport") if k in self._about}
        used = {section["transport"] for section in traffic if isinstance(section.get("transport"), str)}
        if named := {k: v for k, v in self._about.get("transports", {}).items() if k in used}:
            table["transports"] = named
        quantum = self._about["topology"].get("time_quantum", "0ps")
        table["topology"] = {"kind": "file", "file": file, "format": "thalweg-json", "time_quantum": quantum}
        table |= {"name": stem, "traffic": traffic, "measure": {"fct": self._about["measure"]["fct"]}}
        # Parts of so small a network would wait for each other most of the time; other links can be run meanwhile.
        table["run"] = {"until": FOR_EVER, "ties": self._about["run"]["ties"], "threads": 1}
        return Scenario(_toml.dumps(table), f"<{name}>", directory=self._folder)


def _kept(section: Mapping[str, Any]) -> dict[str, Any]:
    """What flows of a list have of their section."""
    return {k: section[k] for k in ("class", "name", "transport", "weight") if k in section}


def _means(nodes: np.ndarray, values: Sequence[int]) -> dict[int, int]:
    """By node, in order, the mean of the values: in networks of tiers all are the same."""
    found: dict[int, list[int]] = {}
    for node, value in zip(nodes.tolist(), values, strict=True):
        found.setdefault(node, []).append(value)
    return {node: round(sum(found[node]) / len(found[node])) for node in sorted(found)}
