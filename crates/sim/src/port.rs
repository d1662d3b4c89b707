//! An output port: a queue, a transmitter, and the packets on the wire behind it.
//!
//! The wire is a ring of packets in the order of their arrival; only the first one has an event.
//! A port whose queue needs no decision at the end of a transmission (FIFO, no shared memory) puts
//! packets on the ring as they come, departure already known: one event per hop ([`Lane::Express`]).
//! Every other queue is asked when the port falls idle ([`Lane::Ordered`]): at its own event if others see
//! the queue in between (shared memory), else when somebody next touches the port, as of the instant
//! at which it fell idle; then, too, a hop has one event.

use crate::beside::Beside;
use crate::ring::Ring;
use crate::spec::LinkSpec;
use serde::{Deserialize, Serialize};
use thalweg_machines::aqm::AqmMachine;
use thalweg_machines::schedule::Entry;
use thalweg_machines::{Handle, Packet};
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
    /// Its [`Packet::is_control`], carried along likewise.
    pub control: bool,
}

impl Flying {
    /// No packet.
    pub const NONE: Flying =
        Flying { handle: Handle(u32::MAX), wire: 0, arrive: Time::MAX, route: 0, control: false };

    /// A packet that is not on its way yet.
    #[inline(always)]
    pub fn new(handle: Handle, packet: &Packet) -> Self {
        let Packet { wire, route, .. } = *packet;
        Self { handle, wire, route, control: packet.is_control(), arrive: Time::MAX }
    }
}

impl From<Entry> for Flying {
    #[inline(always)]
    fn from(Entry { handle, wire, route, control, .. }: Entry) -> Self {
        Self { handle, wire, route, control, arrive: Time::MAX }
    }
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

/// No whole number of picoseconds per byte.
const SLOW: u64 = u64::MAX;

/// One direction of a link with the queue that feeds it.
///
/// Laid out by cache line: what every landing touches, what every booking touches, the rest.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[repr(C, align(64))]
pub struct Port {
    /// The ring.
    pub flight: Ring,
    /// When the transmitter is free.
    pub free_at: Time,
    /// Bytes of the packets waiting, see `waiting`.
    pub waiting_bytes: u64,
    /// Packets waiting: express, those of the ring that have not begun transmission; ordered, as its discipline
    /// says (kept here so that looking costs no cache miss).
    pub waiting: u32,
    /// Express: how many packets of the ring, from its head, have.
    pub(crate) started: u32,
    /// Express: with fewer packets waiting, the queue management admits everything.
    pub(crate) quiet_below: u32,
    /// Ordered: position of its discipline among the network's.
    pub queue: u32,
    /// How the queue works.
    pub lane: Lane,
    /// The far end is a host.
    pub to_host: bool,
    /// The far end may forward a packet before it has arrived whole.
    cuts: bool,
    /// Ordered: it will choose at an event, or at the end of this instant.
    pub deciding: bool,
    /// Ordered: every end of a transmission has an event, because others look at the queue in between.
    pub eager: bool,
    /// Ordered: a transmission gives way to a packet that should go first.
    pub preemptive: bool,
    /// Ordered: see [`crate::gate`].
    pub gated: bool,
    /// Ordered: whether a packet waits beside the queue.
    pub(crate) beside: Beside,

    /// Time on the wire per byte, ps; [`SLOW`]: ask the serializer.
    ps_per_byte: u64,
    /// Propagation.
    pub delay: Span,
    /// Express: limit of `waiting_bytes`. Ordered: the largest packet that may wait alone.
    pub(crate) limit_bytes: u64,
    /// Express: limit of `waiting`.
    pub(crate) limit_packets: u32,
    /// See [`PortTotals::max_queue`].
    pub(crate) max_queue: u32,
    /// See [`PortTotals::packets`].
    pub(crate) packets: u64,
    /// See [`PortTotals::bytes`].
    pub(crate) bytes: u64,
    /// See [`PortTotals::waited`].
    pub(crate) waited: u64,
    /// Ordered: since when its queue has had its length.
    pub(crate) changed: Time,

    /// Ordered: the packet that waits beside the queue.
    pub(crate) aside: Flying,
    /// Time on the wire.
    pub serializer: Serializer,
    /// Far end.
    pub peer: NodeId,
    /// Ordered: the switch whose shared memory it uses; `u32::MAX`: it has its own.
    pub pool: u32,
    /// The switch it belongs to; `u32::MAX`: a host.
    pub owner: u32,
    /// Its number among the links of that switch.
    pub number: u8,
    /// It belongs to a host.
    pub from_host: bool,
    /// Gated: its host's flows are asked for packets.
    pub pulls: bool,
    /// Cut-through: bytes after which the far end may forward.
    cut_header: u32,
    /// See [`PortTotals::dropped`].
    pub dropped: u64,
    /// See [`PortTotals::marked`].
    pub marked: u64,
    /// Express: active queue management.
    pub(crate) aqm: AqmMachine,
}

const _: () = assert!(size_of::<Port>() <= 256);
const _: () =
    assert!(std::mem::offset_of!(Port, ps_per_byte) == 64 && std::mem::offset_of!(Port, aside) == 128);

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
            flight: Ring::default(),
            free_at: Time::ZERO,
            waiting_bytes: 0,
            waiting: 0,
            started: 0,
            quiet_below: aqm.quiet_below(),
            queue: u32::MAX,
            lane,
            to_host,
            cuts: false,
            deciding: false,
            eager: false,
            preemptive: false,
            gated: false,
            beside: Beside::Nobody,
            ps_per_byte: Serializer::new(link.rate, link.quantum).ps_per_byte().unwrap_or(SLOW),
            serializer: Serializer::new(link.rate, link.quantum),
            delay: link.delay,
            limit_bytes: limit.0,
            limit_packets: limit.1,
            max_queue: 0,
            packets: 0,
            bytes: 0,
            waited: 0,
            aside: Flying::NONE,
            changed: Time::ZERO,
            peer,
            pool: u32::MAX,
            owner: u32::MAX,
            number: 0,
            from_host: false,
            pulls: false,
            cut_header: 0,
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

    /// Ordered: when it was to choose, if that was before `before` and nothing reminds it.
    #[inline(always)]
    pub fn overdue(&self, before: Time) -> Option<Time> {
        // One branch that is hard to predict instead of four.
        let due = (self.waiting > 0) & (self.free_at < before) & !self.deciding & !self.eager;
        due.then_some(self.free_at)
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

    /// Time on the wire of `wire` bytes.
    #[inline(always)]
    pub fn span(&self, wire: u32) -> Span {
        if self.ps_per_byte == SLOW {
            return self.serializer.span(wire);
        }
        Span::from_ps(self.ps_per_byte * u64::from(wire))
    }

    /// How long before its last bit a packet of `wire` bytes may be handled at the far end.
    #[inline(always)]
    pub fn early(&self, wire: u32) -> Span {
        if !self.cuts {
            return Span::ZERO;
        }
        self.span(wire).saturating_sub(self.span(self.cut_header))
    }

    /// Puts a packet on the ring.
    #[inline]
    pub(crate) fn fly(&mut self, flying: Flying) -> Booked {
        let first = self.flight.is_empty();
        self.flight.push_back(flying);
        if first { Booked::First(flying.arrive) } else { Booked::Behind }
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
        self.free_at = now + self.span(wire);
        self.packets += 1;
        self.bytes += u64::from(wire);
        self.fly(Flying { arrive: self.free_at + self.delay, ..flying })
    }

    /// Gated: transmits a pause frame now; it counts as no packet.
    pub fn transmit_frame(&mut self, now: Time, flying: Flying) -> Booked {
        debug_assert!(self.free_at <= now);
        self.free_at = now + self.span(flying.wire);
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
        if !self.is_ordered() {
            if self.started > 0 {
                self.started -= 1;
            } else {
                self.waiting -= 1;
                self.waiting_bytes -= u64::from(landed.wire);
            }
        }
        (landed, self.flight.front().copied())
    }
}
