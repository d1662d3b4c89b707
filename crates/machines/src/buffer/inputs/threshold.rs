//! All inputs share one memory by a dynamic threshold, as in the HPCC authors' simulator: each has a reserve, what it
//! holds beyond may come to alpha × what is free of the pool, and what arrives above that goes to its headroom.

use super::account::Account;
use super::spec::Input;
use crate::problems::Invalid;
use serde::{Deserialize, Serialize};

/// The pool, in bytes: the memory without reserves and headrooms.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Threshold {
    alpha: f64,
    /// Of each input.
    reserve: u64,
    /// Of each input.
    headroom: u64,
    pool: u64,
    /// Bytes of all inputs beyond their reserves and outside their headrooms.
    used: u64,
}

impl Threshold {
    /// # Errors
    /// If reserves and headrooms do not fit.
    pub(super) fn new(
        total: u64,
        inputs: usize,
        alpha: f64,
        reserve: u64,
        headroom: u64,
    ) -> Result<Self, Invalid> {
        let aside = (u128::from(reserve) + u128::from(headroom)).saturating_mul(inputs as u128);
        let left = u64::try_from(aside).ok().and_then(|aside| total.checked_sub(aside));
        let pool = left.ok_or_else(|| {
            let why = format!("{inputs} inputs set {aside} B aside, and the memory has {total} B");
            Invalid::new(why).at("memory")
        })?;
        Ok(Self { alpha, reserve, headroom, pool, used: 0 })
    }

    /// What an input may hold of the pool if `used` bytes of it are used.
    #[inline]
    fn share(&self, used: u64) -> u64 {
        (self.alpha * self.pool.saturating_sub(used) as f64) as u64
    }
}

impl Account for Threshold {
    #[inline]
    fn is_quiet(&self, at: &Input, wire: u64) -> bool {
        let more = (at.bytes + wire).saturating_sub(self.reserve);
        let used = self.used + wire;
        used <= self.pool && more < self.share(used)
    }
    #[inline]
    fn take(&mut self, at: &mut Input, wire: u64) -> bool {
        let outside = at.bytes - at.headroom;
        let shared = outside.saturating_sub(self.reserve);
        let more = (outside + wire).saturating_sub(self.reserve);
        // A packet that would exceed the threshold goes to the headroom as a whole; with alpha above 1, so does one
        // that is within it and for which there is no memory left.
        if more > self.share(self.used) || self.used + (more - shared) > self.pool {
            if at.headroom + wire > self.headroom {
                return false;
            }
            at.headroom += wire;
        } else {
            self.used += more - shared;
        }
        true
    }
    /// The headroom is emptied first.
    #[inline]
    fn release(&mut self, at: &mut Input, wire: u64) {
        let from_headroom = wire.min(at.headroom);
        let outside = at.bytes - at.headroom;
        let before = outside.saturating_sub(self.reserve);
        let after = (outside - (wire - from_headroom)).saturating_sub(self.reserve);
        at.headroom -= from_headroom;
        self.used -= before - after;
    }
    #[inline]
    fn used(&self) -> u64 {
        self.used
    }
    fn pool(&self) -> u64 {
        self.pool
    }
    #[inline]
    fn threshold(&self) -> u64 {
        self.share(self.used)
    }
    fn threshold_of(&self, all: &mut dyn Iterator<Item = Input>) -> u64 {
        self.share(all.map(|at| (at.bytes - at.headroom).saturating_sub(self.reserve)).sum())
    }
}
