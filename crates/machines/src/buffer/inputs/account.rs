//! The contract of memory accounting by input.

use super::spec::Input;

/// Decides what may be stored. The owner counts the bytes of each input; an account keeps only what goes beyond that.
pub(super) trait Account {
    /// Whether `wire` more bytes at an input can be stored without pausing it, even if some of the counted bytes have
    /// left.
    fn is_quiet(&self, at: &Input, wire: u64) -> bool;
    /// `wire` bytes arrive at an input: whether there is room for them, which they then take.
    fn take(&mut self, at: &mut Input, wire: u64) -> bool;
    /// `wire` bytes of an input have left.
    fn release(&mut self, at: &mut Input, wire: u64);
    /// Bytes in memory that inputs share; 0: none is shared.
    fn used(&self) -> u64 {
        0
    }
    /// The largest value of [`Account::used`].
    fn pool(&self) -> u64 {
        0
    }
    /// The dynamic threshold as it stands.
    fn threshold(&self) -> u64 {
        u64::MAX
    }
    /// The same if these were all inputs.
    fn threshold_of(&self, _all: &mut dyn Iterator<Item = Input>) -> u64 {
        u64::MAX
    }
}
