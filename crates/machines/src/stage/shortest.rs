//! The smallest value of a sliding window, exactly: what can still become it, in order.

use serde::{Deserialize, Serialize};
use std::collections::VecDeque;
use thalweg_units::{Span, Time};

/// Of a window of time.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Shortest {
    /// Rising in both.
    seen: VecDeque<(Time, u64)>,
}

impl Shortest {
    /// `value` is seen now: the smallest of (now − window, now].
    pub(crate) fn update(&mut self, now: Time, window: Span, value: u64) {
        while self.seen.back().is_some_and(|last| last.1 >= value) {
            self.seen.pop_back();
        }
        self.seen.push_back((now, value));
        while self.seen.len() > 1
            && self.seen.front().is_some_and(|first| first.0.saturating_add(window) <= now)
        {
            self.seen.pop_front();
        }
    }

    /// As of the last update; 0: there was none.
    pub(crate) fn get(&self) -> u64 {
        self.seen.front().map_or(0, |first| first.1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn the_shortest_of_a_window_leaves_with_the_window() {
        let mut shortest = Shortest::default();
        let seen: Vec<u64> = [(0, 5), (2, 3), (4, 4), (11, 9), (12, 9), (14, 9)]
            .map(|(at, value)| {
                shortest.update(Time::from_ms(at), Span::from_ms(10), value);
                shortest.get()
            })
            .into();
        assert_eq!(seen, [5, 3, 3, 3, 4, 9]);
    }

    proptest! {
        #[test]
        fn it_is_what_a_search_finds(story in prop::collection::vec((0u64..6, 0u64..50), 1..200), window in 0u64..30) {
            let (mut least, mut now, mut all) = (Shortest::default(), 0, Vec::new());
            for (wait, value) in story {
                now += wait;
                all.push((now, value));
                least.update(Time::from_ps(now), Span::from_ps(window), value);
                let within = all.iter().filter(|(at, _)| at + window > now).map(|(_, v)| *v);
                prop_assert_eq!(least.get(), within.min().unwrap_or(value));
            }
        }
    }
}
