//! BasicDelay: takes the spare capacity and steers the queueing delay to a target. Goyal 2022, equation 4.4 and §4.7.1.

use super::super::seen::Seen;
use serde::{Deserialize, Serialize};

/// α and β (§4.7.1).
const ALPHA: f64 = 0.8;
const BETA: f64 = 0.5;
/// Decrease of the target per tick after a switch, as a multiple of the minimum round trip.
// CHOICE: the published implementation lowers it by this every 5 ms; here per tick of 10 ms.
const STEP: f64 = 0.005;

/// BasicDelay.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub(in super::super) struct Basic {
    /// The target, times the least round trip.
    target: f64,
    /// The target now: it falls gradually from the delay before the switch.
    now: f64,
}

impl Basic {
    pub(super) fn new(target: f64) -> Self {
        Self { target, now: target }
    }

    /// Delay mode begins; round trips were `ratio` times the minimum.
    pub(super) fn enter(&mut self, ratio: f64) {
        self.now = self.target.max(ratio);
    }

    pub(super) fn on_tick(&mut self, seen: &Seen) -> f64 {
        let delay = (self.now - 1.0) * seen.least;
        self.now = (self.now - STEP).max(self.target);
        seen.sent
            + ALPHA * (seen.mu - seen.sent - seen.cross)
            + BETA * seen.mu / seen.rtt * (seen.least + delay - seen.rtt)
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::seen::seen;
    use super::*;

    #[test]
    fn it_stands_where_the_link_is_used_and_the_delay_is_the_target() {
        let mut c = Basic::new(1.25);
        assert!((c.on_tick(&seen(0.0625)) - 6e6).abs() < 1e-3);
        // 1 MB/s is left: 0.8 of it.
        assert!((c.on_tick(&Seen { cross: 5e6, ..seen(0.0625) }) - 6.8e6).abs() < 1e-3);
        // 12.5 ms too many of 75: 0.5 · 12 MB/s / 6.
        assert!((c.on_tick(&seen(0.075)) - 5e6).abs() < 1e-3);
    }

    #[test]
    fn after_a_switch_the_target_comes_down_from_what_the_delay_was() {
        let mut c = Basic::new(1.25);
        c.enter(1.5);
        assert!((c.on_tick(&seen(0.075)) - 6e6).abs() < 1e-3, "25 ms is what it aims at");
        (0..48).for_each(|_| _ = c.on_tick(&seen(0.075)));
        assert!(c.now > 1.25 && c.now < 1.256, "{}", c.now);
        c.on_tick(&seen(0.075));
        c.on_tick(&seen(0.075));
        assert_eq!(c.now, 1.25);
    }
}
