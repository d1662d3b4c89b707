//! `[transport]` of kind `uet`: Ultra Ethernet's packet spraying, windows and credits.

use crate::quantity::Q;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use thalweg_machines::transport::{AckValues, PathSelectionSpec};
use thalweg_units::{Bytes, Span};

/// Ultra Ethernet (UE specification 1.0, 2025). Every packet takes the path given by its entropy value, and receivers
/// accept packets in any order. A packet that does not fit into a queue is trimmed to its header, which triggers a
/// NACK. The sender's window (NSCC), the receiver's credits (RCCC), or both limit the bytes in flight. Made for the
/// scheduler `ndp`, which trims, the routing `entropy`, and NICs that pull (`nic.order = "round-robin"`).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Uet {
    /// Payload bytes of a full packet.
    pub payload: Q<Bytes>,
    /// Header bytes of every data packet on the wire: what is left of a trimmed one.
    pub header: Q<Bytes>,
    /// Size of an ACK, a NACK, a pull or a request to send on the wire.
    pub control_size: Q<Bytes>,
    /// The window, which limits the bytes in flight at the sender.
    pub window: UetWindow,
    /// Credits of receivers (RCCC). If not given, none: the window alone limits the flow. With `window = "none"`, the
    /// credits alone do.
    pub credits: Option<Credits>,
    /// How entropy values are chosen for packets. If not given, REPS with a routing that uses them (`entropy`); with
    /// other routings, packets carry none.
    pub path_selection: Option<PathSelectionSpec>,
    /// Bytes on the wire after which a receiver sends an ACK, if nothing has triggered one before. Marked packets, a
    /// flow's first packet, retransmissions, and packets that a window waits for are acknowledged at once. With REPS an
    /// ACK returns one entropy value only; `"1B"` acknowledges every packet. If not given, 16 KiB, or half of the
    /// bandwidth-delay product of the fastest host's rate and `base_rtt` if that is less.
    // CHOICE UET §3.5: 16 KiB in the consortium's simulator, where a round trip holds 150 KB. Other reading: 16 KiB on
    // every path. A window of a few packets then stops and waits for the ACK of its last one.
    pub ack_every: Option<Q<Bytes>>,
    /// Which entropy values an ACK of several packets returns.
    pub ack_values: AckValues,
    /// Retransmission timeout: a packet that is neither ACKed nor NACKed for this time is sent again. If not given, 15
    /// us and six times `base_rtt`.
    pub retry: Option<Q<Span>>,
    /// Largest number of doublings of the timeout, which doubles with each retransmission of a packet.
    #[schemars(range(max = 30))]
    pub back_off: u32,
    /// Base round trip for the parameters of windows and credits. If not given, that of a full packet and its ACK on
    /// the longest path, without queues.
    pub base_rtt: Option<Q<Span>>,
}

/// Credits of receivers: RCCC (UE specification 1.0, §3.6.14).
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Credits {
    /// Initial credit of a flow, before its receiver has granted any; also the most credit that it may have. If not
    /// given, 1.5 bandwidth-delay products: the rate of the fastest host times `base_rtt`.
    pub first: Option<Q<Bytes>>,
    /// Fraction of its link rate for which a receiver grants credit.
    #[schemars(extend("exclusiveMinimum" = 0.0, "maximum" = 1.0))]
    pub share: f64,
    /// Credit per pull, in quanta of 256 B.
    #[schemars(range(min = 1))]
    pub quanta: u32,
    /// A flow whose data has all arrived is granted no more credit. Otherwise its connection stays open, and is granted
    /// up to one initial credit for a next message.
    pub closes: bool,
}

/// The window of an Ultra Ethernet sender, which limits its bytes in flight.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "kebab-case")]
#[schemars(extend("x-default-kind" = "nscc"))]
pub enum UetWindow {
    /// NSCC: changed by marks and queueing delay, in four quadrants (UE specification 1.0, §3.6.13).
    Nscc(NsccWindow),
    /// A constant window, except that each timeout reduces it by a packet.
    Fixed(FixedWindow),
    /// The window of REPS' experiments, changed by marks only (Bonato et al., 2024).
    Dctcp(DctcpWindow),
    /// No window: credits alone limit the flow.
    None(NoWindow),
}

impl Default for UetWindow {
    fn default() -> Self {
        Self::Nscc(NsccWindow::default())
    }
}

/// NSCC's parameters. The gains are stated for 100 Gb/s and a round trip of 12 us.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct NsccWindow {
    /// Target queueing delay. If not given, three quarters of `base_rtt` if switches trim, else `base_rtt`.
    pub target: Option<Q<Span>>,
    /// Factor of the gains. If not given, the bandwidth-delay product of the fastest host's rate and `base_rtt` over
    /// that of 100 Gb/s and 12 us.
    #[schemars(extend("exclusiveMinimum" = 0.0))]
    pub scale: Option<f64>,
    /// Initial and largest window, in bandwidth-delay products: link rate times shortest round trip.
    #[schemars(extend("exclusiveMinimum" = 0.0))]
    pub products: f64,
    /// γ: a decrease removes this times (average delay − target) / average delay of the window.
    #[schemars(extend("minimum" = 0.0, "maximum" = 1.0))]
    pub gamma: f64,
    /// Largest decrease: at least this fraction of the window remains.
    #[schemars(extend("minimum" = 0.0, "maximum" = 1.0))]
    pub floor: f64,
    /// Weight of the newest sample in the average delay.
    #[schemars(extend("exclusiveMinimum" = 0.0, "maximum" = 1.0))]
    pub weight: f64,
    /// A new shortest round trip must be shorter than the previous one by more than this, and this is added to it,
    /// because headers and short packets have shorter round trips than full packets.
    pub slack: Q<Span>,
}

impl Default for NsccWindow {
    /// As in the consortium's simulator.
    fn default() -> Self {
        let slack = Q(Span::ZERO);
        Self { target: None, scale: None, products: 1.5, gamma: 0.8, floor: 0.5, weight: 0.0125, slack }
    }
}

/// A constant window.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FixedWindow {
    /// Size of the window, bytes on the wire.
    #[schemars(extend("examples" = ["120KB"]))]
    pub size: Q<Bytes>,
}

/// A window that only marks reduce.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct DctcpWindow {
    /// Initial and largest window, in bandwidth-delay products: link rate times shortest round trip.
    #[schemars(extend("exclusiveMinimum" = 0.0))]
    pub products: f64,
    /// Decrease of the window at a marked ACK, as a fraction of the bytes that the ACK reports.
    #[schemars(extend("minimum" = 0.0, "maximum" = 1.0))]
    pub cut: f64,
    /// Fast increase: bytes added to the window per byte that is acknowledged without delay. If not given, a quarter of
    /// the bandwidth-delay product of the fastest host's rate and `base_rtt` over that of 100 Gb/s and 12 us.
    #[schemars(extend("minimum" = 0.0))]
    pub fast: Option<f64>,
}

impl Default for DctcpWindow {
    /// As in REPS' artifact.
    fn default() -> Self {
        Self { products: 1.5, cut: 0.25, fast: None }
    }
}

/// No window.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NoWindow {}

impl Default for Uet {
    fn default() -> Self {
        Self {
            payload: Q::of("4096B"),
            header: Q::of("64B"),
            control_size: Q::of("64B"),
            window: UetWindow::default(),
            credits: None,
            path_selection: None,
            ack_every: None,
            ack_values: AckValues::One,
            retry: None,
            back_off: 0,
            base_rtt: None,
        }
    }
}

impl Default for Credits {
    /// As in the consortium's simulator.
    fn default() -> Self {
        Self { first: None, share: 0.99, quanta: 64, closes: false }
    }
}
