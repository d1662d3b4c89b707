//! Copa's default mode with a standing queue, as the authors' published implementation of Nimbus has it: delays
//! count from 1.2 times the least round trip on, so that the queue never empties and equation 4.1 holds. Copa itself
//! is in `congestion/copa`: Arun and Balakrishnan, NSDI 2018.
//!
//! CHOICE Copa §2.1: the default mode as published empties the queue once in a while, which ends the estimate of the
//! cross traffic. Other reading: that one.

use super::super::seen::Seen;
use serde::{Deserialize, Serialize};
use thalweg_units::Time;

/// Queueing delay is what exceeds the minimum round trip times this.
const STANDING: f64 = 1.2;
/// δ = 0.5, and a little less than its window.
const DELTA: f64 = 0.5;
const SHORT: f64 = 0.95;
/// The largest velocity.
const FASTEST: f64 = 32.0;
/// The least window, packets.
const LEAST: f64 = 10.0;

/// The window, bytes on the wire, and its velocity.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(in super::super) struct Copa {
    window: f64,
    velocity: f64,
    /// Ticks up less ticks down since the last round trip began, and in the one before.
    direction: i32,
    before: i32,
    round: Time,
}

impl Copa {
    pub(super) fn enter(&mut self, seen: &Seen, window: f64) {
        *self = Self { window, velocity: 1.0, direction: 0, before: 0, round: seen.now };
    }

    pub(super) fn on_tick(&mut self, seen: &Seen) -> f64 {
        let least = LEAST * seen.packet;
        self.window = self.window.max(least);
        let waits = seen.rtt - STANDING * seen.least;
        let up = seen.rtt * seen.packet > waits * SHORT * self.window;
        self.direction += if up { 1 } else { -1 };
        if seen.now.since(self.round).secs() > seen.rtt {
            let goes_on = self.before * self.direction > 0;
            self.velocity = if goes_on { (2.0 * self.velocity).min(FASTEST) } else { 1.0 };
            (self.before, self.direction, self.round) = (self.direction, 0, seen.now);
        }
        let change = self.velocity.max(1.0) * seen.packet * seen.acked / (DELTA * self.window);
        self.window = if up { self.window + change } else { (self.window - change).max(least) };
        self.window / seen.rtt
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::seen::seen;
    use super::*;

    #[test]
    fn its_window_grows_below_the_standing_queue_and_shrinks_above() {
        let mut c = Copa::default();
        c.enter(&seen(0.06), 300_000.0);
        // Nothing waits beyond the standing queue: v · packet · acked / (δ w) = 1500 · 60 000 / 150 000.
        assert!((c.on_tick(&seen(0.06)) - 300_600.0 / 0.06).abs() < 1e-6);
        // 10 ms do: 0.07 · 1500 = 105 against 0.01 · 0.95 · w.
        let before = c.window;
        c.on_tick(&seen(0.07));
        assert!(c.window < before);
    }

    #[test]
    fn its_velocity_doubles_per_round_trip_in_one_direction() {
        let mut c = Copa::default();
        c.enter(&seen(0.06), 300_000.0);
        let mut velocities = Vec::new();
        for n in 1..=42 {
            c.on_tick(&Seen { now: Time::from_ms(1000 + 10 * n), acked: 0.0, ..seen(0.06) });
            velocities.push(c.velocity);
        }
        velocities.dedup();
        assert_eq!(velocities, [1.0, 2.0, 4.0, 8.0, 16.0, 32.0], "the first round trip has none before it");
        for n in 43..=50 {
            c.on_tick(&Seen { now: Time::from_ms(1000 + 10 * n), acked: 0.0, ..seen(0.2) });
        }
        c.on_tick(&Seen { now: Time::from_ms(1800), acked: 0.0, ..seen(0.2) });
        assert_eq!(c.velocity, 1.0);
    }
}
