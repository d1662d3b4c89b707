//! An output port: a queue, a transmitter, and the packets on the wire behind it.
//!
//! The wire is a ring of packets in the order of their arrival; only the first one has an event.
//! A port whose queue needs no decision at the end of a transmission (FIFO, no shared memory) puts
//! packets on the ring as they come, departure already known: one event per hop ([`Lane::Express`]).
//! Every other queue is asked when the port falls idle ([`Lane::Ordered`]): at its own event if others see
//! the queue in between (shared memory), else when somebody next touches the port, as of the instant
//! at which it fell idle; then, too, a hop has one event.

use crate::prefetch::prefetch;
use crate::spec::LinkSpec;
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;
use thalweg_machines::Handle;
use thalweg_machines::Packet;
use thalweg_machines::aqm::{Advice, Aqm, AqmMachine, Backlog};
use thalweg_units::{NodeId, Serializer, Span, Time};

/// A packet on the wire, or (express) with its place on the wire booked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Flying {
    /// Which packet.
    pub handle: Handle,
    /// Its bytes on the wire.
    pub wire: u32,
    /// When it reaches the far end.
    pub arrive: Time,
    /// Its [`Packet::route`] at the far end: carried along so that a hop need not touch the packet.
    pub route: u32,
}

/// How the port's queue works.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub enum Lane {
    /// FIFO with its own memory: departure times are known on arrival.
    Express,
    /// A queue discipline that is asked whenever the port falls idle.
    Ordered,
}

/// What a port has done so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PortTotals {
    /// Packets put on the wire (express: booked).
    pub packets: u64,
    /// Their bytes.
    pub bytes: u64,
    /// Packets dropped at this port.
    pub dropped: u64,
    /// Packets marked CE at this port.
    pub marked: u64,
    /// Largest queue in bytes, the packet that joins it included, the one being transmitted not;
    /// at most 2³² − 1.
    pub max_queue: u64,
    /// Time that packets have waited here, summed (packet · ps); express: booked in advance.
    pub waited: u64,
    /// How often its neighbour made it pause.
    pub pauses: u64,
    /// For how long in all, ps; a pause that stands counts so far.
    pub paused: u64,
}

/// One direction of a link with the queue that feeds it.
///
/// Laid out by cache line: what every landing touches, what every booking touches, the rest.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[repr(C, align(64))]
pub struct Port {
    /// The ring.
    pub flight: VecDeque<Flying>,
    /// When the transmitter is free.
    pub free_at: Time,
    /// Bytes of the packets waiting, see `waiting`.
    pub waiting_bytes: u64,
    /// Packets waiting: express, those of the ring that have not begun transmission; ordered, as its discipline
    /// says (kept here so that looking costs no cache miss).
    pub waiting: u32,
    /// Express: how many packets of the ring, from its head, have.
    started: u32,
    /// Express: with fewer packets waiting, the queue management admits everything.
    quiet_below: u32,
    /// How the queue works.
    pub lane: Lane,
    /// The far end is a host.
    pub to_host: bool,
    /// A [`crate::events::Phase::Decide`] event is pending.
    pub deciding: bool,
    /// The far end may forward a packet before it has arrived whole.
    cuts: bool,

    /// Time on the wire.
    pub serializer: Serializer,
    /// Propagation.
    pub delay: Span,
    /// Express: limit of `waiting_bytes`. Ordered: the largest packet that may wait alone.
    limit_bytes: u64,
    /// Express: limit of `waiting`.
    limit_packets: u32,
    /// See [`PortTotals::max_queue`].
    max_queue: u32,
    /// See [`PortTotals::packets`].
    packets: u64,
    /// See [`PortTotals::bytes`].
    bytes: u64,
    /// See [`PortTotals::waited`].
    waited: u64,

    /// Far end.
    pub peer: NodeId,
    /// Ordered: position of its discipline among the network's.
    pub queue: u32,
    /// Ordered: the switch whose shared memory it uses; `u32::MAX`: it has its own.
    pub pool: u32,
    /// Cut-through: bytes after which the far end may forward.
    cut_header: u32,
    /// Ordered: every end of a transmission has an event, because others look at the queue in between.
    pub eager: bool,
    /// It belongs to a host.
    pub from_host: bool,
    /// Ordered: see [`crate::gate`].
    pub gated: bool,
    /// Gated: its host's flows are asked for packets.
    pub pulls: bool,
    /// The switch it belongs to; `u32::MAX`: a host.
    pub owner: u32,
    /// Its number among the links of that switch.
    pub number: u8,
    /// Ordered: a transmission gives way to a packet that should go first.
    pub preemptive: bool,
    /// Ordered: the packet that waits alone, beside the queue, and its route.
    pub alone: Option<(Handle, u32)>,
    /// Ordered: since when its queue has had its length.
    changed: Time,
    /// See [`PortTotals::dropped`].
    pub dropped: u64,
    /// See [`PortTotals::marked`].
    pub marked: u64,
    /// Express: active queue management.
    aqm: AqmMachine,
}

/// What became of a packet at an express port.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Booked {
    /// Its place on the wire is booked; the ring was empty, so its arrival needs an event.
    First(Time),
    /// Its place on the wire is booked behind others.
    Behind,
    /// It was dropped.
    Dropped,
}

impl Port {
    /// A port at one end of `link`.
    pub fn new(
        link: &LinkSpec,
        peer: NodeId,
        to_host: bool,
        lane: Lane,
        limit: (u64, u32),
        aqm: AqmMachine,
    ) -> Self {
        Self {
            flight: VecDeque::new(),
            free_at: Time::ZERO,
            waiting_bytes: 0,
            waiting: 0,
            started: 0,
            quiet_below: aqm.quiet_below(),
            lane,
            to_host,
            deciding: false,
            cuts: false,
            serializer: Serializer::new(link.rate, link.quantum),
            delay: link.delay,
            limit_bytes: limit.0,
            limit_packets: limit.1,
            max_queue: 0,
            packets: 0,
            bytes: 0,
            waited: 0,
            peer,
            queue: u32::MAX,
            pool: u32::MAX,
            cut_header: 0,
            eager: false,
            from_host: false,
            gated: false,
            pulls: false,
            owner: u32::MAX,
            number: 0,
            preemptive: false,
            alone: None,
            changed: Time::ZERO,
            dropped: 0,
            marked: 0,
            aqm,
        }
    }

    /// Lets the far end forward packets as soon as `header` bytes of them have arrived.
    pub fn cut_through(&mut self, header: u32) {
        self.cuts = true;
        self.cut_header = header;
    }

    /// Its queue is asked.
    #[inline(always)]
    pub fn is_ordered(&self) -> bool {
        self.lane == Lane::Ordered
    }

    /// Ordered: how long packets may be that wait alone.
    pub fn let_wait_alone(&mut self, up_to: u64) {
        self.limit_bytes = up_to;
    }

    /// Ordered: nothing waits, and the queue need not see a packet of `wire` bytes that finds it so.
    #[inline(always)]
    pub fn lets_wait_alone(&self, wire: u32) -> bool {
        self.waiting == 0 && u64::from(wire) <= self.limit_bytes
    }

    /// Ordered: a packet finds nothing waiting.
    #[inline(always)]
    pub fn wait_alone(&mut self, now: Time, flying: Flying) {
        self.alone = Some((flying.handle, flying.route));
        self.changed = now;
        self.waiting = 1;
        self.waiting_bytes = u64::from(flying.wire);
        self.note_queue(self.waiting_bytes);
    }

    /// Ordered: since when its queue has had its length.
    #[inline(always)]
    pub fn unchanged_since(&self) -> Time {
        self.changed
    }

    /// What the port has done so far.
    pub fn totals(&self) -> PortTotals {
        PortTotals {
            packets: self.packets,
            bytes: self.bytes,
            dropped: self.dropped,
            marked: self.marked,
            max_queue: u64::from(self.max_queue),
            waited: self.waited,
            pauses: 0,
            paused: 0,
        }
    }

    /// How long before its last bit a packet of `wire` bytes may be handled at the far end.
    #[inline(always)]
    pub fn early(&self, wire: u32) -> Span {
        if !self.cuts {
            return Span::ZERO;
        }
        self.serializer.span(wire).saturating_sub(self.serializer.span(self.cut_header))
    }

    /// Express: when a booked packet's transmission begins.
    #[inline(always)]
    fn begins(&self, booked: &Flying) -> Time {
        booked.arrive + self.early(booked.wire) - self.delay - self.serializer.span(booked.wire)
    }

    /// Express: takes packets whose transmission began before `now` off the books of the queue. One that
    /// begins at `now` still waits: ports choose after arrivals have landed.
    #[inline]
    fn retire(&mut self, now: Time) {
        while self.waiting > 0 {
            let next = &self.flight[self.started as usize];
            if self.begins(next) >= now {
                break;
            }
            self.waiting -= 1;
            self.waiting_bytes -= u64::from(next.wire);
            self.started += 1;
        }
    }

    /// Express: books a place on the wire for `packet`, not before `ready`; marks it if the queue says so.
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
        self.free_at = begins + self.serializer.span(wire);
        self.packets += 1;
        self.bytes += u64::from(wire);
        let arrive = self.free_at + self.delay - self.early(wire);
        self.fly(Flying { arrive, ..flying })
    }

    /// Puts a packet on the ring.
    #[inline]
    fn fly(&mut self, flying: Flying) -> Booked {
        let first = self.flight.is_empty();
        self.flight.push_back(flying);
        if first { Booked::First(flying.arrive) } else { Booked::Behind }
    }

    /// Asks for the parts of the ring that a booking touches: the end, and the first packet that waits if the books
    /// must be brought up to date.
    #[inline(always)]
    pub fn prefetch_ring(&self) {
        if self.waiting >= self.quiet_below.min(self.limit_packets)
            && let Some(next) = self.flight.get(self.started as usize)
        {
            prefetch(next);
        }
        if let Some(last) = self.flight.back() {
            prefetch(std::ptr::from_ref(last).wrapping_add(1));
        }
    }

    /// Express: asks the queue management.
    #[inline]
    fn ask(&mut self, now: Time, packet: &Packet) -> Advice {
        let idle_for = if self.waiting == 0 { now.since(self.free_at) } else { Span::ZERO };
        let backlog = Backlog { packets: self.waiting, bytes: self.waiting_bytes, idle_for };
        self.aqm.on_arrival(now, backlog, packet)
    }

    /// The queue now holds this many bytes.
    #[inline(always)]
    pub fn note_queue(&mut self, bytes: u64) {
        self.max_queue = self.max_queue.max(u32::try_from(bytes).unwrap_or(u32::MAX));
    }

    /// Ordered: the queue now holds `packets` of `bytes` in all.
    #[inline(always)]
    pub fn now_waiting(&mut self, now: Time, packets: u32, bytes: u64) {
        self.waited += u64::from(self.waiting) * (now - self.changed).ps();
        self.changed = now;
        self.waiting = packets;
        self.waiting_bytes = bytes;
    }

    /// Ordered: transmits a packet now; the port is free again at [`Port::free_at`].
    #[inline]
    pub fn transmit(&mut self, now: Time, flying: Flying) -> Booked {
        debug_assert!(self.free_at <= now);
        let wire = flying.wire;
        self.free_at = now + self.serializer.span(wire);
        self.packets += 1;
        self.bytes += u64::from(wire);
        self.fly(Flying { arrive: self.free_at + self.delay, ..flying })
    }

    /// Gated: transmits a pause frame now; it counts as no packet.
    pub fn transmit_frame(&mut self, now: Time, flying: Flying) -> Booked {
        debug_assert!(self.free_at <= now);
        self.free_at = now + self.serializer.span(flying.wire);
        self.fly(Flying { arrive: self.free_at + self.delay, ..flying })
    }

    /// Preemptive: the last bit of a packet has been sent now.
    pub fn finish(&mut self, now: Time, flying: Flying) -> Booked {
        self.packets += 1;
        self.bytes += u64::from(flying.wire);
        self.fly(Flying { arrive: now + self.delay, ..flying })
    }

    /// The packet at the head of the ring has arrived; also the one behind it.
    #[inline]
    pub fn land(&mut self) -> (Flying, Option<Flying>) {
        let landed = self.flight.pop_front().expect("an arrival has a packet");
        if self.lane == Lane::Express {
            if self.started > 0 {
                self.started -= 1;
            } else {
                self.waiting -= 1;
                self.waiting_bytes -= u64::from(landed.wire);
            }
        }
        (landed, self.flight.front().copied())
    }

    /// Express: packets and bytes waiting at `now`.
    pub fn express_backlog(&self, now: Time) -> (u32, u64) {
        let mut packets = self.waiting;
        let mut bytes = self.waiting_bytes;
        let mut index = self.started as usize;
        while packets > 0 {
            let next = &self.flight[index];
            if self.begins(next) > now {
                break;
            }
            packets -= 1;
            bytes -= u64::from(next.wire);
            index += 1;
        }
        (packets, bytes)
    }

    /// Express: what the books should say, recounted from the ring.
    pub fn express_recount(&self) -> bool {
        let waiting = self.flight.iter().skip(self.started as usize);
        let (n, bytes) = waiting.fold((0u32, 0u64), |(n, b), f| (n + 1, b + u64::from(f.wire)));
        n == self.waiting && bytes == self.waiting_bytes
    }
}
