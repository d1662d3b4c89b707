//! `[transport]` of kind `tcp`.

use super::{Rank, congestion, defaults};
use crate::quantity::{Capacity, Length, Q};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use thalweg_machines::congestion::{ControllerSpec, newreno};
use thalweg_units::{Bytes, Rate, Span};

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
    /// In-band telemetry on the wire, in every data packet from its source on and in every ACK, besides their
    /// headers. Without the key `42B` where the controller reads it (HPCC, SIGCOMM 2019, §4.1: five hops of 8
    /// B, and 2 B).
    pub telemetry: Option<Q<Bytes>>,
    /// What is held against the window.
    pub flight: Flight,
    /// Window of a new flow, payload; packets are full segments.
    pub initial_window: Length,
    /// Largest window, payload.
    pub max_window: Capacity,
    /// Slow-start threshold of a new flow, payload.
    pub initial_threshold: Capacity,
    /// The congestion controller.
    #[schemars(schema_with = "congestion::over_tcp")]
    pub congestion: ControllerSpec,
    /// The retransmission timer.
    pub rto: Rto,
    /// How losses are inferred before the timer fires.
    pub loss: LossDetection,
    /// One new segment on each of the first two duplicate ACKs (RFC 3042); on unless `loss` is timeout-only
    /// or `flight` is span.
    pub limited_transmit: Option<bool>,
    /// Without SACK: while losses are repaired the timer restarts with the first partial ACK only, not with
    /// each (RFC 6582 §4; NewReno as ns-2 has it).
    pub impatient: bool,
    /// Selective acknowledgements (RFC 2018).
    pub sack: Sack,
    /// Whether the receiver waits before it acknowledges.
    pub delayed_acks: DelayedAcks,
    /// Exchange SYN and SYN-ACK before the first data: one round trip.
    pub handshake: bool,
    /// What follows from a lost SYN or SYN-ACK. Only with `handshake`.
    #[serde(skip_serializing_if = "SynLoss::is_default")]
    pub syn_loss: SynLoss,
    /// Explicit congestion notification; what the controller needs if not given.
    pub ecn: Option<EcnMode>,
    /// Time stamps (RFC 7323): segments sent again give the retransmission timer samples too. Their bytes on
    /// the wire are part of `header`.
    pub timestamps: bool,
    /// After this many timeouts in a row send header-only probes until an ACK arrives (pFabric §4.2); 0: never.
    pub probe_after: u32,
    /// What senders write into the rank header; what the schedulers need if not given.
    pub rank: Option<Rank>,
    /// Class of ACKs, for switches and hosts that serve control packets by class; with `rc3` always the data's.
    #[serde(skip_serializing_if = "AckClass::is_default")]
    pub ack_class: AckClass,
    /// An application that writes at its own pace; everything at once if not given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub writes: Option<Writes>,
    /// A viewer at the other end requests chunks of a video one after the other; everything at once if not given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub video: Option<Video>,
    /// How the window comes down while losses are repaired.
    #[serde(skip_serializing_if = "Prr::is_default")]
    pub prr: Prr,
    /// A window is sent at a pace, as Linux does: 2 windows per round trip in slow start, 1.2 afterwards.
    /// Only with controllers that have no pace of their own.
    #[serde(skip_serializing_if = "is_false")]
    pub pacing: bool,
    /// Whether a window grows that is not used up: one that the application leaves half empty says nothing of the path.
    #[serde(skip_serializing_if = "Growth::is_default")]
    pub growth: Growth,
    /// What is left of a window when the application writes again after it had nothing to send; only with `writes`.
    #[serde(skip_serializing_if = "Restart::is_default")]
    pub restart: Restart,
    /// What a mark does to a window of one segment. Only with `ecn = "classic"`.
    #[serde(skip_serializing_if = "EcnFloor::is_default")]
    pub ecn_floor: EcnFloor,
    /// A second loop that sends everything once more, backwards and in lower and lower classes (Mittal et
    /// al., NSDI 2014); none if not given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rc3: Option<Rc3>,
}

/// How the window comes down while losses are repaired.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Prr {
    /// At once, to what the controller says (RFC 6675).
    #[default]
    Off,
    /// In proportion to what is delivered; below the threshold it grows as in slow start (RFC 6937).
    Rfc6937,
    /// The same, growing only on ACKs that indicate no further loss (RFC 9937).
    Rfc9937,
}

impl Prr {
    fn is_default(&self) -> bool {
        *self == Self::default()
    }
}

#[allow(clippy::trivially_copy_pass_by_ref, reason = "serde gives references")]
fn is_false(value: &bool) -> bool {
    !*value
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

impl Growth {
    fn is_default(&self) -> bool {
        *self == Self::default()
    }
}

/// What is left of a window after a pause.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Restart {
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

impl Restart {
    fn is_default(&self) -> bool {
        *self == Self::default()
    }
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

impl EcnFloor {
    fn is_default(&self) -> bool {
        *self == Self::default()
    }
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

impl SynLoss {
    fn is_default(&self) -> bool {
        *self == Self::default()
    }
}

/// Class of ACKs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum AckClass {
    /// 0.
    #[default]
    First,
    /// That of the data they answer.
    Data,
}

impl AckClass {
    fn is_default(&self) -> bool {
        *self == Self::default()
    }
}

/// An application that writes at its own pace.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Writes {
    /// What it writes when the flow starts.
    #[schemars(extend("examples" = ["1500KB"]))]
    pub first: Q<Bytes>,
    /// What it writes each time after that, until the flow's size is reached; rounded up so that every write
    /// ends with a whole segment.
    #[schemars(extend("examples" = ["64KB"]))]
    pub chunk: Q<Bytes>,
    /// Time from one write to the next.
    #[schemars(extend("examples" = ["100ms"]))]
    pub every: Q<Span>,
}

/// A viewer that requests chunks of a video one after the other, each at the highest rate that the last five chunks'
/// throughput allows (harmonic mean: FESTIVE, CoNEXT 2012), and pauses while its buffer is full.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Video {
    /// Rates that the video is stored at, rising, eight at most; the first chunk has the lowest.
    #[schemars(length(min = 1, max = 8))]
    pub ladder: Vec<Q<Rate>>,
    /// How long a chunk plays.
    pub chunk: Q<Span>,
    /// How much the viewer stores, in playing time: it requests a chunk as soon as there is room for it.
    pub buffer: Q<Span>,
    /// The part of the throughput that a rate may be.
    #[schemars(extend("exclusiveMinimum" = 0.0, "maximum" = 10.0))]
    pub safety: f64,
}

impl Default for Video {
    fn default() -> Self {
        // CHOICE: a stream in 4K, as services describe theirs.
        let ladder = [1_500, 3_000, 6_000, 12_000, 18_000, 25_000].map(|kbps| Q(Rate::from_bps(1000 * kbps)));
        let span = |s| Q(Span::from_secs(s));
        Self { ladder: ladder.into(), chunk: span(4), buffer: span(20), safety: 0.8 }
    }
}

/// RC3 (Mittal, Sherry, Ratnasamy, Shenker, NSDI 2014): everything above is its primary loop.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Rc3 {
    /// Segments of the first level, from the tail on; each further level has ten times as many.
    #[schemars(range(min = 1, max = 1_000_000))]
    pub first: u32,
    /// Low-priority levels: classes below the flow's own. What would be below the last is of the last.
    #[schemars(range(min = 1, max = 254))]
    pub levels: u8,
    /// Where the levels end.
    pub borders: Borders,
    /// Segments that a host hands to its NIC as one: forwards, all in the class of the least important of them.
    #[schemars(range(min = 1, max = 1_000))]
    pub together: u32,
    /// When packets of the second loop are handed to the NIC.
    #[serde(skip_serializing_if = "HandOver::is_default")]
    pub mode: HandOver,
    /// When a flow is over, what its second loop still has in the queue of its host is dropped there. Off in
    /// the published runs.
    #[serde(skip_serializing_if = "is_false")]
    pub flush: bool,
}

/// When packets of the second loop are handed to the NIC.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum HandOver {
    /// All at once: the loop stops where it meets TCP then, and what TCP sends later waits there all the same
    /// (§2.1.2, §2.3.1).
    #[default]
    Push,
    /// One by one, when the NIC has nothing else to send: nothing leaves that TCP has sent meanwhile.
    Pull,
}

impl HandOver {
    fn is_default(&self) -> bool {
        *self == Self::default()
    }
}

impl Default for Rc3 {
    fn default() -> Self {
        // §2.1.1; four levels and the flow's own: five queues in the authors' simulator. Segmentation offload
        // is off there.
        Self {
            first: 40,
            levels: 4,
            borders: Borders::Quotas,
            together: 1,
            mode: HandOver::Push,
            flush: false,
        }
    }
}

/// Where the levels of the second loop end.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Borders {
    /// Levels are quotas: with a first one of 40 they end 40, 440, 4440 segments before the tail (§2.1.1).
    #[default]
    Quotas,
    /// Levels are distances: 40, 400, 4000 segments before the tail (the Linux implementation, §2.3.1).
    Distances,
}

impl Default for Tcp {
    fn default() -> Self {
        Self {
            mss: Q::of("1460B"),
            header: Q::of("40B"),
            ack_size: Q::of("40B"),
            telemetry: None,
            syn_size: None,
            flight: Flight::default(),
            // CHOICE RFC 6928 §2: 10 segments of any size, as Linux's TCP_INIT_CWND. Other reading: no more than 14 600
            // B, or two segments, where the MSS is above 1460 B.
            initial_window: Length::Packets(10),
            max_window: Capacity::Unlimited,
            initial_threshold: Capacity::Unlimited, // RFC 5681: arbitrarily high
            congestion: ControllerSpec::NewReno(newreno::Params {}),
            rto: Rto::default(),
            loss: LossDetection::default(),
            limited_transmit: None,
            impatient: false, // RFC 6582 §4: "slow but steady"
            sack: Sack::default(),
            delayed_acks: DelayedAcks::default(),
            handshake: false,
            syn_loss: SynLoss::default(), // RFC 5681 §3.1, RFC 6298 §5.7
            ecn: None,
            timestamps: false, // as Karn's rule; the simulators compared with have none
            probe_after: 0,
            rank: None,
            ack_class: AckClass::First,
            writes: None,
            video: None,
            prr: Prr::default(),
            pacing: false,
            growth: Growth::default(),
            restart: Restart::default(),
            ecn_floor: EcnFloor::default(),
            rc3: None,
        }
    }
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
    /// Linux's: the floor is added to the smoothed round trip, which + the larger of 4 deviations and the
    /// floor is the timeout.
    Linux {
        /// Before the first sample.
        #[serde(default = "default::rto_initial")]
        initial: Q<Span>,
        /// Floor of the 4 deviations (TCP_RTO_MIN).
        #[serde(default = "default::rto_min")]
        min: Q<Span>,
        /// Ceiling, back-off included (TCP_RTO_MAX).
        #[serde(default = "default::linux_rto_max")]
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
    /// By time: a segment is lost once one that left later has arrived and a round trip and a reordering
    /// window have passed (RACK, RFC 8985). With SACK only.
    Rack {
        /// When no ACK arrives for two round trips, a segment is sent so that its ACK shows what is lost
        /// (TLP).
        #[serde(default = "default::tail_probes")]
        tail_probes: bool,
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

defaults! {
    rto_initial: Q<Span> = Q::of("1s"); // RFC 6298 §2
    rto_min: Q<Span> = Q::of("200ms"); // CHOICE RFC 6298 §2.4: Linux's TCP_RTO_MIN; no stack in use has 1 s
    rto_max: Q<Span> = Q::of("60s"); // RFC 6298 §2.5
    linux_rto_max: Q<Span> = Q::of("120s"); // TCP_RTO_MAX
    dup_thresh: u32 = 3; // RFC 5681 §3.2
    tail_probes: bool = true; // RFC 8985 §7
    sack_blocks: u8 = 4; // RFC 2018 §3: what 40 bytes of options hold without timestamps
    ack_every: u32 = 2; // RFC 1122 §4.2.3.2
    ack_delay: Q<Span> = Q::of("40ms"); // CHOICE: Linux's minimum; the RFC allows up to 500 ms
}
