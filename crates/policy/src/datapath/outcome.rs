//! What became of packets, and what queues counted.

use crate::normal::Policy;
use crate::syntax::tree::SizeUnit;
use thalweg_units::{Span, Time};

/// What became of a packet.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Fate {
    /// It waits, or has not come yet.
    Waiting,
    /// It has left the last of its ports, or is leaving: its last bit may come after the end of the run.
    Sent,
    /// The policy gave it up.
    Dropped,
    /// The ring before the core was full: no policy has seen it.
    Overrun,
}

/// A packet, in the end.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Outcome {
    /// The last queue that it was in.
    pub queue: u32,
    /// What became of it.
    pub fate: Fate,
    /// When: sent, its last bit; given up, the instant. Of what waits: when it came.
    pub at: Time,
    /// It carries CE.
    pub marked: bool,
    /// How often it was notified of.
    pub notices: u32,
    /// Version of the policy that admitted it, from 0.
    pub version: u32,
}

/// What a queue counted: what `tc qdisc show` prints of it (List 2.1), and how much waited.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Counters {
    /// Its name.
    pub name: String,
    /// How much it holds.
    pub max: i64,
    /// That is in packets, not in bytes.
    pub in_packets: bool,
    /// Packets that wait.
    pub current: u64,
    /// Packets that were given up here.
    pub dropped: u64,
    /// CHOICE OpenQueue §2.5.2: packets that came, those given up among them: `dropped + sent + current`. Other
    /// reading: those that were admitted; List 2.1, without drops, has one number for both.
    pub total: u64,
    /// Packets that were served.
    pub sent: u64,
    /// Most packets that waited.
    pub peak: u64,
    /// Packets that waited, summed over time: packets times ps.
    pub area: u128,
}

/// How many wait in a queue, over time.
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

    /// The peak is of what an arrival has left there.
    pub(super) fn note_peak(&mut self) {
        self.counters.peak = self.counters.peak.max(self.counters.current);
    }

    pub(super) fn into_counters(self) -> Counters {
        self.counters
    }
}

/// All that a run has found.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Record {
    /// By packet, in the order of arrival.
    pub outcomes: Vec<Outcome>,
    /// Packets in the order in which they left.
    pub departures: Vec<u32>,
    /// By queue.
    pub counters: Vec<Counters>,
    /// How long it took.
    pub lasted: Span,
    /// How long the core was at work, if there is one.
    pub busy: Span,
}
