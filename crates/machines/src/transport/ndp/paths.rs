//! Which path each packet takes: all of them in a random order, then all of them in another (NDP, §3.3).

use serde::{Deserialize, Serialize};
use thalweg_units::Stream;

/// The numbers of all paths, in the order of the present cycle.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct PathCycle {
    order: Vec<u32>,
    next: u32,
    stream: Stream,
}

impl PathCycle {
    /// Of so many paths; `None`: packets have no number.
    pub fn new(paths: Option<u32>, stream: Stream) -> Self {
        Self { order: (0..paths.unwrap_or(0)).collect(), next: 0, stream }
    }

    /// The path of the next packet.
    pub fn next(&mut self) -> u32 {
        if self.next == 0 {
            // Fisher and Yates.
            for last in (1..self.order.len()).rev() {
                let at = self.stream.below(last as u64 + 1) as usize;
                self.order.swap(at, last);
            }
        }
        let Some(path) = self.order.get(self.next as usize) else { return 0 };
        self.next = (self.next + 1) % self.order.len() as u32;
        *path
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_cycle_has_each_path_once_and_cycles_differ() {
        let mut cycle = PathCycle::new(Some(16), Stream::new(1, "transport", 0));
        let cycles: Vec<Vec<u32>> = (0..50).map(|_| (0..16).map(|_| cycle.next()).collect()).collect();
        for one in &cycles {
            let mut sorted = one.clone();
            sorted.sort_unstable();
            assert_eq!(sorted, (0..16).collect::<Vec<_>>());
        }
        let firsts: std::collections::BTreeSet<u32> = cycles.iter().map(|cycle| cycle[0]).collect();
        assert!(firsts.len() > 10, "{firsts:?}");
        assert_ne!(cycles[0], cycles[1]);
        assert_eq!(PathCycle::new(None, Stream::default()).next(), 0);
    }
}
