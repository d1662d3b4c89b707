//! How memory is accounted for by input: one contract.

use super::spec::Input;

/// Who may store what. The bytes of an input are counted by the owner; what is kept apart of them, here.
pub(super) trait Account {
    /// Whether `wire` bytes more at an input are stored and stop nothing, even if some of what is counted has left.
    fn is_quiet(&self, at: &Input, wire: u64) -> bool;
    /// `wire` bytes arrive at an input: whether there is room for them, which they then take.
    fn take(&mut self, at: &mut Input, wire: u64) -> bool;
    /// `wire` bytes of an input have left.
    fn release(&mut self, at: &mut Input, wire: u64);
    /// Bytes in memory that inputs share; 0: none is shared.
    fn used(&self) -> u64 {
        0
    }
    /// What [`Account::used`] may come to.
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
