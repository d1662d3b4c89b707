//! What follows from a relief's parameters, whichever it is.

use super::{ReliefMachine, ReliefSpec, Site};
use crate::problems::{Invalid, Problem, Problems};

impl ReliefSpec {
    /// See [`Parameters::check`](super::Parameters::check).
    pub fn problems(&self) -> Vec<Problem> {
        Problems::found(|problems| self.check(problems))
    }

    /// The relief of a switch.
    ///
    /// # Errors
    /// If parameters are impossible.
    pub fn make(&self, site: &Site) -> Result<ReliefMachine, Invalid> {
        Problems(self.problems()).first(self.key())?;
        Ok(self.unchecked(site))
    }
}
