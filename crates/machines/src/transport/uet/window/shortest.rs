//! The shortest round trip of a flow, and the largest window, which follows it.

use super::Common;
use serde::{Deserialize, Serialize};
use thalweg_units::Span;

/// Shortest round trip and largest window.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Shortest {
    rtt: Span,
    most: u64,
}

impl Shortest {
    /// Before the first sample; the largest window is `multiple` bandwidth-delay products.
    pub fn new(c: &Common, multiple: f64) -> Self {
        let carried = c.base_rtt.ps() as f64 * c.line_rate.bps() as f64 / 8e12;
        Self { rtt: c.base_rtt, most: (multiple * carried) as u64 }
    }

    #[inline]
    pub fn rtt(&self) -> Span {
        self.rtt
    }

    #[inline]
    pub fn most(&self) -> u64 {
        self.most
    }

    /// A window within its bounds.
    #[inline]
    pub fn clamp(&self, c: &Common, window: u64) -> u64 {
        window.min(self.most).max(u64::from(c.mtu))
    }

    /// A round trip was measured: it counts if it is shorter by more than `slack`, which is put on top of it.
    // Whole bytes first, then the multiple, in the order in which uet-htsim computes with doubles: exact arithmetic
    // differs from it by up to two bytes of the window.
    #[inline]
    pub fn lower(&mut self, c: &Common, rtt: Span, slack: Span, multiple: f64) {
        let rtt = rtt + slack;
        if rtt < self.rtt {
            self.rtt = rtt;
            let carried = rtt.ps() as f64 / 1e6 * (c.line_rate.bps() as f64 / 8.0) / 1e6;
            self.most = (multiple * carried.trunc()) as u64;
        }
    }

    /// How much longer than the shortest a round trip was, unless it was shorter.
    #[inline]
    pub fn delay(&self, rtt: Span) -> Option<Span> {
        (rtt >= self.rtt).then(|| rtt - self.rtt)
    }
}
