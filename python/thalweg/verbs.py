"""RDMA verbs over IRN: two connected ends, their memories, and a path that loses, repeats and reorders packets::

    from thalweg import verbs

    pair = verbs.Pair(loss=0.05, jitter="40us", seed=7)
    here, there = pair.local(b"hello" * 1000), pair.remote(5000)
    pair.write(here, there)
    assert pair.run() and there.data == here.data

Packets are real: the engine writes down and takes apart every header. Time is simulated; the same settings
and calls give the same packets. Settings of a pair, all optional (`verbs.settings()` gives the defaults):

- `dialect`: `"irn"`, or `"roce"` (go-back-N, InfiniBand's headers); `mtu`, payload bytes of a full packet;
  `cap`, packets in flight at most; `rto_low`, `rto_high` (`"100us"`, or picoseconds), `low_in_flight`
  (RTO_low counts with at most so many in flight)
- `credits`: Receive WQEs that the requester knows of from the beginning; `shared_receives`: they come from a
  shared queue; `read_slots`: Reads and Atomics outstanding
- `min_rnr_timer`: the pause that a "not ready" NAK of the responder requires, one of InfiniBand's 32 (`"10us"` to
  `"655.36ms"`); `rnr_retry`: so often the requester sends such a request again before the pair fails, 0 to 6, or 7
  for ever; `refusals` of another kind of one request after which the pair fails
- `first_request`, `first_response`: the first numbers of request and answer packets, below 2²⁴
- `delay` one way, and up to `jitter` more; shares `loss` and `repeat` of packets; `seed`; `packet_time`: how
  long a packet occupies the sender's link
- `schedule`: fates of single packets, `{("request", 3): ["lost", "20us"]}`: the first packet with this number
  is lost, the second takes 20 us; a list of times gives each copy its own. Kinds: `request`, `response`,
  `ack`, `read-ack`. Chance decides about the rest.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from thalweg import _core
from thalweg.errors import refuse

Time = str | int
RIGHTS = ("read", "write", "atomic")


def settings() -> dict[str, Any]:
    """Settings of a pair and their defaults; times in picoseconds."""
    return _core.verbs_settings()


def header_bytes(dialect: str) -> dict[str, int]:
    """Bytes of header before the payload by opcode, from the base transport header on, as the encoder writes them."""
    known = _core.verbs_headers()
    if dialect not in known:
        from thalweg.errors import nearest

        raise refuse(f"no dialect is called `{dialect}`", hint=nearest(dialect, known))
    return known[dialect]


def nic_state(cap: int, queue_pairs: int = 1, wqes: int = 0) -> dict[str, Any]:
    """What IRN adds to a NIC whose bitmaps have room for `cap` packets, counted from the fields of the state
    machines: bits per queue pair at one end (`end_bits`), at both with Reads (`transport_bits`), in bitmaps;
    bytes per work queue element, shared, and in all; and by module the most 64-bit `words` of bitmap that one
    event touches."""
    if cap < 1:
        raise refuse(f"a cap of {cap} packets holds nothing", hint="at least 1")
    return _core.verbs_state(cap, queue_pairs, wqes)


@dataclass(frozen=True)
class Completion:
    """A request is over. `status`: success, remote-access, remote-invalid-request, remote-operational,
    rnr-retry-exceeded, local-access, flushed."""

    id: int
    status: str
    bytes: int


@dataclass(frozen=True)
class Received:
    """A Receive WQE was used up. `what`: send, send-immediate, send-invalidate, write-immediate; `value`:
    immediate data or key."""

    id: int
    what: str
    value: int | None
    bytes: int


@dataclass(frozen=True)
class Packet:
    """A packet sent, or one that arrived at an end. Fields that it does not have are `None`.

    `to` is the end that it goes to, `size` counts from the base transport header on, `psn` is in acknowledgements the
    next number expected. `syndrome`: ack, nack (out of order), not-ready, invalid-request, remote-access,
    remote-operational; `rnr_ps` is the pause that not-ready requires. Of packets sent, `copies` arrive; of those that
    arrive, `ignored` says why the end could not use it.
    """

    at_ps: int
    to: str
    opcode: str
    psn: int
    size: int
    payload: int
    syndrome: str | None
    rnr_ps: int | None
    msn: int | None
    sack: int | None
    recv_wqe: int | None
    read_wqe: int | None
    copies: int | None = None
    ignored: str | None = None

    @property
    def is_request(self) -> bool:
        return self.to == "responder" and self.opcode != "read-acknowledge"


@dataclass(frozen=True)
class Region:
    """Registered memory of one end, or, sliced, a part of it: `there[16:24]`."""

    pair: Pair
    is_local: bool
    key: int
    base: int
    start: int
    length: int

    def __len__(self) -> int:
        return self.length

    def __getitem__(self, part: slice) -> Region:
        if not isinstance(part, slice) or part.step not in (None, 1):
            raise refuse("a part of a region is a slice without step", hint="such as region[16:24]")
        start, stop, _ = part.indices(self.length)
        more = {"start": self.start + start, "length": max(0, stop - start)}
        return Region(self.pair, self.is_local, self.key, self.base, **more)

    @property
    def data(self) -> bytes:
        """What is there now."""
        return self.pair._core.fetch(self.is_local, self.key, self.start, self.start + self.length)

    def store(self, data: bytes) -> None:
        """Its owner writes to the beginning of this part."""
        if len(data) > self.length:
            raise refuse(f"{len(data)} bytes into {self.length}")
        self.pair._core.store(self.is_local, self.key, self.start, bytes(data))

    @property
    def address(self) -> int:
        return self.base + self.start

    @property
    def is_valid(self) -> bool:
        """Whether its key opens it: not after a Send that invalidates it."""
        return self.pair._core.is_valid(self.is_local, self.key)


class Pair:
    """A requester and a responder, connected. Requests are posted in order and begin when `run` or `step` is called."""

    def __init__(self, **settings: Any):
        self._core = _core.VerbsPair(settings)
        self._posted = self._receives = 0

    # --- memory

    def local(self, data: bytes | int, base: int = 0) -> Region:
        """Registers memory at the requester: these bytes, or so many zeros, known under the addresses from
        `base` on."""
        return self._register(True, data, base, ())

    def remote(self, data: bytes | int, base: int = 0, rights: tuple[str, ...] = RIGHTS) -> Region:
        """Registers memory at the responder. `rights` of the requester: any of read, write, atomic."""
        return self._register(False, data, base, rights)

    def _register(self, local: bool, data: bytes | int, base: int, rights: tuple[str, ...]) -> Region:
        data = bytes(_count("size", data, 32)) if isinstance(data, int) else bytes(data)
        _count("size", len(data), 32)
        _count("end of the region", _count("base", base, 64) + len(data), 64)
        key = self._core.register(local, base, data, list(rights))
        return Region(self, local, key, base, 0, len(data))

    # --- requests; the answer is the request's number, which its completion has too

    def write(self, source: Region, target: Region, immediate: int | None = None, fence: str = "none") -> int:
        """Writes `source` to where `target` begins. With immediate data a Receive WQE is used up."""
        immediate = immediate if immediate is None else _count("immediate", immediate, 32)
        return self._post("write", self._own(source), self._there(target), immediate, fence)

    def read(self, sink: Region, source: Region, fence: str = "none") -> int:
        """Fills `sink` from where `source` begins."""
        return self._post("read", self._own(sink), self._there(source), fence)

    def send(
        self, source: Region, immediate: int | None = None, invalidate: Region | None = None, fence: str = "none"
    ) -> int:
        """Sends `source` into the next Receive WQE's buffer, with immediate data or the key of a remote
        region to invalidate."""
        immediate = immediate if immediate is None else _count("immediate", immediate, 32)
        key = invalidate if invalidate is None else self._there(invalidate)[0]
        return self._post("send", self._own(source), immediate, key, fence)

    def fetch_add(self, target: Region, add: int, sink: Region, fence: str = "none") -> int:
        """Adds to 8 bytes (little-endian, at a multiple of 8), modulo 2⁶⁴; `sink`, 8 bytes, gets what was there."""
        add = _count("add", add, 64)
        return self._post("fetch_add", self._own(sink), self._there(target), add, fence)

    def compare_swap(self, target: Region, compare: int, swap: int, sink: Region, fence: str = "none") -> int:
        """Writes `swap` to 8 bytes if `compare` is there; `sink`, 8 bytes, gets what was there."""
        words = (_count("compare", compare, 64), _count("swap", swap, 64))
        return self._post("compare_swap", self._own(sink), self._there(target), words, fence)

    def _post(self, verb: str, *arguments: object) -> int:
        """`fence`: "none"; "reads": after all Reads and Atomics posted before; "all": after everything posted
        before."""
        getattr(self._core, verb)(self._posted, *arguments)
        self._posted += 1
        return self._posted - 1

    def receive(self, sink: Region) -> int:
        """Posts a Receive WQE with this buffer of the responder's (to the shared queue of a pair that uses one)."""
        if sink.pair is not self or sink.is_local:
            raise refuse("a Receive WQE's buffer is the responder's", hint="register it with `remote`")
        self._core.receive(self._receives, (sink.key, sink.address, sink.length))
        self._receives += 1
        return self._receives - 1

    def _own(self, part: Region) -> tuple[int, int, int]:
        if part.pair is not self or not part.is_local:
            raise refuse("data and answers of a request are in the requester's memory", hint="register it with `local`")
        return part.key, part.address, part.length

    def _there(self, part: Region) -> tuple[int, int]:
        if part.pair is not self or part.is_local:
            raise refuse("the other side of a request is the responder's memory", hint="register it with `remote`")
        return part.key, part.address

    # --- time

    def run(self, until: Time = "10s") -> bool:
        """Until nothing more happens, or for so much simulated time (at most 1000 s). True: everything posted
        is over."""
        return self._core.run(until)

    def wait(self, time: Time) -> None:
        """Lets exactly so much simulated time pass."""
        self._core.wait(time)

    def step(self, until: Time = "10s") -> Packet | None:
        """Until the next packet has arrived; `None`: none does in so much time."""
        fields = self._core.step(until)
        return Packet(**fields) if fields else None

    @property
    def now_ps(self) -> int:
        return self._core.now_ps()

    # --- what has happened

    @property
    def completions(self) -> list[Completion]:
        """What the requester's application was notified of, in order."""
        return [Completion(*c) for c in self._core.completions()]

    @property
    def received(self) -> list[Received]:
        """What the responder's application was notified of, in order."""
        return [Received(*r) for r in self._core.received()]

    @property
    def sent(self) -> list[Packet]:
        """Every packet that an end sent, in order."""
        return [Packet(**fields) for fields in self._core.sent()]

    @property
    def msn(self) -> int:
        """Messages all of whose packets, and all packets before them, have arrived at the responder."""
        return self._core.state()[0]

    @property
    def expected(self) -> int:
        """The next request packet that the responder expects."""
        return self._core.state()[1]

    @property
    def shared_taken(self) -> int:
        """Receive WQEs taken from the shared queue."""
        return self._core.state()[2]

    @property
    def reorder_bits(self) -> int:
        """Bits that the responder keeps about packets out of order."""
        return self._core.state()[3]

    @property
    def is_over(self) -> bool:
        """Both ends have nothing to do, for all they know."""
        return self._core.state()[4]

    @property
    def has_failed(self) -> bool:
        """A request was refused for good: later ones are flushed, and none can be posted."""
        return self._core.state()[5]

    @property
    def counters(self) -> dict[str, dict[str, int]]:
        """What each end has done: data packets `sent` and `retransmitted`, `timeouts`, `nacks` for packets
        out of order, error NACKs (`refusals`), `most_in_flight`, `most_ahead` of the next packet expected."""
        requester, responder = self._core.counters()
        return {"requester": requester, "responder": responder}


def _count(name: str, value: int, bits: int) -> int:
    if not isinstance(value, int) or not 0 <= value < 1 << bits:
        raise refuse(f"{name} = {value}: must be a whole number of at most {bits} bits")
    return value
