//! Express ports: FIFO queues with memory of their own, so that a packet's departure is known when it arrives.

use crate::port::flying::Flying;
use crate::port::{Backlog, Booked, Bypass, Lane, Port};
use crate::prefetch::prefetch;
use thalweg_machines::stage::{Arrival, HeaderStage, View};
use thalweg_units::{Span, Time};
use thalweg_wire::{Handle, Packet};

impl Port {
    /// The beginning of a booked packet's transmission.
    #[inline(always)]
    fn begins(&self, booked: &Flying) -> Time {
        booked.arrive + self.early(booked.wire) - self.timing.delay - self.span(booked.wire)
    }

    /// No longer counts packets whose transmission began before `now` as waiting. One whose transmission begins at
    /// `now` still waits: ports decide after all arrivals of an instant.
    #[inline]
    pub(super) fn retire(&mut self, now: Time) {
        while self.waiting.packets > 0 {
            let next = self.flight.get(self.waiting.started).expect("waiting packets are on the ring");
            if self.begins(next) >= now {
                break;
            }
            self.waiting.packets -= 1;
            self.waiting.bytes -= u64::from(next.wire);
            self.waiting.started += 1;
        }
    }

    /// Books the transmission of `packet`, not before `ready`; marks it if the queue management decides so.
    #[inline]
    pub fn book(&mut self, now: Time, ready: Time, flying: Flying, packet: &mut Packet) -> Booked {
        let wire = flying.wire;
        // The counters may still include packets that have begun: they are upper bounds. As long as even those stay
        // below all limits, the ring need not be read.
        let more = self.waiting.bytes + u64::from(wire);
        if self.waiting.packets >= self.quiet_below.min(self.limits.packets)
            || more > self.limits.bytes
            || more > u64::from(self.limits.max_queue)
        {
            self.retire(now);
        }
        let advice =
            if self.waiting.packets < self.quiet_below { Arrival::Admit } else { self.advice(now, packet) };
        if advice == Arrival::Drop
            || self.waiting.bytes + u64::from(wire) > self.limits.bytes
            || self.waiting.packets >= self.limits.packets
        {
            self.cold.dropped += 1;
            return Booked::Dropped;
        }
        if advice == Arrival::Mark {
            packet.ecn = thalweg_wire::Ecn::Ce;
            self.cold.marked += 1;
        }
        let begins = ready.max(self.free_at);
        self.add_waited(u128::from((begins - now).ps()));
        self.waiting.packets += 1;
        self.waiting.bytes += u64::from(wire);
        if self.waiting.bytes > u64::from(self.limits.max_queue) {
            // Exact: packets that have begun were just retired.
            self.note_queue(self.waiting.bytes);
        }
        self.free_at = begins + self.span(wire);
        self.sent.packets += 1;
        self.sent.bytes += u64::from(wire);
        let arrive = self.free_at + self.timing.delay - self.early(wire);
        self.push_on_wire(Flying { arrive, ..flying })
    }

    /// Prefetches the parts of the ring that a booking touches: the end, and the first waiting packet if the
    /// counters must be brought up to date.
    #[inline(always)]
    pub fn prefetch_ring(&self) {
        if self.waiting.packets >= self.quiet_below.min(self.limits.packets)
            && let Some(next) = self.flight.get(self.waiting.started)
        {
            prefetch(next);
        }
        prefetch(self.flight.end());
    }

    /// The decision of the queue management.
    #[inline]
    fn advice(&mut self, now: Time, packet: &Packet) -> Arrival {
        let idle_for = if self.waiting.packets == 0 { now.since(self.free_at) } else { Span::ZERO };
        let (packets, bytes) = (self.waiting.packets, self.waiting.bytes);
        let rate = self.serializer.rate();
        let (wire, sent, waited) = (packet.wire, self.sent.bytes - bytes, Span::ZERO);
        let view = View { packets, bytes, wire, rate, sent, idle_for, waited };
        self.cold.stage.on_arrival(now, &view, packet)
    }

    /// What waits at `now`.
    pub fn express_backlog(&self, now: Time) -> Backlog {
        let (mut packets, mut bytes) = (self.waiting.packets, self.waiting.bytes);
        for next in self.flight.iter().skip(self.waiting.started as usize) {
            if self.begins(next) > now {
                break;
            }
            packets -= 1;
            bytes -= u64::from(next.wire);
        }
        Backlog { packets, bytes }
    }

    /// What waits at `now` outside of any queue: what an express port has booked, or a packet in the bypass slot
    /// because nothing else waits.
    pub fn outside_queue(&self, now: Time) -> impl Iterator<Item = &Flying> {
        let express = self.mode.lane == Lane::Express;
        let booked = self.flight.iter().skip(self.waiting.started as usize);
        let booked = booked.filter(move |next| express && self.begins(next) > now);
        booked.chain((self.bypass() == Bypass::Single).then_some(&self.slot))
    }

    /// The end of the transmission that began last, at `now` or before.
    pub(super) fn express_end(&self, now: Time) -> Option<Time> {
        let begun = self.flight.iter().take_while(|booked| self.begins(booked) <= now).last();
        let taken = || (self.slot.handle != Handle::NONE).then_some(&self.slot);
        let last = begun.or_else(taken)?;
        Some(self.begins(last) + self.span(last.wire))
    }

    /// The end of the last transmission among the packets that no longer count as waiting.
    pub(super) fn end_of_started(&self) -> Option<Time> {
        let started = self.waiting.started.checked_sub(1).and_then(|last| self.flight.get(last));
        let taken = || (self.slot.handle != Handle::NONE).then_some(&self.slot);
        let last = started.or_else(taken)?;
        Some(self.begins(last) + self.span(last.wire))
    }

    /// The sum of the times that waiting packets will still wait from `now` on (packet · ps).
    pub(super) fn booked_ahead(&self, now: Time) -> u128 {
        let waiting = self.flight.iter().skip(self.waiting.started as usize);
        waiting.map(|booked| u128::from(self.begins(booked).since(now).ps())).sum()
    }

    /// Bytes waiting just before `now`.
    #[inline]
    pub fn waits_before(&mut self, now: Time) -> u64 {
        self.retire(now);
        self.waiting.bytes
    }

    /// Whether the counters of what waits agree with a recount of the ring.
    pub fn express_recount(&self) -> bool {
        let waiting = self.flight.iter().skip(self.waiting.started as usize);
        let (n, bytes) = waiting.fold((0u32, 0u64), |(n, b), f| (n + 1, b + u64::from(f.wire)));
        n == self.waiting.packets && bytes == self.waiting.bytes
    }
}
