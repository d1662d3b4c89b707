//! A window of one size.
//!
//! ```text
//! CHOICE uet-htsim: a timeout takes one packet off it, for good (its `constant` controller). Other reading: nothing
//! does.
//! ```

use super::{Acked, Common, Nacked};
use crate::problems::Invalid;
use serde::{Deserialize, Serialize};
use thalweg_units::{Bytes, Span};

/// A window that only timeouts change.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FixedSpec {
    /// The window in bytes on the wire.
    pub size: Bytes,
}

impl FixedSpec {
    pub(super) fn check(&self) -> Result<(), Invalid> {
        if self.size == Bytes::ZERO {
            let why = "a window of 0 bytes sends nothing";
            return Err(Invalid::new(why).of("fixed window").at("size").hint("allowed: at least a packet"));
        }
        Ok(())
    }

    pub(super) fn make(&self, c: &Common) -> FixedWindow {
        FixedWindow { size: self.size.get(), least: c.mtu, base_rtt: c.base_rtt }
    }
}

/// One flow's.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FixedWindow {
    size: u64,
    least: u32,
    base_rtt: Span,
}

impl FixedWindow {
    #[inline]
    pub(super) fn size(&self) -> u64 {
        self.size
    }
    pub(super) fn most(&self) -> u64 {
        self.size
    }
    pub(super) fn base_rtt(&self) -> Span {
        self.base_rtt
    }
    #[inline]
    pub(super) fn on_ack(&mut self, _: &FixedSpec, ack: &Acked) {
        if let Some(sample) = ack.rtt.filter(|sample| sample.lowers_base) {
            self.base_rtt = self.base_rtt.min(sample.rtt);
        }
    }
    pub(super) fn on_nack(&mut self, _: &FixedSpec, nack: &Nacked) {
        self.base_rtt = nack.rtt.map_or(self.base_rtt, |rtt| rtt.min(self.base_rtt));
    }
    pub(super) fn on_timeout(&mut self, _: &FixedSpec, bytes: u32) {
        self.size = self.size.saturating_sub(u64::from(bytes)).max(u64::from(self.least));
    }
}
