//! The records of flows.

use serde::{Deserialize, Serialize};
use thalweg_machines::transport::SenderStats;
use thalweg_net::spec::End;
use thalweg_units::{Span, Time};

/// Counts of a flow's packets.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct FlowCounts {
    /// Data packets sent.
    pub sent: u64,
    /// Retransmissions among those.
    pub retransmitted: u64,
    /// Expiries of its retransmission timer.
    pub timeouts: u64,
    /// Its packets dropped by ports and lost on links, including ACKs.
    pub drops: u64,
    /// Of those, data packets.
    pub data_drops: u64,
    /// Its data packets that were cut to their headers; these do not count as drops.
    pub trims: u64,
    /// Credits that came when there was nothing left to send (ExpressPass).
    pub wasted_credits: u64,
}

/// The results of a flow so far. There is one per flow, so it is kept small.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FlowRecord {
    /// When it started; [`Time::MAX`]: not yet.
    pub started: Time,
    /// When its last byte arrived; [`Time::MAX`]: not yet.
    pub received: Time,
    /// When the ACK of its last byte arrived; [`Time::MAX`]: not yet.
    pub acked: Time,
    /// Payload bytes that arrived in order (backlogged flows: so far).
    pub delivered: u64,
    /// Sum of the round trips that its sender measured, ps.
    pub rtt_sum: u128,
    /// Number of these measurements.
    pub rtts: u64,
    /// Counts of its packets.
    pub counts: FlowCounts,
}

impl Default for FlowRecord {
    fn default() -> Self {
        Self {
            started: Time::MAX,
            received: Time::MAX,
            acked: Time::MAX,
            delivered: 0,
            rtt_sum: 0,
            rtts: 0,
            counts: FlowCounts::default(),
        }
    }
}

impl FlowRecord {
    /// When it reached this end; [`Time::MAX`]: not yet.
    pub fn ended(&self, end: End) -> Time {
        match end {
            End::Received => self.received,
            End::Acked => self.acked,
            End::Started => self.started,
        }
    }

    /// Copies the sender's statistics and the bytes delivered.
    pub(crate) fn count(&mut self, stats: &SenderStats, delivered: u64) {
        self.delivered = delivered;
        self.rtt_sum = stats.rtt_sum;
        self.rtts = stats.rtt_samples;
        self.counts = FlowCounts {
            sent: stats.sent_packets,
            retransmitted: stats.retransmitted_packets,
            timeouts: stats.timeouts,
            wasted_credits: stats.wasted_credits,
            ..self.counts
        };
    }
}

/// How a flow ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FlowEnd {
    /// Complete at both ends.
    Completed,
    /// An endless flow that was stopped ([`thalweg_net::spec::FlowSpec::until`]), and what it had sent is complete
    /// at both ends.
    Stopped,
    /// The run ended first: by its time limit, by its budget of events, or because all measured flows were done.
    Censored,
    /// It never started: the run ended first, or a flow that it follows never completed.
    NotStarted,
    /// Its sender waits for something that will never come: none of its packets is in the network, and no timer runs.
    Stalled,
    /// Its packets wait behind a cycle of pauses that cannot end.
    Deadlocked,
    /// No path was left between its ends.
    Unreachable,
}

/// The results of a flow, for tables.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FlowOutcome {
    /// When it started.
    pub started: Option<Time>,
    /// When its first packet left its host: later than its start if the packet waited behind others, or behind a
    /// pause.
    pub begun: Option<Time>,
    /// When its last byte arrived at its receiver.
    pub received: Option<Time>,
    /// When the ACK of its last byte arrived at its sender.
    pub acked: Option<Time>,
    /// Payload bytes delivered in order.
    pub delivered: u64,
    /// Sum of the round trips that its sender measured, ps.
    pub rtt_sum: u128,
    /// Number of these measurements.
    pub rtts: u64,
    /// Counts of its packets.
    pub counts: FlowCounts,
    /// How it ended.
    pub end: FlowEnd,
    /// Time to its last byte, alone on the same path at line rate.
    pub ideal: Span,
    /// Time to the ACK of its last byte, alone on the same path at line rate.
    pub ideal_acked: Span,
    /// Of an endless flow that is acknowledged: the round trip of a full packet and its ACK when nothing waits.
    pub round_trip: Option<Span>,
}

impl FlowOutcome {
    /// When it reached this end.
    pub fn ended(&self, end: End) -> Option<Time> {
        match end {
            End::Received => self.received,
            End::Acked => self.acked,
            End::Started => self.started,
        }
    }

    /// Mean of the round trips that its sender measured, whole picoseconds.
    pub fn rtt(&self) -> Option<Span> {
        let mean = self.rtt_sum.checked_div(u128::from(self.rtts))?;
        Some(Span::from_ps(u64::try_from(mean).unwrap_or(u64::MAX)))
    }
}
