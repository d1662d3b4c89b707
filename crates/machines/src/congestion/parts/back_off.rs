//! What IRN's study adds to rate-based controllers in networks that lose packets: "explicitly backing off on
//! losses" (Mittal et al., SIGCOMM 2018, §4.3.3).

use serde::{Deserialize, Serialize};
use thalweg_units::{Span, Time};

/// Halves the rate at losses, at most once per period.
// CHOICE IRN §4.3.3: at most once in a time that the scenario gives, a round trip. Other reading: at every NACK.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Serialize, Deserialize)]
pub(in crate::congestion) struct BackOff {
    /// Losses before this instant are ignored.
    from: Time,
}

impl BackOff {
    /// A loss at `now`: returns whether it halves the rate. `every` is the period.
    pub(in crate::congestion) fn strikes(&mut self, now: Time, every: Span) -> bool {
        let strikes = now >= self.from;
        if strikes {
            self.from = now.saturating_add(every);
        }
        strikes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn losses_within_a_round_trip_of_one_that_counted_do_not_count() {
        let mut back_off = BackOff::default();
        let strikes = [0, 5, 23, 24, 25, 48].map(|us| back_off.strikes(Time::from_us(us), Span::from_us(24)));
        assert_eq!(strikes, [true, false, false, true, false, true]);
    }
}
