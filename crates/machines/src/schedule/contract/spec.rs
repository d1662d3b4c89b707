//! A whole output queue as data.

use crate::problems::{Invalid, Problem, Problems};
use crate::schedule::{Around, At, Limit, OrderSpec, Queue};
use crate::stage::StageSpec;
use serde::{Deserialize, Serialize};
use thalweg_units::{Rate, Stream};

impl OrderSpec {
    /// See [`Parameters::check`](crate::schedule::Parameters::check).
    pub fn problems(&self, at: &Around) -> Vec<Problem> {
        Problems::found(|problems| self.check(at, problems))
    }
}

/// A whole output queue: its limit, its stages and its order.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct DisciplineSpec {
    /// Which packet leaves next, and which one is dropped.
    pub order: OrderSpec,
    /// The queue's own limit; a shared pool may refuse earlier.
    pub limit: Limit,
    /// Stages that packets pass on their way to `stage`, in this order. A queue does not hold them: only a whole
    /// port does ([`crate::egress::Egress`]).
    pub front: Vec<StageSpec>,
    /// AQM: what marks or drops packets in addition to the limit.
    pub stage: StageSpec,
    /// A packet that should go first interrupts the one being transmitted, which later resumes where it stopped
    /// (preempt-resume). Only for orders in which packets overtake ([`crate::schedule::Needs::overtakes`]).
    pub preemptive: bool,
}

impl DisciplineSpec {
    /// The queue of a port of a link of `rate` both ways; `stream` is what random decisions draw from.
    ///
    /// # Errors
    /// If parameters contradict each other, with their values, or no custom discipline of the name is known.
    pub fn make(&self, stream: Stream, rate: Rate) -> Result<Queue, Invalid> {
        self.make_between(stream, rate, rate)
    }

    /// The queue of a port of `rate`, whose link has the rate `back` the other way.
    ///
    /// # Errors
    /// Likewise.
    pub fn make_between(&self, stream: Stream, rate: Rate, back: Rate) -> Result<Queue, Invalid> {
        if self.preemptive && !self.order.needs().overtakes {
            let why = format!("an order that serves in turns cannot be preemptive: {:?}", self.order);
            return Err(Invalid::new(why).at("preemptive"));
        }
        if let Some(stage) = self.front.first() {
            let why =
                format!("{} stands in front of the queue, which only a whole port can hold", stage.key());
            return Err(Invalid::new(why).at("stages"));
        }
        Problems(self.order.problems(&Around::ANY)).first(self.order.key())?;
        self.order.queue(self.limit, &self.stage, &At { rate, back, stream, preemptive: self.preemptive })
    }
}
