//! What round trips reveal about the path: Copa §2.1 and §2.2.

use crate::extremes::{Longest, Shortest};
use serde::{Deserialize, Serialize};
use thalweg_units::{Span, Time};

/// A queue is nearly empty if its delay has been below this part of the largest one.
const NEARLY_EMPTY: f64 = 0.1;

/// Round trips of several windows of time, picoseconds.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct Path {
    /// srtt; 0: no sample yet.
    srtt: f64,
    /// RTTmin: of the longest window.
    pub(super) least: Shortest,
    /// RTTstanding: of half a smoothed round trip.
    standing: Shortest,
    /// The least and the largest of four.
    pub(super) near: Shortest,
    pub(super) most: Longest,
}

impl Path {
    /// A round trip of `rtt` at `now`; none counts for longer than `longest`. RTTstanding and RTTmin.
    pub(super) fn observe(&mut self, now: Time, rtt: u64, longest: u64) -> (f64, f64) {
        self.srtt = if self.srtt == 0.0 { rtt as f64 } else { self.srtt + (rtt as f64 - self.srtt) / 16.0 };
        let of = |times: f64| Span::from_ps(((times * self.srtt) as u64).min(longest));
        let (half, four) = (of(0.5), of(4.0));
        let least = self.least.update(now, Span::from_ps(longest), rtt);
        let standing = self.standing.update(now, half, rtt);
        self.near.update(now, four, rtt);
        self.most.update(now, four, rtt);
        (standing as f64, (least as f64).min(standing as f64))
    }

    /// §2.2: queues have been nearly empty within four round trips: no competing flow keeps them full.
    pub(super) fn empties(&self, least: f64) -> bool {
        let of = |seen: Option<u64>| seen.unwrap_or(0) as f64;
        of(self.near.get()) < least + NEARLY_EMPTY * (of(self.most.get()) - least)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_standing_round_trip_is_the_least_of_half_a_smoothed_one() {
        let mut path = Path::default();
        let longest = Span::from_secs(10).ps();
        path.least.update(Time::ZERO, Span::from_ps(1), Span::from_ms(100).ps());
        assert_eq!(path.observe(Time::from_ms(1), 110_000_000_000, longest), (110e9, 100e9));
        assert_eq!(path.observe(Time::from_ms(20), 150_000_000_000, longest), (110e9, 100e9));
        // The smoothed one is 112.5 ms: after 56 ms the first does not count any more.
        let (standing, least) = path.observe(Time::from_ms(90), 150_000_000_000, longest);
        assert_eq!((standing, least), (150e9, 100e9));
    }
}
