//! What follows from a point's parameters, whichever it is.

use super::{PointMachine, PointSpec};
use crate::problems::{Invalid, Problem, Problems};
use thalweg_units::{Rate, Stream};

impl PointSpec {
    /// See [`Parameters::check`](super::Parameters::check).
    pub fn problems(&self) -> Vec<Problem> {
        Problems::found(|problems| {
            let impossible = |size| format!("a message of {size} is impossible");
            problems.size("message", self.message(), impossible, "84B");
            self.check(problems);
        })
    }

    /// The point of a port of `rate`; `stream` is what chance draws from.
    ///
    /// # Errors
    /// If parameters contradict each other, or the port's rate.
    pub fn make(&self, stream: Stream, rate: Rate) -> Result<PointMachine, Invalid> {
        Problems(self.problems()).first(self.key())?;
        self.unchecked(stream, rate)
    }
}
