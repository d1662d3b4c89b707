//! What error NACKs do to a requester of either dialect: a delay before anything is sent again, and the end
//! of the queue pair after so many refusals of one request.

use super::{Context, Verdict};
use thalweg_machines::transport::rdma::Psn;
use thalweg_units::Time;

#[derive(Clone, Copy, Debug, Default)]
pub struct Refusals {
    /// No request before this.
    resume: Option<Time>,
    /// Refusals since something was last achieved.
    count: u32,
}

impl Refusals {
    /// An error NACK for this packet: everything from there on is to be sent again, after the delay.
    pub fn heed(&mut self, context: &mut Context<'_>, psn: Psn, verdict: Verdict) {
        context.counters.refusals += 1;
        self.resume = Some(context.now + context.setup.rnr_delay);
        if let Verdict::Refused(status) = verdict {
            self.count += 1;
            let refused = context.queue.find(psn).map(|entry| entry.number);
            if let Some(number) = refused.filter(|_| self.count >= context.setup.refusals) {
                context.queue.fail(number, status);
            }
        }
    }

    /// Something was achieved.
    pub fn forget(&mut self) {
        self.count = 0;
    }

    /// Whether the delay is not over.
    pub fn hold(&mut self, now: Time) -> bool {
        self.resume = self.resume.filter(|at| now < *at);
        self.resume.is_some()
    }

    /// When it will be.
    pub fn resume(&self) -> Option<Time> {
        self.resume
    }
}
