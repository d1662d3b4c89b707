//! MP-RDMA's rule: an ACK that opens the window gives the next packet its path (Lu et al., "Multi-Path Transport for
//! RDMA in Datacenters", NSDI 2018, §4.2).
//!
//! ```text
//! CHOICE MP-RDMA §4.2: a packet takes the value of the newest ACK since the packet before it, marked or not: what a
//! mark takes away is the window's share of that path. Without an ACK since, it draws: so do those of the first
//! window, and what a growing window adds. Other reading: what is added goes on the path of the ACK as well.
//! ```

use super::PathFeedback;
use super::declare::{Choice, Parameters, VALUES};
use super::random::Random;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use thalweg_units::{Stream, Time};

/// A packet takes the value of the ACK that allowed it (Lu et al., MP-RDMA, NSDI 2018).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Params {
    /// Number of path values.
    #[schemars(extend("minimum" = 2))]
    pub values: u32,
}

impl Default for Params {
    fn default() -> Self {
        Self { values: VALUES }
    }
}

impl Parameters for Params {
    type Machine = Mprdma;

    fn values(&self) -> u32 {
        self.values
    }
    fn make(&self, stream: Stream) -> Mprdma {
        Mprdma { random: Random::from(stream), newest: None }
    }
    #[cfg(test)]
    fn variants() -> Vec<Self> {
        vec![Self { values: 5 }, Self::default()]
    }
}

/// What one flow draws from, and the value of the newest ACK.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Mprdma {
    random: Random,
    newest: Option<u32>,
}

impl Choice for Mprdma {
    type Params = Params;

    #[inline]
    fn next(&mut self, p: &Params, _: Time, _: u64) -> u32 {
        self.newest.take().unwrap_or_else(|| self.random.draw(p.values))
    }

    #[inline]
    fn on_feedback(&mut self, _: &Params, _: Time, value: u32, what: PathFeedback) {
        if what != PathFeedback::Trimmed {
            self.newest = Some(value);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_newest_ack_gives_one_packet_its_value() {
        let p = Params::default();
        let mut machine = p.make(Stream::new(1, "paths", 0));
        let at = Time::ZERO;
        machine.on_feedback(&p, at, 70_000, PathFeedback::Good);
        machine.on_feedback(&p, at, 70_001, PathFeedback::Marked);
        machine.on_feedback(&p, at, 70_002, PathFeedback::Trimmed);
        assert_eq!(machine.next(&p, at, 1), 70_001);
        assert!(machine.next(&p, at, 1) < 1 << 16, "drawn");
    }
}
