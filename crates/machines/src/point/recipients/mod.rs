//! RoCC's flow tables: which flows are notified (§3.3.4).

mod aged;
mod elephants;
mod in_queue;
mod sampled;

use crate::problems::Problems;
use aged::Aged;
use elephants::Elephants;
use in_queue::InQueue;
use sampled::Sampled;
use serde::{Deserialize, Serialize};
use thalweg_units::{FlowId, Span, Stream, Time, tagged};

tagged! {
    /// Which flows are notified.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
    pub enum Who {
        /// The flows that have a packet in the queue.
        #[default]
        InQueue,
        /// A table of flows. A flow is forgotten after two updates without a packet, or if it is the oldest when the
        /// table is full.
        Aged {
            /// Size of the table, in flows. If not given, F_max / F_min.
            #[schemars(range(min = 1, max = 1_000_000))]
            entries: Option<u32>,
        },
        /// Flows that a sample of packets holds (AFD-FT: Pan, Breslau, Prabhakar, Shenker, CCR 2003).
        Sampled {
            /// Sampling interval: one packet in this many is sampled.
            #[serde(default = "sampled::every")]
            #[schemars(range(min = 1, max = 1_000_000))]
            every: u32,
            /// Size of the sample, in packets.
            #[serde(default = "sampled::memory")]
            #[schemars(range(min = 1, max = 1_000_000))]
            memory: u32,
        },
        /// A small table of frequent flows (ElephantTrap: Lu, Wang, Prabhakar, Bonomi, HOTI 2007).
        ElephantTrap {
            /// Size of the table, in flows.
            #[serde(default = "elephants::entries")]
            #[schemars(range(min = 1, max = 1_000_000))]
            entries: u32,
            /// Sampling interval: one packet in this many is counted.
            #[serde(default = "elephants::every")]
            #[schemars(range(min = 1, max = 1_000_000))]
            every: u32,
        },
    }
}

impl Who {
    pub(super) fn check(self, problems: &mut Problems) {
        let counts: &[(&str, u32)] = match self {
            Self::InQueue => &[],
            Self::Aged { entries } => &[("recipients.entries", entries.unwrap_or(1))],
            Self::Sampled { every, memory } => &[("recipients.every", every), ("recipients.memory", memory)],
            Self::ElephantTrap { entries, every } => {
                &[("recipients.entries", entries), ("recipients.every", every)]
            }
        };
        for (key, _) in counts.iter().filter(|(_, n)| *n == 0) {
            problems.wrong(key, "0 notifies no one", "at least 1");
        }
    }

    /// The table of a port with this update interval; `rates`: F_max / F_min.
    pub(super) fn make(self, stream: Stream, update: Span, rates: i64) -> Recipients {
        match self {
            Self::InQueue => Recipients::InQueue(InQueue::default()),
            Self::Aged { entries } => {
                let most = entries.unwrap_or(u32::try_from(rates).unwrap_or(u32::MAX));
                Recipients::Aged(Aged::new(most as usize, update.saturating_mul(2)))
            }
            Self::Sampled { every, memory } => {
                Recipients::Sampled(Sampled::new(stream, every, memory as usize))
            }
            Self::ElephantTrap { entries, every } => {
                Recipients::Elephants(Elephants::new(stream, entries as usize, every))
            }
        }
    }

    #[cfg(test)]
    pub(super) fn variants() -> Vec<Self> {
        let aged = Self::Aged { entries: Some(3) };
        let sampled = Self::Sampled { every: 2, memory: 5 };
        vec![Self::InQueue, aged, sampled, Self::ElephantTrap { entries: 2, every: 2 }]
    }
}

/// The flow table of one port.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Recipients {
    #[allow(missing_docs)]
    InQueue(InQueue),
    #[allow(missing_docs)]
    Aged(Aged),
    #[allow(missing_docs)]
    Sampled(Sampled),
    #[allow(missing_docs)]
    Elephants(Elephants),
}

impl Recipients {
    /// A packet has joined the queue.
    #[inline]
    pub fn join(&mut self, now: Time, flow: FlowId, _wire: u32) {
        match self {
            Self::InQueue(table) => table.join(flow),
            Self::Aged(table) => table.join(now, flow),
            Self::Sampled(table) => table.join(flow),
            Self::Elephants(table) => table.join(flow),
        }
    }
    /// A packet that had joined waits no longer.
    #[inline]
    pub fn leave(&mut self, flow: FlowId) {
        if let Self::InQueue(table) = self {
            table.leave(flow);
        }
    }
    /// Calls `notify` for every flow that is notified now.
    pub fn each(&mut self, now: Time, notify: &mut impl FnMut(FlowId)) {
        match self {
            Self::InQueue(table) => table.flows().for_each(notify),
            Self::Aged(table) => table.flows(now).for_each(notify),
            Self::Sampled(table) => table.flows().for_each(notify),
            Self::Elephants(table) => table.flows().for_each(notify),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn notices(table: &mut Recipients, now: Time) -> Vec<u32> {
        let mut out = Vec::new();
        table.each(now, &mut |flow: FlowId| out.push(flow.0));
        out.sort_unstable();
        out
    }
    fn table(who: Who) -> Recipients {
        who.make(Stream::new(1, "point", 0), Span::from_us(40), 400)
    }

    #[test]
    fn an_aged_table_forgets_after_two_updates_and_replaces_its_oldest() {
        let mut table = table(Who::Aged { entries: Some(2) });
        for (us, flow) in [(0, 1), (10, 2), (20, 1), (30, 3)] {
            table.join(Time::from_us(us), FlowId(flow), 1048);
        }
        assert_eq!(notices(&mut table, Time::from_us(40)), [1, 3], "2 was the oldest");
        assert_eq!(notices(&mut table, Time::from_us(101)), [3], "1 was seen 81 us ago");
    }

    #[test]
    fn an_aged_table_holds_as_many_flows_as_f_max_holds_f_min() {
        let mut table = table(Who::Aged { entries: None });
        (0..1000).for_each(|flow| table.join(Time::ZERO, FlowId(flow), 1048));
        assert_eq!(notices(&mut table, Time::ZERO).len(), 400);
    }

    #[test]
    fn a_sample_holds_the_flows_of_its_packets_each_once() {
        let mut table = table(Who::Sampled { every: 1, memory: 3 });
        [4, 4, 9].iter().for_each(|&flow| table.join(Time::ZERO, FlowId(flow), 1048));
        assert_eq!(notices(&mut table, Time::ZERO), [4, 9]);
        (0..100).for_each(|_| table.join(Time::ZERO, FlowId(5), 1048));
        assert_eq!(notices(&mut table, Time::ZERO), [5], "random places are taken until no other is left");
    }

    #[test]
    fn elephants_stay_in_the_trap_and_mice_pass() {
        let mut table = table(Who::ElephantTrap { entries: 2, every: 1 });
        for round in 0..200 {
            for flow in [1, 2, 1, 2, 100 + round] {
                table.join(Time::ZERO, FlowId(flow), 1048);
            }
        }
        assert_eq!(notices(&mut table, Time::ZERO), [1, 2]);
    }
}
