//! Express ports: FIFO with memory of their own, so that a packet's departure is known as it arrives.

use crate::port::{Booked, Flying, Port};
use crate::prefetch::prefetch;
use thalweg_machines::Packet;
use thalweg_machines::aqm::{Advice, Aqm, Backlog};
use thalweg_units::{Span, Time};

impl Port {
    /// When a booked packet's transmission begins.
    #[inline(always)]
    fn begins(&self, booked: &Flying) -> Time {
        booked.arrive + self.early(booked.wire) - self.delay - self.span(booked.wire)
    }

    /// Takes packets whose transmission began before `now` off the books of the queue. One that
    /// begins at `now` still waits: ports choose after arrivals have landed.
    #[inline]
    fn retire(&mut self, now: Time) {
        while self.waiting > 0 {
            let next = self.flight.get(self.started).expect("who waits is on the ring");
            if self.begins(next) >= now {
                break;
            }
            self.waiting -= 1;
            self.waiting_bytes -= u64::from(next.wire);
            self.started += 1;
        }
    }

    /// Books a place on the wire for `packet`, not before `ready`; marks it if the queue says so.
    #[inline]
    pub fn book(&mut self, now: Time, ready: Time, flying: Flying, packet: &mut Packet) -> Booked {
        let wire = flying.wire;
        // The books may still hold packets that have begun: they never show too little. As long as even
        // that is too little to matter, the ring need not be read.
        let more = self.waiting_bytes + u64::from(wire);
        if self.waiting >= self.quiet_below.min(self.limit_packets)
            || more > self.limit_bytes
            || more > u64::from(self.max_queue)
        {
            self.retire(now);
        }
        let advice = if self.waiting < self.quiet_below { Advice::Admit } else { self.ask(now, packet) };
        if advice == Advice::Drop
            || self.waiting_bytes + u64::from(wire) > self.limit_bytes
            || self.waiting >= self.limit_packets
        {
            self.dropped += 1;
            return Booked::Dropped;
        }
        if advice == Advice::Mark {
            packet.ecn = thalweg_machines::Ecn::Ce;
            self.marked += 1;
        }
        let begins = ready.max(self.free_at);
        self.waited += (begins - now).ps();
        self.waiting += 1;
        self.waiting_bytes += u64::from(wire);
        if self.waiting_bytes > u64::from(self.max_queue) {
            // Only just retired: exact.
            self.note_queue(self.waiting_bytes);
        }
        self.free_at = begins + self.span(wire);
        self.packets += 1;
        self.bytes += u64::from(wire);
        let arrive = self.free_at + self.delay - self.early(wire);
        self.fly(Flying { arrive, ..flying })
    }

    /// Asks for the parts of the ring that a booking touches: the end, and the first packet that waits if the books
    /// must be brought up to date.
    #[inline(always)]
    pub fn prefetch_ring(&self) {
        if self.waiting >= self.quiet_below.min(self.limit_packets)
            && let Some(next) = self.flight.get(self.started)
        {
            prefetch(next);
        }
        prefetch(self.flight.end());
    }

    /// Asks the queue management.
    #[inline]
    fn ask(&mut self, now: Time, packet: &Packet) -> Advice {
        let idle_for = if self.waiting == 0 { now.since(self.free_at) } else { Span::ZERO };
        let backlog = Backlog { packets: self.waiting, bytes: self.waiting_bytes, idle_for };
        self.aqm.on_arrival(now, backlog, packet)
    }

    /// Packets and bytes waiting at `now`.
    pub fn express_backlog(&self, now: Time) -> (u32, u64) {
        let (mut packets, mut bytes) = (self.waiting, self.waiting_bytes);
        for next in self.flight.iter().skip(self.started as usize) {
            if self.begins(next) > now {
                break;
            }
            packets -= 1;
            bytes -= u64::from(next.wire);
        }
        (packets, bytes)
    }

    /// What the books should say, recounted from the ring.
    pub fn express_recount(&self) -> bool {
        let waiting = self.flight.iter().skip(self.started as usize);
        let (n, bytes) = waiting.fold((0u32, 0u64), |(n, b), f| (n + 1, b + u64::from(f.wire)));
        n == self.waiting && bytes == self.waiting_bytes
    }
}
