"""One estimate under way: paths alone, links alone, sums."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, MutableMapping, Sequence
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from thalweg._format import plural
from thalweg.errors import refuse
from thalweg.estimating.clusters import Look, standing_for
from thalweg.estimating.delays import Alone, Buckets, Delays, packets, quantiles
from thalweg.estimating.estimate import Estimate, Link
from thalweg.estimating.paths import Flows, Paths, Ports, crossing
from thalweg.estimating.reduced import PS, Reducer, Shape
from thalweg.pool import Job, perform_all
from thalweg.results import Results
from thalweg.scenario import Scenario


class Work:
    """What an estimate is made of. `folder`: for the files of small scenarios; `how`: their runs are made, as
    `perform_all` takes it; `spent`: gains the seconds of every part."""

    def __init__(
        self,
        scenario: Scenario,
        flows: Flows,
        paths: Paths,
        folder: Path,
        how: Mapping[str, Any],
        spent: MutableMapping[str, float],
    ):
        self._scenario, self._flows, self._paths, self._how, self._spent = scenario, flows, paths, how, spent
        self._crossing = crossing(paths.data)
        self._reducer = Reducer(scenario, paths.network, folder)
        self._part_shape = cache(self._reducer.part_shape)
        self._whole_shape = cache(self._reducer.shape)
        payloads = np.array([p.payload for p in self._reducer.packets])[flows.section]
        self._packets = packets(flows.size, payloads)

    def estimate(self, buckets: Buckets, cluster: float | None, random: np.random.Generator, draws: int) -> Estimate:
        """All of it; see `thalweg.estimating.estimate_fct`."""
        flows = self._flows
        with self._timed("alone"):
            alone, acks = self._alone()
        with self._timed("links"):
            looks = {port: self._look(port) for port in self._crossing}
            leaders = standing_for(looks, cluster)
            runs = self._links(sorted(set(leaders.values())), self._less(acks))
        with self._timed("sums"):
            delays = {port: self._delays(port, run, alone, buckets) for port, run in runs.items()}
            total = np.zeros((len(flows), draws))
            for port, leader in leaders.items():
                for section, found in delays[leader].items():
                    mine = self._of(port, section)
                    found.add_to(total, mine, flows.size[mine], random)
            everything = np.arange(len(flows))
            least = flows.ideal + self._beyond(alone, everything, self._whole_shape)
            # A flow is never faster than its ideal time.
            fct = np.maximum(least[:, None] + total * self._packets[:, None], flows.ideal[:, None])
        links = [self._link(port, looks[port].load, leader, delays[leader]) for port, leader in leaders.items()]
        return Estimate(self._scenario, flows, least, fct, links, dict(self._spent))

    def _alone(self) -> tuple[dict[tuple[Shape, int], Alone], dict[int, float]]:
        """By shape of a path and section what flows take alone; by section the bytes of ACKs per packet of data."""
        wanted: set[tuple[Shape, int]] = set()
        for path, section in zip(self._paths.data, self._flows.section.tolist(), strict=True):
            wanted.add((self._whole_shape(path), section))
            wanted |= {(self._part_shape(path, port), section) for port in path}
        keys = sorted(wanted)
        tried = {
            section: Alone.tried(
                self._flows.size[self._flows.section == section], self._reducer.packets[section].payload
            )
            for section in {section for _, section in keys}
        }
        made = [self._reducer.alone(n, shape, section, tried[section]) for n, (shape, section) in enumerate(keys)]
        found, acks = {}, {}
        for (shape, section), run in zip(keys, self._perform(made, "paths alone"), strict=True):
            found[shape, section] = Alone(run.flows["size"].to_numpy(), _beyond_ideal(run))
            ports = run.tables["ports"]
            acks[section] = ports["bytes"][1] / max(ports["packets"][0], 1)
        return found, acks

    def _less(self, acks: Mapping[int, float]) -> dict[int, int]:
        """By port the bit/s that ACKs take there on average: from the first start to the last of the flows that they
        answer, or as long as these take at the port's rate."""
        size = (
            self._packets * np.array([acks.get(n, 0.0) for n in range(len(self._reducer.packets))])[self._flows.section]
        )
        found = {}
        for port, chosen in crossing(self._paths.acks).items():
            rate, start = self._paths.network.rate[port], self._flows.start[chosen]
            span = max(int(start.max() - start.min()), int(self._flows.size[chosen].sum()) * 8 * PS // rate, 1)
            found[port] = round(float(size[chosen].sum()) * 8 * PS / span)
        return found

    def _look(self, port: int) -> Look:
        chosen = self._crossing[port]
        shapes = {self._part_shape(self._paths.data[n], port) for n in chosen}
        return Look.at(self._paths.network, port, self._flows, chosen, shapes)

    def _links(self, ports: Sequence[int], less: Mapping[int, int]) -> dict[int, Results]:
        made = [self._reducer.link(p, self._flows, self._crossing[p], self._paths.data, less) for p in ports]
        return dict(zip(ports, self._perform(made, "links"), strict=True))

    def _delays(
        self, port: int, run: Results, alone: Mapping[tuple[Shape, int], Alone], buckets: Buckets
    ) -> dict[int, Delays]:
        """By section what the link adds per packet, beyond what its flows take there alone."""
        chosen = self._crossing[port]
        if not np.array_equal(run.flows["size"].to_numpy(), self._flows.size[chosen]):
            raise RuntimeError(f"the flows of {run.name} are in another order than they were listed")
        beyond = self._beyond(alone, chosen, lambda path: self._part_shape(path, port))
        per_packet = (_beyond_ideal(run) - beyond) / self._packets[chosen]
        # Serialisation is rounded up to 1 ps at each of three hops at most; that is not a delay.
        per_packet[np.abs(per_packet) <= 3] = 0.0
        found = {}
        for section in np.unique(self._flows.section[chosen]).tolist():
            mine = self._flows.section[chosen] == section
            found[section] = Delays(self._flows.size[chosen][mine], per_packet[mine], buckets)
        return found

    def _beyond(
        self, alone: Mapping[tuple[Shape, int], Alone], chosen: np.ndarray, shape_of: Callable[[Ports], Shape]
    ) -> np.ndarray:
        """What flows take alone beyond their ideal times on paths of the shapes that `shape_of` gives, ps."""
        groups: dict[tuple[Shape, int], list[int]] = {}
        for place, n in enumerate(chosen.tolist()):
            groups.setdefault((shape_of(self._paths.data[n]), int(self._flows.section[n])), []).append(place)
        found = np.zeros(len(chosen))
        for (shape, section), places in groups.items():
            sizes = self._flows.size[chosen[places]]
            found[places] = alone[shape, section].of(sizes, self._reducer.packets[section].payload)
        return found

    def _of(self, port: int, section: int) -> np.ndarray:
        """The places of a section's flows that cross a port."""
        chosen = self._crossing[port]
        return chosen[self._flows.section[chosen] == section]

    def _link(self, port: int, load: float, leader: int, delays: Mapping[int, Delays]) -> Link:
        network, per_packet = self._paths.network, np.concatenate([found.all() for found in delays.values()])
        return Link(
            port=port,
            ends=network.ends[port],
            name=network.name(port),
            rate=network.rate[port],
            flows=len(self._crossing[port]),
            load=load,
            leader=leader,
            buckets=sum(map(len, delays.values())),
            mean=float(per_packet.mean()),
            p99=quantiles(per_packet, [99])[0] or 0.0,
        )

    def _perform(self, scenarios: Sequence[Scenario], what: str) -> list[Results]:
        """Has small scenarios run; what they find does not depend on where, or on how many at a time."""
        jobs = [Job(scenario.name, scenario) for scenario in scenarios]
        found = perform_all(jobs, what=what, **self._how)
        return [found[job.key] for job in jobs]

    @contextmanager
    def _timed(self, part: str) -> Iterator[None]:
        begun = time.monotonic()
        yield
        self._spent[part] = time.monotonic() - begun


def _beyond_ideal(run: Results) -> np.ndarray:
    """Completion times of a small run less the ideal ones, ps. Refused if a flow never ends."""
    endless = run.flows["fct_ps"].null_count()
    if endless:
        reason = f"{plural(endless, 'flow')} never end on {run.name} alone: nothing repairs their losses"
        raise refuse(reason, hint="give the transport a timer, or larger buffers")
    return run.flows["fct_ps"].to_numpy() - run.flows["ideal_ps"].to_numpy().astype(np.int64)
