//! Vegas with more packets in queues than its authors keep there, as the published implementation of Nimbus had it:
//! two to four cannot cover a pulse, and a queue that empties ends the estimate of the cross traffic. Vegas itself
//! is in `congestion/vegas`.

use super::super::seen::Seen;
use serde::{Deserialize, Serialize};

/// α and β, packets.
const ALPHA: f64 = 30.0;
const BETA: f64 = 40.0;
/// A round trip of at most this multiple of the minimum counts as an empty queue.
const EMPTY: f64 = 1.05;
/// Growth of the window per packet while the queue is empty.
const FILLS: f64 = 0.1;

/// The window, packets.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(in super::super) struct Vegas {
    window: f64,
}

impl Vegas {
    pub(super) fn enter(&mut self, window: f64) {
        self.window = window;
    }

    pub(super) fn on_tick(&mut self, seen: &Seen) -> f64 {
        let acked = seen.acked / seen.packet;
        self.window = self.window.max(2.0);
        let waits = self.window * (seen.rtt - seen.least) / seen.rtt;
        let empty = EMPTY * seen.least;
        if seen.smoothed < empty && seen.rtt < empty {
            self.window += FILLS * acked;
        } else if waits < ALPHA {
            self.window += acked / self.window;
        } else if waits > BETA {
            self.window = (self.window - acked / self.window).max(2.0);
        }
        self.window * seen.packet / seen.rtt
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::seen::seen;
    use super::*;

    #[test]
    fn thirty_to_forty_packets_wait() {
        let after = |window: f64, rtt: f64| {
            let mut c = Vegas::default();
            c.enter(window);
            let rate = c.on_tick(&seen(rtt));
            assert!((rate - c.window * 1500.0 / rtt).abs() < 1e-6);
            c.window
        };
        // A sixth of the window waits at 60 ms; 40 packets were acknowledged.
        assert_eq!(after(160.0, 0.06), 160.25);
        assert_eq!(after(200.0, 0.06), 200.0, "33 wait");
        assert_eq!(after(250.0, 0.06), 249.84);
        assert_eq!(after(160.0, 0.052), 164.0, "the queue is empty");
    }
}
