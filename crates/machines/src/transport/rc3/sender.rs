//! RC3's sending end: the RLP loop next to TCP's (§2.1.1, §2.3.1).

use super::super::tcp::TcpSender;
use super::super::{
    Endpoint, Expiry, Handed, LossDetection, Rc3Spec, Reception, SenderStats, SendingEnd, Transmit,
};
use crate::congestion::decisions::Log;
use crate::congestion::{Controller, Interval, Permit, Report, Start};
use crate::problems::Invalid;
use crate::transport::Flight;
use serde::{Deserialize, Serialize};
use thalweg_units::{FlowId, Time};
use thalweg_wire::{Flags, Kind, NO_SIDE, Packet, Side};

/// RC3's sending end.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Rc3Sender {
    primary: TcpSender,
    rlp: Rlp,
    flow: FlowId,
    /// Of the primary loop.
    class: u8,
    size: u64,
    /// Packets the RLP loop has sent.
    sent: u64,
}

/// The RLP loop of what was written last. No window, no timer, no retransmission.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Serialize, Deserialize)]
struct Rlp {
    /// End of that block.
    tail: u64,
    /// Everything from here to the tail has been sent, or is being sent.
    reached: u64,
    /// Its start: earlier blocks are not sent again.
    floor: u64,
    /// What leaves forwards now, as one: next byte and end. Its level.
    going: (u64, u64),
    level: u8,
    /// It has met the primary loop or its floor.
    done: bool,
}

impl Rc3Sender {
    /// A sender that has not started.
    ///
    /// # Errors
    /// If a parameter is out of range, or the primary loop cannot share its buffer; the message states why.
    pub fn new(spec: &Rc3Spec, flow: FlowId, size: u64, start: &Start) -> Result<Self, Invalid> {
        let tcp = &spec.primary;
        let wrong = if spec.levels == 0 || spec.first == 0 || spec.together == 0 {
            Some(("levels", "no levels, or nothing in them"))
        } else if start.class.checked_add(spec.levels).is_none() {
            Some(("levels", "more levels than there are classes below the flow's"))
        } else if spec.handed == Handed::Pull && (spec.together > 1 || spec.flush) {
            Some((
                "handed",
                "packets that are handed over one by one neither leave several as one nor wait in a queue",
            ))
        } else if size == u64::MAX {
            Some(("size", "a flow without end has no tail to begin with"))
        } else if !tcp.acks_in_class || tcp.ack.every != 1 {
            Some(("primary.ack", "ACKs are of the class of the data, and one for each packet"))
        } else if tcp.flight != Flight::Pipe || !matches!(tcp.loss, LossDetection::DupAck { .. }) {
            Some(("primary.flight", "the primary loop counts what is in the pipe and acts on duplicate ACKs"))
        } else if tcp.probe_after.is_some() {
            Some(("primary.probe_after", "the primary loop has no probes"))
        } else if tcp.controller.needs().delivery {
            Some((
                "primary.controller",
                "its controller wants delivery rates, which skipped segments falsify",
            ))
        } else {
            None
        };
        if let Some((key, why)) = wrong {
            return Err(Invalid::new(why).of("rc3").at(key));
        }
        let mut primary = TcpSender::new(tcp, flow, size, start)?;
        primary.harvest();
        let rlp = Rlp { done: true, ..Rlp::default() };
        Ok(Self { primary, rlp, flow, class: start.class, size, sent: 0 })
    }

    /// The controller of the primary loop, for tests and tools.
    pub fn controller(&self) -> &Controller {
        self.primary.controller()
    }

    /// The next segment of the RLP loop, if there is one: where it begins, its length, its level.
    ///
    /// The crossing test is made as packets are handed to the NIC (§2.1.2): what waits there goes out even if
    /// TCP has sent it meanwhile.
    #[inline]
    fn next_low(&mut self, spec: &Rc3Spec) -> Option<(u64, u32, u8)> {
        let mss = u64::from(spec.primary.mss);
        self.rlp = self.begun(self.rlp);
        if self.rlp.done {
            return None;
        }
        if self.rlp.going.0 >= self.rlp.going.1 && !self.begin_next(spec) {
            self.rlp.done = true;
            return None;
        }
        let (seq, end) = self.rlp.going;
        let next = (seq + mss).min(end);
        self.rlp.going.0 = next;
        Some((seq, (next - seq) as u32, self.rlp.level))
    }

    /// The loop, of the next block if it is through with this one.
    #[inline]
    fn begun(&self, rlp: Rlp) -> Rlp {
        let written = self.primary.written();
        if rlp.done && written > rlp.tail {
            // §2.3.2: every write is like a flow of its own.
            return Rlp { tail: written, reached: written, floor: rlp.tail, ..Rlp::default() };
        }
        rlp
    }

    /// Where the next segment begins, or the next few that leave as one; `None`: the loops have met.
    #[inline]
    fn next_from(&self, spec: &Rc3Spec, rlp: &Rlp) -> Option<u64> {
        let mss = u64::from(spec.primary.mss);
        let stop = rlp.floor.max(self.primary.sent_to());
        let many = u64::from(spec.together);
        let first = (rlp.reached.div_ceil(mss)).saturating_sub(many) * mss;
        let from = first.max(stop.next_multiple_of(mss));
        (from < rlp.reached).then_some(from)
    }

    /// The next segment, or the next few that leave as one.
    #[inline]
    fn begin_next(&mut self, spec: &Rc3Spec) -> bool {
        let Some(from) = self.next_from(spec, &self.rlp) else { return false };
        // CHOICE: distances from the tail of a block that ends within a segment are counted in segments begun.
        // §2.3.2: one priority for all, the least important of them.
        self.rlp.level = spec.level((self.rlp.tail - from).div_ceil(u64::from(spec.primary.mss)));
        self.rlp.going = (from, self.rlp.reached);
        self.rlp.reached = from;
        true
    }

    #[inline]
    fn emit(&mut self, spec: &Rc3Spec, now: Time, (seq, len, level): (u64, u32, u8), packet: &mut Packet) {
        let mut flags = Flags::default();
        if seq + u64::from(len) == self.size {
            flags.set(Flags::LAST);
        }
        // CHOICE: not ECN-capable, for the loop would not react; where TCP's are marked, these are dropped.
        *packet = Packet {
            stamp: now,
            seq,
            rank: spec.primary.rank.of(self.size, 0, 0, seq),
            flow: self.flow,
            class: self.class + level,
            wire: len + spec.primary.header,
            payload: len,
            kind: Kind::Data,
            flags,
            side: NO_SIDE,
            ..Packet::default()
        };
        self.sent += 1;
    }
}

impl Endpoint for Rc3Sender {
    type Spec = Rc3Spec;

    #[inline]
    fn on_packet(&mut self, spec: &Rc3Spec, now: Time, packet: &Packet, side: Option<&Side>) -> Reception {
        let mut reception = Reception::Taken;
        // ACKs of the RLP loop change no window, no timer, no count, and release nothing.
        if packet.kind != Kind::Ack || packet.class == self.class {
            reception = self.primary.on_packet(&spec.primary, now, packet, side);
        }
        if packet.kind == Kind::Ack {
            self.primary.is_delivered(0, packet.seq);
            for &(from, to) in side.map_or(&[][..], Side::sack) {
                self.primary.is_delivered(from, to);
            }
        }
        reception
    }

    fn on_timer(&mut self, spec: &Rc3Spec, now: Time) -> Expiry {
        if self.is_done() { Expiry::Other } else { self.primary.on_timer(&spec.primary, now) }
    }

    #[inline]
    fn poll_transmit(&mut self, spec: &Rc3Spec, now: Time, packet: &mut Packet, side: &mut Side) -> Transmit {
        if self.is_done() {
            return Transmit::Idle;
        }
        let answer = self.primary.poll_transmit(&spec.primary, now, packet, side);
        if answer == Transmit::Packet || !self.primary.is_open() || spec.handed == Handed::Pull {
            return answer;
        }
        // Only when the primary loop has sent all it may: the initial window is ahead in the NIC's queue.
        let Some(segment) = self.next_low(spec) else { return answer };
        self.emit(spec, now, segment, packet);
        Transmit::Packet
    }

    #[inline]
    fn timer(&self) -> Option<Time> {
        if self.is_done() { None } else { self.primary.timer() }
    }

    /// The last bytes may have come by the RLP loop, and no ACK of the primary loop will ever report it.
    #[inline]
    fn is_done(&self) -> bool {
        self.primary.is_done() || self.primary.all_delivered()
    }
}

impl SendingEnd for Rc3Sender {
    fn start(&mut self, spec: &Rc3Spec, now: Time) {
        self.primary.start(&spec.primary, now);
    }

    /// Of the primary loop: what the other has sent may have to be sent again.
    fn remaining(&self) -> u64 {
        self.primary.remaining()
    }

    fn stop(&mut self, spec: &Rc3Spec, now: Time) -> u64 {
        self.size = self.primary.stop(&spec.primary, now);
        self.rlp.done = true;
        self.rlp.tail = self.size;
        self.size
    }

    fn waits_for_idle(&self, spec: &Rc3Spec) -> Option<u8> {
        if spec.handed == Handed::Push || self.is_done() || !self.primary.is_open() {
            return None;
        }
        let mut rlp = self.begun(self.rlp);
        if !rlp.done && self.next_from(spec, &rlp).is_none() {
            // The loops have met in this block.
            rlp = self.begun(Rlp { done: true, ..rlp });
        }
        if rlp.done {
            return None;
        }
        let distance = (rlp.tail - self.next_from(spec, &rlp)?).div_ceil(u64::from(spec.primary.mss));
        Some(self.class + spec.level(distance))
    }

    fn poll_idle(&mut self, spec: &Rc3Spec, now: Time, packet: &mut Packet, _: &mut Side) -> Transmit {
        if self.waits_for_idle(spec).is_none() {
            return Transmit::Idle;
        }
        // The first `None` means that this block is through.
        let Some(segment) = self.next_low(spec).or_else(|| self.next_low(spec)) else {
            return Transmit::Idle;
        };
        self.emit(spec, now, segment, packet);
        Transmit::Packet
    }

    fn discards_from_class(&self, spec: &Rc3Spec) -> Option<u8> {
        spec.flush.then(|| self.class + 1)
    }

    fn report(&self, report: &mut Report) {
        self.primary.report(report);
    }

    fn take_log(&mut self) -> Option<Log> {
        self.primary.take_log()
    }

    fn interval(&self) -> Option<&Interval> {
        self.primary.interval()
    }

    fn on_decision(&mut self, now: Time, decided: Permit) {
        self.primary.on_decision(now, decided);
    }

    fn stats(&self) -> SenderStats {
        let primary = self.primary.stats();
        SenderStats {
            acked_bytes: self.primary.in_order(),
            sent_packets: primary.sent_packets + self.sent,
            ..primary
        }
    }
}
