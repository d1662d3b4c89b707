//! The window of REPS' experiments: marks alone move it, ACK by ACK (Bonato et al., EuroSys 2026, §4; MP-RDMA's
//! rule).
//!
//! ```text
//! CHOICE REPS §4: a marked ACK takes off a quarter of the bytes that it reports, as in the artifact. Other reading:
//! DCTCP's share of a window.
//! CHOICE REPS §4: fast increase as NSCC has it: of ACKs of less delay than `low_delay`. With `fast = 0` there is none.
//! ```

use super::fast::Fast;
use super::shortest::Shortest;
use super::{Acked, Common, Nacked};
use crate::problems::{Invalid, Problems};
use serde::{Deserialize, Serialize};
use thalweg_units::{Rate, Span};

/// A window that only marks change.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct DctcpSpec {
    /// Initial and largest window, in bandwidth-delay products: link rate times shortest round trip.
    pub window: f64,
    /// Decrease of the window at a marked ACK, as a fraction of the bytes that it reports.
    pub cut: f64,
    /// Fast increase: bytes per byte that is acknowledged without delay.
    pub fast: f64,
    /// Queueing delays below this count as none.
    pub low_delay: Span,
}

impl DctcpSpec {
    /// As in REPS' artifact, in a network of such round trips and links.
    pub fn of(base_rtt: Span, rate: Rate) -> Self {
        let nscc = super::NsccSpec::of(base_rtt, rate, false);
        Self { window: nscc.window, cut: 0.25, fast: nscc.fast, low_delay: nscc.low_delay }
    }

    pub(super) fn check(&self) -> Result<(), Invalid> {
        let mut problems = Problems::default();
        problems.share("cut", self.cut);
        for (key, gain, least) in [("window", self.window, f64::MIN_POSITIVE), ("fast", self.fast, 0.0)] {
            if !(least..f64::INFINITY).contains(&gain) {
                problems.wrong(key, format!("{gain} is out of range"), "allowed: finite, not negative");
            }
        }
        problems.first("DCTCP-like window")
    }

    pub(super) fn make(&self, c: &Common) -> DctcpWindow {
        let shortest = Shortest::new(c, self.window);
        let size = shortest.clamp(c, shortest.most()) as f64;
        DctcpWindow { common: *c, shortest, size, fast: Fast::default() }
    }
}

/// One flow's.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct DctcpWindow {
    common: Common,
    shortest: Shortest,
    /// Bytes, with the fractions that single ACKs add.
    size: f64,
    fast: Fast,
}

impl DctcpWindow {
    #[inline]
    pub(super) fn size(&self) -> u64 {
        self.size as u64
    }
    pub(super) fn most(&self) -> u64 {
        self.shortest.most()
    }
    pub(super) fn base_rtt(&self) -> Span {
        self.shortest.rtt()
    }

    pub(super) fn on_ack(&mut self, spec: &DctcpSpec, ack: &Acked) {
        if let Some(sample) = ack.rtt.filter(|sample| sample.lowers_base) {
            self.shortest.lower(&self.common, sample.rtt, Span::ZERO, spec.window);
        }
        let delay = ack.rtt.and_then(|sample| self.shortest.delay(sample.rtt));
        let new = ack.new as f64;
        if ack.marked {
            self.fast.stop();
            self.set(self.size - spec.cut * new);
            return;
        }
        let fast = match delay {
            Some(delay) if delay < spec.low_delay && spec.fast > 0.0 => {
                self.fast.grow(self.size as u64, ack.new, spec.fast)
            }
            Some(_) => {
                self.fast.stop();
                None
            }
            None => None,
        };
        let grown = match fast {
            Some(size) => size as f64,
            None => self.size + new * f64::from(self.common.mtu) / self.size,
        };
        self.set(grown);
    }

    pub(super) fn on_nack(&mut self, spec: &DctcpSpec, nack: &Nacked) {
        if let Some(rtt) = nack.rtt {
            self.shortest.lower(&self.common, rtt, Span::ZERO, spec.window);
        }
        self.fast.stop();
        if !nack.spares {
            self.set(self.size - f64::from(self.common.mtu));
        }
    }

    pub(super) fn on_timeout(&mut self, _: &DctcpSpec, _: u32) {
        self.fast.stop();
        self.set(self.size - f64::from(self.common.mtu));
    }

    fn set(&mut self, size: f64) {
        self.size = size.min(self.shortest.most() as f64).max(f64::from(self.common.mtu));
    }
}
