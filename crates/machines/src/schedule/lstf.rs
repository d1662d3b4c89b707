//! Least slack time first: a [`Pifo`] by the slack of the last bit (Mittal, Agarwal, Ratnasamy, Shenker, "Universal
//! Packet Scheduling", NSDI 2016, §2.1 and §5). A header stage subtracts the waiting time from the slack
//! ([`crate::stage::slack`](crate::stage)).

use super::pifo::Pifo;
use super::{Around, At, Key, Needs, Parameters, Problems};
use crate::problems::Invalid;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use thalweg_units::Span;

/// Least slack time first, by the slack of the last bit; every switch subtracts the waiting time (Mittal et al.,
/// Universal Packet Scheduling, NSDI 2016). Needs `[slack]`.
#[derive(Clone, Debug, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Params {
    /// Bucket width: slacks are rounded down to multiples of this, and packets of one bucket leave in order of arrival,
    /// as in a calendar queue. If not given, slacks are exact.
    pub bucket: Option<Span>,
}

impl Parameters for Params {
    type Machine = Pifo;

    fn needs(&self) -> Needs {
        // A packet's slack counts to the end of its transmission.
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
