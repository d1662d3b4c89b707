//! Time series and counts that probes record.

use super::own::OwnColumns;
use super::ports::PortRecords;
use serde::{Deserialize, Serialize};
use thalweg_units::{Bytes, FlowId, PortId, Span, Time};

/// Probes are numbered; the number is the entity of their sampling event.
pub(crate) const QUEUES: u32 = 0;
pub(crate) const LINKS: u32 = 1;
pub(crate) const CONTROLLERS: u32 = 2;
pub(crate) const CARRIED: u32 = 3;

/// A sample of a queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct QueueSample {
    /// When.
    pub at: Time,
    /// Which.
    pub port: PortId,
    /// Packets waiting, without the one being transmitted.
    pub packets: u32,
    /// Their bytes.
    pub bytes: u64,
    /// Packets dropped here so far.
    pub dropped: u64,
    /// Packets marked here so far.
    pub marked: u64,
    /// Number of flows of which data wait, if requested.
    pub flows: u32,
    /// Number of queues that hold packets, if requested.
    pub occupied: u32,
}

/// A sample of a link direction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LinkSample {
    /// When.
    pub at: Time,
    /// Which.
    pub port: PortId,
    /// Packets carried so far.
    pub packets: u64,
    /// Bytes carried so far.
    pub bytes: u64,
    /// The port's estimate of its link's rate, bits per second, if it must estimate that; 0: no estimate yet.
    pub estimate: Option<u64>,
}

/// A sample of a sender.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ControllerSample {
    /// When.
    pub at: Time,
    /// Whose.
    pub flow: FlowId,
    /// Window in payload bytes.
    pub window: u64,
    /// Slow-start threshold in payload bytes; `u64::MAX`: none.
    pub threshold: u64,
    /// Payload bytes in flight.
    pub in_flight: u64,
    /// Smoothed round-trip time in picoseconds; 0: no sample yet.
    pub srtt: u64,
    /// Payload bytes delivered in order so far.
    pub delivered: u64,
    /// Distinct payload bytes that have arrived so far, those above a gap included.
    pub arrived: u64,
    /// Pace in bits per second, if it has one.
    pub pace: Option<u64>,
}

/// What one part of a network knows of a flow when its sender is sampled: see [`crate::parts`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct PartSample {
    /// When.
    pub at: Time,
    /// Whose.
    pub flow: FlowId,
    /// Packets that its ends in this part have sent, less those that they have received or that were lost here,
    /// wrapping.
    pub balance: u32,
    /// Ends in this part that are complete.
    pub complete: u8,
    /// See [`ControllerSample::delivered`]: if its receiver is in this part.
    pub delivered: u64,
    /// See [`ControllerSample::arrived`]: likewise.
    pub arrived: u64,
}

/// A round trip that a sender measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Completion {
    /// When the ACK that gave it arrived.
    pub at: Time,
    /// Whose.
    pub flow: FlowId,
    /// The round-trip time, as given to its controller.
    pub rtt: Span,
    /// The controller's pace after it, bits per second, if it has one.
    pub pace: Option<u64>,
}

/// What the probes have recorded.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Probes {
    /// Queue lengths.
    pub queues: Vec<QueueSample>,
    /// Link counters.
    pub links: Vec<LinkSample>,
    /// Senders.
    pub controllers: Vec<ControllerSample>,
    /// What their controllers reported.
    pub own: OwnColumns,
    /// In a part of a network: what it knows of the sampled flows.
    pub(crate) in_part: Vec<PartSample>,
    /// Round trips.
    pub completions: Vec<Completion>,
    /// Per port: bytes carried until the first instant of `ProbeSpec::carried`; from the second instant on, bytes
    /// carried between the two.
    pub carried: Vec<u64>,
    /// The second instant has passed.
    pub carried_closed: bool,
    /// Per port, per ADS priority: packets that joined its queue.
    pub priorities: Vec<Vec<u64>>,
    /// Records of ports.
    pub ports: PortRecords,
}

impl Probes {
    /// Counts a packet of the given rank that joined the queue of `port` (ADS §3.3: priority =
    /// min(remaining, cap) / MTU, rounded up).
    #[cold]
    pub(crate) fn count_priority(&mut self, port: PortId, rank: i64, how: Option<(Bytes, u32)>) {
        let Some((cap, mtu)) = how else { return };
        let priority = u64::try_from(rank).unwrap_or(0).min(cap.get()).div_ceil(u64::from(mtu)) as usize;
        let counts = &mut self.priorities[port.at()];
        if counts.len() <= priority {
            counts.resize(priority + 1, 0);
        }
        counts[priority] += 1;
    }
}
