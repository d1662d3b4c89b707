//! Where TCP implementations differ. Each type is a key of scenarios as it stands here.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use thalweg_units::{Span, tagged};

/// How the window is reduced during loss recovery.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum PrrRule {
    /// At once, to the controller's window (RFC 6675).
    #[default]
    Off,
    /// Proportional rate reduction: in proportion to what is delivered; below the threshold it grows as in slow start
    /// (RFC 6937).
    Rfc6937,
    /// The same, but it grows only on ACKs that indicate no further loss (RFC 9937).
    Rfc9937,
}

/// Whether a window grows that was not used up.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Growth {
    /// It grows while there is no room for another segment (RFC 9438 §5.8, RFC 9002 §7.8).
    #[default]
    WhenUsed,
    /// It grows while at least half of it is used (RFC 7661 §4.3).
    WhenHalfUsed,
    /// It always grows (RFC 5681 to the letter; ns-2, whose senders always have data).
    Always,
}

/// The window after an idle period.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum RestartRule {
    /// The initial window, if nothing was sent for a retransmission timeout (RFC 5681 §4.1).
    #[default]
    Rfc5681,
    /// Half of it for every retransmission timeout, down to the initial window (RFC 2861 §3.2; Linux,
    /// tcp_slow_start_after_idle).
    Linux,
    /// Unchanged for five minutes, then half (RFC 7661 §4.4).
    Rfc7661,
    /// Unchanged.
    Keep,
}

/// What an ECN echo does at a window of one segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum EcnFloor {
    /// The next packet waits for the retransmission timer (RFC 3168 §6.1.2).
    #[default]
    Timer,
    /// Nothing: the flow goes on with one segment per round trip (Linux).
    Segment,
}

/// The consequences of a lost SYN or SYN-ACK.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum SynLoss {
    /// The initial window is one segment (RFC 5681 §3.1), the retransmission timeout 3 s at least (RFC 6298 §5.7).
    #[default]
    Rfc,
    /// The initial window is one segment from the second loss on (RFC 6928 §2); the timeout is 3 s unless time
    /// stamps gave a sample (Linux).
    Linux,
    /// None but the delay, as in most simulators.
    Ignored,
}

/// What counts against the window.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Flight {
    /// What is believed to be in the network, neither selectively acknowledged nor lost (RFC 6675).
    #[default]
    Pipe,
    /// The distance from the cumulative ACK, less what is selectively acknowledged (NetSys' pFabric sender).
    Span,
    /// As `span`, and data that the receiver already has is never resent, whether or not its ACK has arrived: exactly
    /// as in that simulator, whose senders can see the receiver's state. For comparisons.
    SpanOmniscient,
}

tagged! {
    /// The retransmission timer.
    #[derive(Clone, Copy, Debug, PartialEq)]
    pub enum RtoRule {
        /// RFC 6298: smoothed round trip + 4 deviations, clamped, doubled at every expiry.
        Rfc6298 {
            /// Timeout before the first sample.
            #[serde(default = "rto_initial")]
            initial: Span,
            /// Smallest timeout.
            #[serde(default = "rto_min")]
            min: Span,
            /// Largest timeout, including back-off.
            #[serde(default = "rto_max")]
            max: Span,
        },
        /// Linux: smoothed round trip + the larger of 4 deviations and `min`.
        Linux {
            /// Timeout before the first sample.
            #[serde(default = "rto_initial")]
            initial: Span,
            /// Lower bound of the 4 deviations (TCP_RTO_MIN).
            #[serde(default = "rto_min")]
            min: Span,
            /// Largest timeout, including back-off (TCP_RTO_MAX).
            #[serde(default = "linux_rto_max")]
            max: Span,
        },
        /// A fixed timeout without estimate or back-off.
        Fixed {
            /// The time-out.
            value: Span,
        },
    }
}

impl Default for RtoRule {
    fn default() -> Self {
        Self::Rfc6298 { initial: rto_initial(), min: rto_min(), max: rto_max() }
    }
}

tagged! {
    /// Loss inference.
    #[derive(Clone, Copy, Debug, PartialEq)]
    pub enum LossDetection {
        /// Duplicate ACKs, or that many segments' worth selectively acknowledged above a hole (RFC 6675).
        DupAck {
            /// DupThresh.
            #[serde(default = "dup_thresh")]
            #[schemars(range(min = 1, max = 1000))]
            threshold: u32,
        },
        /// By time: a segment is lost once one that left later has arrived and a round trip and a reordering
        /// window have passed (RACK, RFC 8985). With SACK only.
        Rack {
            /// When no ACK arrives for two round trips, a segment is sent so that its ACK shows what is lost
            /// (TLP).
            #[serde(default = "tail_probes")]
            tail_probes: bool,
        },
        /// By the retransmission timer only.
        TimeoutOnly,
    }
}

impl Default for LossDetection {
    fn default() -> Self {
        Self::DupAck { threshold: dup_thresh() }
    }
}

tagged! {
    /// Selective acknowledgements.
    #[derive(Clone, Copy, Debug, PartialEq)]
    pub enum Sack {
        /// Blocks in every ACK that follows a gap.
        Blocks {
            /// Most blocks per ACK; 3 or 4 fit into TCP's header, some simulators use 16.
            #[serde(default = "sack_blocks")]
            #[schemars(range(min = 1, max = 16))]
            blocks: u8,
            /// Blocks lengthen the ACK on the wire: 2 + 8n bytes rounded up to a multiple of 4.
            #[serde(default)]
            on_wire: bool,
        },
        /// Cumulative only: one hole per round trip is repaired (RFC 6582).
        Off,
    }
}

impl Default for Sack {
    fn default() -> Self {
        Self::Blocks { blocks: sack_blocks(), on_wire: false }
    }
}

fn rto_initial() -> Span {
    Span::from_secs(1) // RFC 6298 §2
}
fn rto_min() -> Span {
    Span::from_ms(200) // CHOICE RFC 6298 §2.4: Linux's TCP_RTO_MIN; no stack in use has 1 s
}
fn rto_max() -> Span {
    Span::from_secs(60) // RFC 6298 §2.5
}
fn linux_rto_max() -> Span {
    Span::from_secs(120) // TCP_RTO_MAX
}
fn dup_thresh() -> u32 {
    3 // RFC 5681 §3.2
}
fn tail_probes() -> bool {
    true // RFC 8985 §7
}
fn sack_blocks() -> u8 {
    4 // RFC 2018 §3: what 40 bytes of options hold without timestamps
}
