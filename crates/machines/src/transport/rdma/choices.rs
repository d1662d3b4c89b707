//! Variants of queue pairs. Each type is a key of scenarios as it stands here.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use thalweg_units::{Span, tagged};

tagged! {
    /// Loss recovery.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    #[schemars(extend("x-default-kind" = "irn"))]
    pub enum Recovery {
        /// IRN: the receiver keeps what is out of order and answers each such packet with a NACK that names it
        /// (Mittal et al., SIGCOMM 2018, §3.1).
        Irn {
            /// The sender uses the packet that a NACK names (SACK). Otherwise it repairs one hole per round trip.
            #[serde(default = "yes")]
            sack: bool,
            /// Recovery begins at this many NACKs for the same gap; 3 where packets are sprayed (§4.6 of the
            /// dissertation).
            #[serde(default = "one")]
            #[schemars(range(min = 1, max = 1000))]
            nack_threshold: u32,
            /// A NACK whose cumulative field also advances may begin recovery.
            // CHOICE IRN §4.2: the text of §4.2 read literally; the authors' modules, which made the results,
            // wait for the next.
            #[serde(default)]
            enter_on_advance: bool,
        },
        /// RoCE: the receiver drops out-of-order packets and sends one NACK per gap; the sender goes back to the gap
        /// (InfiniBand specification, 2007, §9.7).
        GoBackN {
            /// Repeat the NACK if the gap persists for this time (the HPCC authors' simulator: 500us). If not given, it
            /// is not repeated.
            repeat_nack: Option<Span>,
        },
        /// An ideal: switches notify the sender of every packet that they drop, after the propagation delay, and it
        /// sends that packet again, regardless of the window; the receiver keeps what is out of order (HPCC without PFC
        /// in BFC: Goyal, MIT 2022, §3.6.2.1).
        DropNotified,
    }
}

impl Default for Recovery {
    fn default() -> Self {
        Self::Irn { sack: true, nack_threshold: one(), enter_on_advance: false }
    }
}

/// What restarts a running retransmission timer, in addition to the retransmission of the lowest unacknowledged packet.
// CHOICE IRN §4.2: not published; `answer` has the statistics of the authors' trace (papers/irn/traces.py).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum TimerRestart {
    /// An ACK or NACK that acknowledges new data, as for TCP (RFC 6298, §5.3).
    #[default]
    Progress,
    /// Every ACK and every NACK, while something is outstanding: the timer measures silence.
    Answer,
}

/// When a receiver notifies of marked packets: at most once per interval.
// CHOICE DCQCN §3.1: of a flow "at most one CNP packet every N microseconds" is generated "if any packet that arrives
// within that time window was marked": `windows`. Adapters have a least time between two instead (`spaced`), which the
// studies here simulate.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum CnpRule {
    /// When a marked packet arrives and the last notification is at least an interval ago; marks in between are
    /// ignored.
    #[default]
    Spaced,
    /// Marks in between are remembered: the next notification leaves when the interval is over. With few marks there
    /// are more notifications, and shorter queues.
    Windows,
}

/// What receivers acknowledge.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum RdmaAcks {
    /// Every packet.
    PerPacket,
    /// The last packet of every segment (of `rtt.segment` packets, or a posted one), and the flow's last packet.
    PerSegment,
    /// Nothing: only NACKs are sent, and a sender is done when everything is sent.
    Never,
}

tagged! {
    /// Retransmission timers of queue pairs.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum RdmaTimer {
        /// IRN's two: the short one fires with few packets in flight only (Mittal et al., SIGCOMM 2018, §3.1).
        Pair {
            /// RTO_low.
            #[serde(default = "rto_low")]
            low: Span,
            /// RTO_high.
            #[serde(default = "rto_high")]
            high: Span,
            /// N: RTO_low applies with at most this many packets in flight.
            #[serde(default = "rto_packets")]
            max_in_flight: u32,
            /// RTO_low applies only if the flow's rate is at least the line rate divided by this; 0: at any rate.
            // CHOICE IRN §4.2: in the authors' modules only.
            #[serde(default = "rto_rate_factor")]
            max_rate_factor: u32,
        },
        /// A fixed timeout.
        Fixed {
            /// The time-out.
            #[serde(default = "rto_high")]
            value: Span,
        },
        /// Smoothed round trip + 4 deviations (Jacobson & Karels, SIGCOMM 1988).
        Dynamic {
            /// Timeout before the first sample.
            #[serde(default = "rto_high")]
            initial: Span,
            /// Smallest timeout.
            #[serde(default = "rto_low")]
            min: Span,
        },
        /// No timer: the network is lossless.
        Off,
    }
}

impl RdmaTimer {
    /// IRN's pair over paths of this base round trip, the longest.
    ///
    /// CHOICE IRN §4.1: both are published for a base round trip of 24 us. On longer paths they are at least two and
    /// four of it: what is sent cannot be answered before, so shorter ones would send all of it again. Other reading:
    /// the same wherever it is.
    pub fn pair_over(round_trip: Span) -> Self {
        Self::Pair {
            low: rto_low().max(round_trip.saturating_mul(2)),
            high: rto_high().max(round_trip.saturating_mul(4)),
            max_in_flight: rto_packets(),
            max_rate_factor: rto_rate_factor(),
        }
    }
    /// Its RTO_high alone.
    pub fn fixed_over(round_trip: Span) -> Self {
        Self::Fixed { value: rto_high().max(round_trip.saturating_mul(4)) }
    }
}

/// Which round trips are reported to a controller.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RoundTrips {
    /// Packets per sample: one sample at the ACK of the last of them, and one at the flow's end. (Posted segments give
    /// one each.)
    pub segment: u32,
    /// Subtract the serialisation time of that packet, or of the whole segment where the host posts segments.
    pub less_serialization: bool,
    /// Also from NACKs.
    pub nacks: bool,
    /// Also from retransmitted packets, as the answer shows which copy it answers.
    pub resent: bool,
    /// Measurement noise added to every sample, uniform from 0 to this.
    pub noise: Span,
}

impl RoundTrips {
    /// Packets of a segment: 16 KB of 1024 B (TIMELY §3.5).
    pub const SEGMENT: u32 = 16;
}

fn yes() -> bool {
    true
}
fn one() -> u32 {
    1
}
fn rto_low() -> Span {
    Span::from_us(100) // IRN §4.3.1
}
fn rto_high() -> Span {
    Span::from_us(320) // IRN §4.3.1
}
fn rto_packets() -> u32 {
    3 // IRN §4.3.1
}
fn rto_rate_factor() -> u32 {
    4 // the authors' modules
}
