//! Delay mode: the algorithms that keep delays low while no elastic traffic competes. Each sets a rate every 10 ms.
//! Goyal 2022, §4.4.1 and §4.7.1. They do not react to losses.

mod basic;
mod copa;
mod fast;
mod vegas;

use super::params::{DelayRule, Params};
use super::seen::Seen;
use basic::Basic;
use copa::Copa;
use fast::Fast;
use serde::{Deserialize, Serialize};
use vegas::Vegas;

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

    /// Delay mode begins at this rate; the mean of recent round trips is `mean` seconds.
    // CHOICE §4.4.1: with what window a delay mode begins is not stated: the one that makes the rate of before.
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
