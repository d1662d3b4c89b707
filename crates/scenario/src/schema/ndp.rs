//! `[transport]` of kind `ndp`: packets that answer pulls of their destination.

use crate::quantity::Q;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use thalweg_units::{Bytes, Span};

/// Receiver-driven transport over switches that trim (NDP, Handley et al., SIGCOMM 2017): a first window leaves at
/// once, what finds a queue full comes as its header, and every further packet answers a pull. Pulls are paced by the
/// destination. Made for the scheduler `ndp` and the routing `numbered`; NICs pull (`nic.order = "round-robin"`).
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Ndp {
    /// Payload of a full packet.
    pub payload: Q<Bytes>,
    /// Headers of every data packet on the wire: what is left of one that is trimmed.
    pub header: Q<Bytes>,
    /// An ACK, a NACK or a pull on the wire.
    pub control_size: Q<Bytes>,
    /// Packets that leave without a pull as a flow starts. Without the key twice as many as fill the longest round
    /// trip at the fastest host's rate.
    #[schemars(range(min = 1))]
    pub window: Option<u32>,
    /// Share of its link that a destination's pulls call for.
    #[schemars(extend("exclusiveMinimum" = 0.0, "maximum" = 1.0))]
    pub pull_share: f64,
    /// A source that receives nothing for so long sends again what was neither ACKed nor NACKed. Without the key 1 ms, or
    /// 25 base round trips if those are longer.
    // CHOICE NDP §3.2: 1 ms, where a base round trip takes about 40 us. Other reading: 1 ms on every path; then slow ones
    // carry everything many times.
    pub retry: Option<Q<Span>>,
    /// Paths that packets take, each once in a random order, and then in another. Without the key as many as there are
    /// shortest ones from the first host to that which has most, where the routing goes by path values; elsewhere
    /// packets carry none.
    #[schemars(range(min = 1))]
    pub paths: Option<u32>,
}

impl Default for Ndp {
    fn default() -> Self {
        Self {
            // CHOICE NDP §3: jumbo frames of 9 KB in all; headers of 64 B.
            payload: Q::of("8936B"),
            header: Q::of("64B"),
            control_size: Q::of("64B"),
            window: None,
            pull_share: 1.0,
            retry: None,
            paths: None,
        }
    }
}
