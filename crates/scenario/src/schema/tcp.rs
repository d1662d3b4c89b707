//! `[transport]` of kind `tcp`.

use super::{Rank, congestion, defaults};
use crate::quantity::{Capacity, Length, Q};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use thalweg_machines::congestion::{ControllerSpec, newreno};
pub use thalweg_machines::transport::{
    Borders, EcnFloor, Flight, Growth, Handed, LossDetection, PrrRule, RestartRule, RtoRule, Sack, SynLoss,
    Writes,
};
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
    pub rto: RtoRule,
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
    #[serde(skip_serializing_if = "is_default")]
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
    #[serde(skip_serializing_if = "is_default")]
    pub ack_class: AckClass,
    /// An application that writes at its own pace; everything at once if not given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub writes: Option<Writes>,
    /// A viewer at the other end requests chunks of a video one after the other; everything at once if not given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub video: Option<Video>,
    /// How the window comes down while losses are repaired.
    #[serde(skip_serializing_if = "is_default")]
    pub prr: PrrRule,
    /// A window is sent at a pace, as Linux does: 2 windows per round trip in slow start, 1.2 afterwards.
    /// Only with controllers that have no pace of their own.
    #[serde(skip_serializing_if = "is_default")]
    pub pacing: bool,
    /// Whether a window grows that is not used up: one that the application leaves half empty says nothing of the path.
    #[serde(skip_serializing_if = "is_default")]
    pub growth: Growth,
    /// What is left of a window when the application writes again after it had nothing to send; only with `writes`.
    #[serde(skip_serializing_if = "is_default")]
    pub restart: RestartRule,
    /// What a mark does to a window of one segment. Only with `ecn = "classic"`.
    #[serde(skip_serializing_if = "is_default")]
    pub ecn_floor: EcnFloor,
    /// A second loop that sends everything once more, backwards and in lower and lower classes (Mittal et
    /// al., NSDI 2014); none if not given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rc3: Option<Rc3>,
}

fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
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
    #[serde(skip_serializing_if = "is_default")]
    pub mode: Handed,
    /// When a flow is over, what its second loop still has in the queue of its host is dropped there. Off in
    /// the published runs.
    #[serde(skip_serializing_if = "is_default")]
    pub flush: bool,
}

impl Default for Rc3 {
    fn default() -> Self {
        // §2.1.1; four levels and the flow's own: five queues in the authors' simulator. Segmentation offload
        // is off there.
        Self { first: 40, levels: 4, borders: Borders::Quotas, together: 1, mode: Handed::Push, flush: false }
    }
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
            rto: RtoRule::default(),
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
            prr: PrrRule::default(),
            pacing: false,
            growth: Growth::default(),
            restart: RestartRule::default(),
            ecn_floor: EcnFloor::default(),
            rc3: None,
        }
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
    ack_every: u32 = 2; // RFC 1122 §4.2.3.2
    ack_delay: Q<Span> = Q::of("40ms"); // CHOICE: Linux's minimum; the RFC allows up to 500 ms
}
