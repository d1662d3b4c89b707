//! Errors found while a network is built.

use thalweg_machines::Invalid;
use thalweg_net::routing::RouteError;

/// Why a specification is not a network.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum BuildError {
    /// The graph cannot be routed.
    #[error(transparent)]
    Route(#[from] RouteError),
    /// A queue discipline refuses its parameters.
    #[error("port {port}: {reason}")]
    Discipline {
        /// Number of the port.
        port: u32,
        /// Why.
        reason: Invalid,
    },
    /// A transport or controller refuses its parameters.
    #[error("transport {transport}: {reason}")]
    Transport {
        /// Index in the specification.
        transport: usize,
        /// Why.
        reason: Invalid,
    },
    /// A table is inconsistent.
    #[error("{0}")]
    Inconsistent(String),
}

/// Why [`Sim::send_frame`](crate::Sim::send_frame) cannot send a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("cannot post a frame: the scenario has no pause policy (`switch.pfc`, `switch.backpressure`, ...)")]
pub struct NoPausePolicy;

/// Wraps an error that belongs to no single port or transport.
pub(crate) fn inconsistent(error: Invalid) -> BuildError {
    BuildError::Inconsistent(error.to_string())
}
