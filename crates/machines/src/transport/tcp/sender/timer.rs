//! The retransmission timer: RFC 6298, §5.

use super::super::super::{Rto, RtoRule};
use serde::{Deserialize, Serialize};
use thalweg_units::Time;

#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(super) struct Timer {
    /// When it expires; [`Time::MAX`]: it is off.
    pub(super) deadline: Time,
    /// How long it runs.
    pub(super) rto: Rto,
}

impl Timer {
    pub(super) fn new() -> Self {
        Self { deadline: Time::MAX, rto: Rto::default() }
    }

    /// (Re)starts it.
    #[inline(always)]
    pub(super) fn start(&mut self, spec: &RtoRule, now: Time) {
        self.deadline = now.saturating_add(self.rto.timeout(spec));
    }
    #[inline(always)]
    pub(super) fn stop(&mut self) {
        self.deadline = Time::MAX;
    }
    #[inline(always)]
    pub(super) fn runs(&self) -> bool {
        self.deadline != Time::MAX
    }

    /// §5.2 and §5.3: new data was acknowledged, all there is or not.
    #[inline(always)]
    pub(super) fn restart(&mut self, spec: &RtoRule, now: Time, all: bool) {
        self.deadline = if all { Time::MAX } else { now.saturating_add(self.rto.timeout(spec)) };
    }
}
