//! What TCP implementations choose differently: each choice is a key of scenarios as it stands here.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use thalweg_units::{Span, tagged};

/// How the window comes down while losses are repaired.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum PrrRule {
    /// At once, to what the controller says (RFC 6675).
    #[default]
    Off,
    /// In proportion to what is delivered; below the threshold it grows as in slow start (RFC 6937).
    Rfc6937,
    /// The same, growing only on ACKs that indicate no further loss (RFC 9937).
    Rfc9937,
}

/// Whether a window grows that is not used up.
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

/// What is left of a window after a pause.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum RestartRule {
    /// The initial window, if nothing was sent for a retransmission timeout (RFC 5681 §4.1).
    #[default]
    Rfc5681,
    /// Half of it for every retransmission timeout, down to the initial window (RFC 2861 §3.2; Linux,
    /// tcp_slow_start_after_idle).
    Linux,
    /// All of it for five minutes, then half (RFC 7661 §4.4).
    Rfc7661,
    /// All of it.
    Keep,
}

/// What a mark does to a window of one segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum EcnFloor {
    /// The next packet waits for the retransmission timer (RFC 3168 §6.1.2).
    #[default]
    Timer,
    /// Nothing: one segment per round trip goes on (Linux).
    Segment,
}

/// What follows from a lost SYN or SYN-ACK.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum SynLoss {
    /// The initial window is one segment (RFC 5681 §3.1), the retransmission timeout 3 s at least (RFC 6298 §5.7).
    #[default]
    Rfc,
    /// The initial window is one segment from the second loss on (RFC 6928 §2); the timeout is 3 s unless time
    /// stamps gave a sample (Linux).
    Linux,
    /// Nothing but the wait, as in most simulators.
    Ignored,
}

/// What is held against the window.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Flight {
    /// What is believed to be in the network, neither selectively acknowledged nor lost (RFC 6675).
    #[default]
    Pipe,
    /// The distance from the cumulative ACK, less what is selectively acknowledged (NetSys' pFabric sender).
    Span,
    /// As `span`, and nothing is resent that the receiver already has, whether or not its ACK has come: the
    /// same simulator to the letter, whose senders look into the receiver. For comparisons.
    SpanOmniscient,
}

tagged! {
    /// The retransmission timer.
    #[derive(Clone, Copy, Debug, PartialEq)]
    pub enum RtoRule {
        /// RFC 6298: smoothed round trip + 4 deviations, clamped, doubled at every expiry.
        Rfc6298 {
            /// Before the first sample.
            #[serde(default = "rto_initial")]
            initial: Span,
            /// Floor.
            #[serde(default = "rto_min")]
            min: Span,
            /// Ceiling, back-off included.
            #[serde(default = "rto_max")]
            max: Span,
        },
        /// Linux's: the floor is added to the smoothed round trip, which + the larger of 4 deviations and the
        /// floor is the timeout.
        Linux {
            /// Before the first sample.
            #[serde(default = "rto_initial")]
            initial: Span,
            /// Floor of the 4 deviations (TCP_RTO_MIN).
            #[serde(default = "rto_min")]
            min: Span,
            /// Ceiling, back-off included (TCP_RTO_MAX).
            #[serde(default = "linux_rto_max")]
            max: Span,
        },
        /// Always the same: no estimate, no back-off.
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
        /// Only the timer.
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
            /// At most this many; 3 or 4 fit into TCP's header, simulators without one use 16.
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
