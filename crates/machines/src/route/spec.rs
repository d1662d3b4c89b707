//! What follows from a rule's parameters, whichever it is.

use super::{Around, RouteMachine, RouteSpec, Site};
use crate::problems::{Invalid, Problem, Problems};

impl RouteSpec {
    /// See [`Parameters::check`](super::Parameters::check).
    pub fn problems(&self, at: &Around) -> Vec<Problem> {
        Problems::found(|problems| self.check(at, problems))
    }

    /// The machine of a node.
    ///
    /// # Errors
    /// If a parameter is out of range.
    pub fn make(&self, at: &Site) -> Result<RouteMachine, Invalid> {
        Problems(self.problems(&Around::ANY)).first(self.key())?;
        Ok(self.unchecked(at))
    }
}
