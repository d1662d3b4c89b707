"""Policies of queues, buffers and ports in OpenQueue (docs/policies.md), run packet by packet in a switch of software::

    from thalweg import policies

    lqd = policies.load("lqd")                       # a file, or a name of the library (`policies.names()`)
    ran = lqd.run(lqd.traffic(packets=10_000, load=1.5), link="10Gbps")
    ran.counters                                     # by queue: what came, what was sent, what was given up
    ran.frame                                        # by packet: its queue, what became of it, when

Time is virtual: the same policy, packets and seed give the same outcome. What packets cost on this machine is measured
by `Policy.bench`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from thalweg import _core, _counts, _given, _input
from thalweg.errors import Diagnostic, ScenarioError, nearest, refuse

if TYPE_CHECKING:
    import numpy as np
    import polars

LIBRARY = Path(__file__).parent / "policy_library"
ENGINES = ("interpreter", "bytecode", "generated")
FATES = ("waiting", "sent", "dropped", "overrun")
# What is known of a packet besides the instant at which it comes, with NumPy's names of types.
FIELDS = {
    "queue": "u4",
    "size": "u4",
    "tos": "u1",
    "value": "i8",
    "processing": "u4",
    "slack_ps": "u8",
    "flow": "u4",
    "dst": "u4",
}
COLUMNS = {"at_ps": "u8"} | FIELDS
# The engine's instants have 63 bits.
LATEST_PS = (1 << 63) - 1
# A policy is a page of text.
LARGEST = 1_000_000


def names() -> list[str]:
    """The policies of the library."""
    return sorted(path.stem for path in LIBRARY.glob("*.oq"))


def about(name: str) -> str:
    """What a policy of the library does: the first sentence of its comment."""
    lines = (LIBRARY / f"{name}.oq").read_text(encoding="utf-8").splitlines()
    comment = []
    for line in lines:
        if not line.startswith("// "):
            break
        comment.append(line.removeprefix("// "))
    return " ".join(comment).split(". ")[0].rstrip(".")


def find(source: str | Path) -> Path:
    """The file of this name, or of this policy of the library."""
    path = _input.path(source, "a policy", "`thalweg.policies.parse(text)` takes one")
    if path.exists() or path.suffix == ".oq" or len(path.parts) > 1:
        return path
    if str(source) in names():
        return LIBRARY / f"{source}.oq"
    reason = f"`{source}` is neither a file nor a policy of the library"
    raise refuse(reason, hint=nearest(str(source), names()))


def text(source: str | Path) -> tuple[str, str]:
    """The text of a file, or of a policy of the library, and what messages call it."""
    path = find(source)
    shown = path.name if path.parent == LIBRARY else str(path)
    try:
        return _input.text(path, LARGEST), shown
    except UnicodeDecodeError:
        raise refuse("is not UTF-8 text", file=shown) from None
    except OSError as e:
        near = nearest(path.name, names()) if path.suffix != ".oq" else None
        raise refuse(_said(e), file=shown, hint=near) from None


def _said(e: OSError) -> str:
    if isinstance(e, FileNotFoundError):
        return "no such file"
    return "is a directory" if isinstance(e, IsADirectoryError) else (e.strerror or str(e))


def mistakes(written: str, name: str) -> list[Diagnostic]:
    """What is wrong with a text; nothing if it is a policy."""
    found, _ = _core.policy_check(written, name)
    return [
        Diagnostic(reason, name, line, column, key=kind, hint=out, text=f"{name}:{line}:{column}: {reason}: {out}")
        for line, column, kind, reason, out in found
    ]


def load(source: str | Path) -> Policy:
    """A policy from a file, or of the library.

    Raises:
        ScenarioError: it cannot be read, or is wrong: one diagnostic for each mistake.
    """
    return parse(*text(source))


def parse(written: str, name: str = "policy.oq") -> Policy:
    """A policy from its text. Raises `ScenarioError`."""
    if not isinstance(written, str):
        raise refuse(f"a {type(written).__name__} is not the text of a policy", file=name, hint="`load` takes a path")
    wrong = mistakes(written, name)
    if wrong:
        raise ScenarioError(wrong)
    return Policy(written, name)


def targets() -> dict[str, tuple[str, bool]]:
    """What policies can be compiled for: what it is, and whether code for it is generated today."""
    return {name: (what, made) for name, what, made in _core.policy_targets()}


@dataclass(frozen=True)
class Queue:
    """A queue of a policy; `size` is in packets or in bytes. Packets enter it from outside, or from another port."""

    name: str
    size: int
    in_packets: bool
    port: int
    entered: bool


@dataclass(frozen=True)
class Port:
    """A port of a policy: its rate is a `share` of its link's, or else `kbps`. Packets leave it for good, or go on."""

    name: str
    share: float | None
    kbps: int | None
    is_exit: bool

    def bps(self, link: int) -> float:
        """Its rate, on a link of this one."""
        if self.kbps is not None:
            return self.kbps * 1000.0
        assert self.share is not None, "a port has a share, or kb/s"
        return link * self.share


@dataclass(frozen=True)
class Lap:
    """What was measured: ns for so many packets that came, left and were given up; `worth`: the types of service of
    those that left, summed."""

    ns: int
    arrived: int
    sent: int
    dropped: int
    worth: int


@dataclass(frozen=True)
class Core:
    """One core that does all the work of a switch: what it needs to admit a packet and to send one (ps), its inputs (a
    packet comes in at that of its flow's number), and how many packets wait at each."""

    arrival_ps: int
    departure_ps: int
    inputs: int = 2
    ring: int = 512


@dataclass(frozen=True)
class Policy:
    """A policy that was checked."""

    text: str
    name: str
    _parts: dict[str, Any] = field(default_factory=dict, repr=False, compare=False)

    def _known(self) -> dict[str, Any]:
        if not self._parts:
            self._parts.update(_core.policy_parts(self.text, self.name))
        return self._parts

    @property
    def queues(self) -> list[Queue]:
        """In the order of their declarations: packets name them by number."""
        return [Queue(*row) for row in self._known()["queues"]]

    @property
    def ports(self) -> list[Port]:
        """In the order of their declarations."""
        return [Port(*row) for row in self._known()["ports"]]

    @property
    def is_built_in(self) -> bool:
        """Whether it was compiled into this engine."""
        return self._known()["compiled"]

    def show(self) -> str:
        """The policy without comments, and what was chosen for its orders."""
        return _core.policy_show(self.text, self.name)

    def rust(self) -> str:
        """The policy as Rust."""
        return self.code("rust")

    def code(self, target: str) -> str:
        """The policy as code for a target: Rust, or C for the kernel. What it is loaded with stands at its top.

        Raises:
            ScenarioError: the target cannot keep it (`refusals` says which parts), or no code for it is generated.
        """
        refused = self.refusals(target)
        if refused:
            part, reason, out = refused[0]
            raise refuse(f"{target}: {part}: {reason}", file=self.name, hint=out)
        if not targets()[target][1]:
            raise refuse(f"no code for {target} is generated yet", file=self.name, hint="for rust it is")
        return _core.policy_code(self.text, self.name, target)

    def refusals(self, target: str) -> list[tuple[str, str, str]]:
        """What a target cannot keep of it: part, reason, way out."""
        if _given.name(target, "target", nearest("", targets())) not in targets():
            raise refuse(f"no target is called `{target}`", hint=nearest(target, targets()))
        return _core.policy_refusals(self.text, self.name, target)

    def traffic(
        self,
        packets: int = 1000,
        *,
        gap: str | int = "1us",
        sizes: tuple[int, int] = (64, 1500),
        tos: Sequence[int] = (0,),
        values: tuple[int, int] = (0, 99),
        processing: int = 4,
        slack: str | int = "1us",
        flows: int = 16,
        seed: int = 1,
    ) -> dict[str, np.ndarray]:
        """Packets that come independently of each other, one after `gap` in the mean, at all queues alike: columns by
        name. Fields are drawn between bounds, up to them, or from a list."""
        import numpy as np

        seed, packets = _counts.seed(seed), _counts.count(packets, "packets")
        given = {"packets": packets, "gap_ps": ps(gap), "sizes": sizes, "tos": bytes(tos), "values": values}
        given |= {"processing": _counts.count(processing, "processing"), "slack_ps": ps(slack)}
        given |= {"flows": _counts.count(flows, "flows")}
        columns = _core.policy_traffic(self.text, self.name, given, seed)
        return {name: np.frombuffer(column, COLUMNS[name]) for name, column in columns.items()}

    def run(
        self,
        packets: Mapping[str, Any],
        *,
        link: str | int = "10Gbps",
        cycle: str | int | None = None,
        core: Core | None = None,
        changes: Sequence[tuple[str | int, Policy]] = (),
        engine: str = "bytecode",
        until: str | int | None = None,
        seed: int = 1,
    ) -> Ran:
        """Runs packets through it: columns by name, `queue` and any of `COLUMNS`, in the order of `at_ps`. Ports send
        on links of this rate, or work on a packet a `cycle`; then a packet leaves when it has had `processing` of them.
        At the instants of `changes` the policy becomes another.

        Raises:
            ScenarioError: packets that are impossible, rates above the link's, policies that do not follow each other.
        """
        if cycle is not None and core is not None:
            raise refuse("a core has costs where ports send, not in cycles", hint="leave one of them out")
        seed = _counts.seed(seed)
        if _given.name(engine, "engine", nearest("", ENGINES)) not in ENGINES:
            raise refuse(f"no engine is called `{engine}`", hint=nearest(engine, ENGINES))
        if engine == "generated" and not self.is_built_in:
            raise refuse("no Rust of it is built in", file=self.name, hint="of the library's policies it is")
        costs = (core.arrival_ps, core.departure_ps, core.inputs, core.ring) if core else None
        work = ("link", bps(link)) if cycle is None else ("cycles", ps(cycle))
        later = [(ps(at), other.text, other.name) for at, other in changes]
        stop = None if until is None else ps(until)
        given = columns(packets)
        _check_order(given.get("at_ps"))
        try:
            found = _core.policy_run(self.text, self.name, given, engine, work, costs, later, seed, stop)
        except ValueError as e:
            raise refuse(str(e), file=self.name) from None
        return Ran.of(found, given, [queue.name for queue in self.queues])

    def bench(
        self,
        packets: Mapping[str, Any],
        *,
        engine: str = "bytecode",
        resident: int = 64,
        pace: tuple[int, int] = (1, 1),
        rounds: int = 100_000,
        laps: int = 5,
    ) -> tuple[int, list[Lap]] | None:
        """Measures an engine on this machine: how many packets waited (`resident`, if so many can), and what each lap
        took. In a round as many packets come and leave as `pace` says. `None`: this engine is not built in."""
        given, rounds, laps = columns(packets), _counts.count(rounds, "rounds"), _counts.count(laps, "laps")
        resident = _counts.count(resident, "resident")
        try:
            found = _core.policy_bench(self.text, self.name, given, engine, resident, pace, rounds, laps)
        except ValueError as e:
            raise refuse(str(e), file=self.name) from None
        return None if found is None else (found[0], [Lap(*row) for row in found[1]])

    def counts(self, packets: Mapping[str, Any], resident: int) -> dict[str, dict[str, int]]:
        """Operations on orders, counted: while all packets but the first so many come (`joined`), and while as many
        leave (`left`)."""
        return _core.policy_counts(self.text, self.name, columns(packets), resident)


def bounds(name: str) -> tuple[int, int]:
    """The least and the largest number that a column may hold."""
    if name == "at_ps":
        return 0, LATEST_PS
    kind, octets = COLUMNS[name][0], COLUMNS[name][1]
    bits = 8 * int(octets)
    return (0, (1 << bits) - 1) if kind == "u" else (-1 << (bits - 1), (1 << (bits - 1)) - 1)


def _whole(name: str, given: np.ndarray, values: Any) -> np.ndarray:
    """Numbers as they were given: NumPy makes floats of integers that no type of its own holds together."""
    if not given.size or given.dtype.kind in "iu":
        return given
    import numpy as np

    whole = np.asarray(values, object)
    if not all(isinstance(one, int | np.integer) and not isinstance(one, bool) for one in whole.flat):
        raise refuse(f"column `{name}` does not hold whole numbers")
    return whole


def columns(packets: Mapping[str, Any]) -> dict[str, np.ndarray]:
    """Columns of the engine's types. Raises `ScenarioError` for unknown ones, and for values that do not fit."""
    import numpy as np

    made = {}
    for name, values in _given.settings(packets, "packets").items():
        if name not in COLUMNS:
            raise refuse(f"packets have no column `{name}`", hint=nearest(name, COLUMNS))
        given = _whole(name, np.asarray(values), values)
        least, most = bounds(name)
        if given.size and (int(given.min()) < least or int(given.max()) > most):
            raise refuse(f"column `{name}` holds numbers that are not between {least} and {most}")
        made[name] = np.ascontiguousarray(given, COLUMNS[name])
    if "queue" not in made:
        raise refuse("packets have no column `queue`", hint="the number of a queue, from 0, for each")
    lengths = {name: len(column) for name, column in made.items()}
    if len(set(lengths.values())) > 1:
        said = ", ".join(f"{name} {rows}" for name, rows in lengths.items())
        raise refuse(f"columns of different lengths: {said}")
    return made


def _check_order(instants: np.ndarray | None) -> None:
    if instants is None or not (back := instants[1:] < instants[:-1]).any():
        return
    late = int(back.argmax()) + 1
    hint = "packets stand in the order in which they come"
    raise refuse(f"column `at_ps`: packet {late} comes before packet {late - 1}", hint=hint)


@dataclass(frozen=True)
class Counters:
    """What a queue counted, as `tc qdisc show` prints it: `max`, what it holds; packets that wait (`current`), that
    were given up (`dropped`), that came (`total`, those given up among them), that were served; most packets that
    waited, and how many did in the mean."""

    queue: str
    max: int
    in_packets: bool
    current: int
    dropped: int
    total: int
    sent: int
    peak: int
    mean: float


@dataclass(frozen=True)
class Ran:
    """What became of packets. Arrays are by packet, in the order of arrival: the last `queue` that it was in, its
    `fate` (a number of `FATES`), when it was sent, its last bit, or given up (`at_ps`), whether it carries CE, how
    often it was notified of, and the version of the policy that admitted it. `departures`: packets in the
    order in which they left."""

    packets: dict[str, np.ndarray]
    queue_names: list[str]
    queue: np.ndarray
    fate: np.ndarray
    at_ps: np.ndarray
    marked: np.ndarray
    notices: np.ndarray
    version: np.ndarray
    departures: np.ndarray
    counters: list[Counters]
    lasted_ps: int
    busy_ps: int

    @classmethod
    def of(cls, found: Mapping[str, Any], packets: dict[str, Any], queue_names: list[str]) -> Ran:
        import numpy as np

        types = {"queue": "u4", "fate": "u1", "at_ps": "u8", "marked": "u1", "notices": "u4", "version": "u4"}
        types |= {"departures": "u4"}
        arrays = {name: np.frombuffer(found[name], kind) for name, kind in types.items()}
        lasted = found["lasted_ps"]
        rows = [dict(row) for row in found["counters"]]
        counters = [
            Counters(**{k: v for k, v in r.items() if k != "area"}, mean=r["area"] / max(lasted, 1)) for r in rows
        ]
        return cls(packets, queue_names, **arrays, counters=counters, lasted_ps=lasted, busy_ps=found["busy_ps"])

    def count(self, fate: str) -> int:
        """How many packets had it."""
        return int((self.fate == FATES.index(fate)).sum())

    @property
    def sent(self) -> np.ndarray:
        """Which packets were sent, as Booleans."""
        return self.fate == FATES.index("sent")

    @property
    def delays_ps(self) -> np.ndarray:
        """Of what was sent: from arrival to the last bit."""
        sent = self.sent
        return self.at_ps[sent] - self._arrived()[sent]

    def _arrived(self) -> np.ndarray:
        import numpy as np

        return self.packets.get("at_ps", np.zeros(len(self.fate), "u8"))

    def throughput(self, weights: np.ndarray | None = None, from_ps: int = 0) -> float:
        """Bytes sent, or the sum of `weights` of what was sent, per second, between `from_ps` and the end."""
        import numpy as np

        of = self.packets.get("size", np.ones(len(self.fate), "u4")) if weights is None else weights
        inside = self.sent & (self.at_ps <= self.lasted_ps) & (self.at_ps >= from_ps)
        return float(of[inside].astype(float).sum()) / max(self.lasted_ps - from_ps, 1) * 1e12

    @property
    def frame(self) -> polars.DataFrame:
        """One row per packet."""
        import polars as pl

        arrived = self._arrived().astype("i8")
        gone = self.fate != 0
        return pl.DataFrame(
            {
                "packet": range(len(self.fate)),
                "arrived_ps": arrived,
                "queue": [self.queue_names[n] for n in self.queue],
                "fate": [FATES[n] for n in self.fate],
                "gone_ps": [int(at) if out else None for at, out in zip(self.at_ps, gone, strict=True)],
                "marked": self.marked.astype(bool),
                "notices": self.notices,
                "version": self.version,
            },
            schema_overrides={"gone_ps": pl.Int64, "packet": pl.Int64},
        )


def ps(time: str | int) -> int:
    """A time with its unit, or picoseconds."""
    if isinstance(time, int):
        return time
    try:
        return _core.span_ps(time)
    except ValueError as e:
        raise refuse(str(e)) from None


def bps(rate: str | int) -> int:
    """A rate with its unit, or bits per second."""
    import re

    if isinstance(rate, int):
        return rate
    parts = re.fullmatch(r"([0-9]+(?:\.[0-9]+)?) ?([kMGT]?)bps", rate)
    if not parts or not float(parts[1]) > 0:
        raise refuse(f"`{rate}` is not a rate such as 100Mbps")
    return round(float(parts[1]) * 1000 ** " kMGT".index(parts[2] or " "))
