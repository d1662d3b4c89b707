//! How memory is accounted for by input: one contract, three implementations, a file each.

use super::dynamic::Dynamic;
use super::fixed::Fixed;
use super::own::Own;
use super::{Input, InputMemory, InputSpec};
use crate::pause::Claims;
use crate::problems::Invalid;
use serde::{Deserialize, Serialize};
use thalweg_units::dispatch;

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
}

/// The account of a switch, statically dispatched.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) enum AnyAccount {
    Own(Own),
    Fixed(Fixed),
    Dynamic(Dynamic),
}

dispatch! {
    impl Account for AnyAccount over [Own Fixed Dynamic] {
        #[inline]
        fn is_quiet(&self, at: &Input, wire: u64) -> bool;
        #[inline]
        fn take(&mut self, at: &mut Input, wire: u64) -> bool;
        #[inline]
        fn release(&mut self, at: &mut Input, wire: u64);
        #[inline]
        fn used(&self) -> u64;
        fn pool(&self) -> u64;
        #[inline]
        fn threshold(&self) -> u64;
    }
}

impl AnyAccount {
    /// Empty, of a switch with so many inputs.
    ///
    /// # Errors
    /// If reserves and headrooms do not fit, or a dynamic threshold has no memory to share out.
    pub(super) fn new(spec: &InputSpec, inputs: usize) -> Result<Self, Invalid> {
        let (xoff, most) = match spec.claims() {
            Claims::None => (u64::MAX, u64::MAX),
            Claims::Static { xoff, headroom, .. } => (xoff, xoff + headroom),
            Claims::Dynamic { alpha, reserve, headroom } => {
                let InputMemory::Shared(total) = spec.memory else {
                    return Err(Invalid::new("a dynamic threshold needs shared memory").at("memory"));
                };
                let account = Dynamic::new(total.get(), inputs, alpha, reserve, headroom)?;
                return Ok(Self::Dynamic(account));
            }
        };
        Ok(match spec.memory {
            InputMemory::PerInput(own) => Self::Own(Own::new(own.get(), xoff)),
            InputMemory::Shared(total) => Self::Fixed(Fixed::new(total.get(), xoff, most)),
        })
    }
}
