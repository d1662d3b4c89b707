//! What a kind of transmitter declares: its keys with defaults, documentation and ranges, and what cannot take effect.
//! The scenario schema, `explain`, the catalogue, the manual and the checks are derived from it.

use super::trace::Trace;
use crate::problems::{Invalid, Problems};
use schemars::JsonSchema;
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::fmt::Debug;
use std::sync::Arc;
use thalweg_units::{Span, Stream};

/// A kind's parameters: its table in scenarios. The doc comment of the struct is the summary, with its source in
/// parentheses; those of the fields document the keys; serde holds the defaults.
pub trait Parameters: Clone + Debug + PartialEq + Serialize + DeserializeOwned + JsonSchema {
    /// The machine's parameters.
    type Spec;

    /// The file of delivery opportunities that it reads.
    fn file(&self) -> Option<&str> {
        None
    }

    /// What is impossible, or cannot take effect in a run that ends at `run`; `trace` is what the file holds.
    fn check(&self, _run: Span, _trace: Option<&Trace>, _problems: &mut Problems) {}

    /// The machine's parameters, from some that were checked.
    ///
    /// # Errors
    /// If something is missing or out of range.
    fn spec(&self, making: Making) -> Result<Self::Spec, Invalid>;
}

/// What a transmitter's parameters do not state themselves.
#[derive(Clone, Debug)]
pub struct Making {
    /// Serialisation times are cut down to whole multiples of this.
    pub quantum: Span,
    /// Chance, of this direction of this link alone.
    pub stream: Stream,
    /// What [`Parameters::file`] holds.
    pub trace: Option<Arc<Trace>>,
}
