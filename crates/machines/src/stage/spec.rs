//! What follows from the parameters of any stage.

use super::{Acts, Around, HeaderStage, Needs, StageMachine, StageSpec};
use crate::problems::{Invalid, Problem, Problems};
use thalweg_units::{Rate, Stream};

impl StageSpec {
    /// See [`Parameters::check`](super::Parameters::check).
    pub fn problems(&self, at: &Around) -> Vec<Problem> {
        Problems::found(|problems| self.check(at, problems))
    }

    /// What its machines must be given; nothing, if they cannot be made.
    pub fn needs(&self) -> Needs {
        self.make(Stream::default(), Rate::from_gbps(1)).map_or(Needs::default(), |made| made.needs())
    }

    /// It marks packets as they leave, by what they leave behind, and does nothing else.
    pub fn marks_leaving(&self) -> bool {
        let leaving = Needs { departures: true, ..Needs::default() };
        self.acts() == Acts::Marks && self.needs() == leaving
    }

    /// The stage of a port of `rate`; `stream` is what chance draws from.
    ///
    /// # Errors
    /// If parameters contradict each other.
    pub fn make(&self, stream: Stream, rate: Rate) -> Result<StageMachine, Invalid> {
        Problems(self.problems(&Around::ANY)).first(self.key())?;
        self.unchecked(stream, rate)
    }
}
