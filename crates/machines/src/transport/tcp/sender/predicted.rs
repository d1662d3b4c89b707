//! Fast path for the expected ACK (header prediction: Jacobson, "4BSD header prediction", CCR 20 (2), 1990): of new
//! data, with nothing to repair, no header written by the network, and no second loop. Nearly all ACKs are; the result
//! is that of `on_ack`, in fewer steps.

use super::super::super::{EcnSpec, Reception, TcpSpec};
use super::TcpSender;
use super::state::State;
use crate::congestion::{AckSample, CongestionControl, Feedback};
use thalweg_units::{Bytes, Time};
use thalweg_wire::{Flags, Packet};

/// Whether an ACK without header can take the fast path.
#[inline(always)]
pub(super) fn expects(sender: &TcpSender, packet: &Packet) -> bool {
    sender.space.una < packet.seq
        && packet.seq <= sender.space.sent_to
        && packet.payload > 0
        && sender.repair.board.is_none()
        && sender.extras.is_none()
        && sender.log.is_none()
        && sender.repair.dup_acks == 0
        && sender.state == State::STEADY
}

/// The fast path: its result is that of `on_ack`.
#[inline(always)]
pub(super) fn on_expected_ack(
    sender: &mut TcpSender,
    spec: &TcpSpec,
    now: Time,
    packet: &Packet,
) -> Reception {
    let acked = packet.seq - sender.space.una;
    let cwnd_limited = super::limits::was_used_up(sender, spec);
    sender.space.una = packet.seq;
    (sender.repair.timeouts_in_row, sender.departures.held, sender.repair.partial) = (0, false, false);
    let measured = now.since(packet.stamp);
    sender.counts.round_trip(measured);
    let resent = !spec.timestamps && sender.repair.is_ambiguous(packet);
    if !resent {
        sender.timer.rto.sample(measured);
    }
    sender.timer.restart(&spec.rto, now, sender.space.outstanding() == 0);
    let echo = spec.ecn != EcnSpec::Off && packet.flags.has(Flags::ECE);
    if echo && spec.ecn == EcnSpec::Classic && sender.departures.is_news(sender.space.una) {
        sender.departures.signal_cut(sender.space.sent_to);
    }
    let brakes = spec.ecn == EcnSpec::Codepoints && !echo && !packet.flags.has(Flags::NS);
    let reported = |yes| Bytes::new(if yes { acked } else { 0 });
    let least = echo && super::limits::is_marked_least(sender, spec, true);
    sender.controller.on_ack(&AckSample {
        now,
        rtt: (!resent).then_some(measured),
        acked: Bytes::new(acked),
        sacked: Bytes::ZERO,
        in_flight: Bytes::new(sender.space.outstanding()),
        acked_to: sender.space.una,
        sent_to: sender.space.sent_to,
        marked: reported(echo),
        braked: reported(brakes),
        in_recovery: false,
        app_limited: sender.space.sent_to == sender.space.size,
        cwnd_limited,
        delivery: None,
        feedback: if echo { Feedback::Mark } else { Feedback::None },
    });
    if least {
        super::limits::wait_for_timer(sender, spec, now);
    }
    Reception::RoundTrip(measured)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::congestion::ControllerSpec;
    use crate::transport::testing::*;
    use proptest::prelude::*;
    use thalweg_units::Span;

    fn specs() -> Vec<TcpSpec> {
        let dctcp = ControllerSpec::Dctcp(Default::default());
        let accurate = TcpSpec { controller: dctcp, ecn: EcnSpec::Accurate, ..tcp() };
        let classic = TcpSpec { ecn: EcnSpec::Classic, timestamps: true, ..reno() };
        vec![tcp(), rack(), reno(), min_tcp(), accurate, classic]
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 200, ..ProptestConfig::default() })]

        /// Whatever has happened before: an ACK that was expected leaves the same sender behind as by the long way.
        #[test]
        fn the_short_way_is_the_long_way(
            kind in 0usize..6,
            fates in prop::collection::vec(0u8..12, 1..60),
            steps in 1usize..200,
            (acked, payload, flags) in (0u64..12, 0u32..3, 0u8..8),
        ) {
            let mut pair = Pair::new(specs()[kind].clone(), 60);
            let mut fate = |way, n: u64, _: &Packet| match (way, fates[n as usize % fates.len()]) {
                (Way::ToReceiver, 0) => Fate::Drop,
                (_, 1) => Fate::Late(Span::from_us(40)),
                (Way::ToReceiver, 2) => Fate::Mark,
                _ => Fate::Deliver,
            };
            for _ in 0..steps {
                pair.step(&mut fate);
            }
            let crate::transport::Sender::Tcp(sender) = &pair.sender else { unreachable!() };
            let mut packet = Packet {
                kind: thalweg_wire::Kind::Ack,
                seq: sender.space.una + acked * MSS,
                payload: payload * MSS as u32,
                stamp: Time::from_ps(pair.now.ps().saturating_sub(Span::from_us(110).ps())),
                ..Packet::default()
            };
            for (bit, flag) in [(1, Flags::ECE), (2, Flags::RETRANSMISSION), (4, Flags::NS)] {
                if flags & bit != 0 {
                    packet.flags.set(flag);
                }
            }
            if expects(sender, &packet) {
                let crate::transport::TransportSpec::Tcp(spec) = &pair.spec else { unreachable!() };
                let (mut short, mut long) = (sender.clone(), sender.clone());
                let reception = on_expected_ack(&mut short, spec, pair.now, &packet);
                prop_assert_eq!(reception, long.on_ack(spec, pair.now, &packet, &[], Feedback::None));
                prop_assert_eq!(format!("{short:?}"), format!("{long:?}"));
            }
        }
    }
}
