//! `[transport]` of kind `ndp`: senders send packets when their receivers pull them.

use crate::quantity::Q;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use thalweg_units::{Bytes, Span};

/// Receiver-driven transport over switches that trim (NDP, Handley et al., SIGCOMM 2017). A first window leaves at
/// once; a packet that does not fit into a queue is trimmed to its header. The receiver requests every further packet
/// by a pull, and paces its pulls. Made for the scheduler `ndp`, the routing `numbered`, and NICs that pull (`nic.order
/// = "round-robin"`).
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Ndp {
    /// Payload bytes of a full packet.
    pub payload: Q<Bytes>,
    /// Header bytes of every data packet on the wire: what is left of a trimmed one.
    pub header: Q<Bytes>,
    /// Size of an ACK, a NACK or a pull on the wire.
    pub control_size: Q<Bytes>,
    /// Initial window: packets that a flow sends without a pull. If not given, twice the bandwidth-delay product of the
    /// fastest host's rate and the longest base round trip.
    #[schemars(range(min = 1))]
    pub window: Option<u32>,
    /// Fraction of its link rate at which a receiver pulls data.
    #[schemars(extend("exclusiveMinimum" = 0.0, "maximum" = 1.0))]
    pub pull_share: f64,
    /// A sender that has received nothing for this time sends all packets again that were neither ACKed nor NACKed. If
    /// not given, 1 ms, or 25 times the longest base round trip if that is longer.
    // CHOICE NDP §3.2: 1 ms, where a base round trip takes about 40 us. Other reading: 1 ms on every path. Slow paths
    // then carry every packet many times.
    pub retry: Option<Q<Span>>,
    /// Number of paths. The packets of a flow take all of them, each once, in a random order, and then again in
    /// another. If not given, the largest number of shortest paths from the first host to any other, if the routing
    /// uses path values (`numbered`); with other routings, packets carry none.
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
