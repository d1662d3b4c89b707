//! TCP as data. Defaults live in the scenario schema, not here.

use super::choices::{EcnFloor, Flight, Growth, LossDetection, PrrRule, RestartRule, RtoRule, Sack, SynLoss};
use super::video::VideoSpec;
use crate::congestion::ControllerSpec;
use crate::transport::Rank;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use thalweg_units::{Bytes, Span};
use thalweg_wire::Ecn;

/// TCP's parameters, shared by all flows of a transport.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TcpSpec {
    /// The congestion controller.
    pub controller: ControllerSpec,
    /// Payload bytes of a full segment.
    pub mss: u32,
    /// Header bytes added to every data packet on the wire.
    pub header: u32,
    /// Wire size of an ACK, a SYN-ACK and a probe; SACK blocks lengthen ACKs if [`Sack::Blocks::on_wire`].
    pub ack_wire: u32,
    /// Wire size of a SYN (no effect without `handshake`).
    pub syn_wire: u32,
    /// Initial window in payload bytes.
    pub initial_window: Bytes,
    /// Largest window in payload bytes; [`Bytes::MAX`]: unlimited.
    pub max_window: Bytes,
    /// Initial slow-start threshold; [`Bytes::MAX`]: none.
    pub initial_threshold: Bytes,
    /// The retransmission timer.
    pub rto: RtoRule,
    /// How losses are inferred before the timer fires.
    pub loss: LossDetection,
    /// Send one new segment on each of the first two duplicate ACKs (RFC 3042).
    pub limited_transmit: bool,
    /// Without SACK: while losses are repaired, the timer restarts at the first partial ACK only (RFC 6582
    /// §4, "impatient").
    pub impatient: bool,
    /// Selective acknowledgements.
    pub sack: Sack,
    /// How often the receiver acknowledges.
    pub ack: AckSpec,
    /// Exchange SYN and SYN-ACK before the first data (one round trip).
    pub handshake: bool,
    /// Explicit congestion notification.
    pub ecn: EcnSpec,
    /// What counts against the window.
    pub flight: Flight,
    /// Time stamps (RFC 7323): retransmitted segments, too, give the timer samples. Their bytes are part of `header`.
    pub timestamps: bool,
    /// pFabric's probe mode: after this many timeouts in a row send header-only probes until an ACK arrives.
    pub probe_after: Option<u32>,
    /// What senders write into [`thalweg_wire::Packet::rank`].
    pub rank: Rank,
    /// ACKs have the traffic class of the data that triggered them; otherwise class 0.
    pub acks_in_class: bool,
    /// How the application writes; `None`: all at once.
    pub writes: Option<Writes>,
    /// Behaviour of real senders; all off by default.
    pub options: TcpOptions,
}

/// Behaviour of real senders.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct TcpOptions {
    /// The application is a video server that writes what a viewer requests; in place of `writes`.
    pub video: Option<VideoSpec>,
    /// How the window is reduced during loss recovery.
    pub prr: PrrRule,
    /// Windows of controllers without a pace of their own are paced, as in Linux.
    pub pacing: bool,
    /// When a window counts as used up, so that it may grow.
    pub growth: Growth,
    /// The window after an idle period.
    pub restart: RestartRule,
    /// What an ECN echo does at a window of one segment (classic ECN).
    pub ecn_floor: EcnFloor,
    /// The consequences of a lost SYN or SYN-ACK (no effect without `handshake`).
    pub syn_loss: SynLoss,
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
    /// RFC 8257: every ACK echoes exactly the marks of the packets that it covers.
    Accurate,
    /// As `Accurate` for three codepoints: packets are sent with ECT(1), and every ACK reports the codepoint with which
    /// its packets arrived (ABC, Goyal, MIT 2022, §2.4.2: accelerate, brake, or CE).
    Codepoints,
    /// As `Accurate`, and packets are sent with ECT(1) (L4S, RFC 9331 §4.1).
    Scalable,
}

impl EcnSpec {
    /// What SYN and SYN-ACK carry.
    // RFC 3168 §6.1.1: not ECN-capable; RFC 8257 §3.6: with DCTCP they are, and their marks are ignored.
    // CHOICE RFC 9331 §4.1: with L4S, too, as all that its sender sends. ACKs are not (RFC 3168 §6.1.4). Other
    // reading: ACKs as well, where their receiver can say that they were marked.
    pub(super) fn of_syn(self) -> Ecn {
        match self {
            Self::Off | Self::Classic | Self::Codepoints => Ecn::NotEct,
            Self::Accurate => Ecn::Ect0,
            Self::Scalable => Ecn::Ect1,
        }
    }
}

/// An application that writes at its own pace.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Writes {
    /// Bytes written when the flow starts.
    #[schemars(extend("examples" = ["1500KB"]))]
    pub first: Bytes,
    /// Bytes of each later write, until the flow's size is reached. The total written so far is rounded up to whole
    /// segments, so that small writes share segments.
    #[schemars(extend("examples" = ["64KB"]))]
    pub chunk: Bytes,
    /// Interval between writes.
    #[schemars(extend("examples" = ["100ms"]))]
    pub every: Span,
}
