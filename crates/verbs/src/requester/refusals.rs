//! What error NACKs do to a requester of either dialect: a pause before anything is sent again, and the end of the
//! queue pair after too many refusals of one request.
//!
//! A refusal counts once. Of one refused packet several NACKs may arrive: copies made by the path, and answers to
//! copies of the packet. All but the first change nothing until the packet has been sent again, so a request is never
//! refused more often than it was sent.

use super::{Context, Verdict};
use crate::queues::Status;
use crate::setup::Retry;
use thalweg_machines::transport::rdma::Psn;
use thalweg_units::Time;

#[derive(Clone, Copy, Debug, Default)]
pub struct Refusals {
    /// No request is sent before this.
    resume: Option<Time>,
    /// The packet that was refused and has not been sent since.
    refused: Option<Psn>,
    /// "Not ready" NACKs since something was last achieved.
    not_ready: u32,
    /// Others since then.
    errors: u32,
}

impl Refusals {
    /// An error NACK for `psn`, the lowest packet not acknowledged. True: everything from there on is to be sent again,
    /// after the pause; false: this refusal is known, and nothing changes.
    pub fn heed(&mut self, context: &mut Context<'_>, psn: Psn, verdict: Verdict) -> bool {
        if self.refused == Some(psn) {
            return false;
        }
        self.refused = Some(psn);
        context.counters.refusals += 1;
        let Retry { rnr_retry, refusals, .. } = context.setup.retry;
        let (pause, status, is_last) = match verdict {
            Verdict::NotReady(timer) => {
                self.not_ready += 1;
                let limited = rnr_retry != Retry::FOR_EVER;
                let is_last = limited && self.not_ready > u32::from(rnr_retry);
                (timer.delay(), Status::RnrRetryExceeded, is_last)
            }
            Verdict::Refused(status) => {
                self.errors += 1;
                (context.setup.rto_low, status, self.errors >= refusals)
            }
        };
        let number = context.queue.find(psn).map(|entry| entry.number);
        match number.filter(|_| is_last) {
            Some(number) => context.queue.fail(number, status),
            None => self.resume = Some(context.now + pause),
        }
        true
    }

    /// This packet is being sent.
    pub fn on_sent(&mut self, psn: Psn) {
        self.refused = self.refused.filter(|refused| *refused != psn);
    }

    /// Something was achieved.
    pub fn forget(&mut self) {
        (self.refused, self.not_ready, self.errors) = (None, 0, 0);
    }

    /// Whether the pause is not over.
    pub fn hold(&mut self, now: Time) -> bool {
        self.resume = self.resume.filter(|at| now < *at);
        self.resume.is_some()
    }

    /// When it will be.
    pub fn resume(&self) -> Option<Time> {
        self.resume
    }
}
