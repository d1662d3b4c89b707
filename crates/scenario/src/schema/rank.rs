//! `transport.rank`: what schedulers by size sort by.

use crate::quantity::Q;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use thalweg_units::Bytes;

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
