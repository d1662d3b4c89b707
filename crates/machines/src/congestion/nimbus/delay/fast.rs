//! FAST: a window that keeps a fixed number of packets in queues, updated over a round trip. Jin, Wei and Low, INFOCOM
//! 2004, equation 6, with γ = 0.5; Goyal 2022 lists it (§G.5).
//!
//! CHOICE §G.5: the number of packets is not given: 30, as the Vegas of the published implementation.

use super::super::seen::Seen;
use serde::{Deserialize, Serialize};
use thalweg_units::Time;

/// α, packets in queues.
const WAITS: f64 = 30.0;
/// γ.
const GAMMA: f64 = 0.5;

/// The window, packets.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(in super::super) struct Fast {
    window: f64,
    round: Time,
}

impl Fast {
    pub(super) fn enter(&mut self, seen: &Seen, window: f64) {
        *self = Self { window, round: seen.now };
    }

    pub(super) fn on_tick(&mut self, seen: &Seen) -> f64 {
        self.window = self.window.max(2.0);
        if seen.now.since(self.round).secs() >= seen.rtt {
            let aims = seen.least / seen.rtt * self.window + WAITS;
            self.window = ((1.0 - GAMMA) * self.window + GAMMA * aims).min(2.0 * self.window);
            self.round = seen.now;
        }
        self.window * seen.packet / seen.rtt
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::seen::seen;
    use super::*;

    #[test]
    fn a_window_of_which_thirty_packets_wait_stands_still() {
        let mut c = Fast::default();
        c.enter(&seen(0.06), 180.0);
        c.on_tick(&seen(0.06));
        assert_eq!(c.window, 180.0, "no round trip has passed");
        let later = |ms: u64, rtt: f64| Seen { now: Time::from_ms(1000 + ms), ..seen(rtt) };
        c.on_tick(&later(60, 0.06));
        assert!((c.window - 180.0).abs() < 1e-9, "a sixth of it waits: {}", c.window);
        c.on_tick(&later(120, 0.05));
        assert!((c.window - 195.0).abs() < 1e-9, "nothing waits: half of 180 and half of 210");
    }
}
