//! Loss repair around the recovery core: the retransmission timer, and what is fetched again.

use super::super::super::{RdmaSpec, Rto, TimerRestart};
use super::super::recovery::LossRecovery;
use super::super::timer::Timer;
use serde::{Deserialize, Serialize};
use thalweg_units::Time;

#[derive(Clone, Debug, Serialize, Deserialize)]
pub(in super::super) struct Repair {
    pub(in super::super) recovery: LossRecovery,
    pub(super) timer: Timer,
    pub(super) rto: Rto,
    /// The data found lost last may leave from this instant on.
    pub(super) fetched: Time,
}

impl Repair {
    pub(super) fn new(spec: &RdmaSpec) -> Self {
        Self {
            recovery: LossRecovery::new(spec),
            timer: Timer::STOPPED,
            rto: Rto::default(),
            fetched: Time::ZERO,
        }
    }

    /// While lost data is fetched, nothing may leave before this instant.
    #[inline]
    pub(super) fn allows_from(&self) -> Time {
        if self.recovery.is_pending() { self.fetched } else { Time::ZERO }
    }

    /// The timer runs from now on.
    #[inline]
    pub(super) fn start_timer(&mut self, spec: &RdmaSpec, now: Time) {
        self.timer.start(&spec.timer, now, &self.rto);
    }

    /// Restarts or stops the timer after an ACK or NACK; `advances`: it acknowledged new data.
    // CHOICE IRN §4.2: the paper says when the timer fires, not when it starts: whenever una moves, as TCP's, or with
    // every answer. The statistics of the authors' trace (§4.5.2) are those of the latter: see papers/irn/traces.py.
    #[inline]
    pub(super) fn restart_timer(&mut self, spec: &RdmaSpec, now: Time, advances: bool) {
        if self.recovery.in_flight() == 0 {
            self.timer.stop();
        } else if advances || spec.timer_restart == TimerRestart::Answer {
            self.start_timer(spec, now);
        }
    }
}
