//! The list of accounts, one file each.

use super::account::Account;
use super::fixed::Fixed;
use super::own::Own;
use super::spec::{Input, InputMemory, InputSpec};
use super::threshold::Threshold;
use crate::pause::Claims;
use crate::problems::Invalid;
use serde::{Deserialize, Serialize};
use thalweg_units::dispatch;

/// The account of a switch, statically dispatched.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) enum AnyAccount {
    Own(Own),
    Fixed(Fixed),
    Threshold(Threshold),
}

dispatch! {
    impl Account for AnyAccount over [Own Fixed Threshold] {
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
        fn threshold_of(&self, all: &mut dyn Iterator<Item = Input>) -> u64;
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
                let account = Threshold::new(total.get(), inputs, alpha, reserve, headroom)?;
                return Ok(Self::Threshold(account));
            }
        };
        Ok(match spec.memory {
            InputMemory::PerInput(own) => Self::Own(Own::new(own.get(), xoff)),
            InputMemory::Shared(total) => Self::Fixed(Fixed::new(total.get(), xoff, most)),
        })
    }
}
