//! What a link's transmitter can be in scenarios: the one list of kinds, and what each declares of itself. A
//! kind is its file, with its parameters as the table's schema, and a line here; several kinds may be made
//! into the same machine.

use super::declare::{Making, Parameters};
use super::trace::Trace;
use super::transmitter::TransmitterSpec;
use crate::problems::{Invalid, Problem, Problems};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use thalweg_units::Span;

/// `Name(parameters), "key in scenarios";` for each.
macro_rules! kinds {
    ($($name:ident($params:ty), $key:literal;)*) => {
        /// A transmitter as scenarios have it: a table with a `kind`.
        #[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
        #[serde(tag = "kind")]
        pub enum TransmitterKind {
            $(#[allow(missing_docs)] #[serde(rename = $key)] $name($params),)*
        }

        impl TransmitterKind {
            /// The names of all kinds.
            pub const KEYS: &'static [&'static str] = &[$($key),*];

            /// Its name in scenarios.
            pub fn key(&self) -> &'static str {
                match self { $(Self::$name(_) => $key),* }
            }

            /// See [`Parameters::file`].
            pub fn file(&self) -> Option<&str> {
                match self { $(Self::$name(p) => p.file()),* }
            }

            /// See [`Parameters::check`].
            pub fn problems(&self, run: Span, trace: Option<&Trace>) -> Vec<Problem> {
                let mut problems = Problems::default();
                match self { $(Self::$name(p) => p.check(run, trace, &mut problems)),* }
                problems.0
            }

            /// See [`Parameters::spec`].
            ///
            /// # Errors
            /// See there.
            pub fn spec(&self, making: Making) -> Result<TransmitterSpec, Invalid> {
                match self { $(Self::$name(p) => p.spec(making).map(TransmitterSpec::from)),* }
            }
        }
    };
}

kinds! {
    Fixed(super::fixed::Params), "fixed";
    Stepped(super::stepped::SteppedSpec), "stepped";
    SquareWave(super::square::Params), "square-wave";
    Traced(super::traced::Params), "traced";
    Cellular(super::cellular::Params), "cellular";
    Batched(super::batched::BatchedSpec), "batched";
}
