//! What the ingress writes into the slack header. Mittal, Agarwal, Ratnasamy, Shenker, "Universal Packet Scheduling",
//! NSDI 2016, §3: with the same LSTF in every switch, the initial slack alone decides what the network is good at.
//!
//! Slack is in picoseconds, signed. The ingress is the source's network card, at the moment it starts to transmit.

use serde::{Deserialize, Serialize};
use thalweg_units::{Bytes, Rate, Span, Time};
use thalweg_wire::Packet;

/// The initial slack of a network's packets.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SlackSpec {
    /// The objective.
    pub rule: SlackRule,
    /// Added once per [`Packet::class`]: a span that no queue lasts makes classes strict (§3.4).
    pub class_offset: Span,
}

/// A heuristic of §3.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum SlackRule {
    /// Tail delay (§3.2): the same for every packet, so that who waited longest goes first (FIFO+: Clark, Shenker,
    /// Zhang, SIGCOMM 1992).
    Constant(Span),
    /// Mean completion time (§3.1), like SJF: the flow's size in packets × a unit that no queue lasts. Control packets
    /// (SYNs, ACKs) have none to lose: zero.
    FlowSize {
        /// D.
        unit: Span,
        /// Bytes of payload per packet; a size that is no multiple is rounded up.
        mss: u32,
    },
    /// Fairness (§3.3), like FQ: by the Virtual Clock (Zhang, SIGCOMM 1990), each flow and direction by itself.
    VirtualClock {
        /// r_est of each traffic group: at most the fair share, in proportion to the group's weight.
        rates: Vec<Rate>,
        /// Count this many bytes on the wire for every packet, ACKs too, as the authors' simulator does;
        /// `None`: its own.
        ack_full_size: Option<u32>,
    },
}

/// What the ingress remembers of one direction of one flow; only [`SlackRule::VirtualClock`] needs it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SlackClock {
    /// The last packet's slack, class offset apart.
    slack: i64,
    /// When it began to be transmitted.
    at: Time,
    begun: bool,
}

impl SlackSpec {
    /// The initial slack, ps, of a packet that `begins` to be transmitted by its source: of a flow of `flow_size`
    /// payload bytes in traffic group `group`, whose packets in this direction have `clock`.
    ///
    /// # Panics
    /// If a Virtual Clock has no rate for `group`.
    pub fn initial(
        &self,
        clock: &mut SlackClock,
        group: u16,
        flow_size: u64,
        packet: &Packet,
        begins: Time,
    ) -> i64 {
        let slack = match &self.rule {
            SlackRule::Constant(slack) => signed(*slack),
            SlackRule::FlowSize { .. } if packet.is_control() => 0,
            SlackRule::FlowSize { unit, mss } => {
                signed(unit.saturating_mul(flow_size.div_ceil(u64::from(*mss).max(1))))
            }
            SlackRule::VirtualClock { rates, ack_full_size } => {
                let size = Bytes::new(u64::from(ack_full_size.unwrap_or(packet.wire)));
                clock.advance(size, rates[usize::from(group)], begins)
            }
        };
        slack.saturating_add(signed(self.class_offset.saturating_mul(u64::from(packet.class))))
    }
}

impl SlackClock {
    /// slack_i = max(0, slack_(i−1) + size_i/r_est − (i(p_i) − i(p_(i−1)))), and zero for the first. What is stored is
    /// what is written: a flow that was idle starts afresh.
    ///
    /// CHOICE UPS §3.3: size/r_est is rounded up to 1 ps, as transmission times are, so that at r_est = line
    /// rate a flow sent back to back keeps zero slack.
    fn advance(&mut self, size: Bytes, rate: Rate, begins: Time) -> i64 {
        if std::mem::replace(&mut self.begun, true) {
            let earned = if rate == Rate::ZERO { i64::MAX } else { signed(size / rate) };
            let passed = signed(begins.since(self.at));
            self.slack = self.slack.saturating_add(earned).saturating_sub(passed).max(0);
        }
        self.at = begins;
        self.slack
    }
}

/// As a signed number of picoseconds, stopping at the largest.
fn signed(span: Span) -> i64 {
    i64::try_from(span.ps()).unwrap_or(i64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use thalweg_wire::Kind;

    fn packet(wire: u32) -> Packet {
        Packet { wire, ..Packet::default() }
    }
    fn of(rule: SlackRule) -> SlackSpec {
        SlackSpec { rule, class_offset: Span::ZERO }
    }
    fn virtual_clock(mbps: u64, ack_full_size: Option<u32>) -> SlackSpec {
        of(SlackRule::VirtualClock { rates: vec![Rate::ZERO, Rate::from_mbps(mbps)], ack_full_size })
    }

    #[test]
    fn at_50_mbps_the_slack_of_packets_sent_at_once_rises_by_a_quarter_of_a_millisecond() {
        let (spec, mut clock) = (virtual_clock(50, None), SlackClock::default());
        let slacks = [0, 0, 0].map(|_| spec.initial(&mut clock, 1, 0, &packet(1500), Time::from_us(7)));
        assert_eq!(slacks, [0, 240_000_000, 480_000_000]); // 0.24 ms: UPS-F11c
    }

    #[test]
    fn time_between_packets_is_taken_off_and_the_stored_slack_never_goes_below_zero() {
        let (spec, mut clock) = (virtual_clock(50, None), SlackClock::default());
        let mut at = |us, wire| spec.initial(&mut clock, 1, 0, &packet(wire), Time::from_us(us));
        // 1500 B are 240 us, 40 B (an ACK) 6.4 us, at 50 Mb/s.
        assert_eq!(at(100, 1500), 0);
        assert_eq!(at(140, 1500), 200_000_000);
        assert_eq!(at(150, 40), 196_400_000);
        assert_eq!(at(10_000, 1500), 0, "196.4 + 240 - 9850 us");
        assert_eq!(at(10_200, 1500), 40_000_000, "counted from zero, not from what is owed");
    }

    #[test]
    fn the_increment_is_rounded_up_and_at_line_rate_nothing_accumulates() {
        // 1460 B at 300 Mb/s: 38.9333... us.
        let (spec, mut clock) = (virtual_clock(300, None), SlackClock::default());
        spec.initial(&mut clock, 1, 0, &packet(1460), Time::ZERO);
        assert_eq!(spec.initial(&mut clock, 1, 0, &packet(1460), Time::ZERO), 38_933_334);
        let mut clock = SlackClock::default();
        let wire = Bytes::new(1460) / Rate::from_mbps(300);
        for i in 0..100 {
            assert_eq!(spec.initial(&mut clock, 1, 0, &packet(1460), Time::ZERO + wire * i), 0);
        }
    }

    #[test]
    fn acks_may_count_as_full_packets() {
        for (full, expected) in [(None, 64_000_000), (Some(1460), 2_336_000_000)] {
            let (spec, mut clock) = (virtual_clock(5, full), SlackClock::default());
            let ack = Packet { kind: Kind::Ack, ..packet(40) };
            spec.initial(&mut clock, 1, 0, &ack, Time::ZERO);
            assert_eq!(spec.initial(&mut clock, 1, 0, &ack, Time::ZERO), expected);
        }
    }

    #[test]
    fn flow_sizes_count_in_packets_and_control_has_no_slack() {
        let spec = of(SlackRule::FlowSize { unit: Span::from_secs(1), mss: 1460 });
        let slack = |size, p: &Packet| spec.initial(&mut SlackClock::default(), 0, size, p, Time::from_ms(3));
        assert_eq!(slack(1460, &packet(1510)), 1_000_000_000_000);
        assert_eq!(slack(1461, &packet(1510)), 2_000_000_000_000);
        assert_eq!(slack(2107 * 1460, &packet(40)), 2107 * 1_000_000_000_000, "the largest of the study");
        assert_eq!(slack(u64::MAX, &packet(1510)), i64::MAX);
        for kind in [Kind::Ack, Kind::Syn, Kind::SynAck] {
            assert_eq!(slack(9999, &Packet { kind, ..packet(40) }), 0);
        }
    }

    #[test]
    fn a_class_adds_its_offset_to_what_is_written_and_not_to_what_is_remembered() {
        let rules = [
            SlackRule::Constant(Span::from_ps(7)),
            SlackRule::FlowSize { unit: Span::from_ps(7), mss: 1000 },
            SlackRule::VirtualClock { rates: vec![Rate::from_gbps(8)], ack_full_size: None },
        ];
        for (rule, second) in rules.into_iter().zip([7, 7, 1_000_000]) {
            let spec = SlackSpec { rule, class_offset: Span::from_secs(100) };
            let mut clock = SlackClock::default();
            for class in [0, 3] {
                let p = Packet { class, ..packet(1000) };
                let slack = spec.initial(&mut clock, 0, 1000, &p, Time::ZERO);
                let first_of_clock = class == 0 && second == 1_000_000;
                let base = if first_of_clock { 0 } else { second };
                assert_eq!(slack, base + i64::from(class) * 100_000_000_000_000);
            }
            let far = Packet { class: 255, ..packet(1000) };
            let spec = SlackSpec { class_offset: Span::from_secs(100_000), ..spec };
            assert_eq!(
                spec.initial(&mut clock, 0, 1000, &far, Time::ZERO),
                i64::MAX,
                "it stops at the largest"
            );
        }
    }
}
