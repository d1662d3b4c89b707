//! The heaviest flows of a stream, in constant memory. Metwally, Agrawal, El Abbadi, "Efficient Computation
//! of Frequent and Top-k Elements in Data Streams", ICDT 2005, Figure 1, counting bytes.
//!
//! With K counters and B bytes seen: the counts add up to B; what a counter may have taken over from others
//! (`err`) is at most the smallest count, so at most B / K; `count − err ≤ true ≤ count`; and every flow of
//! more than B / K bytes has a counter.

use serde::{Deserialize, Serialize};
use thalweg_units::FlowId;

/// The counter of one flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(in crate::schedule) struct Counter {
    pub(in crate::schedule) flow: FlowId,
    /// Its bytes at most.
    pub(in crate::schedule) count: u64,
    /// Of these, perhaps another's.
    pub(in crate::schedule) err: u64,
}

/// K counters, in no order: K is a handful.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(in crate::schedule) struct SpaceSaving {
    most: usize,
    counters: Vec<Counter>,
    seen: u64,
}

impl SpaceSaving {
    pub(in crate::schedule) fn new(most: u32) -> Self {
        let most = most as usize;
        Self { most, counters: Vec::with_capacity(most), seen: 0 }
    }

    /// Counts bytes of a flow.
    pub(in crate::schedule) fn add(&mut self, flow: FlowId, bytes: u64) {
        self.seen += bytes;
        if let Some(counter) = self.counters.iter_mut().find(|c| c.flow == flow) {
            counter.count += bytes;
        } else if self.counters.len() < self.most {
            self.counters.push(Counter { flow, count: bytes, err: 0 });
        } else if let Some(least) = self.counters.iter_mut().min_by_key(|c| c.count) {
            *least = Counter { flow, count: least.count + bytes, err: least.count };
        }
    }

    /// Each flow with a counter, and the bytes that it certainly sent.
    pub(in crate::schedule) fn certain(&self) -> impl Iterator<Item = u64> {
        self.counters.iter().map(|c| c.count - c.err)
    }

    /// Bytes of all flows.
    pub(in crate::schedule) fn seen(&self) -> u64 {
        self.seen
    }

    /// Begins anew.
    pub(in crate::schedule) fn clear(&mut self) {
        self.counters.clear();
        self.seen = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeMap;

    #[test]
    fn without_a_free_counter_a_flow_takes_over_the_smallest() {
        let mut top = SpaceSaving::new(2);
        for (flow, bytes) in [(1, 100), (2, 300), (1, 50), (3, 10)] {
            top.add(FlowId(flow), bytes);
        }
        let three = Counter { flow: FlowId(3), count: 160, err: 150 };
        assert_eq!(top.counters, [three, Counter { flow: FlowId(2), count: 300, err: 0 }]);
        assert_eq!((top.certain().collect::<Vec<_>>(), top.seen()), (vec![10, 300], 460));
    }

    proptest! {
        /// Against a count of every flow.
        #[test]
        fn counts_bound_the_truth_from_both_sides(
            most in 1u32..8, stream in prop::collection::vec((0u32..20, 1u64..3000), 1..300)
        ) {
            let (mut top, mut truth) = (SpaceSaving::new(most), BTreeMap::<u32, u64>::new());
            for (flow, bytes) in stream {
                top.add(FlowId(flow), bytes);
                *truth.entry(flow).or_default() += bytes;
            }
            let all: u64 = truth.values().sum();
            prop_assert_eq!(top.seen(), all);
            if truth.len() >= most as usize {
                prop_assert_eq!(top.counters.iter().map(|c| c.count).sum::<u64>(), all);
            }
            for c in &top.counters {
                let sent = truth[&c.flow.0];
                prop_assert!(c.count - c.err <= sent && sent <= c.count);
                prop_assert!(c.err <= all / u64::from(most));
            }
            for (flow, sent) in &truth {
                let counted = top.counters.iter().any(|c| c.flow.0 == *flow);
                prop_assert!(counted || *sent <= all / u64::from(most), "{} of {}", sent, all);
            }
            if truth.len() <= most as usize {
                let mut exact: Vec<u64> = top.certain().collect();
                let mut sent: Vec<u64> = truth.values().copied().collect();
                exact.sort_unstable();
                sent.sort_unstable();
                prop_assert_eq!(exact, sent);
            }
        }
    }
}
