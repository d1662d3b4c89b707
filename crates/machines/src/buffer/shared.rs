//! Dynamic thresholds. Choudhury & Hahne, "Dynamic Queue Length Thresholds for Shared-Memory Packet
//! Switches", IEEE/ACM Trans. Networking 6(2), 1998, §III: T(t) = α · (B − Q(t)).

use crate::problems::Invalid;
use serde::{Deserialize, Serialize};
use thalweg_units::Bytes;

/// The memory of one switch, shared by all its ports.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct SharedPool {
    total: u64,
    used: u64,
    alpha: f64,
}

impl SharedPool {
    /// `total` (B) bytes of memory of which each port may hold `alpha` (α) times what is free.
    /// An infinite α is complete sharing.
    ///
    /// # Errors
    /// If α is not above zero.
    pub fn new(total: Bytes, alpha: f64) -> Result<Self, Invalid> {
        if alpha.is_nan() || alpha <= 0.0 {
            let why = format!("a shared buffer's alpha must be above zero, not {alpha}");
            return Err(Invalid::new(why).at("alpha"));
        }
        Ok(Self { total: total.get(), used: 0, alpha })
    }

    /// T: the most that one port may hold now, bytes.
    #[inline]
    pub fn threshold(&self) -> u64 {
        let free = self.total - self.used;
        if self.alpha.is_infinite() { u64::MAX } else { (self.alpha * free as f64) as u64 }
    }

    /// May a packet of `wire` bytes join a port that holds `port_bytes`?
    #[inline]
    pub fn admits(&self, port_bytes: u64, wire: u32) -> bool {
        // CHOICE Choudhury & Hahne §III: packets there are cells of one size; here a port is below its
        // threshold if it is still at or below it *with* the packet, measured before the packet is in.
        let wire = u64::from(wire);
        wire <= self.total - self.used && port_bytes.saturating_add(wire) <= self.threshold()
    }

    /// A packet that [`SharedPool::admits`] let in takes its bytes.
    ///
    /// # Panics
    /// In debug builds, if it does not fit.
    #[inline]
    pub fn take(&mut self, bytes: u64) {
        self.used += bytes;
        debug_assert!(self.used <= self.total, "more taken than the pool holds");
    }

    /// A packet gives its memory back.
    ///
    /// # Panics
    /// In debug builds, if more is given back than was taken.
    #[inline]
    pub fn release(&mut self, bytes: u64) {
        debug_assert!(self.used >= bytes, "more released than taken");
        self.used = self.used.saturating_sub(bytes);
    }

    /// Q: bytes held by all ports.
    #[inline]
    pub fn used(&self) -> u64 {
        self.used
    }

    /// B: bytes of memory.
    #[inline]
    pub fn total(&self) -> u64 {
        self.total
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// One port alone with α = 1: Q = α (B − Q), so Q = B / 2; with α = 2, two thirds.
    fn fill(alpha: f64, ports: usize) -> Vec<u64> {
        let mut pool = SharedPool::new(Bytes::new(12_000), alpha).unwrap();
        let mut held = vec![0; ports];
        for _ in 0..200 {
            for q in &mut held {
                if pool.admits(*q, 100) {
                    pool.take(100);
                    *q += 100;
                }
            }
        }
        assert_eq!(pool.used(), held.iter().sum::<u64>());
        held
    }

    #[test]
    fn a_lone_port_holds_alpha_over_one_plus_alpha_of_the_memory() {
        assert_eq!(fill(1.0, 1), [6000]);
        assert_eq!(fill(2.0, 1), [8000]);
        assert_eq!(fill(f64::INFINITY, 1), [12_000]);
    }

    #[test]
    fn n_ports_hold_alpha_over_one_plus_n_alpha_each() {
        assert_eq!(fill(1.0, 2), [4000, 4000]);
        assert_eq!(fill(1.0, 3), [3000, 3000, 3000]);
    }

    #[test]
    fn memory_that_is_released_can_be_taken_again() {
        let mut pool = SharedPool::new(Bytes::new(100), f64::INFINITY).unwrap();
        pool.take(100);
        assert!(!pool.admits(0, 1));
        pool.release(40);
        assert!(pool.admits(60, 40) && !pool.admits(60, 41));
        assert!(
            SharedPool::new(Bytes::new(1), 0.0).is_err() && SharedPool::new(Bytes::new(1), f64::NAN).is_err()
        );
    }
}
