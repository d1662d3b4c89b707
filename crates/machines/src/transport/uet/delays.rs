//! Recent round trips: they show whether a lost packet was probably dropped at a full queue.

use serde::{Deserialize, Serialize};
use thalweg_units::{Span, Time};

/// The longest recent round trip, and the shortest of all.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Delays {
    shortest: Span,
    longest: Span,
    /// Up to when `longest` counts.
    until: Time,
}

impl Delays {
    /// Nothing was measured yet: a round trip takes what it takes without queues.
    pub fn new(base: Span) -> Self {
        Self { shortest: base, longest: Span::ZERO, until: Time::ZERO }
    }

    /// A round trip is measured. It counts among the longest until two retry times have passed since the first of them
    /// (REPS' artifact).
    #[inline]
    pub fn on_round_trip(&mut self, now: Time, rtt: Span, retry: Span) {
        if now > self.until {
            (self.longest, self.until) =
                (Span::ZERO, now.saturating_add(Span::from_ps(retry.ps().saturating_mul(2))));
        }
        (self.longest, self.shortest) = (self.longest.max(rtt), self.shortest.min(rtt));
    }

    /// The longest as a multiple of the shortest.
    pub fn longest(&self) -> f64 {
        self.longest.ps() as f64 / self.shortest.ps().max(1) as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_longest_counts_for_two_retry_times_and_the_shortest_for_good() {
        let (us, retry) = (Span::from_us, Span::from_us(70));
        let mut delays = Delays::new(us(10));
        assert!(delays.longest() < 1.0, "nothing was measured");
        for (at, rtt, longest) in
            [(10, 25, 2.5), (100, 12, 2.5), (150, 20, 2.5), (151, 12, 1.2), (152, 8, 1.5)]
        {
            delays.on_round_trip(Time::from_us(at), us(rtt), retry);
            assert!((delays.longest() - longest).abs() < 1e-9, "{at}: {}", delays.longest());
        }
    }
}
