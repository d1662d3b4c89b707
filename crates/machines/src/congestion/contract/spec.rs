//! What follows from a controller's parameters, whichever it is.

use crate::congestion::{Controller, ControllerSpec, Recorder, Start};
use crate::problems::{Invalid, Problem, Problems};
use thalweg_units::Rate;

impl ControllerSpec {
    /// See [`Parameters::check`](crate::congestion::Parameters::check).
    pub fn problems(&self, line: Rate) -> Vec<Problem> {
        Problems::found(|problems| self.check(line, problems))
    }

    /// A new controller for a flow that starts.
    ///
    /// # Errors
    /// If a parameter is out of range, or nothing is registered under a custom name.
    pub fn make(&self, start: &Start) -> Result<Controller, Invalid> {
        Problems(self.problems(start.line_rate)).first(self.key())?;
        let made = self.unchecked(start)?;
        if !start.records {
            return Ok(made);
        }
        let start = Start { records: false, ..*start };
        Ok(Controller::Recorded(Box::new(Recorder::new(self, &start, made))))
    }
}
