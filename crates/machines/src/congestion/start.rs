//! What a controller is given as its flow starts, or starts again.

use serde::{Deserialize, Serialize};
use thalweg_units::{Bytes, FlowId, Rate, Span, Stream};

/// What is left of a window after a pause, in payload bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Restart {
    /// The window is at most this.
    pub window: Bytes,
    /// The slow-start threshold is at least three quarters of the window before the pause (RFC 2861 §3.2, RFC
    /// 7661 §4.4.3).
    pub keeps_threshold: bool,
}

/// What every controller is given when a flow starts.
#[derive(Clone, Copy, Debug, PartialEq, Default, Serialize, Deserialize)]
pub struct Start {
    /// The controller's own: whatever else draws, it draws the same.
    pub stream: Stream,
    /// The flow it is made for; the first of several on one connection.
    pub flow: FlowId,
    /// Its traffic class: what the transport writes into its packets, unless it knows better.
    pub class: u8,
    /// Payload bytes of a full segment.
    pub mss: u32,
    /// Headers on the wire of each: paces are rates on the wire, deliveries are payload.
    pub header: u32,
    /// Initial window in payload bytes.
    pub initial_window: Bytes,
    /// Largest window in payload bytes ([`Bytes::MAX`]: none).
    pub max_window: Bytes,
    /// Initial slow-start threshold ([`Bytes::MAX`]: none).
    pub initial_threshold: Bytes,
    /// The sender's line rate.
    pub line_rate: Rate,
    /// What it sends waits in its host's queue: nothing but its pace spaces packets, at line rate too.
    pub queued: bool,
    /// Round-trip time of the empty path (full segment out, ACK back), serialisation included.
    pub base_rtt: Span,
    /// Switches that its data passes.
    pub switches: u32,
    /// Gaps of a pace are cut down to whole multiples of this, as the network's times on the wire are; zero
    /// keeps them exact. At most 4 ms.
    pub time_quantum: Span,
    /// Its decisions are recorded ([`Recorder`](super::Recorder)).
    pub records: bool,
}
