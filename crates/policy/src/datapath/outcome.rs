//! The fates of packets, and the counters of queues.

use crate::normal::Policy;
use crate::syntax::tree::SizeUnit;
use thalweg_units::{Span, Time};

/// The fate of a packet.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Fate {
    /// It waits, or has not arrived yet.
    Waiting,
    /// It has left the last port, or is being sent: its last bit may come after the end of the run.
    Sent,
    /// The policy dropped it.
    Dropped,
    /// It was lost at a full ring before the core, and the policy has not seen it.
    Overrun,
}

/// The outcome for a packet.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Outcome {
    /// The last queue that it was in.
    pub queue: u32,
    /// Its fate.
    pub fate: Fate,
    /// Time of the last bit if it was sent, of the drop if it was dropped, of the arrival if it waits.
    pub at: Time,
    /// It carries CE.
    pub marked: bool,
    /// Number of notifications about it.
    pub notices: u32,
    /// Version of the policy that admitted it, from 0.
    pub version: u32,
}

/// Counters of a queue: those that `tc qdisc show` prints (List 2.1), and the length over time.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Counters {
    /// Its name.
    pub name: String,
    /// Its size.
    pub max: i64,
    /// The size is in packets, not in bytes.
    pub in_packets: bool,
    /// Packets that wait.
    pub current: u64,
    /// Packets that were dropped here.
    pub dropped: u64,
    /// CHOICE OpenQueue §2.5.2: all packets that arrived, including dropped ones: `dropped + sent + current`. Other
    /// reading: admitted packets; in List 2.1, without drops, both are the same.
    pub total: u64,
    /// Packets that were served.
    pub sent: u64,
    /// Largest number of waiting packets.
    pub peak: u64,
    /// Integral of the number of waiting packets over time, packets times ps.
    pub area: u128,
}

/// The length of a queue over time.
#[derive(Clone, Debug)]
pub(super) struct Level {
    counters: Counters,
    since: Time,
}

impl Level {
    pub(super) fn of(policy: &Policy) -> Vec<Self> {
        let level = |queue: &crate::normal::Queue| {
            let counters = Counters {
                name: queue.name.clone(),
                max: queue.size,
                in_packets: queue.unit == SizeUnit::Packets,
                current: 0,
                dropped: 0,
                total: 0,
                sent: 0,
                peak: 0,
                area: 0,
            };
            Self { counters, since: Time::ZERO }
        };
        policy.queues().iter().map(level).collect()
    }

    pub(super) fn pass(&mut self, now: Time) {
        self.counters.area += u128::from(self.counters.current) * u128::from(now.since(self.since).ps());
        self.since = self.since.max(now);
    }

    pub(super) fn enter(&mut self, now: Time) {
        self.pass(now);
        self.counters.total += 1;
        self.counters.current += 1;
    }

    pub(super) fn drop(&mut self, now: Time) {
        self.pass(now);
        self.counters.dropped += 1;
        self.counters.current -= 1;
    }

    pub(super) fn serve(&mut self, now: Time) {
        self.pass(now);
        self.counters.sent += 1;
        self.counters.current -= 1;
    }

    /// The peak counts the packets that remain after an arrival.
    pub(super) fn note_peak(&mut self) {
        self.counters.peak = self.counters.peak.max(self.counters.current);
    }

    pub(super) fn into_counters(self) -> Counters {
        self.counters
    }
}

/// All results of a run.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Record {
    /// By packet, in the order of arrival.
    pub outcomes: Vec<Outcome>,
    /// Packets in the order in which they left.
    pub departures: Vec<u32>,
    /// By queue.
    pub counters: Vec<Counters>,
    /// Duration of the run.
    pub lasted: Span,
    /// Working time of the core, if there is one.
    pub busy: Span,
}
