//! Why a run stays on one thread.

use thalweg_sim::parts::Undivided;
use thalweg_units::Span;

/// Why a run stays on one thread although more were requested or offered.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NotParallel {
    /// Something in it acts on several nodes at one instant, or no wire that can be cut divides it.
    #[error("the network cannot be divided: {0}")]
    Undivided(#[from] Undivided),
    /// More threads would cost more than they save.
    #[error(
        "the run is too small to be worth dividing: {ports} ports and {flows} flows, in {parts} parts that affect each \
         other after {lookahead}"
    )]
    Small {
        /// Ports of its network, two for each link.
        ports: usize,
        /// All flows.
        flows: usize,
        /// Parts that it could be cut into.
        parts: usize,
        /// How long nothing that happens in one part can affect another.
        lookahead: Span,
    },
    /// A controller whose calls are serialised, as those in Python are.
    #[error("the controller `{controller}` does not run in parallel")]
    Serial {
        /// Its name.
        controller: String,
    },
    /// What is run whole is divided only before anything has happened.
    #[error("the run has begun on the whole network, {events} events ago")]
    BegunWhole {
        /// Events so far.
        events: u64,
    },
    /// The laws are those of a whole network.
    #[error("`run.check` recounts the whole network")]
    Checked,
}

/// Why invariants cannot be checked: the run is under way in parts, and the laws are those of a whole network.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the run has begun in {parts} parts of the network, {events} events ago")]
pub struct BegunInParts {
    /// Parts of the network.
    pub parts: usize,
    /// Events so far.
    pub events: u64,
}
