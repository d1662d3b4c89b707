"""The semantics of OpenQueue once more (§2.3.2), as one would write them down: lists that are searched, in Python. It
shares nothing with the engines that it is compared with but the definition.

Time is in cycles: what has come until a cycle begins is admitted, then every port takes a cycle off the packet that is
first, which leaves with its last one."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

Packet = dict
Key = Callable[[Packet], float]


def fifo(packet: Packet) -> float:
    return packet["arrival"]


def rfifo(packet: Packet) -> float:
    return -packet["arrival"]


def srpt(packet: Packet) -> float:
    return packet["processing"]


def rsrpt(packet: Packet) -> float:
    return -packet["processing"]


@dataclass
class Queue:
    """Of packets, or of bytes."""

    size: int
    admission: Key = fifo
    processing: Key = fifo
    in_packets: bool = True
    work: int = 0  # schedState
    waiting: list[Packet] = field(default_factory=list)

    def held(self) -> int:
        return len(self.waiting) if self.in_packets else sum(p["size"] for p in self.waiting)

    def head(self) -> Packet:
        return min(self.waiting, key=lambda p: (self.processing(p), p["seq"]))

    def victim(self) -> Packet:
        return max(self.waiting, key=lambda p: (self.admission(p), p["seq"]))


@dataclass
class Switch:
    """Queues, ports over them (lists of numbers), and a memory that they may share. `schedule` is the key of a queue:
    the least is served first, of equals the one declared first. `refuses`: an arrival at a full queue gives up the
    victim (tail drop, push-out), before the hard bound. `counts`: a served cycle adds one to a queue's work (crr)."""

    queues: list[Queue]
    ports: list[list[int]]
    schedule: Callable[[Queue], float] = lambda queue: 0
    memory: int | None = None
    refuses: bool = True
    counts: bool = False
    dropped: dict[int, int] = field(default_factory=dict)
    sent: dict[int, int] = field(default_factory=dict)

    def arrive(self, packet: Packet, now: int) -> None:
        queue = self.queues[packet["queue"]]
        if self.counts and not queue.waiting:
            others = [q.work for q in self.queues if q.waiting]
            queue.work = max(queue.work, min(others)) if others else queue.work
        full = self.refuses and queue.held() >= queue.size
        queue.waiting.append(packet)
        if full:
            self.give_up(queue, now)
        while queue.held() > queue.size:
            self.give_up(queue, now)
        while self.memory is not None and sum(q.held() for q in self.queues) > self.memory:
            longest = max(q.held() for q in self.queues)
            tied = [q for q in self.queues if q.held() == longest]
            self.give_up(queue if any(q is queue for q in tied) else tied[0], now)

    def give_up(self, queue: Queue, now: int) -> None:
        victim = queue.victim()
        queue.waiting.remove(victim)
        self.dropped[victim["seq"]] = now

    def cycle(self, now: int) -> None:
        for port in self.ports:
            filled = [n for n in port if self.queues[n].waiting]
            if not filled:
                continue
            queue = self.queues[min(filled, key=lambda n: (self.schedule(self.queues[n]), n))]
            packet = queue.head()
            packet["processing"] -= 1
            if packet["processing"] == 0:
                queue.waiting.remove(packet)
                self.sent[packet["seq"]] = now + 1
            if self.counts:
                queue.work += 1


def run(switch: Switch, packets: Mapping[str, Sequence[int]]) -> tuple[dict[int, int], dict[int, int]]:
    """When each packet was sent, and when it was given up; `at` is in cycles."""
    at, rows = packets["at"], len(packets["at"])
    nth = now = 0
    while nth < rows or any(q.waiting for q in switch.queues):
        if not any(q.waiting for q in switch.queues):
            now = max(now, at[nth])
        while nth < rows and at[nth] <= now:
            packet = {name: int(column[nth]) for name, column in packets.items()}
            switch.arrive(packet | {"seq": nth, "arrival": int(at[nth])}, int(at[nth]))
            nth += 1
        switch.cycle(now)
        now += 1
    return switch.sent, switch.dropped
