"""csg-htsim's TCP and DCTCP over pinned paths, rule by rule, written independently of thalweg's engine.

It answers one question: are the rules below all that separates the peer from thalweg? With all of them the
peer's completion times come out to the picosecond; each can be switched off, which shows what it alone does.
"""

from __future__ import annotations

import heapq
import itertools
from collections import deque
from dataclasses import dataclass

MSS = 1500
PS_PER_NS = 1000


@dataclass(frozen=True)
class Rules:
    """True: as the peer. False: as thalweg."""

    dctcp: bool = False
    limit_counts_sending: bool = True  # the packet on the wire still counts against the limit
    marks_at_end: bool = True  # marks when the last bit has left, not when the first one does
    room: bool = True  # growth per ACK is at most the room it leaves between flight and window
    truncates: bool = True  # integer division in congestion avoidance, the remainder is lost
    syn_grows: bool = True  # the SYN's ACK grows the window, and counts as a packet in DCTCP
    extra: int = 2  # packets sent beyond the end
    exit_small: bool = True  # recovery ends with min(threshold, flight + MSS), not with the threshold
    first_window: bool = True  # DCTCP's first observation window is two packets, not the initial window


class Net:
    def __init__(self, rules: Rules, rate: int, limit: int, mark: int | None, delay: int):
        self.rules, self.limit, self.mark, self.delay = rules, limit, mark, delay
        self.ps_per_byte = 8 * 10**12 // rate
        self.now = 0
        self.events: list = []
        self.count = 0
        self.ports: dict = {}

    def at(self, time: int, call, *args) -> None:
        self.count += 1
        heapq.heappush(self.events, (time, self.count, call, args))

    def run(self) -> None:
        while self.events:
            self.now, _, call, args = heapq.heappop(self.events)
            call(*args)


class Packet:
    __slots__ = ("ack", "ce", "flow", "hop", "path", "seq", "wire")

    def __init__(self, flow, path, seq, wire, ack, ce=False):
        self.flow, self.path, self.seq, self.wire, self.ack, self.ce, self.hop = flow, path, seq, wire, ack, ce, 0


class Port:
    """A queue and the wire behind it."""

    def __init__(self, net: Net, host: bool):
        self.net = net
        self.queue: deque = deque()
        self.bytes = 0
        self.flight: deque = deque()
        self.limit = 100_000 * MSS if host else net.limit
        self.mark = None if host else net.mark
        self.drops = 0

    def receive(self, packet: Packet) -> None:
        counted = self.bytes
        if not self.net.rules.limit_counts_sending and self.queue:
            counted -= self.queue[0].wire
        if counted + packet.wire > self.limit:
            self.drops += 1
            packet.flow.drops += 1
            return
        idle = not self.queue
        self.queue.append(packet)
        self.bytes += packet.wire
        if idle:
            self.begin()

    def begin(self) -> None:
        head = self.queue[0]
        if self.mark is not None and not self.net.rules.marks_at_end and self.bytes > self.mark and not head.ack:
            head.ce = True
        self.net.at(self.net.now + head.wire * self.net.ps_per_byte, self.complete)

    def complete(self) -> None:
        packet = self.queue.popleft()
        if self.mark is not None and self.net.rules.marks_at_end and self.bytes > self.mark and not packet.ack:
            packet.ce = True
        self.bytes -= packet.wire
        if not self.flight:
            self.net.at(self.net.now + self.net.delay, self.land)
        self.flight.append((self.net.now + self.net.delay, packet))
        if self.queue:
            self.begin()

    def land(self) -> None:
        _, packet = self.flight.popleft()
        packet.hop += 1
        forward(packet)
        if self.flight:  # after what the packet causes: events at one instant run in the order of their making
            self.net.at(self.flight[0][0], self.land)


def forward(packet: Packet) -> None:
    if packet.hop < len(packet.path):
        packet.path[packet.hop].receive(packet)
    elif packet.ack:
        packet.flow.on_ack(packet)
    else:
        packet.flow.on_data(packet)


class Flow:
    def __init__(self, net: Net, size: int, start: int, data: list[Port], ack: list[Port]):
        self.net, self.size, self.start, self.data, self.back = net, size, start, data, ack
        self.fct = None
        self.drops = 0
        self.limit = size + (self.net.rules.extra - 1) * MSS
        self.sent = self.acked = 0  # highest sent, last acked
        self.window, self.threshold = 10 * MSS, 100 * MSS
        self.dups = self.recover = 0
        self.recovering = self.open = False
        self.credit = 0
        self.seen = self.marked = 0
        self.alpha = 0.0
        self.past = 2 * MSS if net.rules.first_window else self.window
        self.cumulative = 0
        self.above: set[int] = set()
        net.at(start, self.begin)

    def begin(self) -> None:
        self.sent = 1
        forward(Packet(self, self.data, 1, 1, False))

    # ---- receiver: seq is a packet's first byte, `cumulative` the last byte received in order
    def on_data(self, packet: Packet) -> None:
        if packet.seq == self.cumulative + 1:
            self.cumulative += packet.wire
            while self.cumulative + 1 in self.above:
                self.above.remove(self.cumulative + 1)
                self.cumulative += MSS
        elif packet.seq > self.cumulative + 1:
            self.above.add(packet.seq)
        forward(Packet(self, self.back, self.cumulative, 40, True, packet.ce))

    # ---- sender
    def on_ack(self, packet: Packet) -> None:
        rules = self.net.rules
        if rules.dctcp and (rules.syn_grows or packet.seq > 1):
            self.observe(packet.ce)
        if packet.seq < self.acked:
            return
        if packet.seq >= self.size and self.fct is None:
            self.fct = self.net.now - self.start
        if packet.seq > self.acked:
            self.on_progress(packet.seq)
        else:
            self.on_duplicate()

    def observe(self, ce: bool) -> None:
        self.seen += 1
        if ce:
            self.marked += 1
            self.threshold = min(self.threshold, self.window)
        if self.seen * MSS >= self.past:
            self.alpha = 15 / 16 * self.alpha + 1 / 16 * (self.marked / self.seen)
            self.seen = self.marked = 0
            if self.alpha > 0:
                self.window = max(int(self.window * (1 - self.alpha / 2)), MSS)
                self.threshold = self.window
            self.past = self.window

    def on_progress(self, seq: int) -> None:
        rules = self.net.rules
        self.sent = max(self.sent, seq)
        if not self.recovering:
            first = self.acked == 0
            self.acked = seq
            self.open = True
            self.dups = 0
            if rules.syn_grows or not first:
                self.grow()
        elif seq >= self.recover:
            self.window = self.threshold
            if rules.exit_small:
                self.window = min(self.window, self.sent - seq + MSS)
            self.acked, self.dups, self.recovering = seq, 0, False
        else:
            fresh = seq - self.acked
            self.acked = seq
            self.window = max(self.window - fresh, 0) + MSS
            self.resend()
        self.send()

    def on_duplicate(self) -> None:
        if self.recovering:
            self.window += MSS
            self.send()
            return
        self.dups += 1
        if self.dups != 3:
            self.send()
            return
        if self.acked < self.recover:
            return
        self.threshold = max(self.window // 2, 2 * MSS)
        if self.net.rules.dctcp:
            self.seen = self.marked = 0
            self.past = self.window
        self.resend()
        self.window = self.threshold + 3 * MSS
        self.recovering, self.recover = True, self.sent

    def grow(self) -> None:
        fresh = MSS
        if self.net.rules.room:
            fresh = min(self.acked + self.window - self.sent, MSS)
            if fresh < 0:
                return
        if self.window < self.threshold:
            self.window += min(self.threshold - self.window, fresh)
        elif self.net.rules.truncates:
            self.window += fresh * MSS // self.window
        else:
            self.credit += fresh * MSS
            self.window += self.credit // self.window
            self.credit %= self.window

    def send(self) -> None:
        while self.open and self.acked + self.window >= self.sent + MSS and self.sent <= self.limit + 1:
            packet = Packet(self, self.data, self.sent + 1, MSS, False)
            self.sent += MSS
            forward(packet)

    def resend(self) -> None:
        forward(Packet(self, self.data, self.acked + 1, MSS, False))


def replay(rules: Rules, rate: int, limit: int, mark: int, delay: int, hosts: int, flows, paths) -> list[float]:
    """Completion times in nanoseconds. `flows`: (src, dst, size, start_ns); `paths`: (data, ack) switches."""
    net = Net(rules, rate, limit, mark if rules.dctcp else None, delay)

    def port(a: int, b: int) -> Port:
        return (
            net.ports.setdefault((a, b), None) or net.ports.__setitem__((a, b), Port(net, a < hosts)) or net.ports[a, b]
        )

    made = []
    for (src, dst, size, start), (data, ack) in zip(flows, paths, strict=True):
        there = [src, *data, dst]
        back = [dst, *ack, src]
        made.append(
            Flow(
                net,
                size,
                start * PS_PER_NS,
                [port(a, b) for a, b in itertools.pairwise(there)],
                [port(a, b) for a, b in itertools.pairwise(back)],
            )
        )
    net.run()
    return [f.fct / PS_PER_NS for f in made]
