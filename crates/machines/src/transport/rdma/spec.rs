//! The RDMA transports as data: RoCE's go-back-N, IRN and every variant between them, TIMELY's segments.
//! Defaults live in the scenario schema, not here.

use super::choices::{CnpRule, RdmaAcks, RdmaTimer, Recovery, RoundTrips, TimerRestart};
use crate::congestion::ControllerSpec;
use crate::transport::{PathValues, Rank};
use serde::{Deserialize, Serialize};
use thalweg_units::{Rate, Span};

/// A queue pair's transport. One per kind of transport, shared by all its flows.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RdmaSpec {
    /// The congestion controller.
    pub controller: ControllerSpec,
    /// Payload bytes of a full packet: the MTU as RDMA counts it.
    pub payload: u32,
    /// Header bytes of every data packet on the wire.
    pub header: u32,
    /// Further header bytes on every data packet that ideal completion times do not count (IRN's worst case, §4.5.3).
    pub extra_header: u32,
    /// Sizes of ACKs and NACKs.
    pub answers: AnswerSpec,
    /// How losses are repaired.
    pub recovery: Recovery,
    /// BDP-FC: at most this many packets from the lowest unacknowledged one on may have been sent; `None`: no cap.
    pub cap: Option<u32>,
    /// What the receiver acknowledges, NACKs apart.
    pub acks: RdmaAcks,
    /// The retransmission timer.
    pub timer: RdmaTimer,
    /// Which acknowledgements restart it.
    pub timer_restart: TimerRestart,
    /// A retransmission leaves no earlier than this after the loss was found (the time to fetch it from the host);
    /// nothing new leaves meanwhile.
    pub fetch_delay: Span,
    /// What senders write into [`thalweg_wire::Packet::rank`].
    pub rank: Rank,
    /// Congestion notifications from receiver to sender.
    pub notification: Notification,
    /// Which round trips the controller is given.
    pub rtt: RoundTrips,
    /// The host posts whole segments and keeps few of them outstanding (TIMELY §3.2); `None`: packets leave
    /// one by one as rate and window allow.
    pub segments: Option<SegmentSpec>,
    /// Values that senders write into their packets for switches to hash; `None`: all write 0.
    pub path_values: Option<PathValues>,
}

/// Bytes on the wire.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct AnswerSpec {
    /// Of an ACK.
    pub ack: u32,
    /// Of a NACK.
    pub nack: u32,
}

/// Congestion notifications.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Notification {
    /// Data is not ECN-capable.
    Off,
    /// Congestion notification packets (DCQCN's NP): one per `interval` at most, when marked data arrives.
    Packet {
        /// At most one in this time.
        interval: Span,
        /// Which marks in between count.
        rule: CnpRule,
        /// Bytes on the wire.
        wire: u32,
    },
    /// Every ACK reports whether the packet that triggered it was marked. Rate controllers that want
    /// notifications get one per such ACK; window controllers find it in
    /// [`crate::congestion::AckSample::marked`].
    Echo,
}

/// The rate engine of a host that posts segments (TIMELY §3.2.3 and §3.4).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SegmentSpec {
    /// Payload bytes of a segment.
    pub bytes: u32,
    /// Segments that may be outstanding.
    pub outstanding: u32,
    /// The NIC spaces the packets of a segment at this rate on the wire, and round trips are net of it; `None`: a burst
    /// at line rate.
    pub nic_pace: Option<Rate>,
}
