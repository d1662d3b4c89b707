//! `[transport]` of kind `rdma`: queue pairs of RoCE, IRN and what lies between.

use super::{Rank, congestion, defaults};
use crate::quantity::{Cap, Q};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use thalweg_machines::congestion::{ControllerSpec, fixed};
use thalweg_machines::transport::PathValues;
use thalweg_units::{Bytes, Rate, Span};

/// A queue pair per flow: RoCE's go-back-N, IRN's selective retransmission, TIMELY's segments.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Rdma {
    /// Rate or window control. Every flow starts at line rate, with a window as large as its cap.
    #[schemars(schema_with = "congestion::over_rdma")]
    pub congestion: ControllerSpec,
    /// Payload of a full packet.
    pub mtu: Q<Bytes>,
    /// Headers of every data packet on the wire.
    pub header: Q<Bytes>,
    /// More headers on every data packet, not part of its ideal completion time (IRN §4.5.3: 16 B at worst).
    pub extra_header: Q<Bytes>,
    /// An ACK on the wire.
    pub ack_size: Q<Bytes>,
    /// A NACK on the wire. Without the key, as `ack_size`, and 4 B more with the recoveries `irn` and `told`,
    /// for the PSN that triggered it.
    pub nack_size: Option<Q<Bytes>>,
    /// In-band telemetry on the wire, in every data packet from its source on and in every ACK and NACK,
    /// besides their headers. Without the key `42B` where the controller reads it (HPCC, SIGCOMM 2019, §4.1:
    /// five hops of 8 B, and 2 B).
    pub telemetry: Option<Q<Bytes>>,
    /// How losses are repaired.
    #[schemars(extend("x-renamed-kinds" = { "told": "drop-notified" }))]
    pub recovery: Recovery,
    /// BDP-FC: packets that may be sent from the lowest unacknowledged one on. `"auto"`: as many as fill the
    /// longest path at the hosts' rate (propagation only); `"none"`: no cap. Without the key, `auto` with the
    /// recoveries `irn` and `told`, `none` with `go-back-n`.
    pub cap: Option<Cap>,
    /// What receivers acknowledge, NACKs apart. Without the key, `per-packet`; with the recovery `go-back-n`
    /// under PFC, or with `segments`, no more than the controller needs.
    pub acks: Option<RdmaAcks>,
    /// The retransmission timer. Without the key, `off` with PFC, else `pair` with the recovery `irn` and `fixed` with
    /// `go-back-n` and `told`.
    pub timer: Option<RdmaTimer>,
    /// Which acknowledgements start a running timer again.
    pub timer_restart: TimerRestart,
    /// A packet to be sent again leaves no earlier than this after it was found lost, and nothing new leaves meanwhile
    /// (IRN §4.5.3: 2 us at worst).
    pub fetch_delay: Q<Span>,
    /// What senders write into the rank header; without the key what the schedulers sort by, `from-here`
    /// where that is what remains.
    pub rank: Option<Rank>,
    /// Congestion notifications from receiver to sender; what the controller needs if not given.
    pub notification: Option<Notification>,
    /// Which round trips are reported to the controller.
    pub rtt: RoundTrips,
    /// The host posts whole segments and keeps few of them outstanding (TIMELY §3.2); without the key packets
    /// leave one by one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub segments: Option<Segments>,
    /// Values that senders write into every packet for the routing `entropy` to hash; ACKs bring them back. Without the
    /// key all write 0.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub path_values: Option<PathValues>,
}

impl Default for Rdma {
    fn default() -> Self {
        Self {
            congestion: ControllerSpec::Fixed(fixed::Params {}),
            mtu: Q::of("1024B"),
            header: Q::of("66B"), // Ethernet 14, 802.1Q 4, FCS 4, IPv4 20, UDP 8, BTH 12, ICRC 4
            extra_header: Q::of("0B"),
            ack_size: Q::of("70B"), // and AETH 4
            nack_size: None,
            telemetry: None,
            recovery: Recovery::default(),
            cap: None,
            acks: None,
            timer: None,
            timer_restart: TimerRestart::default(),
            fetch_delay: Q::of("0s"),
            rank: None,
            notification: None,
            rtt: RoundTrips::default(),
            segments: None,
            path_values: None,
        }
    }
}

/// Loss recovery.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
#[schemars(extend("x-default-kind" = "irn"))]
pub enum Recovery {
    /// IRN: the receiver keeps what is out of order and answers each such packet with a NACK that names it
    /// (Mittal et al., SIGCOMM 2018, §3.1).
    Irn {
        /// The sender uses the names (SACK); otherwise it repairs one hole per round trip.
        #[serde(default = "default::yes")]
        sack: bool,
        /// Recovery begins at this many NACKs for the same gap; 3 where packets are sprayed (§4.6 of the dissertation).
        #[serde(default = "default::one")]
        #[schemars(range(min = 1, max = 1000))]
        nack_threshold: u32,
        /// A NACK that also acknowledges begins recovery too.
        // CHOICE IRN §4.2: the text of §4.2 read literally; the authors' modules, which made the results,
        // wait for the next.
        #[serde(default)]
        enter_on_advance: bool,
    },
    /// RoCE: the receiver drops what is out of order and says so once per gap; the sender starts again from there
    /// (InfiniBand specification, 2007, §9.7).
    GoBackN {
        /// Say it again if the gap stands for so long (the HPCC authors' simulator: 500us); never if not given.
        repeat_nack: Option<Q<Span>>,
    },
    /// An ideal: switches notify the sender of every packet that they drop, at once but for the propagation
    /// delay, and it sends that one again, whatever the window; the receiver keeps what is out of order (HPCC
    /// without PFC in BFC: Goyal, MIT 2022, §3.6.2.1).
    DropNotified,
}

impl Default for Recovery {
    fn default() -> Self {
        Self::Irn { sack: true, nack_threshold: default::one(), enter_on_advance: false }
    }
}

/// What starts a running retransmission timer again, besides the retransmission of the lowest packet not acknowledged.
// CHOICE IRN §4.2: not published; `answer` has the statistics of the authors' trace (papers/irn/traces.py).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum TimerRestart {
    /// An acknowledgement of more than before, as TCP's (RFC 6298, §5.3).
    #[default]
    Progress,
    /// Every ACK and every NACK, while something is outstanding: the timer measures silence.
    Answer,
}

/// What receivers acknowledge.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum RdmaAcks {
    /// Every packet.
    PerPacket,
    /// The last packet of every so many (`rtt.segment`, or those of a posted segment) and the flow's last.
    PerSegment,
    /// Nothing: only NACKs are sent, and a sender is done when all is sent.
    Never,
}

/// Retransmission timers of queue pairs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
pub enum RdmaTimer {
    /// IRN's two: the short one fires with few packets in flight only (Mittal et al., SIGCOMM 2018, §3.1).
    Pair {
        /// RTO_low.
        #[serde(default = "default::rto_low")]
        low: Q<Span>,
        /// RTO_high.
        #[serde(default = "default::rto_high")]
        high: Q<Span>,
        /// N: the short one fires with at most this many packets in flight.
        #[serde(default = "default::rto_packets")]
        max_in_flight: u32,
        /// And if the flow's rate is no less than the line's divided by this; 0: whatever the rate.
        // CHOICE IRN §4.2: in the authors' modules only.
        #[serde(default = "default::rto_rate_factor")]
        max_rate_factor: u32,
    },
    /// Always the same.
    Fixed {
        /// The time-out.
        #[serde(default = "default::rto_high")]
        value: Q<Span>,
    },
    /// Smoothed round trip + 4 deviations (Jacobson & Karels, SIGCOMM 1988).
    Dynamic {
        /// Before the first sample.
        #[serde(default = "default::rto_high")]
        initial: Q<Span>,
        /// Floor.
        #[serde(default = "default::rto_low")]
        min: Q<Span>,
    },
    /// None: the network is lossless.
    Off,
}

/// Congestion notifications.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
pub enum Notification {
    /// Congestion notification packets when marked data arrives (DCQCN: Zhu et al., SIGCOMM 2015, §3.1).
    Cnp {
        /// At most one per flow in this time.
        #[serde(default = "default::cnp_interval")]
        interval: Q<Span>,
        /// On the wire.
        #[serde(default = "default::cnp_size")]
        size: Q<Bytes>,
    },
    /// Every ACK indicates whether the packet that triggered it was marked.
    Echo,
    /// Data is not ECN-capable.
    Off,
}

/// Which round trips are reported to a controller.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct RoundTrips {
    /// One sample per so many packets, at the ACK of the last of them, and one at the flow's end. (Posted
    /// segments give one each.)
    #[schemars(range(min = 1, max = 1_000_000))]
    pub segment: u32,
    /// Take the time on the wire off: of that packet, or of the whole segment where the host posts segments.
    pub less_serialization: bool,
    /// Also from NACKs.
    // CHOICE IRN §4.3.1: with IRN, whose packets out of order are answered by NACKs, the paper does not say.
    pub nacks: bool,
    /// Also from what is sent again: the answer indicates which copy it answers.
    // CHOICE IRN §4.3.1: TCP's rule (RFC 6298, §3) otherwise.
    pub resent: bool,
    /// Measurement noise, uniform from 0 to this, added to every sample.
    pub noise: Q<Span>,
}

impl Default for RoundTrips {
    fn default() -> Self {
        // 16 KB of 1024 B: TIMELY §3.5
        Self { segment: 16, less_serialization: true, nacks: false, resent: false, noise: Q::of("0s") }
    }
}

/// The rate engine of a host that posts segments (TIMELY §3.2.3, §3.4).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Segments {
    /// Payload of a segment.
    pub bytes: Q<Bytes>,
    /// Segments that may be outstanding.
    // CHOICE TIMELY §3.4: "a static worst-case limit" without a value.
    #[schemars(range(min = 1, max = 1_000_000))]
    pub outstanding: u32,
    /// The NIC spaces the packets of a segment at this rate on the wire, and round trips are net of it; a burst at line
    /// rate if not given.
    pub nic_pace: Option<Q<Rate>>,
}

impl Default for Segments {
    fn default() -> Self {
        Self { bytes: Q::of("16KB"), outstanding: 2, nic_pace: None }
    }
}

impl RdmaTimer {
    /// IRN's pair with its defaults.
    pub(crate) fn pair() -> Self {
        Self::Pair {
            low: default::rto_low(),
            high: default::rto_high(),
            max_in_flight: default::rto_packets(),
            max_rate_factor: default::rto_rate_factor(),
        }
    }
    /// RTO_high alone.
    pub(crate) fn fixed() -> Self {
        Self::Fixed { value: default::rto_high() }
    }
}

impl Notification {
    /// DCQCN's notifications with their defaults.
    pub(crate) fn cnp() -> Self {
        Self::Cnp { interval: default::cnp_interval(), size: default::cnp_size() }
    }
}

defaults! {
    yes: bool = true;
    one: u32 = 1;
    rto_low: Q<Span> = Q::of("100us"); // IRN §4.3.1
    rto_high: Q<Span> = Q::of("320us"); // IRN §4.3.1
    rto_packets: u32 = 3; // IRN §4.3.1
    rto_rate_factor: u32 = 4; // the authors' modules
    cnp_interval: Q<Span> = Q::of("50us"); // DCQCN §3.1
    cnp_size: Q<Bytes> = Q::of("82B"); // CHOICE IRN §4.3.1: 66 B of headers and 16 B reserved
}
