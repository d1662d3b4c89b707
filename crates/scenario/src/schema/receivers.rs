//! `[transport]` of kinds `homa` and `expresspass`: packets that answer what their destination grants.

use crate::quantity::Q;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use thalweg_units::{Bytes, Rate, Span};

/// Receiver-driven transport by grants and priorities (Homa, Montazeri et al., SIGCOMM 2018): the first bytes
/// of a message leave at once, at a priority by its size; the rest answers grants of its destination, which
/// grants to several messages at once, those with the fewest bytes left first.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Homa {
    /// Payload of a full packet.
    pub payload: Q<Bytes>,
    /// Headers of every data packet on the wire.
    pub header: Q<Bytes>,
    /// A grant, a request to send again or an ACK on the wire.
    pub control_size: Q<Bytes>,
    /// RTTbytes: what leaves of a message without a grant, and what is kept granted and not received,
    /// payload. Without the key the product of the fastest host's rate and the longest round trip of full
    /// packets.
    pub rtt_bytes: Option<Q<Bytes>>,
    /// Priority levels. Without the key as many as the switches' scheduler has classes.
    #[schemars(range(min = 1))]
    pub levels: Option<u8>,
    /// Unscheduled packets of messages of up to the first size have the highest level, of up to the second
    /// the next one, and so on; larger ones the level behind the last. Without the key so that all levels
    /// have as many unscheduled bytes, and that of all levels as large a share is for unscheduled packets as
    /// of all bytes, by the sizes of the Poisson traffic; one level where there is none.
    #[schemars(extend("examples" = [["1KB", "10KB"]]))]
    pub cutoffs: Option<Vec<Q<Bytes>>>,
    /// Messages that a destination grants to at once. Without the key as many as there are levels for
    /// scheduled packets.
    #[schemars(range(min = 1))]
    pub overcommitment: Option<u32>,
    /// Without news for so long, what is missing is requested again. Without the key 5 ms, or 25 base round trips if
    /// those are longer.
    // CHOICE Homa §3.7: "a few milliseconds", where a round trip takes microseconds. Other reading: 5 ms everywhere; then
    // all that comes over slower paths is sent again for ever.
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

/// Receiver-driven transport by credits (ExpressPass, Cho et al., SIGCOMM 2017): a packet leaves per credit,
/// and every port meters credits (the scheduler `expresspass`). They take the way of the data in reverse:
/// `routing = "ecmp-symmetric"`.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct ExpressPass {
    /// Payload of a full packet.
    pub payload: Q<Bytes>,
    /// Headers of every data packet on the wire.
    pub header: Q<Bytes>,
    /// A request, a stop or an ACK on the wire.
    pub control_size: Q<Bytes>,
    /// The smallest credit on the wire; sizes are drawn, all equally likely.
    pub credit_min: Q<Bytes>,
    /// The largest credit on the wire.
    pub credit_max: Q<Bytes>,
    /// Largest rate of a flow's credits. Without the key what leaves room for its data on the fastest host's link.
    pub max_rate: Option<Q<Rate>>,
    /// α: rate of a flow that starts, as a fraction of the largest.
    #[schemars(extend("exclusiveMinimum" = 0.0, "maximum" = 1.0))]
    pub alpha: f64,
    /// w of a flow that starts: how much of the way to the largest rate one round trip takes.
    #[schemars(extend("exclusiveMinimum" = 0.0, "maximum" = 1.0))]
    pub w_init: f64,
    /// The least w.
    #[schemars(extend("exclusiveMinimum" = 0.0, "maximum" = 1.0))]
    pub w_min: f64,
    /// Share of credits whose loss counts as none, at a rate of nothing; less at higher rates.
    #[schemars(extend("exclusiveMinimum" = 0.0, "maximum" = 1.0))]
    pub target_loss: f64,
    /// Gaps between credits are drawn from this fraction less to this fraction more.
    #[schemars(extend("minimum" = 0.0, "exclusiveMaximum" = 1.0))]
    pub jitter: f64,
    /// A source that receives nothing for so long repeats its request, or its stop. Without the key 1 ms, or 25 base round
    /// trips if those are longer.
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
