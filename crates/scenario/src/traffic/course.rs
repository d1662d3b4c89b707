//! The course of a family's flows as a fluid: when they come, how many are under way at a time, when they are over.

use super::section::Expected;
use thalweg_units::Span;

/// What a course is computed from; times in seconds, rates in bytes per second.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Fluid {
    /// Hosts of the network.
    pub hosts: f64,
    /// Rate of a host's link.
    pub line: f64,
    /// Rate of the slowest link between the two hosts, if they are given; else that of a host's link.
    pub rate: f64,
    /// A flow's bytes on the wire, mean.
    pub wire: f64,
    /// A full packet's.
    pub packet: f64,
    /// A round trip, as a guess.
    pub rtt: f64,
    /// When the run ends.
    pub until: f64,
    /// Until when load is offered if the section does not say.
    pub offered: f64,
    pub expected: Expected,
}

/// Times in seconds.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Course {
    /// First start.
    pub begin: f64,
    /// When it can be over at the earliest.
    pub end: f64,
    /// Flows under way at a time.
    pub active: f64,
    /// Packets per second of flows without end, while they last.
    pub rate: f64,
    /// At most so many packets per second arrive, if all go to one host.
    pub drain: Option<f64>,
}

impl Course {
    pub fn new(begin: f64, end: f64, active: f64) -> Self {
        Self { begin, end, active, rate: 0.0, drain: None }
    }
}

impl Fluid {
    /// How many take part in a collective operation: those that a key names; all, if it names none.
    pub fn members(&self, hosts: &[u32]) -> usize {
        if hosts.is_empty() { self.hosts as usize } else { hosts.len() }
    }

    /// Flows that start at any time within `jitter` after `start` and take `each` seconds.
    pub fn spread(&self, start: Span, jitter: Span, each: f64) -> Course {
        let (begin, jitter) = (start.secs(), jitter.secs());
        let active = self.expected.flows * (each / jitter.max(each)).min(1.0);
        Course::new(begin, begin + jitter + each, active)
    }

    /// Flows that arrive at random: Little's law, the time in the system as if hosts' links were M/M/1 queues.
    pub fn arrive(&self, begin: f64, end: f64, load: f64) -> Course {
        let (flows, alone) = (self.expected.flows, self.wire / self.line + self.rtt);
        let lasts = (end - begin).max(1e-12);
        Course::new(begin, end, (flows / lasts * alone / (1.0 - load.min(0.95))).min(flows))
    }
}
