//! OpenQueue: a language for queues, shared buffers and ports, with its checks, its normal form and its engines.
#![forbid(unsafe_code)]

mod check;
pub mod datapath;
pub mod diagnose;
mod engine;
pub mod fuzzing;
mod generate;
pub mod normal;
mod show;
pub mod syntax;
pub mod target;

pub use check::check;
pub use diagnose::{Class, Diagnostic, Diagnostics};
pub use engine::{
    Bytecode, Counts, Cycle, Effect, Engine, Fault, Interpreter, Machine, Misfit, Offered, Part, Running,
    Saved, SavedRunning, Served, Stored, Tally, Unlike, Verdict,
};
pub use generate::generate;
pub use normal::Policy;
pub use show::show;

/// The items that [`generate`]d files use.
pub mod compiled {
    pub use crate::engine::Kept;
    pub use crate::engine::machine::any::{AnyBacklog, Plan};
    pub use crate::engine::machine::backlog::Slab;
    pub use crate::engine::machine::buckets::Buckets;
    pub use crate::engine::machine::line::Line;
    pub use crate::engine::machine::orders::{Apart, Order, Shared};
    pub use crate::engine::machine::ring::Ring;
    pub use crate::engine::machine::rules::{Candidate, Hook, Owner, Rules, Uses, View};
    pub use crate::engine::machine::tree::{ByComparator, ByKey, Tree};
    pub use crate::{Machine, Policy, Stored, check};
}
