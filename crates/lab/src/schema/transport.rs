//! `[transport]`: how the two ends of a flow talk.

use super::{Rdma, defaults};
use crate::quantity::{Capacity, Length, Q};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use thalweg_units::{Bytes, Rate, Span};

/// How the two ends of a flow talk.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "kebab-case")]
#[schemars(extend("x-default-kind" = "tcp"))]
pub enum Transport {
    /// A byte stream with acknowledgements.
    Tcp(Tcp),
    /// Open loop: datagrams, no feedback.
    Udp(Udp),
    /// Queue pairs: RoCE's go-back-N, IRN's selective retransmission (Mittal et al., SIGCOMM 2018), TIMELY's segments.
    Rdma(Rdma),
}

impl Default for Transport {
    fn default() -> Self {
        Self::Tcp(Tcp::default())
    }
}

/// TCP as data: what a scheme switches on or off.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Tcp {
    /// Payload of a full segment.
    pub mss: Q<Bytes>,
    /// Headers of every data packet on the wire.
    pub header: Q<Bytes>,
    /// An ACK on the wire.
    pub ack_size: Q<Bytes>,
    /// A SYN on the wire; as `ack_size` if not given. Only with `handshake`.
    pub syn_size: Option<Q<Bytes>>,
    /// What is held against the window.
    pub flight: Flight,
    /// Window of a new flow, payload; packets are full segments.
    pub initial_window: Length,
    /// Largest window, payload.
    pub max_window: Capacity,
    /// Slow-start threshold of a new flow, payload.
    pub initial_threshold: Capacity,
    /// The congestion controller.
    pub congestion: Congestion,
    /// The retransmission timer.
    pub rto: Rto,
    /// How losses are inferred before the timer fires.
    pub loss: LossDetection,
    /// One new segment on each of the first two duplicate ACKs (RFC 3042); on unless `loss` is timeout-only
    /// or `flight` is span.
    pub limited_transmit: Option<bool>,
    /// Selective acknowledgements (RFC 2018).
    pub sack: Sack,
    /// Whether the receiver waits before it acknowledges.
    pub delayed_acks: DelayedAcks,
    /// Exchange SYN and SYN-ACK before the first data: one round trip.
    pub handshake: bool,
    /// Explicit congestion notification; what the controller needs if not given.
    pub ecn: Option<EcnMode>,
    /// Time stamps (RFC 7323): segments sent again give the retransmission timer samples too. Their bytes on the wire are
    /// part of `header`.
    pub timestamps: bool,
    /// After this many timeouts in a row send header-only probes until an ACK arrives (pFabric §4.2); 0: never.
    pub probe_after: u32,
    /// What senders write into the rank header; what the schedulers need if not given.
    pub rank: Option<Rank>,
}

impl Default for Tcp {
    fn default() -> Self {
        Self {
            mss: Q::of("1460B"),
            header: Q::of("40B"),
            ack_size: Q::of("40B"),
            syn_size: None,
            flight: Flight::default(),
            initial_window: Length::Packets(10), // RFC 6928
            max_window: Capacity::Unlimited,
            initial_threshold: Capacity::Unlimited, // RFC 5681: arbitrarily high
            congestion: Congestion::default(),
            rto: Rto::default(),
            loss: LossDetection::default(),
            limited_transmit: None,
            sack: Sack::default(),
            delayed_acks: DelayedAcks::default(),
            handshake: false,
            ecn: None,
            timestamps: false, // as Karn's rule; the simulators compared with have none
            probe_after: 0,
            rank: None,
        }
    }
}

/// Congestion controllers.
#[derive(Clone, Debug, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
pub enum Congestion {
    /// TCP NewReno's window (RFC 5681, RFC 6582).
    #[default]
    Newreno,
    /// DCTCP: cuts in proportion to the fraction of marked bytes (Alizadeh et al., SIGCOMM 2010; RFC 8257).
    Dctcp {
        /// g, weight of the newest window in the average of the marked fraction.
        #[serde(default = "default::dctcp_gain")]
        #[schemars(extend("exclusiveMinimum" = 0.0, "maximum" = 1.0))]
        gain: f64,
        /// α before the first window has ended.
        #[serde(default = "default::dctcp_alpha")]
        #[schemars(extend("minimum" = 0.0, "maximum" = 1.0))]
        initial_alpha: f64,
        /// Which ACKs may enlarge the window.
        #[serde(default)]
        growth: Growth,
        /// As csg-htsim's DCTCP: cut by α/2 at the end of every window as long as α > 0, marks or not.
        #[serde(default)]
        cut_without_marks: bool,
    },
    /// DCTCP on rates, as the HPCC authors' simulator has it (SIGCOMM 2019): starts at line rate and paces;
    /// `initial_window` is the window at line rate.
    DctcpRate {
        /// g, weight of the newest round trip in the average of the marked fraction.
        #[serde(default = "default::dctcp_gain")]
        #[schemars(extend("exclusiveMinimum" = 0.0, "maximum" = 1.0))]
        gain: f64,
        /// α before the first round trip has ended.
        #[serde(default = "default::dctcp_alpha")]
        #[schemars(extend("minimum" = 0.0, "maximum" = 1.0))]
        initial_alpha: f64,
        /// Additive increase per round trip.
        #[serde(default = "default::dctcp_step")]
        step: Q<Rate>,
        /// Smallest rate.
        #[serde(default = "default::dctcp_floor")]
        min_rate: Q<Rate>,
    },
    /// pFabric's minimal rate control (SIGCOMM 2013 §4.2): starts at line rate, reacts to timeouts only.
    Mintcp {
        /// A timeout sets the slow-start threshold to half the window (pFabric); otherwise the window grows by
        /// a packet per ACK for ever, as in the NetSys simulator's FIFO variant.
        #[serde(default = "default::yes")]
        halve_threshold: bool,
    },
    /// A window that never changes.
    Fixed,
    /// A controller registered by the user.
    #[schemars(extend("x-registry" = "controllers"))]
    Custom {
        /// The name it was registered under.
        name: String,
        /// What its factory is given, as JSON.
        #[serde(default)]
        #[schemars(schema_with = "super::anything")]
        params: serde_json::Value,
    },
}

/// When DCTCP's window grows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Growth {
    /// On every ACK, as without ECN.
    Always,
    /// Not on ACKs that carry an echo (RFC 3168 §6.1.2, and the DCTCP authors' ns-2 code).
    // CHOICE (ads M1.3): the specification says only "TCP + ECN fraction".
    #[default]
    UnmarkedAcks,
    /// Not until the window in which it was cut is acknowledged (the CWR state of Linux and ns-3).
    OutsideCwr,
    /// As `outside-cwr`, and the cut is spread over that window (proportional rate reduction, RFC 6937; Linux, ns-3).
    GradualCwr,
    /// By no more than the room that the ACK leaves between flight and window (csg-htsim).
    Room,
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

/// The retransmission timer.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
pub enum Rto {
    /// RFC 6298: smoothed round trip + 4 deviations, clamped, doubled at every expiry.
    Rfc6298 {
        /// Before the first sample.
        #[serde(default = "default::rto_initial")]
        initial: Q<Span>,
        /// Floor.
        #[serde(default = "default::rto_min")]
        min: Q<Span>,
        /// Ceiling, back-off included.
        #[serde(default = "default::rto_max")]
        max: Q<Span>,
    },
    /// Always the same: no estimate, no back-off.
    Fixed {
        /// The time-out.
        value: Q<Span>,
    },
}

impl Default for Rto {
    fn default() -> Self {
        Self::Rfc6298 { initial: default::rto_initial(), min: default::rto_min(), max: default::rto_max() }
    }
}

/// Loss inference.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
pub enum LossDetection {
    /// Duplicate ACKs, or that many segments' worth selectively acknowledged above a hole (RFC 6675).
    DupAck {
        /// DupThresh.
        #[serde(default = "default::dup_thresh")]
        #[schemars(range(min = 1, max = 1000))]
        threshold: u32,
    },
    /// Only the timer.
    TimeoutOnly,
}

impl Default for LossDetection {
    fn default() -> Self {
        Self::DupAck { threshold: default::dup_thresh() }
    }
}

/// Selective acknowledgements.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
pub enum Sack {
    /// Blocks in every ACK that follows a gap.
    Blocks {
        /// At most this many; 3 or 4 fit into TCP's header, simulators without one use 16.
        #[serde(default = "default::sack_blocks")]
        #[schemars(range(min = 1, max = 16))]
        blocks: u8,
        /// Blocks lengthen the ACK on the wire: 2 + 8n bytes rounded up to a multiple of 4.
        #[serde(default)]
        on_wire: bool,
    },
    /// Cumulative only: one hole per round trip is repaired (RFC 6582).
    Off,
}

impl Default for Sack {
    fn default() -> Self {
        Self::Blocks { blocks: default::sack_blocks(), on_wire: false }
    }
}

/// Acknowledgement policy of receivers.
#[derive(Clone, Copy, Debug, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
pub enum DelayedAcks {
    /// One ACK per packet.
    #[default]
    Off,
    /// One ACK per `every` segments in order (RFC 1122 §4.2.3.2).
    On {
        /// Segments per ACK.
        #[serde(default = "default::ack_every")]
        #[schemars(range(min = 2, max = 1000))]
        every: u32,
        /// An unacknowledged segment waits at most this long.
        #[serde(default = "default::ack_delay")]
        delay: Q<Span>,
    },
}

/// Explicit congestion notification at the ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum EcnMode {
    /// Packets are not ECN-capable.
    Off,
    /// RFC 3168: the echo is latched until the sender has reduced its window.
    Classic,
    /// RFC 8257: every ACK echoes exactly the marks of the packets it covers.
    Accurate,
}

/// What senders write into the rank header; lower is served first by ranked schedulers.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
pub enum Rank {
    /// Nothing.
    None,
    /// The flow's size.
    FlowSize,
    /// The flow's bytes not yet acknowledged when the packet is sent.
    Remaining,
    /// The flow's bytes from the packet's first byte on, whatever is acknowledged.
    FromHere,
    /// What waits in the socket's send buffer or is outstanding: all that an unmodified host knows (ADS §3.2).
    SocketBuffer {
        /// Size of the send buffer.
        buffer: Q<Bytes>,
    },
}

/// Open-loop datagrams.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Udp {
    /// Payload of a datagram.
    pub payload: Q<Bytes>,
    /// Headers on the wire.
    pub header: Q<Bytes>,
    /// When datagrams leave.
    pub pace: Pace,
    /// What senders write into the rank header: `none` or `flow-size`; what the schedulers need if not given.
    pub rank: Option<Rank>,
}

impl Default for Udp {
    fn default() -> Self {
        Self { payload: Q::of("1460B"), header: Q::of("40B"), pace: Pace::Burst, rank: None }
    }
}

/// Departures of datagrams.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
pub enum Pace {
    /// All at once, when the flow starts.
    Burst,
    /// Evenly spaced.
    Constant {
        /// On the wire, headers included.
        rate: Q<Rate>,
    },
    /// Exponential gaps.
    Poisson {
        /// Mean, on the wire, headers included.
        rate: Q<Rate>,
    },
}

defaults! {
    dctcp_gain: f64 = 0.0625; // 1/16, DCTCP §3.4
    dctcp_alpha: f64 = 1.0; // RFC 8257 §3.3
    dctcp_step: Q<Rate> = Q::of("615Mbps"); // the HPCC repository's run.py at 100 Gb/s
    dctcp_floor: Q<Rate> = Q::of("1Gbps"); // the HPCC repository's run.py at 100 Gb/s
    yes: bool = true;
    rto_initial: Q<Span> = Q::of("1s"); // RFC 6298 §2
    rto_min: Q<Span> = Q::of("200ms"); // CHOICE: Linux's TCP_RTO_MIN; the RFC's 1 s is used by nobody
    rto_max: Q<Span> = Q::of("60s"); // RFC 6298 §2.5
    dup_thresh: u32 = 3; // RFC 5681 §3.2
    sack_blocks: u8 = 4; // RFC 2018 §3: what 40 bytes of options hold without timestamps
    ack_every: u32 = 2; // RFC 1122 §4.2.3.2
    ack_delay: Q<Span> = Q::of("40ms"); // CHOICE: Linux's minimum; the RFC allows up to 500 ms
}
