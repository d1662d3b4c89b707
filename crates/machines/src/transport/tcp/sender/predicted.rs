//! The ACK that was expected (header prediction: Jacobson, "4BSD header prediction", CCR 20 (2), 1990): of new data, with nothing to
//! repair, nothing written by the network, no other loop beside. Nearly all are; of what `on_ack` does, little is left for them.

use super::super::super::{EcnSpec, Heard, TcpSpec};
use super::{Connection, Phase, Probing, TcpSender};
use crate::congestion::{AckSample, CongestionControl, Feedback};
use crate::packet::{Flags, Packet};
use thalweg_units::{Bytes, Time};

impl TcpSender {
    /// Whether `on_expected_ack` says all there is to say of an ACK without header.
    #[inline(always)]
    pub(super) fn expects(&self, packet: &Packet) -> bool {
        self.una < packet.seq
            && packet.seq <= self.sent_to
            && packet.payload > 0
            && self.board.is_none()
            && self.beside.is_none()
            && self.log.is_none()
            && self.dup_acks == 0
            && (self.connection, self.phase, self.probing) == (Connection::Open, Phase::Normal, Probing::No)
    }

    /// What `on_ack` comes to.
    #[inline(always)]
    pub(super) fn on_expected_ack(&mut self, spec: &TcpSpec, now: Time, packet: &Packet) -> Heard {
        let acked = packet.seq - self.una;
        self.una = packet.seq;
        (self.timeouts_in_row, self.held, self.partial) = (0, false, false);
        let measured = now.since(packet.stamp);
        self.count_round_trip(measured);
        let resent = packet.flags.has(Flags::RETRANSMISSION) && !spec.timestamps;
        if !resent {
            self.rto.sample(measured);
        }
        let done = self.una == self.sent_to;
        self.deadline = if done { Time::MAX } else { now.saturating_add(self.rto.timeout(&spec.rto)) };
        let echo = spec.ecn != EcnSpec::Off && packet.flags.has(Flags::ECE);
        if echo && spec.ecn == EcnSpec::Classic && self.una > self.cwr_to {
            self.window_cut();
        }
        let brakes = spec.ecn == EcnSpec::Codepoints && !echo && !packet.flags.has(Flags::NS);
        let told = |yes| Bytes::new(if yes { acked } else { 0 });
        self.controller.on_ack(&AckSample {
            now,
            rtt: (!resent).then_some(measured),
            acked: Bytes::new(acked),
            sacked: Bytes::ZERO,
            in_flight: Bytes::new(self.outstanding()),
            acked_to: self.una,
            sent_to: self.sent_to,
            marked: told(echo),
            braked: told(brakes),
            in_recovery: false,
            app_limited: self.sent_to == self.size,
            delivery: None,
            feedback: if echo { Feedback::Mark } else { Feedback::None },
        });
        Heard { round_trip: Some(measured) }
    }
}
