//! No window: only credits of the receiver limit the flow.

use super::{Acked, Common, Nacked};
use crate::problems::Invalid;
use serde::{Deserialize, Serialize};
use thalweg_units::Span;

/// Its parameters: none.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct UnboundedSpec;

impl UnboundedSpec {
    pub(super) fn check(&self) -> Result<(), Invalid> {
        Ok(())
    }
    pub(super) fn make(&self, c: &Common) -> Unbounded {
        Unbounded { base_rtt: c.base_rtt }
    }
}

/// One flow's.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Unbounded {
    base_rtt: Span,
}

impl Unbounded {
    #[inline]
    pub(super) fn size(&self) -> u64 {
        u64::MAX
    }
    pub(super) fn most(&self) -> u64 {
        u64::MAX
    }
    pub(super) fn base_rtt(&self) -> Span {
        self.base_rtt
    }
    #[inline]
    pub(super) fn on_ack(&mut self, _: &UnboundedSpec, _: &Acked) {}
    pub(super) fn on_nack(&mut self, _: &UnboundedSpec, _: &Nacked) {}
    pub(super) fn on_timeout(&mut self, _: &UnboundedSpec, _: u32) {}
}
