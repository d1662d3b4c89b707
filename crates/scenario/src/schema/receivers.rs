//! `[transport]` of kinds `homa` and `expresspass`: senders send what their receivers grant.

use crate::quantity::Q;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use thalweg_units::{Bytes, Rate, Span};

/// Receiver-driven transport by grants and priorities (Homa, Montazeri et al., SIGCOMM 2018). The first bytes of a
/// message are sent unscheduled, at a priority by the message's size; the rest when the receiver grants it. A receiver
/// grants to several messages at the same time, those with the fewest remaining bytes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Homa {
    /// Payload bytes of a full packet.
    pub payload: Q<Bytes>,
    /// Header bytes of every data packet on the wire.
    pub header: Q<Bytes>,
    /// Size of a grant, a request to send again or an ACK on the wire.
    pub control_size: Q<Bytes>,
    /// RTTbytes, payload: bytes of a message that are sent unscheduled, and bytes that the receiver keeps granted but
    /// not received. If not given, the bandwidth-delay product of the fastest host's rate and the longest base round
    /// trip.
    pub rtt_bytes: Option<Q<Bytes>>,
    /// Priority levels. If not given, as many as the switches' scheduler has classes.
    #[schemars(range(min = 1))]
    pub levels: Option<u8>,
    /// Unscheduled packets of messages of at most the first size have the highest level, of at most the second size the
    /// next one, and so on; those of larger messages have the level after the last cutoff. If not given, computed from
    /// the flow sizes of the Poisson traffic (§3.4): the fraction of levels for unscheduled packets is the fraction of
    /// unscheduled bytes, and each of these levels carries the same number of bytes. Without Poisson traffic, one
    /// level.
    #[schemars(extend("examples" = [["1KB", "10KB"]]))]
    pub cutoffs: Option<Vec<Q<Bytes>>>,
    /// Degree of overcommitment: number of messages to which a receiver grants at the same time. If not given, the
    /// number of levels for scheduled packets.
    #[schemars(range(min = 1))]
    pub overcommitment: Option<u32>,
    /// A receiver that has received nothing of a message for this time requests the missing data again. If not given,
    /// 5 ms, or 25 times the longest base round trip if that is longer.
    // CHOICE Homa §3.7: "a few milliseconds", where a round trip takes microseconds. Other reading: 5 ms on every path.
    // Over slower paths all data are then sent again for ever.
    pub resend: Option<Q<Span>>,
}

impl Default for Homa {
    fn default() -> Self {
        Self {
            payload: Q::of("1460B"),
            header: Q::of("40B"),
            control_size: Q::of("40B"),
            rtt_bytes: None,
            levels: None,
            cutoffs: None,
            overcommitment: None,
            resend: None,
        }
    }
}

/// Receiver-driven transport by credits (ExpressPass, Cho et al., SIGCOMM 2017). A sender sends one packet per credit,
/// and every port limits the rate of credits (the scheduler `expresspass`). Credits must take the path of the data in
/// reverse: `routing = "ecmp-symmetric"`.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct ExpressPass {
    /// Payload bytes of a full packet.
    pub payload: Q<Bytes>,
    /// Header bytes of every data packet on the wire.
    pub header: Q<Bytes>,
    /// Size of a request, a stop or an ACK on the wire.
    pub control_size: Q<Bytes>,
    /// Size of the smallest credit on the wire. Sizes are drawn uniformly.
    pub credit_min: Q<Bytes>,
    /// Size of the largest credit on the wire.
    pub credit_max: Q<Bytes>,
    /// max_rate: largest rate of a flow's credits. If not given, the share of the fastest host's link that credits have
    /// when each triggers a full packet.
    pub max_rate: Option<Q<Rate>>,
    /// α: initial credit rate of a flow, as a fraction of the largest.
    #[schemars(extend("exclusiveMinimum" = 0.0, "maximum" = 1.0))]
    pub alpha: f64,
    /// Initial value of the aggressiveness factor w: the fraction of the distance to the largest rate that one increase
    /// covers. The rate is updated once per round trip.
    #[schemars(extend("exclusiveMinimum" = 0.0, "maximum" = 1.0))]
    pub w_init: f64,
    /// Smallest value of w.
    #[schemars(extend("exclusiveMinimum" = 0.0, "maximum" = 1.0))]
    pub w_min: f64,
    /// Target loss ratio of credits at a credit rate near zero. It falls linearly with the rate, to zero at the
    /// largest.
    #[schemars(extend("exclusiveMinimum" = 0.0, "maximum" = 1.0))]
    pub target_loss: f64,
    /// Jitter: gaps between credits are drawn uniformly within ± this fraction.
    #[schemars(extend("minimum" = 0.0, "exclusiveMaximum" = 1.0))]
    pub jitter: f64,
    /// A sender that has received nothing for this time repeats its request or its stop. If not given, 1 ms, or 25
    /// times the longest base round trip if that is longer.
    // CHOICE ExpressPass §3.1: not published. With 1 ms on every path, slow ones carry nothing but requests.
    pub retry: Option<Q<Span>>,
}

impl Default for ExpressPass {
    fn default() -> Self {
        Self {
            payload: Q::of("1460B"),
            header: Q::of("78B"), // 1538 B, an Ethernet frame with preamble and gap: ExpressPass §3.1
            control_size: Q::of("84B"),
            credit_min: Q::of("76B"), // the authors' simulator
            credit_max: Q::of("92B"),
            max_rate: None,
            alpha: 0.5, // CHOICE ExpressPass §3.3: as BFC's authors set it; the simulator's default is 1/16
            w_init: 0.0625,
            w_min: 0.01,
            target_loss: 0.125,
            jitter: 0.1,
            retry: None,
        }
    }
}
