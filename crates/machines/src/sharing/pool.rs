//! The memory of one switch, and who may take of it.

use super::{Admission, Arriving, Memory, Sharing, SharingMachine, SharingSpec};
use serde::{Deserialize, Serialize};
use thalweg_units::{Bytes, PortId};

/// The memory of one switch, shared by all its ports.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Pool {
    total: u64,
    used: u64,
    sharing: SharingMachine,
}

/// The view of a policy: the pool's counts, and what its owner knows of the ports.
struct View<F> {
    total: u64,
    used: u64,
    ports: usize,
    port: F,
}

impl<F: Fn(usize) -> (PortId, u64)> Memory for View<F> {
    #[inline]
    fn total(&self) -> u64 {
        self.total
    }
    #[inline]
    fn used(&self) -> u64 {
        self.used
    }
    fn ports(&self) -> usize {
        self.ports
    }
    fn port(&self, nth: usize) -> (PortId, u64) {
        (self.port)(nth)
    }
}

impl Pool {
    /// `total` bytes of memory, empty.
    pub fn new(total: Bytes, sharing: &SharingSpec) -> Self {
        Self { total: total.get(), used: 0, sharing: sharing.make() }
    }

    /// Whether this packet may join its port. `port` returns, for the `nth` of `ports`, its number and the bytes that
    /// wait there.
    #[inline]
    pub fn admit(
        &mut self,
        arriving: &Arriving,
        ports: usize,
        port: impl Fn(usize) -> (PortId, u64),
    ) -> Admission {
        let Self { total, used, .. } = *self;
        self.sharing.admit(&View { total, used, ports, port }, arriving)
    }

    /// Bytes that a queue holds more than before are taken.
    ///
    /// # Panics
    /// In debug builds, if they do not fit.
    #[inline]
    pub fn take(&mut self, bytes: u64) {
        self.used += bytes;
        debug_assert!(self.used <= self.total, "more taken than the pool holds");
    }

    /// Bytes that a queue holds less than before are given back.
    ///
    /// # Panics
    /// In debug builds, if more is given back than was taken.
    #[inline]
    pub fn release(&mut self, bytes: u64) {
        debug_assert!(self.used >= bytes, "more released than taken");
        self.used = self.used.saturating_sub(bytes);
    }

    /// Bytes that are free.
    pub fn free(&self) -> u64 {
        self.total - self.used
    }

    /// Bytes that all ports hold.
    #[inline]
    pub fn used(&self) -> u64 {
        self.used
    }

    /// Bytes of memory.
    #[inline]
    pub fn total(&self) -> u64 {
        self.total
    }
}
