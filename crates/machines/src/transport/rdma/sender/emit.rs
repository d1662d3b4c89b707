//! What the sender writes into a packet, and what its leaving changes.

use super::super::super::{Notification, RdmaSpec};
use super::super::layout::Layout;
use super::super::recovery::Sent;
use super::super::segments::Pace;
use super::RdmaSender;
use crate::congestion::CongestionControl;
use crate::packet::{Ecn, Flags, Kind, Packet};
use thalweg_units::{Bytes, Rate, Span, Time};

impl RdmaSender {
    /// Writes the packet and keeps the books.
    #[inline(always)]
    pub(super) fn emit(&mut self, spec: &RdmaSpec, now: Time, sent: Sent, packet: &mut Packet) {
        let layout = Layout::new(spec, self.size);
        let Sent { index, again, enters } = sent;
        if enters && !self.by_timer {
            self.controller.on_loss(&self.loss(now)); // IRN §4.3.4: in_rec becomes 1 through a NACK
        }
        let (seq, end, len) = (layout.offset(index), layout.offset(index + 1), self.payload(&layout, index));
        let mut flags = Flags::default();
        if again {
            flags.set(Flags::RETRANSMISSION);
            self.retransmitted += 1;
        }
        if index + 1 == self.packets {
            flags.set(Flags::LAST);
        }
        *packet = Packet {
            stamp: now,
            seq,
            flow: self.flow,
            class: self.class,
            rank: spec.rank.of(self.size, self.acked_to, self.sacked, seq),
            wire: len + spec.header + spec.extra_header,
            payload: len,
            kind: Kind::Data,
            ecn: if spec.notification == Notification::Off { Ecn::NotEct } else { Ecn::Ect0 },
            flags,
            ..Packet::default()
        };
        self.sent_packets += 1;
        if self.log.is_some() {
            let (in_flight, last) = (self.in_flight(), index + 1 == self.packets);
            if let Some(log) = &mut self.log {
                log.on_sent(now, index, len, in_flight, last);
            }
        }
        if !self.acknowledged {
            self.finished = now;
        }
        self.next_to = self.next_to.max(end);
        self.sent_to = self.sent_to.max(end);
        if !self.timer.runs() || (again && index == self.recovery.una()) {
            self.timer.start(&spec.timer, now, &self.rto);
        }
        self.controller.on_sent(now, Bytes::new(u64::from(len)), Bytes::new(self.in_flight()));
        self.limit(spec, now, sent, packet.wire);
    }

    /// The pace may have changed: the departure planned at the old one moves.
    #[inline]
    pub(super) fn move_departure(&mut self) {
        if let (Some((sent, wire)), None, false) = (self.planned, &self.segments, self.listens) {
            let pace = Pace { rate: self.controller.permit().pace, quantum: self.quantum };
            self.next_tx = sent.saturating_add(pace.gap(wire));
            self.moved = true;
        }
    }

    /// A congestion point has written, or its silence has: what is left to wait shrinks or grows as the pace does.
    // CHOICE RoCC §3.3.5: counted from the last departure anew, all flows that hear of a rate at one instant would leave in step.
    #[inline]
    pub(super) fn rescale_departure(&mut self, now: Time, before: Option<Rate>) {
        let after = self.controller.permit().pace;
        if !self.listens || self.next_tx <= now || before == after {
            return;
        }
        if let (Some(old), Some(new)) = (before, after) {
            let left =
                u128::from((self.next_tx - now).ps()) * u128::from(old.bps()) / u128::from(new.bps().max(1));
            self.next_tx = now.saturating_add(Span::from_ps(u64::try_from(left).unwrap_or(u64::MAX)));
        }
    }

    /// The rate limiter: when the next packet may leave.
    #[inline]
    fn limit(&mut self, spec: &RdmaSpec, now: Time, sent: Sent, wire: u32) {
        let rate = self.controller.permit().pace;
        let pace = Pace { rate, quantum: self.quantum };
        let Some(segments) = &mut self.segments else {
            if self.moves {
                self.planned = Some((now, wire));
            }
            // At line rate the port itself spaces packets.
            if self.moves || rate.is_some_and(|rate| rate < self.line_rate) {
                self.next_tx = now.saturating_add(pace.gap(wire));
            }
            return;
        };
        // Posts keep the rate; the NIC spaces the packets of a segment, and segments follow one another.
        if let Some(nic_pace) = spec.segments.as_ref().and_then(|s| s.nic_pace) {
            let nic = Pace { rate: Some(nic_pace), ..pace };
            self.next_tx = now.saturating_add(nic.gap(wire));
        }
        // Go-back-N posts again what it sends again.
        if sent.again && !self.recovery.goes_back() {
            segments.resend(sent.index, now, pace.gap(wire));
            self.next_tx = self.next_tx.max(now.saturating_add(pace.gap(wire)));
        }
    }
}
