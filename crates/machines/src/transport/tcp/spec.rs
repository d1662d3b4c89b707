//! TCP as data. Defaults live in the scenario schema, not here.

use super::VideoSpec;
use crate::congestion::ControllerSpec;
use crate::transport::RankSpec;
use serde::{Deserialize, Serialize};
use thalweg_units::{Bytes, Span};

/// TCP as data: what a scheme switches on or off. One per kind of transport, shared by all its flows.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TcpSpec {
    /// The window's rule.
    pub controller: ControllerSpec,
    /// Payload bytes of a full segment.
    pub mss: u32,
    /// Header bytes added to every data packet on the wire.
    pub header: u32,
    /// Wire size of an ACK, a SYN-ACK and a probe; SACK blocks lengthen ACKs if [`SackSpec::Blocks::on_wire`].
    pub ack_wire: u32,
    /// Wire size of a SYN (no effect without `handshake`).
    pub syn_wire: u32,
    /// Initial window in payload bytes.
    pub initial_window: Bytes,
    /// Largest window in payload bytes; [`Bytes::MAX`]: none.
    pub max_window: Bytes,
    /// Initial slow-start threshold; [`Bytes::MAX`]: none.
    pub initial_threshold: Bytes,
    /// The retransmission timer.
    pub rto: RtoSpec,
    /// How losses are inferred before the timer fires.
    pub loss: LossSpec,
    /// Send one new segment on each of the first two duplicate ACKs (RFC 3042).
    pub limited_transmit: bool,
    /// Without SACK: while losses are repaired, the timer restarts at the first partial ACK only (RFC 6582
    /// §4, "impatient").
    pub impatient: bool,
    /// Selective acknowledgements.
    pub sack: SackSpec,
    /// How often the receiver acknowledges.
    pub ack: AckSpec,
    /// Exchange SYN and SYN-ACK before the first data (one round trip).
    pub handshake: bool,
    /// Explicit congestion notification.
    pub ecn: EcnSpec,
    /// What is held against the window.
    pub flight: FlightSpec,
    /// Time stamps (RFC 7323): segments sent again give the timer samples too. Their bytes are part of `header`.
    pub timestamps: bool,
    /// pFabric's probe mode: after this many timeouts in a row send header-only probes until an ACK arrives.
    pub probe_after: Option<u32>,
    /// What senders write into [`thalweg_wire::Packet::rank`].
    pub rank: RankSpec,
    /// ACKs are of the class of the data that triggered them; otherwise of class 0.
    pub acks_in_class: bool,
    /// The application writes little by little; `None`: all at once.
    pub writes: Option<WritesSpec>,
    /// What real senders add; nothing by default.
    pub options: TcpOptions,
}

/// What real senders add.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct TcpOptions {
    /// A viewer requests what the application writes, in place of `writes`.
    pub video: Option<VideoSpec>,
    /// How the window comes down while losses are repaired.
    pub prr: PrrSpec,
    /// A window is paced, as Linux does, where the controller has no pace of its own.
    pub pacing: bool,
    /// When ACKs say that the window was used up.
    pub growth: GrowthSpec,
    /// What is left of a window after a pause.
    pub restart: RestartSpec,
    /// What a mark does to a window of one segment (classic ECN).
    pub ecn_floor: EcnFloorSpec,
    /// What follows from a lost SYN or SYN-ACK (no effect without `handshake`).
    pub syn_loss: SynLossSpec,
}

/// When the controller is notified that the window was used up
/// ([`AckSample::cwnd_limited`](crate::congestion::AckSample::cwnd_limited)).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum GrowthSpec {
    /// If there was no room for another segment (RFC 9438 §5.8, RFC 9002 §7.8).
    #[default]
    WhenUsed,
    /// If half of it was (RFC 7661 §4.3).
    WhenHalfUsed,
    /// Always (RFC 5681 to the letter, ns-2).
    Always,
}

/// What is left of a window when data comes after a pause.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum RestartSpec {
    /// After a retransmission timeout the initial window (RFC 5681 §4.1).
    #[default]
    Rfc5681,
    /// Half of it for each retransmission timeout, but the initial window (RFC 2861 §3.2; Linux,
    /// tcp_slow_start_after_idle).
    Linux,
    /// All of it for five minutes, then half (RFC 7661 §4.4).
    Rfc7661,
    /// All of it.
    Keep,
}

/// What a mark does to a window of one segment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum EcnFloorSpec {
    /// The next packet waits for the retransmission timer (RFC 3168 §6.1.2).
    #[default]
    Timer,
    /// Nothing: one segment per round trip (Linux).
    Segment,
}

/// What follows from a lost SYN or SYN-ACK.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum SynLossSpec {
    /// The initial window is one segment (RFC 5681 §3.1), and the timeout 3 s at least (RFC 6298 §5.7).
    #[default]
    Rfc,
    /// As Linux: the initial window is one segment from the second loss on; the timeout is 3 s unless time stamps gave
    /// a sample.
    Linux,
    /// Nothing, as in simulators: the initial window stays, and so does the back-off.
    Ignored,
}

/// How the window comes down while losses are repaired.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum PrrSpec {
    /// At once: as the controller says (RFC 6675, RFC 5681).
    #[default]
    Off,
    /// In proportion to what is delivered; below the threshold it grows as in slow start (RFC 6937, PRR-SSRB).
    Rfc6937,
    /// The same, growing only on ACKs that report no further loss (RFC 9937).
    Rfc9937,
}

/// An application that writes at its own pace.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct WritesSpec {
    /// Bytes it writes when the flow starts.
    pub first: Bytes,
    /// Bytes of every further write.
    pub chunk: Bytes,
    /// Time from one to the next.
    pub every: Span,
}

/// Retransmission timer.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub enum RtoSpec {
    /// RFC 6298: srtt + 4 rttvar, clamped, doubled at every expiry.
    Rfc6298 {
        /// Before the first sample.
        initial: Span,
        /// Floor.
        min: Span,
        /// Ceiling, back-off included.
        max: Span,
    },
    /// Always the same, no estimate, no back-off.
    Fixed(Span),
    /// Linux: srtt + max(4 rttvar, min). The floor is the variance's, so the timer never runs for less than srtt + min.
    Linux {
        /// Before the first sample.
        initial: Span,
        /// Floor of the variance's part.
        min: Span,
        /// Ceiling, back-off included.
        max: Span,
    },
}

/// Loss inference.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub enum LossSpec {
    /// `threshold` duplicate ACKs, or that many segments' worth SACKed above a hole (RFC 6675).
    DupAck {
        /// DupThresh, 3 in the RFC.
        threshold: u32,
    },
    /// By time: RACK, and TLP's probes if wanted (RFC 8985). With SACK only.
    Rack {
        /// A tail that is not acknowledged for two round trips is probed.
        tail_probes: bool,
    },
    /// Only the timer.
    Timeout,
}

/// What is held against the window.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum FlightSpec {
    /// RFC 6675's pipe: what is believed to be in the network, neither SACKed nor lost.
    Pipe,
    /// The next byte to send may be at most (window + SACKed bytes) above the cumulative ACK, and only an
    /// ACK that advances (or a timeout) lets anything leave. So counts the pFabric sender of
    /// NetSys/simulator: after a timeout it resends more holes at once than the pipe would allow.
    Span,
    /// As [`FlightSpec::Span`], and the sender knows what the receiver has: such a packet is passed over where
    /// it would be resent, whether or not its ACK has come. The same simulator to the letter. Only the owner
    /// of both ends can know, so it discards such packets ([`crate::transport::ReceivingEnd::holds`]).
    SpanOmniscient,
}

/// Selective acknowledgements.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub enum SackSpec {
    /// Cumulative only: NewReno's partial ACKs repair one hole per round trip (RFC 6582).
    Off,
    /// Up to `blocks` blocks per ACK.
    Blocks {
        /// 1 ..= [`thalweg_wire::SackBlocks::CAPACITY`].
        blocks: u8,
        /// Blocks lengthen the ACK on the wire: 2 + 8n bytes rounded up to a multiple of 4.
        on_wire: bool,
    },
}

/// Receiver's acknowledgement policy.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct AckSpec {
    /// One ACK per this many in-order segments (1: every packet).
    pub every: u32,
    /// An unacknowledged segment waits at most this long.
    pub delay: Span,
}

/// Explicit congestion notification at the ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum EcnSpec {
    /// Packets are not ECN-capable.
    Off,
    /// RFC 3168: ECE is latched until CWR.
    Classic,
    /// RFC 8257: every ACK echoes exactly the marks of the packets it covers.
    Accurate,
    /// Likewise of three codepoints: packets are sent with ECT(1), and every ACK reports with which the
    /// packets came that it covers (ABC, Goyal, MIT 2022, §2.4.2: accelerate, brake, or CE).
    Codepoints,
}
