//! TCP as data. Defaults live in the scenario schema, not here.

use super::choices::{EcnFloor, Flight, Growth, LossDetection, PrrRule, RestartRule, RtoRule, Sack, SynLoss};
use super::video::VideoSpec;
use crate::congestion::ControllerSpec;
use crate::transport::Rank;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use thalweg_units::{Bytes, Span};
use thalweg_wire::Ecn;

/// TCP as data: what a scheme switches on or off. One per kind of transport, shared by all its flows.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TcpSpec {
    /// The window's rule.
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
    /// Largest window in payload bytes; [`Bytes::MAX`]: none.
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
    /// What is held against the window.
    pub flight: Flight,
    /// Time stamps (RFC 7323): segments sent again give the timer samples too. Their bytes are part of `header`.
    pub timestamps: bool,
    /// pFabric's probe mode: after this many timeouts in a row send header-only probes until an ACK arrives.
    pub probe_after: Option<u32>,
    /// What senders write into [`thalweg_wire::Packet::rank`].
    pub rank: Rank,
    /// ACKs are of the class of the data that triggered them; otherwise of class 0.
    pub acks_in_class: bool,
    /// The application writes little by little; `None`: all at once.
    pub writes: Option<Writes>,
    /// What real senders add; nothing by default.
    pub options: TcpOptions,
}

/// What real senders add.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct TcpOptions {
    /// A viewer requests what the application writes, in place of `writes`.
    pub video: Option<VideoSpec>,
    /// How the window comes down while losses are repaired.
    pub prr: PrrRule,
    /// A window is paced, as Linux does, where the controller has no pace of its own.
    pub pacing: bool,
    /// When ACKs say that the window was used up.
    pub growth: Growth,
    /// What is left of a window after a pause.
    pub restart: RestartRule,
    /// What a mark does to a window of one segment (classic ECN).
    pub ecn_floor: EcnFloor,
    /// What follows from a lost SYN or SYN-ACK (no effect without `handshake`).
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
    /// RFC 8257: every ACK echoes exactly the marks of the packets it covers.
    Accurate,
    /// Likewise of three codepoints: packets are sent with ECT(1), and every ACK reports with which the
    /// packets came that it covers (ABC, Goyal, MIT 2022, §2.4.2: accelerate, brake, or CE).
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
    /// What it writes when the flow starts.
    #[schemars(extend("examples" = ["1500KB"]))]
    pub first: Bytes,
    /// What it writes each time after that, until the flow's size is reached. All that was written so far is rounded up
    /// to whole segments, so that small writes share them.
    #[schemars(extend("examples" = ["64KB"]))]
    pub chunk: Bytes,
    /// Time from one write to the next.
    #[schemars(extend("examples" = ["100ms"]))]
    pub every: Span,
}
