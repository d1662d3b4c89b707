//! An output port: a queue, a transmitter, and the packets on the wire behind it.
//!
//! The wire is a ring of packets in the order of their arrival; only the first one has an event. There are three
//! lanes. A port whose queue needs no decision at the end of a transmission (FIFO, no shared memory) puts packets
//! on the ring as they come, departure already known: one event per hop ([`Lane::Express`]). Every other queue on a
//! plain link is dequeued on demand ([`Lane::OnDemand`]): at an event of its own if the queue is observed in
//! between (shared memory), else when the port is next touched, as of the instant at which it fell idle; a hop then
//! has one event, too. Both are short cuts of the whole port as one machine ([`Lane::Reference`]), which supports
//! any link and needs two events per hop.

mod bypass;
mod express;
pub mod flying;
mod ring;
mod state;

use crate::port::flying::Flying;
use crate::port::ring::Ring;
pub use crate::port::state::{Bypass, FarEnd, Mode, Place, State, Timing, Waiting};
use crate::port::state::{Cold, Limits, Overflow, Sent, Waited};
use serde::{Deserialize, Serialize};
use thalweg_machines::link::LinkSpec;
use thalweg_machines::stage::{HeaderStage, StageMachine};
use thalweg_units::{NodeId, Serializer, Span, Time};

/// How a port is simulated.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub enum Lane {
    /// FIFO with its own memory: departure times are known on arrival.
    Express,
    /// A queue discipline that is dequeued when the port is free.
    OnDemand,
    /// The whole port as one machine, on any link; the other two are short cuts of it.
    Reference,
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
    /// Packets cut to their headers at this port; they do not count as dropped.
    pub trimmed: u64,
    /// Longest queue in bytes, including the packet that joins it, without the one being transmitted.
    pub max_queue: u64,
    /// Time that packets have waited here so far, summed (packet · ps).
    pub waited: u128,
    /// How often its neighbour paused it.
    pub pauses: u64,
    /// Total time that it was paused, ps, including the pause in force.
    pub paused: u64,
    /// Packets put on the wire that the link has lost.
    pub lost: u64,
    /// Bytes that could have left while nothing waited, on links with discrete opportunities to send.
    pub unused: u64,
}

/// What waits at a port, without the packet being transmitted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Backlog {
    /// Packets.
    pub packets: u32,
    /// Their bytes.
    pub bytes: u64,
}

/// No whole number of picoseconds per byte.
const SLOW: u64 = u64::MAX;

/// One direction of a link with the queue that feeds it.
///
/// Laid out by cache line: what every landing touches, what every booking touches, the rest.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[repr(C, align(64))]
pub struct Port {
    /// The packets on the wire.
    pub flight: Ring,
    /// When the transmitter is free.
    pub free_at: Time,
    /// What waits.
    pub waiting: Waiting,
    /// Express: with fewer packets waiting, the queue management admits everything.
    pub(crate) quiet_below: u32,
    /// Index of its queue (on demand) or machine (reference).
    pub queue: u32,
    /// The kind of the port.
    pub mode: Mode,
    /// The state of its next decision.
    pub state: State,

    /// Transmission and propagation times.
    pub timing: Timing,
    /// How much may wait, and the longest queue so far.
    pub(crate) limits: Limits,
    /// Counters of what it has put on the wire.
    pub(crate) sent: Sent,
    /// Counters of waiting times.
    pub(crate) waited: Waited,

    /// On demand: the bypass slot. Express, with a wire to another part: the packet whose transmission began last
    /// among those taken off the ring.
    pub(crate) slot: Flying,
    /// Transmission times; on links without a fixed rate, at their long-run rate.
    pub serializer: Serializer,
    /// Its place in the network.
    pub place: Place,
    /// What packets rarely touch.
    pub(crate) cold: Cold,
}

const _: () = assert!(size_of::<Port>() <= 256);
#[cfg(target_pointer_width = "64")]
const _: () = assert!(std::mem::offset_of!(Port, timing) == 64 && std::mem::offset_of!(Port, slot) == 128);

/// The result of putting something on the wire.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Booked {
    /// It is on the ring, which was empty: its arrival needs an event.
    First(Time),
    /// It is on the ring behind others.
    Behind,
    /// It was dropped (express).
    Dropped,
}

impl Port {
    /// A port that feeds `link`.
    pub fn new(
        link: &LinkSpec,
        peer: NodeId,
        far_end: FarEnd,
        lane: Lane,
        limit: (u64, u32),
        stage: StageMachine,
    ) -> Self {
        let serializer = Serializer::new(link.mean_rate(), link.quantum());
        Self {
            flight: Ring::default(),
            free_at: Time::ZERO,
            waiting: Waiting::default(),
            quiet_below: stage.quiet_below(),
            queue: u32::MAX,
            mode: Mode { lane, far_end, cuts: false, preemptive: false, gated: false },
            state: State { tx_pending: false, eager: false, bypass: Bypass::Empty },
            timing: Timing { ps_per_byte: serializer.ps_per_byte().unwrap_or(SLOW), delay: link.delay },
            limits: Limits { bytes: limit.0, packets: limit.1, max_queue: 0 },
            sent: Sent::default(),
            waited: Waited::default(),
            slot: Flying::EMPTY,
            serializer,
            place: Place::before(peer),
            cold: Cold { dropped: 0, marked: 0, stage, overflow: Overflow::default() },
        }
    }

    /// Lets the far end forward packets as soon as `header` bytes of them have arrived.
    pub fn cut_through(&mut self, header: u32) {
        self.mode.cuts = true;
        self.place.cut_header = header;
    }

    /// Another part of the network has the queue; this part has only what arrives from the wire.
    pub(crate) fn make_inbound(&mut self) {
        (self.mode.lane, self.queue) = (Lane::Express, u32::MAX);
    }

    /// Its wire leads to another part, which must get what it sends as soon as it is sent: every end of a
    /// transmission is an event.
    pub(crate) fn make_outbound(&mut self) {
        self.mode.far_end = FarEnd::Part;
        if self.mode.lane == Lane::OnDemand {
            self.state.eager = true;
            self.set_bypass_limit(0);
        }
    }

    /// Ends of transmissions need no events any more, unless something else has `observed` them all along.
    pub(crate) fn end_eager(&mut self, observed: bool) {
        self.state.eager = observed || self.mode.lane == Lane::Reference || self.is_outbound();
    }

    /// Whether the far end is a host.
    #[inline(always)]
    pub fn leads_to_host(&self) -> bool {
        self.mode.far_end == FarEnd::Host
    }

    /// Whether the wire leads to another part of the network.
    #[inline(always)]
    pub fn is_outbound(&self) -> bool {
        self.mode.far_end == FarEnd::Part
    }

    /// Whether departures are not known on arrival (on-demand and reference lanes).
    #[inline(always)]
    pub fn on_demand(&self) -> bool {
        self.mode.lane != Lane::Express
    }

    /// On demand: the instant at which it should have decided, if that is before `before` and no event is pending
    /// for it.
    #[inline(always)]
    pub fn overdue(&self, before: Time) -> Option<Time> {
        // One branch that is hard to predict instead of four.
        let due =
            (self.waiting.packets > 0) & (self.free_at < before) & !self.state.tx_pending & !self.state.eager;
        due.then_some(self.free_at)
    }

    /// What the port has done so far.
    pub fn totals(&self, now: Time) -> PortTotals {
        let waits = if self.on_demand() { self.waiting.packets } else { 0 };
        // Express ports count waiting times when packets are booked.
        let ahead = if self.on_demand() { 0 } else { self.booked_ahead(now) };
        PortTotals {
            packets: self.sent.packets,
            bytes: self.sent.bytes,
            dropped: self.cold.dropped,
            marked: self.cold.marked,
            trimmed: 0,
            max_queue: self.cold.overflow.max_queue.max(u64::from(self.limits.max_queue)),
            waited: (u128::from(self.cold.overflow.waited) << 64 | u128::from(self.waited.total))
                + u128::from(waits) * u128::from(now.since(self.waited.since).ps())
                - ahead,
            pauses: 0,
            paused: 0,
            lost: 0,
            unused: 0,
        }
    }

    /// The end of the transmission of a packet that is being transmitted at `now` and already counts as sent.
    pub fn transmitting_until(&self, now: Time) -> Option<Time> {
        let end = match self.mode.lane {
            Lane::Express => self.express_end(now)?,
            Lane::OnDemand | Lane::Reference => self.free_at,
        };
        let is_frame = || self.flight.back().is_some_and(Flying::is_frame);
        (end > now && !self.mode.preemptive && !is_frame()).then_some(end)
    }

    /// Remaining bytes of the packet in transmission just before `now`, at the link's long-run rate. Express: after
    /// [`Port::waits_before`].
    #[inline]
    pub fn remaining_bytes(&self, now: Time) -> u64 {
        let end = if self.mode.lane == Lane::Express { self.end_of_started() } else { Some(self.free_at) };
        let left = end.filter(|end| *end > now).map(|end| self.serializer.rate().over(end - now).get());
        left.map_or(0, |bytes| bytes.max(1))
    }

    /// Transmission time of `wire` bytes.
    #[inline(always)]
    pub fn span(&self, wire: u32) -> Span {
        if self.timing.ps_per_byte == SLOW {
            return self.serializer.span(wire);
        }
        Span::from_ps(self.timing.ps_per_byte * u64::from(wire))
    }

    /// How long before its last bit arrives a packet of `wire` bytes may be forwarded at the far end (cut-through).
    #[inline(always)]
    pub fn early(&self, wire: u32) -> Span {
        if !self.mode.cuts {
            return Span::ZERO;
        }
        self.span(wire).saturating_sub(self.span(self.place.cut_header))
    }

    /// Appends a packet to the ring.
    #[inline]
    pub(crate) fn push_on_wire(&mut self, flying: Flying) -> Booked {
        let first = self.flight.is_empty();
        self.flight.push_back(flying);
        if first { Booked::First(flying.arrive) } else { Booked::Behind }
    }

    /// Returns what was just put on the ring, to be sent to another part of the network. On demand, it is taken off
    /// the ring. Express: it stays there as long as it waits; the packet in transmission is kept apart, so that the
    /// bytes sent by some instant count as at any other port.
    pub(crate) fn take_outbound(&mut self, now: Time) -> Option<Flying> {
        if self.on_demand() {
            return self.flight.pop_back();
        }
        self.retire(now);
        let begun = std::mem::take(&mut self.waiting.started);
        if let Some(last) = begun.checked_sub(1).and_then(|last| self.flight.get(last)) {
            self.slot = *last;
        }
        self.flight.skip(begun);
        self.flight.back().copied()
    }

    /// Inserts a packet into the ring by its arrival, behind those that arrive at the same instant.
    /// [`Booked::First`] if it is the next to arrive.
    pub(crate) fn insert_on_wire(&mut self, flying: Flying) -> Booked {
        if self.flight.insert(flying) == 0 { Booked::First(flying.arrive) } else { Booked::Behind }
    }

    /// Whether the event for an arrival is stale, because another packet has overtaken the one that it was
    /// scheduled for.
    #[inline]
    pub fn is_overtaken(&self, now: Time) -> bool {
        self.mode.lane == Lane::Reference && self.flight.front().is_none_or(|first| first.arrive > now)
    }

    /// Notes that the queue has reached this length.
    #[inline(always)]
    pub fn note_queue(&mut self, bytes: u64) {
        match u32::try_from(bytes) {
            Ok(bytes) => self.limits.max_queue = self.limits.max_queue.max(bytes),
            Err(_) => {
                self.limits.max_queue = u32::MAX;
                self.cold.overflow.max_queue = self.cold.overflow.max_queue.max(bytes);
            }
        }
    }

    /// Adds to the sum of waiting times (packet · ps).
    #[inline(always)]
    pub fn add_waited(&mut self, sum: u128) {
        let total = u128::from(self.waited.total) + sum;
        self.waited.total = total as u64;
        self.cold.overflow.waited += (total >> 64) as u64;
    }

    /// On demand: sets what waits to `packets` packets of `bytes` bytes in all.
    #[inline(always)]
    pub fn set_waiting(&mut self, now: Time, packets: u32, bytes: u64) {
        self.add_waited(u128::from(self.waiting.packets) * u128::from((now - self.waited.since).ps()));
        self.waited.since = now;
        self.waiting.packets = packets;
        self.waiting.bytes = bytes;
    }

    /// On demand: transmits a packet now; the port is free again at [`Port::free_at`].
    #[inline(always)]
    pub fn transmit(&mut self, now: Time, flying: Flying) -> Booked {
        debug_assert!(self.free_at <= now);
        let wire = flying.wire;
        self.free_at = now + self.span(wire);
        self.sent.packets += 1;
        self.sent.bytes += u64::from(wire);
        self.push_on_wire(Flying { arrive: self.free_at + self.timing.delay, ..flying })
    }

    /// Gated: transmits a pause frame now. It does not count as a packet.
    pub fn transmit_frame(&mut self, now: Time, flying: Flying) -> Booked {
        let arrive = self.occupy(now, flying.wire);
        self.push_on_wire(Flying { arrive, ..flying })
    }

    /// Gated: occupies the transmitter for `wire` bytes from now on. Returns when their last bit reaches the far
    /// end.
    pub fn occupy(&mut self, now: Time, wire: u32) -> Time {
        debug_assert!(self.free_at <= now);
        self.free_at = now + self.span(wire);
        self.free_at + self.timing.delay
    }

    /// Preemptive: puts a packet whose last bit has been sent on the wire.
    pub fn finish(&mut self, now: Time, flying: Flying) -> Booked {
        self.sent.packets += 1;
        self.sent.bytes += u64::from(flying.wire);
        self.push_on_wire(Flying { arrive: now + self.timing.delay, ..flying })
    }

    /// Takes the packet that has arrived from the head of the ring; also the one behind it.
    #[inline]
    pub fn land(&mut self) -> (Flying, Option<Flying>) {
        let landed = self.flight.pop_front().expect("an arrival has a packet");
        if !self.on_demand() {
            if self.waiting.started > 0 {
                self.waiting.started -= 1;
            } else {
                self.waiting.packets -= 1;
                self.waiting.bytes -= u64::from(landed.wire);
            }
        }
        (landed, self.flight.front().copied())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use thalweg_machines::stage::StageSpec;
    use thalweg_units::{Rate, Stream};

    /// Ten million packets, 15 GB, wait for two thousand seconds: 2 · 10^22 packet · ps.
    #[test]
    fn long_queues_and_long_waits_are_counted_beyond_what_a_word_holds() {
        let link = LinkSpec::fixed(Rate::from_gbps(1), Span::ZERO);
        let stage = StageSpec::tail_drop().make(Stream::default(), Rate::from_gbps(1)).unwrap();
        let peer = NodeId(0);
        let mut port = Port::new(&link, peer, FarEnd::Host, Lane::OnDemand, (u64::MAX, u32::MAX), stage);
        let (packets, bytes) = (10_000_000, 15_000_000_000);
        for seconds in [0, 1000] {
            port.note_queue(bytes);
            port.set_waiting(Time::ZERO + Span::from_secs(seconds), packets, bytes);
        }
        let totals = port.totals(Time::ZERO + Span::from_secs(2000));
        assert_eq!((totals.waited, totals.max_queue), (20_000_000_000_000_000_000_000, bytes));
    }
}
