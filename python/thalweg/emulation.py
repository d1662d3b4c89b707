"""Commands on emulated paths: a link as a scenario, a run, its numbers and its picture. Linux only."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from thalweg import _core, _places, _toml
from thalweg.errors import Diagnostic, ScenarioError, nearest, refuse
from thalweg.scenario import Scenario

if TYPE_CHECKING:
    from thalweg.plots import Figure

RATE = re.compile(r"[0-9.]+ *[kMGT]?bps")
# Ends of the link that options describe.
BETWEEN = ("switch0", "switch1")
# Markings that take effect only where some transport understands them, which the simulated senders then are.
CONTROLLERS = {
    "step": "dctcp", "red-ecn": "dctcp", "random-ecn": "dctcp", "pi": "dctcp",
    "abc": "abc", "xcp": "xcp", "rcp": "rcp", "vcp": "vcp",
}  # fmt: skip
# Queues that need of a path what real packets do not give it: no scenario of a link has them.
IMPOSSIBLE = {
    "lstf": "it sorts by slack, which IP headers do not carry",
    "pifo": "it sorts by what senders write into a rank header, which IP does not carry",
    "input-round-robin": "it serves the inputs of a switch one by one, and the link has one",
    "ndp": "it cuts packets to their headers, and real receivers take those for damaged",
}
# The option that a key comes from.
OPTIONS = {
    "topology.bottleneck_rate": "--rate",
    "topology.delay": "--delay",
    "switch.scheduler": "--queue",
    "switch.scheduler.file": "--policy",
    "switch.marking": "--queue",
    "switch.buffer": "--buffer",
}


@dataclass(frozen=True)
class Link:
    """A link as the options of `thalweg shell` describe it."""

    rate: str | None = None
    delay: str = "0ms"
    queue: str | None = None
    policy: str | None = None
    buffer: str | None = None
    loss: float | None = None
    up: str | None = None
    down: str | None = None

    def table(self, classes: bool = False) -> dict[str, Any]:
        """The scenario: two hosts, two switches, the link between them; `classes`: traffic of two."""
        ways = {"forward": self.up, "backward": self.down}
        if self.rate is None and None in ways.values():
            missing = " and ".join(f"--{w}" for w in ("up", "down") if getattr(self, w) is None)
            raise refuse("the link has no rate", hint=f"give --rate, or {missing} (a trace file, or a rate)")
        topology = {"kind": "dumbbell", "pairs": 1, "host_rate": "100Gbps", "host_delay": "0ns", "delay": self.delay}
        if None in ways.values():
            topology["bottleneck_rate"] = self.rate
        elif self.rate is not None:
            raise refuse("--up and --down give both directions their rates: --rate cannot take effect")
        found: dict[str, Any] = {"name": "shell", "topology": topology}
        switch: dict[str, Any] = {"buffer": self.buffer} if self.buffer is not None else {}
        controller = "cubic"
        if self.queue is not None:
            schedulers, markings = (_names(kind) for kind in ("schedulers", "markings"))
            if self.queue not in schedulers | markings:
                raise refuse(
                    f"--queue: nothing is called `{self.queue}`", hint=nearest(self.queue, schedulers | markings)
                )
            if self.queue == "policy":
                raise refuse("--queue: a policy is a file", hint="name it with --policy")
            if why := IMPOSSIBLE.get(self.queue):
                raise refuse(f"--queue: real packets cannot pass `{self.queue}`: {why}", hint=_others())
            switch["scheduler" if self.queue in schedulers else "marking"] = self.queue
            controller = CONTROLLERS.get(self.queue, controller)
        if self.policy is not None:
            if self.queue is not None:
                raise refuse("--policy is the whole queue: --queue cannot take effect")
            switch["scheduler"] = {"kind": "policy", "file": self.policy}
            found["nic"] = {"scheduler": "fifo"}
        if switch:
            found["switch"] = switch
        found["transport"] = {"congestion": controller}
        links = [
            {"which": {"between": list(BETWEEN)}, "direction": way, "transmitter": _transmitter(text)}
            for way, text in ways.items()
            if text is not None
        ]
        if self.loss is not None:
            links.append({"which": {"between": list(BETWEEN)}, "loss": {"independent": self.loss}})
        if links:
            found["link"] = links
        # What the simulator would run over it. A queue of classes takes effect where there are several.
        there = {"kind": "backlogged", "src": 0, "dst": 1}
        back = {"kind": "backlogged", "src": 1, "dst": 0}
        if classes:
            back["class"] = 1
        return found | {"traffic": [there, back], "run": {"until": "60s"}}

    def scenario(self, set: Mapping[str, Any] | None = None) -> Scenario:
        """The same, with other keys set, checked. Raises `ScenarioError` that names options."""
        return self.fitted(set)[1]

    def fitted(self, set: Mapping[str, Any] | None = None) -> tuple[dict[str, Any], Scenario]:
        """`table` with the traffic that takes effect, and `scenario`."""
        found: list[Diagnostic] = []
        # Whether a queue looks at classes is known once it is read.
        for classes in (False, True):
            table = self.table(classes)
            try:
                return table, Scenario(_toml.dumps(table), "thalweg shell", Path.cwd(), set)
            except ScenarioError as e:
                found = [_by_option(d, self._links()) for d in e.diagnostics]
                if not any("class 0" in d.reason for d in found):
                    break
        raise ScenarioError(found)

    def ports(self, scenario: Scenario) -> list[dict[str, Any]]:
        """The ports of `scenario`, which these options made. Raises `ScenarioError` that names options."""
        try:
            return ports(scenario, BETWEEN)
        except ScenarioError as e:
            found = [_by_option(d, self._links()) for d in e.diagnostics]
            if self.queue is not None and any(d.reason.startswith("--queue") for d in found):
                found = [replace(d, hint=d.hint or _others(), text="") for d in found]
            raise ScenarioError(found) from None

    def _links(self) -> str:
        """The options that make links of their own."""
        given = {"--up": self.up, "--down": self.down, "--loss": self.loss}
        return ", ".join(option for option, value in given.items() if value is not None)


def _names(kind: str) -> set[str]:
    return {name for name, *_ in _core.catalogue(kind) or []}


def passable() -> list[str]:
    """The queues that real packets can pass, those that need keys of their own included."""
    found = []
    for queue in sorted((_names("schedulers") | _names("markings")) - {*IMPOSSIBLE, "policy"}):
        try:
            ports(Link(rate="10Mbps", queue=queue).scenario(), BETWEEN)
        except ScenarioError as e:
            if not all(d.hint and "--set" in d.hint for d in e.diagnostics):
                continue
        found.append(queue)
    return found


def _others() -> str:
    return f"queues of real packets are {', '.join(passable())}"


def _transmitter(text: str) -> dict[str, Any]:
    return {"kind": "fixed", "rate": text} if RATE.fullmatch(text) else {"kind": "traced", "file": text}


def _by_option(found: Diagnostic, links: str) -> Diagnostic:
    """The same error, about an option instead of a line of the scenario that the options made."""
    key = re.sub(r"\.\d+.*", "", found.key)
    option = links if key == "link" else OPTIONS.get(found.key) or OPTIONS.get(key)
    if "key is missing" in found.reason and key.startswith(("switch.marking.", "switch.scheduler.")):
        value = re.search(r'`\w+ = "?([^"`]+)"?`', found.hint or "")
        hint = f"add --set {key}={value[1]}" if value else f"add it with --set {key}=.."
        return Diagnostic(f"--queue: it needs `{key}`", file="thalweg shell", hint=hint)
    if not option:
        return found
    # There is no scenario that paths are relative to.
    hint = re.sub(r" ?\(?paths are relative to the scenario\)?", "", found.hint or "")
    return Diagnostic(f"{option}: {found.reason}", file="thalweg shell", hint=hint)


def ports(scenario: Scenario, between: Sequence[str] | None = None) -> list[dict[str, Any]]:
    """Name, rate (bit/s) and delay (ns) of the way to the far end, and of the way back.

    `between` names the nodes along the path, each the neighbour of the one before: two nodes are one port each way,
    more are a chain. Without it the port is the bottleneck. Of a chain the rate is its least and the delay that of
    all of it, and `hops` has the same of each port. Raises `ScenarioError`: for nodes that are not a path, and by key
    for what real packets cannot have.

        ports(scenario, ["switch0", "switch1", "switch2"])
    """
    return json.loads(_core.emulate_ports(scenario._core, None if between is None else list(between)))


def run(
    scenario: Scenario,
    command: Sequence[str],
    *,
    between: Sequence[str] | None = None,
    peer: Sequence[str] | None = None,
    environment: Mapping[str, str] | None = None,
    record: Path | None = None,
    capture: Path | None = None,
    wire: str | None = None,
    outside: bool = False,
) -> dict[str, Any]:
    """Runs a command on a path: the ports along the nodes of `between`, or the bottleneck, and back. In its words,
    `{peer}` is the address of the far end, where `peer` runs, `{peer6}` that of IPv6; a variable of `environment` that
    names one where the kernel has none is not set. `record`, `capture`: folders for what passes the ports. `outside`:
    the far end leads on to the network of this machine, by `slirp4netns`. Raises `OSError` for what the kernel refuses
    or what is not installed.

        run(scenario, ["curl", "-sO", "https://example.org/"], outside=True)
    """
    wanted = list((environment or {}).items())
    peers = None if peer is None else list(peer)
    nodes = None if between is None else list(between)
    return json.loads(
        _core.emulate_shell(scenario._core, nodes, (list(command), peers), wanted, (record, capture), (wire, outside))
    )


def replay(record: Path) -> dict[str, Any]:
    """A record through the same port again: what was compared, and the first decision that differs."""
    try:
        return json.loads(_core.replay_port(record))
    except OSError as e:
        raise refuse(e.strerror or str(e), file=record) from None


def rows(outcome: Mapping[str, Any]) -> Iterable[tuple[str, str, str]]:
    """The table of a run: what, towards the far end, back."""
    ways = [outcome["up"], outcome["down"]]
    seconds = outcome["seconds"]

    def row(what: str, cell: Callable[[Any, Any], str]) -> tuple[str, str, str]:
        up, down = (cell(way, way["statistics"]) for way in ways)
        return what, up, down

    def share(count: int, of: int) -> str:
        return f"{count} ({100 * count / of:.2g} %)" if count else "0"

    yield row("port", lambda w, s: w["port"])
    yield row("rate, delay", lambda w, s: f"{_rate(w['bps'])}, {_time(w['delay_ns'])}")
    yield row("packets", lambda w, s: str(s["packets"]))
    yield row("throughput", lambda w, s: _rate(8 * s["bytes"] / seconds if seconds else 0))
    yield row("dropped", lambda w, s: share(s["dropped"], s["arrived"]))
    if any(w["statistics"]["lost"] for w in ways):
        yield row("lost", lambda w, s: share(s["lost"], s["arrived"]))
    if any(w["statistics"]["marked"] for w in ways):
        yield row("marked", lambda w, s: share(s["marked"], s["arrived"]))
    yield row("waited p50/p99/max", lambda w, s: _times(s["waited"], "p50", "p99", "max"))
    yield row("late p50/p99/max", lambda w, s: _times(w["lateness"]["histogram"], "p50", "p99", "max"))
    if any(w["statistics"]["not_ip"] for w in ways):
        yield row("not IP", lambda w, s: ", ".join(f"{n} {kind}" for kind, n in s["not_ip"].items()) or "0")


def hops(outcome: Mapping[str, Any]) -> list[tuple[str, ...]]:
    """The table of a chain's ports, first what its columns are: towards the far end, then back. Empty where each way
    is one port."""
    found = [(name, hop) for name in ("up", "down") for hop in outcome[name].get("hops", ())]
    if not found:
        return []
    counts = ["packets", "dropped", *(what for what in ("lost", "marked") if any(hop[what] for _, hop in found))]
    rows = [
        (f"{name} {hop['port']}", *(str(hop[what]) for what in counts), _times(hop["waited"], "p50", "p99", "max"))
        for name, hop in found
    ]
    return [("port", *counts, "waited p50/p99/max"), *rows]


def warnings(outcome: Mapping[str, Any]) -> Iterable[str]:
    """What makes a run doubtful."""
    yield from outcome["notes"]
    for name in ("up", "down"):
        way = outcome[name]
        late, counted = way["lateness"], way["statistics"]
        if late["late"]:
            p99, most = _time(late["histogram"]["p99_ns"]), _time(late["allowed_ns"])
            yield f"LATE: p99 of lateness {name} is {p99}, more than {most} (a packet's time, or 1 % of the round trip)"
        if counted["overrun"]:
            yield f"the emulator lost {counted['overrun']} packets {name} itself: the machine is too slow for this path"
        if counted["unfinished"]:
            yield f"{counted['unfinished']} packets {name} came without checksums: offloads are still on"


def _rate(bps: float) -> str:
    from thalweg import _units

    return _units.quantity(bps / 1e9, "gbps")


def _time(ns: float) -> str:
    for factor, unit in ((1e9, "s"), (1e6, "ms"), (1e3, "us")):
        if ns >= factor:
            return f"{ns / factor:.3g} {unit}"
    return f"{ns:.0f} ns"


def _times(found: Mapping[str, Any], *which: str) -> str:
    return " / ".join(_time(found[f"{name}_ns"]) for name in which)


def picture(outcome: Mapping[str, Any]) -> Figure:
    """Throughput and queueing delay over time, both directions."""
    import numpy as np

    from thalweg import plots

    with plots.style():
        fig, (above, below) = plots.figure(plots.COLUMN * 1.6, plots.COLUMN * 1.1, rows=2, sharex=True)
        for n, name in enumerate(("up", "down")):
            series = outcome[name]["statistics"]["series"]
            at = np.arange(len(series)) * 0.1
            look = plots.curve(n)
            above.step(at, [8e-5 * bin["bytes"] for bin in series], where="post", label=name, **look)
            below.step(at, [1e-6 * bin["waited_p95_ns"] for bin in series], where="post", label=name, **look)
        above.set(ylabel="throughput (Mb/s)", ylim=(0, None))
        below.set(ylabel="queueing delay, p95 (ms)", xlabel="time (s)", ylim=(0, None))
        above.legend()
        return fig


def keep(outcome: Mapping[str, Any], scenario: Scenario, folder: Path) -> None:
    """Writes `outcome.json`, `scenario.toml` and `path.png` into a folder of ours."""
    from thalweg import plots

    _places.write_file(folder / "outcome.json", json.dumps(outcome) + "\n", mark="")
    _places.write_file(folder / "scenario.toml", scenario.to_toml(), mark="")
    plots.save(picture(outcome), folder, "path", ["png"])
