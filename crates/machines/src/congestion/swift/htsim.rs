//! Swift as csg-htsim has it (Broadcom/csg-htsim, `sim/swift.cpp`), where that differs from Algorithm 1:
//! windows are whole bytes, the target looks at whole packets, the term for hops is lost (the hops of a route
//! that was copied are not counted), and a loss is answered when it is repaired, not when it is found.

use super::super::AckSample;
use super::{Swift, Variant};

impl Swift {
    fn is_htsim(&self) -> bool {
        self.params.variant == Variant::Htsim
    }

    /// Packets of the window, as the target sees them. None at all: the target's bound holds.
    pub(super) fn window_of_target(&self) -> f64 {
        let packets = self.window / self.mss;
        if self.is_htsim() { packets.trunc() } else { packets }
    }

    /// A window that has changed.
    pub(super) fn round(&mut self) {
        if self.is_htsim() {
            self.window = self.window.trunc();
        }
    }

    /// A loss was found. Returns whether the cut is deferred until the loss is repaired.
    pub(super) fn answers_later(&mut self) -> bool {
        self.owes = self.is_htsim();
        self.owes
    }

    /// An ACK after which nothing is left to repair.
    pub(super) fn repaired(&mut self, ack: &AckSample) {
        if self.owes && !ack.in_recovery {
            self.owes = false;
            self.on_lost(ack.now);
        }
    }
}
