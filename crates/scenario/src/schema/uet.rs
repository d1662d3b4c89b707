//! `[transport]` of kind `uet`: Ultra Ethernet's packets on any path, windows and credits.

use crate::quantity::Q;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use thalweg_machines::transport::{AckValues, PathSelectionSpec};
use thalweg_units::{Bytes, Span};

/// Ultra Ethernet (UE specification 1.0, 2025): every packet takes the path that its entropy value names, receivers
/// place packets in any order, what finds a queue full comes as its header and draws a NACK. The sender's window
/// (NSCC), its receiver's credits (RCCC), or both bound what is under way. Made for the scheduler `ndp`, which trims,
/// and the routing `entropy`; NICs pull (`nic.order = "round-robin"`).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Uet {
    /// Payload of a full packet.
    pub payload: Q<Bytes>,
    /// Headers of every data packet on the wire: what is left of one that is trimmed.
    pub header: Q<Bytes>,
    /// An ACK, a NACK, a pull or a request to send on the wire.
    pub control_size: Q<Bytes>,
    /// What bounds the bytes under way at the sender.
    pub window: UetWindow,
    /// Credits that receivers hand out; without the key none (NSCC alone). With `window = "none"` they bound alone.
    pub credits: Option<Credits>,
    /// How packets choose their entropy values. Without the key REPS, where the routing goes by path values; elsewhere
    /// packets carry none.
    pub path_selection: Option<PathSelectionSpec>,
    /// Bytes on the wire after which an ACK is due that nothing else calls for. Marked packets, the first one of a
    /// flow, what was sent before and what a window waits for are acknowledged at once. With REPS an ACK brings back
    /// one value only: `"1B"` acknowledges every packet. Without the key 16 KiB, or half of what the fastest host sends in
    /// a round trip if that is less.
    // CHOICE UET §3.5: 16 KiB in the consortium's simulator, where a round trip holds 150 KB. Other reading: 16 KiB
    // everywhere; then a window of a few packets stops and waits for the ACK of its last one.
    pub ack_every: Option<Q<Bytes>>,
    /// Which entropy values an ACK of several packets brings back.
    pub ack_values: AckValues,
    /// A packet that is neither ACKed nor NACKed for so long is sent again. Without the key 15 us and the time of six
    /// round trips.
    pub retry: Option<Q<Span>>,
    /// How many times at most that time doubles, once for each time that the packet was sent again.
    #[schemars(range(max = 30))]
    pub back_off: u32,
    /// Round trip that window and credits are measured by. Without the key that of a full packet and its ACK on the
    /// longest path, without queues.
    pub base_rtt: Option<Q<Span>>,
}

/// Credits of receivers: RCCC (UE specification 1.0, §3.6.14).
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Credits {
    /// What a flow may send before it has been granted any, and the most that it has at a time. Without the key what
    /// the fastest host sends in one and a half round trips.
    pub first: Option<Q<Bytes>>,
    /// Share of its link that a receiver hands out.
    #[schemars(extend("exclusiveMinimum" = 0.0, "maximum" = 1.0))]
    pub share: f64,
    /// Quanta of 256 B that a pull grants.
    #[schemars(range(min = 1))]
    pub quanta: u32,
    /// A flow of which all has come is granted nothing more. Without it its connection stays open, and is granted up to
    /// one first credit, for a next message.
    pub closes: bool,
}

/// What bounds the bytes that an Ultra Ethernet sender has under way.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "kebab-case")]
#[schemars(extend("x-default-kind" = "nscc"))]
pub enum UetWindow {
    /// NSCC: marks and queueing delay, in four quadrants (UE specification 1.0, §3.6.13).
    Nscc(NsccWindow),
    /// One size, of which each timeout takes a packet.
    Fixed(FixedWindow),
    /// REPS' experiments: marks alone (Bonato et al., 2024).
    Dctcp(DctcpWindow),
    /// Nothing: credits alone.
    None(NoWindow),
}

impl Default for UetWindow {
    fn default() -> Self {
        Self::Nscc(NsccWindow::default())
    }
}

/// NSCC's parameters; gains are those of 100 Gb/s and 12 us.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct NsccWindow {
    /// Queueing delay that it aims at. Without the key three quarters of the base round trip where switches trim, else
    /// a whole one.
    pub target: Option<Q<Span>>,
    /// What gains are multiplied by. Without the key what the fastest host sends in a base round trip, over what 100
    /// Gb/s send in 12 us.
    #[schemars(extend("exclusiveMinimum" = 0.0))]
    pub scale: Option<f64>,
    /// The largest window, and the first: times what the link carries in the shortest round trip.
    #[schemars(extend("exclusiveMinimum" = 0.0))]
    pub products: f64,
    /// Share of the excess of the average delay that a decrease takes off.
    #[schemars(extend("minimum" = 0.0, "maximum" = 1.0))]
    pub gamma: f64,
    /// A decrease leaves at least this share.
    #[schemars(extend("minimum" = 0.0, "maximum" = 1.0))]
    pub floor: f64,
    /// Weight of a sample in the average delay.
    #[schemars(extend("exclusiveMinimum" = 0.0, "maximum" = 1.0))]
    pub weight: f64,
    /// A round trip must be shorter than the shortest one by more than this, and is taken for this much longer: headers
    /// and short packets make shorter round trips than full packets can.
    pub slack: Q<Span>,
}

impl Default for NsccWindow {
    /// As in the consortium's simulator.
    fn default() -> Self {
        let slack = Q(Span::ZERO);
        Self { target: None, scale: None, products: 1.5, gamma: 0.8, floor: 0.5, weight: 0.0125, slack }
    }
}

/// A window of one size.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FixedWindow {
    /// Bytes on the wire.
    #[schemars(extend("examples" = ["120KB"]))]
    pub size: Q<Bytes>,
}

/// A window that marks move.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct DctcpWindow {
    /// The largest window, and the first: times what the link carries in the shortest round trip.
    #[schemars(extend("exclusiveMinimum" = 0.0))]
    pub products: f64,
    /// Share of the bytes of a marked ACK that the window loses.
    #[schemars(extend("minimum" = 0.0, "maximum" = 1.0))]
    pub cut: f64,
    /// Fast increase: bytes that it gains per byte that is acknowledged without delay. Without the key a quarter of
    /// what the fastest host sends in a base round trip, over what 100 Gb/s send in 12 us.
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
