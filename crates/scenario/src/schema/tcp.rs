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

/// TCP: a byte stream with acknowledgements and a congestion window.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Tcp {
    /// Payload bytes of a full segment.
    pub mss: Q<Bytes>,
    /// Header bytes of every data packet on the wire.
    pub header: Q<Bytes>,
    /// Size of an ACK on the wire.
    pub ack_size: Q<Bytes>,
    /// Size of a SYN on the wire. If not given, as `ack_size`. Only with `handshake`.
    pub syn_size: Option<Q<Bytes>>,
    /// Bytes of in-band telemetry on the wire, in addition to the headers, in every data packet (from its source on)
    /// and in every ACK. If not given, `42B` if the controller reads telemetry (HPCC, SIGCOMM 2019, §4.1: five hops of
    /// 8 B, and 2 B), else none.
    pub telemetry: Option<Q<Bytes>>,
    /// What counts as in flight, against the window.
    pub flight: Flight,
    /// Initial window, in payload bytes, full segments or bandwidth-delay products.
    pub initial_window: Length,
    /// Largest window, in payload bytes, full segments or bandwidth-delay products.
    pub max_window: Capacity,
    /// Initial slow-start threshold, in payload bytes, full segments or bandwidth-delay products.
    pub initial_threshold: Capacity,
    /// The congestion controller.
    #[schemars(schema_with = "congestion::over_tcp")]
    pub congestion: ControllerSpec,
    /// The retransmission timer.
    pub rto: RtoRule,
    /// How losses are inferred before the timer fires.
    pub loss: LossDetection,
    /// Limited transmit (RFC 3042): one new segment on each of the first two duplicate ACKs. If not given, on, unless
    /// `loss` is `timeout-only` or `flight` is `span`.
    pub limited_transmit: Option<bool>,
    /// Without SACK: during loss recovery, only the first partial ACK restarts the retransmission timer, not every one
    /// (RFC 6582 §4, "impatient"; NewReno as in ns-2).
    pub impatient: bool,
    /// Selective acknowledgements (RFC 2018).
    pub sack: Sack,
    /// Whether the receiver delays its ACKs.
    pub delayed_acks: DelayedAcks,
    /// Exchange SYN and SYN-ACK before the first data, which takes one round trip.
    pub handshake: bool,
    /// The consequences of a lost SYN or SYN-ACK. Only with `handshake`.
    #[serde(skip_serializing_if = "is_default")]
    pub syn_loss: SynLoss,
    /// Explicit congestion notification. If not given, `accurate` if the controller is designed for marks, else `off`.
    pub ecn: Option<EcnMode>,
    /// Timestamps (RFC 7323): retransmitted segments, too, give round-trip samples to the retransmission timer. Count
    /// their bytes in `header`.
    pub timestamps: bool,
    /// After this many timeouts in a row, send header-only probes until an ACK arrives (pFabric §4.2). 0: never.
    pub probe_after: u32,
    /// What senders write into the rank header. If not given, what the schedulers sort by.
    pub rank: Option<Rank>,
    /// Traffic class of ACKs, for schedulers that serve control packets by class, too. With `rc3`, always that of the
    /// data.
    #[serde(skip_serializing_if = "is_default")]
    pub ack_class: AckClass,
    /// An application that writes its data over time. If not given, it writes all when the flow starts.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub writes: Option<Writes>,
    /// A video application: a viewer at the receiver requests chunks one after the other. If not given, all data is
    /// written when the flow starts.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub video: Option<Video>,
    /// How the window is reduced during loss recovery.
    #[serde(skip_serializing_if = "is_default")]
    pub prr: PrrRule,
    /// Pace the packets of a window as Linux does: at 2 windows per round trip in slow start, 1.2 afterwards. Only with
    /// controllers that set no pacing rate of their own.
    #[serde(skip_serializing_if = "is_default")]
    pub pacing: bool,
    /// Whether a window grows while the application does not fill it: such a window has not probed the path.
    #[serde(skip_serializing_if = "is_default")]
    pub growth: Growth,
    /// The window when the application writes again after an idle period. Only with `writes`.
    #[serde(skip_serializing_if = "is_default")]
    pub restart: RestartRule,
    /// The effect of an ECN echo on a window of one segment. Only with `ecn = "classic"`.
    #[serde(skip_serializing_if = "is_default")]
    pub ecn_floor: EcnFloor,
    /// RC3: a second loop also sends the data of the flow from its end backwards, in lower and lower traffic classes
    /// (Mittal et al., NSDI 2014). If not given, none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rc3: Option<Rc3>,
}

fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}

/// Traffic class of ACKs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum AckClass {
    /// Class 0.
    #[default]
    First,
    /// The class of the data that they acknowledge.
    Data,
}

/// A viewer that requests chunks of a video one after the other and pauses while its playback buffer is full. Each
/// chunk has the highest rate that the throughput of the last five chunks allows (harmonic mean: FESTIVE, CoNEXT 2012).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Video {
    /// Bit rates in which the video is stored, ascending, at most eight. The first chunk has the lowest.
    #[schemars(length(min = 1, max = 8))]
    pub ladder: Vec<Q<Rate>>,
    /// Playing time of a chunk.
    pub chunk: Q<Span>,
    /// Capacity of the viewer's playback buffer, in playing time: a chunk is requested as soon as there is room for it.
    pub buffer: Q<Span>,
    /// Largest rate of a chunk, as a fraction of the estimated throughput.
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

/// RC3 (Mittal, Sherry, Ratnasamy, Shenker, NSDI 2014). The other keys of the table are those of its primary loop,
/// which is TCP.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Rc3 {
    /// Segments in the first low-priority level, counted from the end of the flow. Every further level has ten times as
    /// many.
    #[schemars(range(min = 1, max = 1_000_000))]
    pub first: u32,
    /// Number of low-priority levels: traffic classes below the flow's own. Segments beyond the last level belong to
    /// it.
    #[schemars(range(min = 1, max = 254))]
    pub levels: u8,
    /// How the borders between levels are computed.
    pub borders: Borders,
    /// Segments that a host hands to its NIC together: they leave in ascending order, all in the class of the least
    /// important one. 1: one by one.
    #[schemars(range(min = 1, max = 1_000))]
    pub together: u32,
    /// When packets of the second loop are handed to the NIC.
    #[serde(skip_serializing_if = "is_default")]
    pub mode: Handed,
    /// When a flow is over, drop the packets of its second loop that still wait in the host's queue. Off in the
    /// published runs.
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

/// When receivers acknowledge.
#[derive(Clone, Copy, Debug, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
pub enum DelayedAcks {
    /// One ACK per packet.
    #[default]
    Off,
    /// One ACK per `every` segments in order (RFC 1122 §4.2.3.2).
    On {
        /// Number of segments per ACK.
        #[serde(default = "default::ack_every")]
        #[schemars(range(min = 2, max = 1000))]
        every: u32,
        /// Longest time that a segment waits for its ACK.
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
    /// RFC 3168: receivers repeat the echo until the sender has reduced its window.
    Classic,
    /// RFC 8257: every ACK echoes exactly the marks of the packets that it covers.
    Accurate,
}

defaults! {
    ack_every: u32 = 2; // RFC 1122 §4.2.3.2
    ack_delay: Q<Span> = Q::of("40ms"); // CHOICE: Linux's minimum; the RFC allows up to 500 ms
}
