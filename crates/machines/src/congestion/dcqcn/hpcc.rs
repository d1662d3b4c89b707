//! DCQCN as the HPCC authors' simulator has it (alibaba-edu/High-Precision-Congestion-Control, `rdma-hw.cc`, CC_MODE
//! 1): a notification does not cut the rate at once; the sender checks periodically whether one has come, as it does
//! for α; the rate rises by time alone, is counted after it has risen, and hyper increase does not grow.

use super::super::Problems;
use super::Dcqcn;
use serde::{Deserialize, Serialize};
use std::cmp::Ordering;
use thalweg_units::notation::Counter;
use thalweg_units::{Rate, Span, Time, tagged};

/// There is no byte counter.
pub(super) const COUNTER: Counter = Counter::Off;

tagged! {
    /// When DCQCN cuts its rate.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
    pub enum Decrease {
        /// At each notification; the receiver limits how often it sends them (the paper).
        #[default]
        AtOnce,
        /// The sender checks periodically whether a notification has come (the HPCC authors' simulator).
        Checked {
            /// Period of the checks.
            #[serde(default = "every")]
            every: Span,
        },
    }
}

fn every() -> Span {
    Span::from_us(4) // the HPCC repository's run.py
}

impl Decrease {
    /// What is wrong with it; `counts`: the byte counter is in use.
    pub(super) fn check(self, counts: bool, problems: &mut Problems) {
        let Self::Checked { every } = self else { return };
        if counts {
            let reason = "with checked decreases the rate rises by time alone";
            problems.wrong("byte_counter", reason, "write \"none\" or remove the key");
        }
        problems.positive("decrease.every", every, "4us");
    }
}

/// Notifications since the last checks.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Looks {
    /// The next check for a cut.
    at: Time,
    /// A notification has come since the last check.
    notified: bool,
    /// A notification has come since the last update of α.
    alpha_notified: bool,
}

impl Default for Looks {
    fn default() -> Self {
        Self { at: Time::MAX, notified: false, alpha_notified: false }
    }
}

impl Looks {
    /// When the next check finds a notification.
    #[inline]
    pub(super) fn due(&self) -> Time {
        if self.notified { self.at } else { Time::MAX }
    }

    /// What an update adds to (1 − g) α: g if notified since the last.
    pub(super) fn take_gain(&mut self, g: f64) -> f64 {
        if std::mem::take(&mut self.alpha_notified) { g } else { 0.0 }
    }
}

impl Dcqcn {
    /// A notification has come.
    pub(super) fn note(&mut self, now: Time, every: Span) {
        if self.looks.at == Time::MAX {
            self.alpha_at = now.saturating_add(self.params.alpha_timer);
            // A nanosecond later, so that α's update comes first.
            self.looks.at = now.saturating_add(every).saturating_add(Span::from_ns(1));
            self.target = self.rate;
        } else {
            self.age_alpha(now);
            self.looks.alpha_notified = true;
            if self.looks.at <= now {
                // Checks without a notification.
                let missed = now.since(self.looks.at).ps() / every.ps() + 1;
                self.looks.at = self.looks.at.saturating_add(every.saturating_mul(missed));
            }
        }
        self.looks.notified = true;
    }

    /// A check that finds a notification: the rate is cut.
    pub(super) fn on_look(&mut self, every: Span) {
        let at = self.looks.at;
        self.age_alpha(at);
        self.looks.notified = false;
        if self.time_count > 0 {
            self.target = self.rate;
        }
        self.cut(at, 1.0 - self.alpha / 2.0);
        self.looks.at = at.saturating_add(every);
    }

    /// The rate timer has expired: counted after the increase, and hyper increase does not grow.
    pub(super) fn climb_then_count(&mut self) {
        let step = match self.time_count.cmp(&self.params.fast_recovery) {
            Ordering::Less => Rate::ZERO,
            Ordering::Equal => self.params.additive,
            Ordering::Greater => self.params.hyper,
        };
        self.climb(step);
        self.time_count = self.time_count.saturating_add(1);
    }
}
