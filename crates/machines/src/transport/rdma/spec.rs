//! The RDMA transports as data: RoCE's go-back-N, IRN and every variant between them, TIMELY's segments.
//! Defaults live in the scenario schema, not here.

use crate::congestion::ControllerSpec;
use crate::transport::{PathValues, RankSpec};
use serde::{Deserialize, Serialize};
use thalweg_units::{Rate, Span};

/// A queue pair's transport. One per kind of transport, shared by all its flows.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RdmaSpec {
    /// Rate or window.
    pub controller: ControllerSpec,
    /// Payload bytes of a full packet: the MTU as RDMA counts it.
    pub payload: u32,
    /// Header bytes of every data packet on the wire.
    pub header: u32,
    /// More header bytes on every data packet, not part of its ideal completion time (IRN's worst case, §4.5.3).
    pub extra_header: u32,
    /// What its receivers answer with.
    pub answers: AnswerSpec,
    /// How losses are repaired.
    pub recovery: RecoverySpec,
    /// BDP-FC: at most this many packets from the lowest unacknowledged one on may have been sent; `None`: no cap.
    pub cap: Option<u32>,
    /// What the receiver acknowledges, NACKs apart.
    pub acks: RdmaAcks,
    /// The retransmission timer.
    pub timer: RdmaTimer,
    /// Which acknowledgements start it again.
    pub timer_restart: TimerRestart,
    /// A packet to be sent again leaves no earlier than this after it was found lost; nothing new leaves meanwhile.
    pub fetch_delay: Span,
    /// What senders write into [`thalweg_wire::Packet::rank`].
    pub rank: RankSpec,
    /// Congestion notifications from receiver to sender.
    pub notification: Notification,
    /// Which round trips the controller is given.
    pub rtt: RttSpec,
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

/// Loss recovery.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum RecoverySpec {
    /// RoCE: the receiver drops what is out of order and says so once per gap; the sender starts again from there.
    GoBackN {
        /// Say it again if the gap stands for so long (the HPCC authors' simulator: 500 us); `None`: once per gap
        /// (InfiniBand).
        repeat_nack: Option<Span>,
    },
    /// Switches notify the sender of every packet that they drop, and it sends that one again; the receiver
    /// keeps what is out of order (Goyal, MIT 2022, §3.6.2.1).
    DropNotified,
    /// IRN §4.2: the receiver keeps what is out of order and answers each such packet with a NACK that names it.
    Selective {
        /// The sender uses the names (SACK); otherwise it repairs one hole per round trip.
        sack: bool,
        /// Recovery begins at this many NACKs for the same gap: 1, or 3 where packets are sprayed (§4.6).
        nack_threshold: u32,
        /// A NACK that also acknowledges begins recovery too: the text of §4.2 read literally. The authors'
        /// modules wait for the next one.
        enter_on_advance: bool,
    },
}

/// What a receiver acknowledges.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum RdmaAcks {
    /// Every packet.
    PerPacket,
    /// The last packet of every so many ([`RttSpec::segment`] of them, or of a posted segment) and the flow's last.
    PerSegment,
    /// Nothing: only NACKs are sent. The sender is done when all is sent.
    Never,
}

/// The retransmission timer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum RdmaTimer {
    /// None: the network is lossless.
    Off,
    /// Always the same.
    Fixed(Span),
    /// IRN's two: the short one only fires with few packets in flight.
    Pair {
        /// RTO_low.
        low: Span,
        /// RTO_high.
        high: Span,
        /// N: the short one fires with at most this many packets in flight.
        max_in_flight: u32,
        /// And only if the rate is at least the line's divided by this (the authors' modules: 4); 0: whatever the rate.
        max_rate_factor: u32,
    },
    /// Jacobson's and Karels': SRTT + 4 RTTVAR.
    Dynamic {
        /// Before the first sample.
        initial: Span,
        /// Floor.
        min: Span,
    },
}

/// Which acknowledgements start a running timer again, as long as something is outstanding. IRN's text does not say.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum TimerRestart {
    /// Those that acknowledge more than before, as TCP's (RFC 6298, §5.3).
    Progress,
    /// Every ACK and every NACK: the timer measures silence.
    Answer,
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
        /// Bytes on the wire.
        wire: u32,
    },
    /// Every ACK reports whether the packet that triggered it was marked. Rate controllers that want
    /// notifications get one per such ACK; window controllers find it in
    /// [`crate::congestion::AckSample::marked`].
    Echo,
}

/// Which round trips a controller is given.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RttSpec {
    /// One sample per so many packets, at the ACK of the last of them, and at the flow's last: 1 for all.
    /// Without effect where the host posts segments: there each segment gives one.
    pub segment: u32,
    /// Take the time on the wire off: of that packet, or of the whole segment where the host posts segments.
    pub less_serialization: bool,
    /// Also from NACKs: the packet that came out of order has a round trip too.
    pub nacks: bool,
    /// Also from packets that were sent again: the answer identifies the copy that it answers.
    pub resent: bool,
    /// Measurement noise, uniform from 0 to this, added to every sample.
    pub noise: Span,
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
