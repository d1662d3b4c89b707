//! ElephantTrap: a small table of counters, in which flows that are sampled often stay; a clock hand halves the
//! counters.
//!
//! CHOICE RoCC §3.3.4: 64 entries, one packet in 32.

use serde::{Deserialize, Serialize};
use thalweg_units::{FlowId, Stream};

/// The default of `entries`.
pub(super) fn entries() -> u32 {
    64
}
/// The default of `every`.
pub(super) fn every() -> u32 {
    32
}

/// Counters of frequent flows.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Elephants {
    stream: Stream,
    every: u32,
    most: usize,
    /// A count of 0 is a free place.
    trap: Vec<(FlowId, u32)>,
    hand: usize,
}

impl Elephants {
    pub(super) fn new(stream: Stream, most: usize, every: u32) -> Self {
        Self { stream, every, most, trap: Vec::new(), hand: 0 }
    }

    #[inline]
    pub(super) fn join(&mut self, flow: FlowId) {
        if self.stream.below(u64::from(self.every)) > 0 {
            return;
        }
        if let Some((_, count)) = self.trap.iter_mut().find(|(of, count)| *of == flow && *count > 0) {
            *count = count.saturating_add(1);
        } else if self.trap.len() < self.most {
            self.trap.push((flow, 1));
        } else {
            // A miss: the hand goes on by one place, which is taken if it is free.
            let (of, count) = &mut self.trap[self.hand];
            if *count <= 1 {
                (*of, *count) = (flow, 1);
            } else {
                *count /= 2;
            }
            self.hand = (self.hand + 1) % self.most;
        }
    }

    pub(super) fn flows(&self) -> impl Iterator<Item = FlowId> + '_ {
        self.trap.iter().filter(|(_, count)| *count > 0).map(|(flow, _)| *flow)
    }
}
