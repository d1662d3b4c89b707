//! Shortest remaining first at the NIC (BFC-SRF: Goyal, MIT 2022, App. F.1): of the flows that may send the one
//! that has least left; those that have as much, in turn.

use super::{Needs, Order, Waiting, Waits};

pub(super) struct Shortest;

impl Order for Shortest {
    const NEEDS: Needs = Needs { pulls: true, waits: Waits::Picked };

    #[inline]
    fn pick(flows: &impl Waiting) -> usize {
        let (mut least, mut best) = (flows.left(0), 0);
        for place in 1..flows.count() {
            let left = flows.left(place);
            if left < least && !flows.is_held(place) {
                (least, best) = (left, place);
            }
        }
        best
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Bytes left, and whether it is held.
    struct Listed<'a>(&'a [(u64, bool)]);

    impl Waiting for Listed<'_> {
        fn count(&self) -> usize {
            self.0.len()
        }
        fn left(&self, place: usize) -> u64 {
            self.0[place].0
        }
        fn is_held(&self, place: usize) -> bool {
            self.0[place].1
        }
    }

    #[test]
    fn the_one_with_least_left_is_picked_unless_it_is_held_and_of_equals_the_first() {
        let pick = |flows: &[(u64, bool)]| Shortest::pick(&Listed(flows));
        assert_eq!(pick(&[(9, false), (5, false), (5, false), (7, false)]), 1);
        assert_eq!(pick(&[(9, false), (3, true), (5, false)]), 2);
        assert_eq!(pick(&[(5, false), (5, false)]), 0);
    }
}
