//! What the ingress writes into the slack header. Mittal, Agarwal, Ratnasamy, Shenker, "Universal Packet Scheduling",
//! NSDI 2016, §3: with the same LSTF in every switch, the initial slack alone decides what the network is good at.
//!
//! Slack is in picoseconds, signed. The ingress is the source's network card, at the moment it starts to transmit.

use crate::packet::Packet;
use serde::{Deserialize, Serialize};
use thalweg_units::{Bytes, Rate, Span, Time};

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
        /// Count this many bytes on the wire for every packet, ACKs too, as the authors' simulator does; `None`: its own.
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
    /// CHOICE ups M7: size/r_est is rounded up to 1 ps, as transmission times are, so that at r_est = line rate a flow
    /// sent back to back keeps zero slack.
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
