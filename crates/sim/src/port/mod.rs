//! An output port: a queue, a transmitter, and the packets on the wire behind it.
//!
//! The wire is a ring of packets in the order of their arrival; only the first one has an event.
//! A port whose queue needs no decision at the end of a transmission (FIFO, no shared memory) puts
//! packets on the ring as they come, departure already known: one event per hop ([`Lane::Express`]).
//! Every other queue is dequeued on demand ([`Lane::OnDemand`]): at an event of its own if others see
//! the queue in between (shared memory), else when the port is next touched, as of the instant
//! at which it fell idle; then, too, a hop has one event.
//! Both are short cuts of the whole port as one machine ([`Lane::Reference`]), which runs on any link: two events.

mod bypass;
mod express;
pub mod flying;
mod ring;

use crate::port::flying::Flying;
use crate::port::ring::Ring;
use serde::{Deserialize, Serialize};
use thalweg_machines::link::LinkSpec;
use thalweg_machines::stage::{HeaderStage, StageMachine};
use thalweg_units::{NodeId, Serializer, Span, Time};

/// How the port's queue works.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub enum Lane {
    /// FIFO with its own memory: departure times are known on arrival.
    Express,
    /// A queue discipline that is dequeued when the port is idle.
    OnDemand,
    /// The whole port as one machine, on any link: what the other two are short cuts of.
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
    /// Packets cut to their headers at this port: these are not dropped.
    pub trimmed: u64,
    /// Largest queue in bytes, the packet that joins it included, the one being transmitted not;
    /// at most 2³² − 1.
    pub max_queue: u64,
    /// Time that packets have waited here so far, summed (packet · ps).
    pub waited: u128,
    /// How often its neighbour made it pause.
    pub pauses: u64,
    /// For how long in all, ps; a pause that stands counts so far.
    pub paused: u64,
    /// Packets put on the wire that the link has lost.
    pub lost: u64,
    /// Bytes that could have left when nothing waited: of links that have opportunities to send.
    pub unused: u64,
}

/// No whole number of picoseconds per byte.
const SLOW: u64 = u64::MAX;

/// What waits at a port.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[repr(C)]
pub struct Waiting {
    /// Bytes of the packets waiting.
    pub bytes: u64,
    /// Packets waiting: express, those of the ring that have not begun transmission; on demand, as its discipline
    /// says (kept here so that looking costs no cache miss).
    pub packets: u32,
    /// Express: how many packets of the ring, from its head, do not wait any more.
    pub(crate) started: u32,
}

/// What is at the far end of a port's wire.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub enum FarEnd {
    /// A switch.
    Switch,
    /// A host.
    Host,
    /// Another part of the network ([`crate::parts`]).
    Part,
}

/// What a port is.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
#[repr(C)]
pub struct Mode {
    /// How the queue works.
    pub lane: Lane,
    /// What its wire leads to.
    pub far_end: FarEnd,
    /// The far end may forward a packet before it has arrived whole.
    cuts: bool,
    /// On demand: a transmission is preempted by a packet that should go first.
    pub preemptive: bool,
    /// On demand: see [`crate::fabric`], gated ports.
    pub gated: bool,
}

/// What the bypass slot holds: see [`Port::bypass`].
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub enum Bypass {
    /// All that waits is in the queue.
    Empty,
    /// The only packet that waits; the queue does not know of it.
    Single,
    /// A control packet that goes first whatever comes; the queue only counts it.
    Control,
}

/// What becomes of a port's next decision (on demand).
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
#[repr(C)]
pub struct State {
    /// It will decide at an event, or at the end of this instant.
    pub tx_pending: bool,
    /// Every end of a transmission has an event, because others look at the queue in between.
    pub eager: bool,
    /// Whether a packet waits in the bypass slot.
    pub(crate) bypass: Bypass,
}

/// How long things take.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
#[repr(C)]
pub struct Timing {
    /// Time on the wire per byte, ps; [`SLOW`]: the serializer knows.
    ps_per_byte: u64,
    /// Propagation.
    pub delay: Span,
}

/// How much may wait, and how much has.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
#[repr(C)]
pub(crate) struct Room {
    /// Express: limit of the bytes waiting. On demand: the largest packet that may wait in the bypass slot.
    pub bytes: u64,
    /// Express: limit of the packets waiting.
    pub packets: u32,
    /// See [`PortTotals::max_queue`], and [`Beyond::max_queue`].
    pub max_queue: u32,
}

/// What has been put on the wire.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
#[repr(C)]
pub(crate) struct Sent {
    /// See [`PortTotals::packets`].
    pub packets: u64,
    /// See [`PortTotals::bytes`].
    pub bytes: u64,
}

/// How long packets have waited.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
#[repr(C)]
pub(crate) struct Waited {
    /// See [`PortTotals::waited`]: its lower half.
    pub total: u64,
    /// On demand: since when the queue has had its length.
    pub since: Time,
}

/// What few ports count: more than fits in the line of what every booking touches.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Beyond {
    /// Upper half of [`Waited::total`].
    pub waited: u64,
    /// The longest queue, if it has ever been longer than 4 GiB.
    pub max_queue: u64,
}

/// Where a port is.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct Place {
    /// Far end.
    pub peer: NodeId,
    /// On demand: the switch whose shared memory it uses; `u32::MAX`: it has its own.
    pub pool: u32,
    /// The switch it belongs to; `u32::MAX`: a host.
    pub owner: u32,
    /// Its number among the links of that switch.
    pub number: u8,
    /// It belongs to a host.
    pub from_host: bool,
    /// Gated: it pulls packets from its host's flows.
    pub pulls: bool,
    /// Cut-through: bytes after which the far end may forward.
    cut_header: u32,
}

/// What a port does not pass on as it came, and what few ports count: all that a packet seldom touches.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Verdicts {
    /// See [`PortTotals::dropped`].
    pub dropped: u64,
    /// See [`PortTotals::marked`].
    pub marked: u64,
    /// Express: active queue management.
    pub stage: StageMachine,
    /// Sums that have outgrown their place.
    pub beyond: Beyond,
}

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
    /// What waits.
    pub waiting: Waiting,
    /// Express: with fewer packets waiting, the queue management admits everything.
    pub(crate) quiet_below: u32,
    /// On demand: position of its discipline among the network's.
    pub queue: u32,
    /// What it is.
    pub mode: Mode,
    /// What becomes of its next decision.
    pub state: State,

    /// How long things take.
    pub timing: Timing,
    /// How much may wait, and how much has.
    pub(crate) room: Room,
    /// What it has put on the wire.
    pub(crate) sent: Sent,
    /// How long packets have waited.
    pub(crate) waited: Waited,

    /// On demand: the bypass slot. Express, outbound: what began last of what was taken off the ring.
    pub(crate) slot: Flying,
    /// Time on the wire; of links that are not of a fixed rate: at their long-run rate.
    pub serializer: Serializer,
    /// Where it is.
    pub place: Place,
    /// What it does not pass on as it came.
    pub(crate) verdicts: Verdicts,
}

const _: () = assert!(size_of::<Port>() <= 256);
#[cfg(target_pointer_width = "64")]
const _: () = assert!(std::mem::offset_of!(Port, timing) == 64 && std::mem::offset_of!(Port, slot) == 128);

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
            room: Room { bytes: limit.0, packets: limit.1, max_queue: 0 },
            sent: Sent::default(),
            waited: Waited::default(),
            slot: Flying::EMPTY,
            serializer,
            place: Place {
                peer,
                pool: u32::MAX,
                owner: u32::MAX,
                number: 0,
                from_host: false,
                pulls: false,
                cut_header: 0,
            },
            verdicts: Verdicts { dropped: 0, marked: 0, stage, beyond: Beyond::default() },
        }
    }

    /// Lets the far end forward packets as soon as `header` bytes of them have arrived.
    pub fn cut_through(&mut self, header: u32) {
        self.mode.cuts = true;
        self.place.cut_header = header;
    }

    /// Another part of the network has the queue, and this one only what the wire brings.
    pub(crate) fn make_inbound(&mut self) {
        (self.mode.lane, self.queue) = (Lane::Express, u32::MAX);
    }

    /// Its wire leads to another part: what it sends is needed there as soon as it is sent.
    pub(crate) fn make_outbound(&mut self) {
        self.mode.far_end = FarEnd::Part;
        if self.mode.lane == Lane::OnDemand {
            self.state.eager = true;
            self.set_bypass_limit(0);
        }
    }

    /// The ends of its transmissions need no events any more, unless something else has `observed` them all along.
    pub(crate) fn calm(&mut self, observed: bool) {
        self.state.eager = observed || self.mode.lane == Lane::Reference || self.is_outbound();
    }

    /// The far end is a host.
    #[inline(always)]
    pub fn leads_to_host(&self) -> bool {
        self.mode.far_end == FarEnd::Host
    }

    /// The far end is another part of the network.
    #[inline(always)]
    pub fn is_outbound(&self) -> bool {
        self.mode.far_end == FarEnd::Part
    }

    /// Departures are not known on arrival.
    #[inline(always)]
    pub fn on_demand(&self) -> bool {
        self.mode.lane != Lane::Express
    }

    /// On demand: when it was to decide, if that was before `before` and nothing reminds it.
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
        // Express: counted as each was booked.
        let ahead = if self.on_demand() { 0 } else { self.booked_ahead(now) };
        PortTotals {
            packets: self.sent.packets,
            bytes: self.sent.bytes,
            dropped: self.verdicts.dropped,
            marked: self.verdicts.marked,
            trimmed: 0,
            max_queue: self.verdicts.beyond.max_queue.max(u64::from(self.room.max_queue)),
            waited: (u128::from(self.verdicts.beyond.waited) << 64 | u128::from(self.waited.total))
                + u128::from(waits) * u128::from(now.since(self.waited.since).ps())
                - ahead,
            pauses: 0,
            paused: 0,
            lost: 0,
            unused: 0,
        }
    }

    /// When the last bit leaves of the packet that is being transmitted at `now` and is counted as sent already.
    pub fn transmitting_until(&self, now: Time) -> Option<Time> {
        let end = match self.mode.lane {
            Lane::Express => self.express_end(now)?,
            Lane::OnDemand | Lane::Reference => self.free_at,
        };
        let is_frame = || self.flight.back().is_some_and(Flying::is_frame);
        (end > now && !self.mode.preemptive && !is_frame()).then_some(end)
    }

    /// Bytes that are left of the packet in transmission just before `now`, at the link's rate in the long run.
    /// Express: after [`Port::waits_before`].
    #[inline]
    pub fn left(&self, now: Time) -> u64 {
        let end = if self.mode.lane == Lane::Express { self.end_of_started() } else { Some(self.free_at) };
        let left = end.filter(|end| *end > now).map(|end| self.serializer.rate().over(end - now).get());
        left.map_or(0, |bytes| bytes.max(1))
    }

    /// Time on the wire of `wire` bytes.
    #[inline(always)]
    pub fn span(&self, wire: u32) -> Span {
        if self.timing.ps_per_byte == SLOW {
            return self.serializer.span(wire);
        }
        Span::from_ps(self.timing.ps_per_byte * u64::from(wire))
    }

    /// How long before its last bit a packet of `wire` bytes may be handled at the far end.
    #[inline(always)]
    pub fn early(&self, wire: u32) -> Span {
        if !self.mode.cuts {
            return Span::ZERO;
        }
        self.span(wire).saturating_sub(self.span(self.place.cut_header))
    }

    /// Puts a packet on the ring.
    #[inline]
    pub(crate) fn fly(&mut self, flying: Flying) -> Booked {
        let first = self.flight.is_empty();
        self.flight.push_back(flying);
        if first { Booked::First(flying.arrive) } else { Booked::Behind }
    }

    /// What has just been put on the ring leaves this part of the network. Express: it stays there as long as it waits.
    /// What transmits is kept apart: how much of it is out by some instant counts as at any other port.
    pub(crate) fn leave(&mut self, now: Time) -> Option<Flying> {
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

    /// Puts a packet on the ring by its arrival, behind those that arrive with it: [`Booked::First`] if it is the next.
    pub(crate) fn fly_in_order(&mut self, flying: Flying) -> Booked {
        if self.flight.insert(flying) == 0 { Booked::First(flying.arrive) } else { Booked::Behind }
    }

    /// Nothing lands now, as it was foreseen: something else has overtaken it.
    #[inline]
    pub fn is_overtaken(&self, now: Time) -> bool {
        self.mode.lane == Lane::Reference && self.flight.front().is_none_or(|first| first.arrive > now)
    }

    /// The queue now holds this many bytes.
    #[inline(always)]
    pub fn note_queue(&mut self, bytes: u64) {
        match u32::try_from(bytes) {
            Ok(bytes) => self.room.max_queue = self.room.max_queue.max(bytes),
            Err(_) => {
                self.room.max_queue = u32::MAX;
                self.verdicts.beyond.max_queue = self.verdicts.beyond.max_queue.max(bytes);
            }
        }
    }

    /// Packets have waited so long, summed.
    #[inline(always)]
    pub fn wait(&mut self, sum: u128) {
        let total = u128::from(self.waited.total) + sum;
        self.waited.total = total as u64;
        self.verdicts.beyond.waited += (total >> 64) as u64;
    }

    /// On demand: the queue now holds `packets` of `bytes` in all.
    #[inline(always)]
    pub fn now_waiting(&mut self, now: Time, packets: u32, bytes: u64) {
        self.wait(u128::from(self.waiting.packets) * u128::from((now - self.waited.since).ps()));
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
        self.fly(Flying { arrive: self.free_at + self.timing.delay, ..flying })
    }

    /// Gated: transmits a pause frame now; it counts as no packet.
    pub fn transmit_frame(&mut self, now: Time, flying: Flying) -> Booked {
        let arrive = self.occupy(now, flying.wire);
        self.fly(Flying { arrive, ..flying })
    }

    /// Gated: is busy for so many bytes from now on. When their last bit reaches the far end.
    pub fn occupy(&mut self, now: Time, wire: u32) -> Time {
        debug_assert!(self.free_at <= now);
        self.free_at = now + self.span(wire);
        self.free_at + self.timing.delay
    }

    /// Preemptive: the last bit of a packet has been sent now.
    pub fn finish(&mut self, now: Time, flying: Flying) -> Booked {
        self.sent.packets += 1;
        self.sent.bytes += u64::from(flying.wire);
        self.fly(Flying { arrive: now + self.timing.delay, ..flying })
    }

    /// The packet at the head of the ring has arrived; also the one behind it.
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
            port.now_waiting(Time::ZERO + Span::from_secs(seconds), packets, bytes);
        }
        let totals = port.totals(Time::ZERO + Span::from_secs(2000));
        assert_eq!((totals.waited, totals.max_queue), (20_000_000_000_000_000_000_000, bytes));
    }
}
