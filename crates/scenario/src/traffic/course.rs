//! The course of a family's flows in a fluid model: when they start, how many are concurrent, when they are complete.

use super::section::Expected;
use thalweg_units::Span;

/// The inputs of the model; times in seconds, rates in bytes per second.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Fluid {
    /// Number of hosts.
    pub hosts: f64,
    /// Rate of a host's link.
    pub line: f64,
    /// Rate of the slowest link between the two hosts of the section, if it has two; else the rate of a host's link.
    pub rate: f64,
    /// Mean size of a flow, bytes on the wire.
    pub wire: f64,
    /// Size of a full packet, bytes on the wire.
    pub packet: f64,
    /// An estimate of the round trip.
    pub rtt: f64,
    /// When the run ends.
    pub until: f64,
    /// When the offered load ends, unless the section gives a time.
    pub offered: f64,
    pub expected: Expected,
}

/// The course of a section's flows; times in seconds.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Course {
    /// First start.
    pub begin: f64,
    /// Earliest possible completion of all flows.
    pub end: f64,
    /// Number of concurrent flows.
    pub active: f64,
    /// Packets per second of flows without end, while they are active.
    pub rate: f64,
    /// Largest rate of arriving packets per second, if all go to one host.
    pub drain: Option<f64>,
}

impl Course {
    pub fn new(begin: f64, end: f64, active: f64) -> Self {
        Self { begin, end, active, rate: 0.0, drain: None }
    }
}

impl Fluid {
    /// Number of members of a collective operation: the hosts that the key names, or all if it names none.
    pub fn members(&self, hosts: &[u32]) -> usize {
        if hosts.is_empty() { self.hosts as usize } else { hosts.len() }
    }

    /// Flows that start at random times within `jitter` after `start` and take `each` seconds.
    pub fn spread(&self, start: Span, jitter: Span, each: f64) -> Course {
        let (begin, jitter) = (start.secs(), jitter.secs());
        let active = self.expected.flows * (each / jitter.max(each)).min(1.0);
        Course::new(begin, begin + jitter + each, active)
    }

    /// Flows that arrive at random. Their number follows from Little's law, with the time in the system of M/M/1 queues
    /// at hosts' links.
    pub fn arrive(&self, begin: f64, end: f64, load: f64) -> Course {
        let (flows, alone) = (self.expected.flows, self.wire / self.line + self.rtt);
        let lasts = (end - begin).max(1e-12);
        Course::new(begin, end, (flows / lasts * alone / (1.0 - load.min(0.95))).min(flows))
    }
}
