//! AFD's shadow buffer: a sample of packets, and the flows that it holds.
//!
//! CHOICE RoCC §3.3.4: one packet in ten, a thousand packets.

use crate::schedule::FlowTable;
use serde::{Deserialize, Serialize};
use thalweg_units::{FlowId, Stream};

/// The default of `every`.
pub(super) fn every() -> u32 {
    10
}
/// The default of `memory`.
pub(super) fn memory() -> u32 {
    1000
}

/// A sample of packets with random replacement.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Sampled {
    stream: Stream,
    every: u32,
    most: usize,
    shadow: Vec<FlowId>,
    places: FlowTable,
    /// Flows, and how many packets of the sample are theirs.
    counts: Vec<(FlowId, u32)>,
}

impl Sampled {
    pub(super) fn new(stream: Stream, every: u32, most: usize) -> Self {
        Self { stream, every, most, shadow: Vec::new(), places: FlowTable::default(), counts: Vec::new() }
    }

    #[inline]
    pub(super) fn join(&mut self, flow: FlowId) {
        if self.stream.below(u64::from(self.every)) > 0 {
            return;
        }
        if self.shadow.len() < self.most {
            self.shadow.push(flow);
        } else {
            let at = self.stream.below(self.most as u64) as usize;
            let gone = std::mem::replace(&mut self.shadow[at], flow);
            self.take(gone);
        }
        match self.places.get(flow) {
            Some(place) => self.counts[place as usize].1 += 1,
            None => {
                self.places.insert(flow, self.counts.len() as u32);
                self.counts.push((flow, 1));
            }
        }
    }

    fn take(&mut self, flow: FlowId) {
        let Some(place) = self.places.get(flow) else { return };
        self.counts[place as usize].1 -= 1;
        if self.counts[place as usize].1 > 0 {
            return;
        }
        self.places.remove(flow);
        self.counts.swap_remove(place as usize);
        if let Some((moved, _)) = self.counts.get(place as usize) {
            self.places.remove(*moved);
            self.places.insert(*moved, place);
        }
    }

    pub(super) fn flows(&self) -> impl Iterator<Item = FlowId> + '_ {
        self.counts.iter().map(|(flow, _)| *flow)
    }
}
