//! The state of a connection, its sequence space and its counters.

use super::super::super::SenderStats;
use super::super::super::counts::RoundTrips;
use serde::{Deserialize, Serialize};
use thalweg_units::Span;

/// Connection set-up.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(super) enum Connection {
    /// Not started.
    Closed,
    /// A SYN is to be sent, for the second time or more (`again`).
    SynDue { again: bool },
    /// Waiting for the SYN-ACK.
    SynSent,
    /// Data flows, one segment at a time until the first ACK: the SYN or its answer was lost.
    Reopened,
    /// Data flows.
    Open,
}

/// The phase of loss recovery, which ends when `recover` is acknowledged.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(super) enum Phase {
    /// Nothing known to be lost.
    Normal,
    /// Fast recovery: a loss was inferred from ACKs.
    Recovery,
    /// After a timeout: everything outstanding counts as lost, except what was SACKed.
    Timeout,
}

/// pFabric's probe mode, and the other reason to send no data.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(super) enum Probing {
    No,
    /// A probe is to be sent.
    Due,
    /// Waiting for any ACK.
    Sent,
    /// No probe: a window of one segment was marked, and what is next waits for the timer (RFC 3168 §6.1.2).
    Marked,
}

/// The state of the connection.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(super) struct State {
    pub(super) connection: Connection,
    pub(super) phase: Phase,
    pub(super) probing: Probing,
}

impl State {
    /// Not started.
    pub(super) const CLOSED: Self =
        Self { connection: Connection::Closed, phase: Phase::Normal, probing: Probing::No };
    /// Data flows, and nothing is lost.
    pub(super) const STEADY: Self = Self { connection: Connection::Open, ..Self::CLOSED };

    /// Data may be sent.
    pub(super) fn is_open(&self) -> bool {
        matches!(self.connection, Connection::Open | Connection::Reopened)
    }

    /// An ACK has come: if it is the first that `advances`, it ends the limit of one segment that a lost SYN brings.
    /// Returns whether the connection is open.
    #[cold]
    pub(super) fn leave_reopened(&mut self, advances: bool) -> bool {
        if self.connection == Connection::Reopened && advances {
            self.connection = Connection::Open;
        }
        self.is_open()
    }
}

/// The send sequence space (RFC 9293 §3.3.1), payload bytes from the flow's first.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(super) struct Space {
    /// SND.UNA, HighACK: everything below is acknowledged.
    pub(super) una: u64,
    /// SND.NXT, HighData: first byte never sent.
    pub(super) sent_to: u64,
    /// The flow's end; `u64::MAX`: it has none.
    pub(super) size: u64,
}

impl Space {
    #[inline]
    pub(super) fn outstanding(&self) -> u64 {
        self.sent_to - self.una
    }
}

/// A segment about to be sent.
#[derive(Clone, Copy)]
pub(super) struct Segment {
    pub(super) seq: u64,
    pub(super) len: u32,
    /// It advances HighRxt: every retransmission except the rescue one.
    pub(super) moves_high_rxt: bool,
}

/// Counters for the statistics.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub(super) struct Counts {
    /// Packets sent, and retransmissions among them.
    pub(super) sent: u64,
    pub(super) resent: u64,
    pub(super) timeouts: u64,
    round_trips: RoundTrips,
}

impl Counts {
    /// A data segment leaves; `fresh`: it was never sent before.
    #[inline(always)]
    pub(super) fn on_sent(&mut self, fresh: bool) {
        self.sent += 1;
        self.resent += u64::from(!fresh);
    }

    /// The stamp travels with the packet, so no sample is ambiguous.
    #[inline]
    pub(super) fn round_trip(&mut self, rtt: Span) {
        self.round_trips.add(rtt);
    }

    /// The statistics that these counts determine; the others are at their defaults.
    pub(super) fn stats(&self) -> SenderStats {
        SenderStats {
            sent_packets: self.sent,
            retransmitted_packets: self.resent,
            timeouts: self.timeouts,
            rtt_sum: self.round_trips.sum(),
            rtt_samples: self.round_trips.samples(),
            ..SenderStats::default()
        }
    }
}
