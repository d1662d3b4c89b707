//! Writes a data packet and updates the sender's state for it.

use super::super::super::{Notification, RdmaSpec};
use super::super::layout::Layout;
use super::super::recovery::Sent;
use super::super::segments::Pace;
use super::RdmaSender;
use crate::congestion::CongestionControl;
use thalweg_units::{Bytes, Time};
use thalweg_wire::{Ecn, Flags, Kind, Packet};

impl RdmaSender {
    /// Writes the packet and updates counters, timers and the rate limiter.
    #[inline(always)]
    pub(super) fn emit(&mut self, spec: &RdmaSpec, now: Time, sent: Sent, packet: &mut Packet) {
        let layout = Layout::new(spec, self.data.size);
        let Sent { index, again, enters } = sent;
        if enters && !self.repair.timer.fired {
            self.controller.on_loss(&self.offsets.loss(now)); // IRN §4.3.4: in_rec becomes 1 through a NACK
        }
        let (seq, end, len) =
            (layout.offset(index), layout.offset(index + 1), self.data.payload(&layout, index));
        let mut flags = Flags::default();
        if again {
            flags.set(Flags::RETRANSMISSION);
            self.counts.resent += 1;
        }
        if index + 1 == self.data.packets {
            flags.set(Flags::LAST);
        }
        *packet = Packet {
            stamp: now,
            seq,
            flow: self.flow,
            class: self.class,
            rank: spec.rank.of(self.data.size, self.offsets.acked_to, self.offsets.sacked, seq),
            wire: len + spec.header + spec.extra_header,
            payload: len,
            route: self.path_value(spec),
            kind: Kind::Data,
            ecn: if spec.notification == Notification::Off { Ecn::NotEct } else { Ecn::Ect0 },
            flags,
            ..Packet::default()
        };
        self.counts.sent += 1;
        if self.kept.is_some() {
            let in_flight = self.offsets.in_flight();
            if let Some(log) = self.log() {
                log.on_sent(now, index, len, in_flight);
            }
        }
        if !self.offsets.acknowledged {
            self.turn.done = Some(now);
        }
        self.offsets.on_sent(end);
        if !self.repair.timer.runs() || (again && index == self.repair.recovery.una()) {
            self.repair.start_timer(spec, now);
        }
        if self.calls.sent() {
            self.controller.on_sent(now, Bytes::new(u64::from(len)), Bytes::new(self.offsets.in_flight()));
        }
        self.limit(spec, now, sent, packet.wire);
    }

    /// The rate limiter: when the next packet may leave.
    #[inline]
    fn limit(&mut self, spec: &RdmaSpec, now: Time, sent: Sent, wire: u32) {
        let rate = self.controller.permit().pace;
        let Some(segments) = &mut self.segments else {
            return self.limiter.on_sent(now, wire, rate);
        };
        let pace = self.limiter.pace(rate);
        // Posts keep the rate; the NIC spaces the packets of a segment, and segments follow one another.
        if let Some(nic_pace) = spec.segments.as_ref().and_then(|s| s.nic_pace) {
            let nic = Pace { rate: Some(nic_pace), ..pace };
            self.limiter.next_tx = now.saturating_add(nic.gap(wire));
        }
        // Go-back-N posts again what it sends again.
        if sent.again && !self.repair.recovery.goes_back() {
            segments.resend(sent.index, now, pace.gap(wire));
            self.limiter.next_tx = self.limiter.next_tx.max(now.saturating_add(pace.gap(wire)));
        }
    }
}
