"""The chain from a flow's last byte back to its start: what had to happen before what.

A packet's way is followed back through its ports to the instant at which its host gave it out; from there to what made
that possible. At the sender that is, in this order,

- of a packet that was sent before and lost: the loss (a timeout, or a retransmission, has passed since);
- the flow's packet before it, if the NIC has sent without a gap since;
- the ACK, or the message of the transport, that arrived at that instant; of a NIC that was busy with other flows, the
  first that arrived while it was;
- otherwise what happened last to the flow there: an ACK, its packet before, or its start.

At the receiver it is the data packet that arrived at that instant, or the last before it.
"""

from __future__ import annotations

from bisect import bisect_right
from contextlib import suppress
from typing import NamedTuple

from thalweg.explaining.evidence import FlowRecord, Packet, Visit
from thalweg.explaining.portlog import BUSY, IDLE, PAUSED

TRANSMISSION, PROPAGATION, QUEUE, NIC, PAUSE = "transmission", "propagation", "queue", "nic", "paused"
TIMEOUT, RETRANSMISSION, PACE, APPLICATION = "timeout", "retransmission", "pace", "application"
SENDER, RECEIVER, OTHER = "sender", "receiver", "other"
# The NIC sent other flows' packets; whether this flow waited for its turn or for an ACK is not recorded.
UNCLEAR = "nic or window"


class Interval(NamedTuple):
    """A part of the completion time. Several that share an interval divide it: `ps` adds up, not their lengths."""

    from_ps: int
    to_ps: int
    what: str
    #: A port by its ends, for losses that which the packet was lost at; or `sender`, `receiver`.
    where: str
    #: The flow whose packets were ahead, or are; None: none's.
    flow: int | None
    #: The node that made the port stop.
    by: str | None
    ps: int
    #: The packet that the chain followed.
    packet: str


class _Started(Exception):
    """The chain has come to the flow's start."""


def walk(record: FlowRecord) -> list[Interval]:
    """The chain, from the start on; its `ps` add up to the completion time."""
    walker = _Walker(record)
    with suppress(_Started):
        walker.run()
    assert sum(part.ps for part in walker.parts) == record.end - record.start, "the intervals do not add up"
    walker.parts.reverse()
    return walker.parts


class _Walker:
    def __init__(self, record: FlowRecord):
        self._record = record
        self.parts: list[Interval] = []
        self._at = record.end
        self._here: Packet | None = None
        self._forward = [p for p in record.packets if p.forward]
        arrived = [p for p in record.packets if p.arrived is not None]
        self._data = sorted((p for p in arrived if p.forward), key=_arrival)
        self._back = sorted((p for p in arrived if not p.forward), key=_arrival)
        self._data_times, self._back_times = [_arrival(p) for p in self._data], [_arrival(p) for p in self._back]
        self._copies: dict[int, list[Packet]] = {}
        self._left = sorted((p for p in self._forward if p.visits[0].sent is not None), key=_sent)
        self._left_times = [_sent(p) for p in self._left]
        for packet in self._forward:
            self._copies.setdefault(packet.seq, []).append(packet)

    def run(self) -> None:
        """From the end to the start."""
        packet = self._last()
        seen = set()
        whole = True
        while packet is not None:
            self._here = packet
            if (packet.number, whole) in seen:
                break
            seen.add((packet.number, whole))
            self._way(packet, whole)
            packet, whole = self._released(packet) if packet.forward else (self._answered(packet), True)
        self._add(self._record.start, OTHER, SENDER)

    def _last(self) -> Packet | None:
        """The packet whose arrival completed the flow."""
        for packets in (self._data, self._back):
            for packet in reversed(packets):
                if packet.arrived == self._at:
                    return packet
        n = bisect_right(self._data_times, self._at) - 1
        if n < 0:
            return None
        self._here = self._data[n]
        self._add(_arrival(self._data[n]), RECEIVER, RECEIVER)
        return self._data[n]

    # What is on a packet's way.

    def _way(self, packet: Packet, whole: bool) -> None:
        """Back through its ports; not `whole`: only its NIC, from the end of its transmission there."""
        visits = packet.visits if whole else packet.visits[:1]
        for visit in reversed(visits):
            port = self._record.ports[visit.port].name
            if visit.start is not None and visit.start < self._at:
                if not whole:
                    self._add(visit.start, NIC, port, self._record.flow)
                else:
                    self._link(visit, visit.start, port)
            self._wait(visit.port, visit.came, NIC if visit is packet.visits[0] else QUEUE)

    def _link(self, visit: Visit, start: int, port: str) -> None:
        """Its transmission, from `start` on, and the way to the next port."""
        flow = self._record.flow
        if visit.least >= 0 and visit.next == self._at:
            self._add(self._at - visit.least, PROPAGATION, port, flow)
            # Longer than its bytes take: delayed at random, interrupted, cut down on the way.
            self._add(min(start + visit.takes, self._at), OTHER, port, flow)
        self._add(start, TRANSMISSION, port, flow)

    def _wait(self, port: int, since: int, kind: str, idle: str = OTHER) -> None:
        """Back to `since` at a port: whose packets were ahead, or what else it did."""
        since = max(since, self._record.start)
        if since >= self._at:
            return
        log = self._record.ports[port]
        names = {BUSY: kind, PAUSED: PAUSE, IDLE: idle}
        until = self._at
        parts = log.parts(since, until)
        for (state, flow), ps in sorted(parts.items(), key=lambda part: part[1]):
            by = log.far if state == PAUSED else None
            where = RECEIVER if state == IDLE and idle == RECEIVER else log.name
            self.parts.append(Interval(since, until, names[state], where, flow, by, ps, self._name))
        self._at = since
        if since == self._record.start:
            raise _Started

    @property
    def _name(self) -> str:
        return self._here.name if self._here is not None else ""

    def _add(self, since: int, what: str, where: str, flow: int | None = None) -> None:
        """Back to `since`, for one cause."""
        since = max(since, self._record.start)
        if since < self._at:
            self.parts.append(Interval(since, self._at, what, where, flow, None, self._at - since, self._name))
            self._at = since
        if since == self._record.start:
            raise _Started

    # What made a packet leave.

    def _released(self, packet: Packet) -> tuple[Packet | None, bool]:
        """Why the sender gave a data packet out: the packet that the chain goes on with, and whether on its whole
        way or only at the NIC."""
        if self._at <= self._record.start:
            raise _Started
        at, nic = self._at, packet.visits[0].port
        log = self._record.ports[nic]
        exact = self._ack_at(at)
        if (copy := self._copy(packet)) is not None and self._resent(copy, exact):
            return copy, True
        before = self._before(packet, at)
        pulled = packet.visits[0].start == at
        if before is not None and pulled and (IDLE, None) not in log.parts(_sent(before), at):
            self._turn(nic, _sent(before))
            return before, False
        if exact is not None:
            return exact, True
        since = log.busy_since(at) if pulled else at
        if since < at:
            # It could be sent at some time since then: with the first ACK that came, or it has waited all along.
            n = bisect_right(self._back_times, since - 1)
            if n < len(self._back) and self._back_times[n] < at:
                self._wait(nic, self._back_times[n], NIC)
                return self._back[n], True
            self._wait(nic, since, NIC)
        return self._idle(packet, nic)

    def _turn(self, nic: int, since: int) -> None:
        """Other flows' packets since its own before it: for its turn it has waited since the first ACK in between, if
        there is one; what was before that is not certain."""
        n = bisect_right(self._back_times, since)
        if n < len(self._back) and since < self._back_times[n] < self._at:
            self._wait(nic, self._back_times[n], NIC)
            self._wait(nic, since, UNCLEAR)
        self._wait(nic, since, NIC)

    def _idle(self, packet: Packet, nic: int) -> tuple[Packet | None, bool]:
        """The sender did not send, though its NIC would have: since what happened last to the flow."""
        at = self._at
        n = bisect_right(self._back_times, at) - 1
        ack = self._back[n] if n >= 0 else None
        before = self._before(packet, at)
        why = self._why(at, packet.wire)
        if before is not None and (ack is None or why == PACE or _sent(before) >= _arrival(ack)):
            self._add(_sent(before), why, SENDER)
            return before, False
        self._add(_arrival(ack) if ack is not None else self._record.start, why, SENDER)
        return ack, True

    def _why(self, at: int, wire: int) -> str:
        """What kept a sender whose NIC was free: its pace, an application without data, or what is not recorded."""
        if self._record.expired and at in self._record.expired:
            return TIMEOUT
        if self._record.allowed is None or self._record.holds:
            return SENDER
        times, paces, room = self._record.allowed
        n = int(times.searchsorted(at, side="left")) - 1
        if n < 0:
            return SENDER
        if paces[n] >= 0:
            return PACE
        return APPLICATION if self._record.writes and room[n] >= wire else SENDER

    def _before(self, packet: Packet, at: int) -> Packet | None:
        """The flow's packet whose transmission at the same NIC ended last, at `at` at the latest."""
        n = bisect_right(self._left_times, at) - 1
        while n >= 0:
            one = self._left[n]
            if one.number != packet.number and one.visits[0].port == packet.visits[0].port:
                return one
            n -= 1
        return None

    def _copy(self, packet: Packet) -> Packet | None:
        """The same bytes, sent before and over by now."""
        earlier = [p for p in self._copies[packet.seq] if p.handed < packet.handed and p.wire >= packet.wire]
        last = max(earlier, key=lambda p: p.handed, default=None)
        return last if last is not None and last.over is not None and last.over <= self._at else None

    def _resent(self, copy: Packet, exact: Packet | None) -> bool:
        """Back to the loss of the copy, if it is the loss that the packet waited for. With a timeout in between and an
        ACK that released it, the chain goes by the ACK: it leads to the packet that the timer sent."""
        record, over = self._record, copy.over
        assert over is not None, "`_copy` finds what is over"
        where = SENDER if copy.lost is None else record.ports[copy.visits[-1].port].name
        expired = [] if record.expired is None else [t for t in record.expired if over <= t <= self._at]
        if record.expired is None:
            unprompted = exact is None and not self._prompted(over)
            if record.timeouts and unprompted:
                self._add(over, TIMEOUT, where)
                return True
            if record.timeouts and exact is not None and self._has_timer(over):
                return False
        elif expired:
            if exact is not None and expired[-1] < self._at:
                return False
            self._add(expired[-1], RETRANSMISSION, where)
            self._add(over, TIMEOUT, where)
            return True
        self._add(over, RETRANSMISSION, where)
        return True

    def _prompted(self, since: int) -> bool:
        """Whether what came back after `since` may have had it sent: within a round trip, as long as the last one took.
        A pace lets a packet wait less, a timer more."""
        n = bisect_right(self._back_times, self._at) - 1
        if n < 0 or self._back_times[n] <= since:
            return False
        sent = bisect_right(self._data_times, self._back[n].handed) - 1
        asked = self._data[sent].handed if sent >= 0 else self._record.start
        return self._at - self._back_times[n] <= self._back_times[n] - asked

    def _has_timer(self, since: int) -> bool:
        """Whether a packet was sent again after `since` without an ACK at that instant."""
        again = (p for p in self._forward if since < p.handed < self._at and self._copies[p.seq][0] is not p)
        return any(self._ack_at(p.handed) is None for p in again)

    def _answered(self, packet: Packet) -> Packet | None:
        """Why the receiver sent something back: the data packet that had arrived."""
        if self._at <= self._record.start:
            raise _Started
        at = self._at
        n = bisect_right(self._data_times, at) - 1
        data = self._data[n] if n >= 0 else None
        self._wait(packet.visits[0].port, _arrival(data) if data else self._record.start, NIC, RECEIVER)
        return data

    def _ack_at(self, at: int) -> Packet | None:
        """What came back to the sender at an instant."""
        n = bisect_right(self._back_times, at) - 1
        return self._back[n] if n >= 0 and self._back_times[n] == at else None


def _arrival(packet: Packet) -> int:
    assert packet.arrived is not None
    return packet.arrived


def _sent(packet: Packet) -> int:
    """When its transmission at its NIC ended."""
    sent = packet.visits[0].sent
    assert sent is not None
    return sent
