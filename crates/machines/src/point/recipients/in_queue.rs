//! Exactly the flows that have a packet in the queue: a count per flow.

use crate::schedule::FlowTable;
use serde::{Deserialize, Serialize};
use thalweg_units::FlowId;

/// Counts of waiting packets, by flow.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct InQueue {
    places: FlowTable,
    /// Flows, and how many of their packets wait.
    waiting: Vec<(FlowId, u32)>,
}

impl InQueue {
    #[inline]
    pub(super) fn join(&mut self, flow: FlowId) {
        match self.places.get(flow) {
            Some(place) => self.waiting[place as usize].1 += 1,
            None => {
                self.places.insert(flow, self.waiting.len() as u32);
                self.waiting.push((flow, 1));
            }
        }
    }

    #[inline]
    pub(super) fn leave(&mut self, flow: FlowId) {
        let Some(place) = self.places.get(flow) else { return };
        let (_, count) = &mut self.waiting[place as usize];
        *count -= 1;
        if *count > 0 {
            return;
        }
        self.places.remove(flow);
        self.waiting.swap_remove(place as usize);
        if let Some((moved, _)) = self.waiting.get(place as usize) {
            self.places.remove(*moved);
            self.places.insert(*moved, place);
        }
    }

    pub(super) fn flows(&self) -> impl Iterator<Item = FlowId> + '_ {
        self.waiting.iter().map(|(flow, _)| *flow)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeMap;

    proptest! {
        /// ROCC-P4: the flows of what waits, no more than packets.
        #[test]
        fn it_holds_the_flows_of_what_waits(story in prop::collection::vec((0u32..6, any::<bool>()), 1..200)) {
            let (mut table, mut model) = (InQueue::default(), BTreeMap::<u32, u32>::new());
            for (flow, joins) in story {
                let waits = model.entry(flow).or_default();
                if joins {
                    *waits += 1;
                    table.join(FlowId(flow));
                } else if *waits > 0 {
                    *waits -= 1;
                    table.leave(FlowId(flow));
                }
                model.retain(|_, waits| *waits > 0);
                let mut flows: Vec<u32> = table.flows().map(|flow| flow.0).collect();
                flows.sort_unstable();
                prop_assert!(flows.iter().eq(model.keys()), "{:?} {:?}", flows, model);
            }
        }
    }
}
