//! What keeps delays low while nobody competes: a rate, anew every 10 ms. Goyal 2022, §4.4.1 and §4.7.1.
//! Losses are no concern of theirs.

mod basic;
mod copa;
mod fast;
mod vegas;

use super::params::{DelayRule, Params};
use basic::Basic;
use copa::Copa;
use fast::Fast;
use serde::{Deserialize, Serialize};
use thalweg_units::Time;
use vegas::Vegas;

/// What was measured, at a tick. Rates are bytes per second on the wire, times seconds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Seen {
    pub(super) now: Time,
    /// µ̂.
    pub(super) mu: f64,
    /// S.
    pub(super) sent: f64,
    /// ẑ.
    pub(super) cross: f64,
    /// x, the last round trip.
    pub(super) rtt: f64,
    /// The least round trip.
    pub(super) least: f64,
    /// The smoothed round trip.
    pub(super) smoothed: f64,
    /// Bytes on the wire acknowledged since the last tick.
    pub(super) acked: f64,
    /// Bytes on the wire of a full packet.
    pub(super) packet: f64,
}

/// One of them.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) enum Delay {
    Basic(Basic),
    Copa(Copa),
    Vegas(Vegas),
    Fast(Fast),
}

impl Delay {
    pub(super) fn new(params: &Params) -> Self {
        match params.delay {
            DelayRule::BasicDelay => Self::Basic(Basic::new(params.target)),
            DelayRule::Copa => Self::Copa(Copa::default()),
            DelayRule::Vegas => Self::Vegas(Vegas::default()),
            DelayRule::Fast => Self::Fast(Fast::default()),
        }
    }

    /// It takes over, at this rate; round trips were `mean` seconds of late.
    // CHOICE §4.4.1: with what window a delay mode begins is not said: the one that makes the rate of before.
    pub(super) fn enter(&mut self, seen: &Seen, rate: f64, mean: f64) {
        let window = rate * seen.rtt;
        match self {
            Self::Basic(c) => c.enter(mean / seen.least),
            Self::Copa(c) => c.enter(seen, window),
            Self::Vegas(c) => c.enter(window / seen.packet),
            Self::Fast(c) => c.enter(seen, window / seen.packet),
        }
    }

    /// The rate from this tick on, B/s.
    pub(super) fn on_tick(&mut self, seen: &Seen) -> f64 {
        match self {
            Self::Basic(c) => c.on_tick(seen),
            Self::Copa(c) => c.on_tick(seen),
            Self::Vegas(c) => c.on_tick(seen),
            Self::Fast(c) => c.on_tick(seen),
        }
    }
}

/// 12 MB/s, a least round trip of 50 ms, packets of 1500 B.
#[cfg(test)]
fn seen(rtt: f64) -> Seen {
    Seen {
        now: Time::from_ms(1000),
        mu: 12e6,
        sent: 6e6,
        cross: 6e6,
        rtt,
        least: 0.05,
        smoothed: rtt,
        acked: 60_000.0,
        packet: 1500.0,
    }
}
