//! The largest or smallest value of a sliding window, in constant space: Kathleen Nichols' filter, which
//! keeps the best, the second and the third best of three successive parts of the window. What leaves the
//! window is replaced by the best of what came after it, a quarter of a window late at most. BBR has it so.

use serde::{Deserialize, Serialize};

/// A value and when it was seen.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Seen {
    at: u64,
    value: u64,
}

/// The filter; `MAX`: it keeps the largest, otherwise the smallest. Times are in any unit that never falls.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(in crate::congestion) struct Windowed<const MAX: bool> {
    /// The best three, the best first; `None`: nothing was seen.
    best: Option<[Seen; 3]>,
}

/// The largest of a window.
pub(in crate::congestion) type Largest = Windowed<true>;
/// The smallest of a window.
pub(in crate::congestion) type Smallest = Windowed<false>;

impl<const MAX: bool> Windowed<MAX> {
    /// The best of the window at the last update.
    #[inline]
    pub(in crate::congestion) fn get(&self) -> Option<u64> {
        self.best.map(|best| best[0].value)
    }

    /// Adds `value`, seen at `at`, and returns the best of the last `window`.
    pub(in crate::congestion) fn update(&mut self, window: u64, at: u64, value: u64) -> u64 {
        let new = Seen { at, value };
        let as_good = |old: Seen| if MAX { value >= old.value } else { value <= old.value };
        let Some(best) = &mut self.best else {
            self.best = Some([new; 3]);
            return value;
        };
        if as_good(best[0]) || at - best[2].at > window {
            *best = [new; 3];
            return value;
        }
        if as_good(best[1]) {
            (best[1], best[2]) = (new, new);
        } else if as_good(best[2]) {
            best[2] = new;
        }
        let age = at - best[0].at;
        if age > window {
            *best = [best[1], best[2], new];
            if at - best[0].at > window {
                *best = [best[1], best[2], new];
            }
        } else if best[1].at == best[0].at && age > window / 4 {
            (best[1], best[2]) = (new, new);
        } else if best[2].at == best[1].at && age > window / 2 {
            best[2] = new;
        }
        best[0].value
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn the_best_stays_for_a_window_and_the_best_after_it_takes_its_place() {
        let mut max = Largest::default();
        let seen: Vec<u64> = [(0, 9), (3, 5), (6, 7), (9, 4), (10, 3), (11, 2), (17, 1), (30, 0)]
            .map(|(at, value)| max.update(10, at, value))
            .into();
        // 9 of t = 0 counts until t = 10; then 7 of t = 6 until t = 16.
        assert_eq!(seen, [9, 9, 9, 9, 9, 7, 4, 0]);
        assert_eq!(max.get(), Some(0));
        let mut min = Smallest::default();
        assert_eq!(min.get(), None);
        assert_eq!([(0, 2), (5, 3), (11, 4)].map(|(at, value)| min.update(10, at, value)), [2, 2, 3]);
    }

    proptest! {
        /// Never better than the window's best, never worse than the best of its last quarter; nothing from outside.
        #[test]
        fn it_is_the_best_of_a_window_or_of_the_latter_part_of_one(
            story in prop::collection::vec((0u64..6, 0u64..50), 1..200)
        ) {
            let (mut max, mut now, mut all) = (Largest::default(), 0, Vec::new());
            for (wait, value) in story {
                now += wait;
                all.push((now, value));
                let reported = max.update(20, now, value);
                let within = |window: u64| all.iter().filter(move |(at, _)| now - at <= window).map(|(_, v)| *v);
                prop_assert!(Some(reported) <= within(20).max());
                prop_assert!(within(20).any(|v| v == reported));
                prop_assert!(Some(reported) >= within(0).max());
            }
        }
    }
}
