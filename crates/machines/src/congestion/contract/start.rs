//! What a controller is given when its flow starts, or restarts after an idle period.

use serde::{Deserialize, Serialize};
use thalweg_units::{Bytes, FlowId, Rate, Span, Stream};

/// The restart window after an idle period (RFC 5681 §4.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Restart {
    /// Upper bound of the window in payload bytes.
    pub window: Bytes,
    /// The slow-start threshold becomes at least three quarters of the window before the idle period (RFC 2861 §3.2,
    /// RFC 7661 §4.4.3).
    pub keeps_threshold: bool,
}

/// What every controller is given when a flow starts.
#[derive(Clone, Copy, Debug, PartialEq, Default, Serialize, Deserialize)]
pub struct Start {
    /// The controller's own random stream: its draws do not depend on what other components draw.
    pub stream: Stream,
    /// The flow it is made for; on a connection of several flows, the first.
    pub flow: FlowId,
    /// The flow's traffic class, which the transport writes into its packets unless it assigns classes itself.
    pub class: u8,
    /// Payload bytes of a full segment.
    pub mss: u32,
    /// Header bytes of a segment on the wire. (Paces are rates on the wire; windows and deliveries are payload.)
    pub header: u32,
    /// Initial window in payload bytes.
    pub initial_window: Bytes,
    /// Largest window in payload bytes ([`Bytes::MAX`]: none).
    pub max_window: Bytes,
    /// Initial slow-start threshold ([`Bytes::MAX`]: none).
    pub initial_threshold: Bytes,
    /// The sender's line rate.
    pub line_rate: Rate,
    /// Packets are queued at the host's NIC, so that only the pace spaces them, even at line rate.
    pub queued: bool,
    /// Round-trip time of the empty path (full segment out, ACK back), serialisation included.
    pub base_rtt: Span,
    /// Number of switches on its data path.
    pub switches: u32,
    /// The gaps of a pace are rounded down to multiples of this, as the network's serialisation times are; zero keeps
    /// them exact. At most 4 ms.
    pub time_quantum: Span,
    /// Its decisions are recorded ([`Recorder`](crate::congestion::Recorder)).
    pub records: bool,
}
