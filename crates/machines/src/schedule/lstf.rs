//! Least slack time first: a [`Pifo`] by the slack of the last bit (Mittal, Agarwal, Ratnasamy, Shenker,
//! "Universal Packet Scheduling", NSDI 2016, §2.1 and §5). That waits are subtracted is the header stage's
//! affair ([`crate::stage::slack`](crate::stage)).

use super::pifo::Pifo;
use super::{Around, At, Key, Needs, Parameters, Problems};
use crate::problems::Invalid;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use thalweg_units::Span;

/// Least slack time first: least slack of the last bit, the wait is subtracted at every switch (Mittal et al.,
/// Universal Packet Scheduling, NSDI 2016); needs `[slack]`.
#[derive(Clone, Debug, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Params {
    /// Slacks are cut down to whole multiples of this and packets of one bucket leave in order of arrival, as in a
    /// calendar queue; exact if not given.
    pub bucket: Option<Span>,
}

impl Parameters for Params {
    type Machine = Pifo;

    fn needs(&self) -> Needs {
        // A packet's slack is reckoned from the end of its transmission.
        Needs { key: Key::Slack, overtakes: true, fixed_rate: true, ..Needs::NOTHING }
    }
    fn check(&self, _: &Around, problems: &mut Problems) {
        if self.bucket.is_some_and(Span::is_zero) {
            let hint = "remove the key: slacks are exact without it";
            problems.wrong("bucket", "a bucket of 0s holds nothing", hint);
        }
    }
    fn make(&self, at: &At) -> Result<Pifo, Invalid> {
        Ok(Pifo::new(Some(at.rate), self.bucket.map_or(0, Span::ps)))
    }
}
