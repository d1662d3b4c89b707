//! What can go wrong: with an exam as it was put together, and with one run of it.

use crate::call::Call;
use std::fmt;
use thalweg_scenario::Diagnostic;

/// An exam that cannot be held; nothing was run.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// No situation is called so, or matches the pattern.
    #[error("no situation is called `{name}`{}", hint(.nearest.as_deref()))]
    UnknownSituation {
        /// As it was written.
        name: String,
        /// The situation whose name is most like it, if one is.
        nearest: Option<String>,
    },
    /// A controller, or what is set for it, cannot stand in a situation.
    #[error("`{controller}` cannot take the situation `{situation}`: {}", shown(.diagnostics))]
    Unfit {
        /// The controller.
        controller: String,
        /// The first situation that it cannot take.
        situation: String,
        /// What is wrong with the scenario, and the way out.
        diagnostics: Vec<Diagnostic>,
    },
    /// What situations read could not be laid down in the folder for temporary files.
    #[error("the files of the situations cannot be written to a temporary folder: {0}")]
    Files(#[from] std::io::Error),
}

fn hint(nearest: Option<&str>) -> String {
    nearest.map(|name| format!("; did you mean `{name}`?")).unwrap_or_default()
}

fn shown(diagnostics: &[Diagnostic]) -> String {
    diagnostics.iter().map(ToString::to_string).collect::<Vec<_>>().join("; ")
}

/// A run that did not come to its end; all others did.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Failure {
    /// In which situation.
    pub situation: String,
    /// Whose run.
    pub controller: String,
    /// Why.
    pub cause: Cause,
}

/// Why a run did not come to its end.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Cause {
    /// The controller panicked. The program's panic hook has run, as for every panic.
    Panicked {
        /// In which call.
        call: Call,
        /// With what.
        message: String,
    },
    /// What the controller allows would stop time, or every packet.
    Impossible {
        /// After which call.
        call: Call,
        /// What is wrong with it.
        reason: String,
    },
    /// The run could not be set up, or measured, or the simulator is at fault.
    Run(String),
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { situation, controller, cause } = self;
        write!(f, "{situation}: controller `{controller}`")?;
        match cause {
            Cause::Panicked { call, message } => write!(f, ", {call}: panicked: {message}"),
            Cause::Impossible { call, reason } => write!(f, ", {call}: {reason}"),
            Cause::Run(reason) => write!(f, ": {reason}"),
        }
    }
}

impl std::error::Error for Failure {}
