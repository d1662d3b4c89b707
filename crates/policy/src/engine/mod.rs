//! Engines, which run a policy. All are sans-IO and make the same decisions, bit by bit:
//!
//! - [`Interpreter`]: the semantics of the specification (M4) line by line on plain lists; the oracle.
//! - [`Machine`] with [`Bytecode`]: for files that are read at run time, on the data structures that the comparators
//!   allow.
//! - [`Machine`] with rules that `generate` has written in Rust.
//!
//! A driver keeps the packets, offers arrivals ([`Engine::arrive`]) and polls free ports ([`Engine::dequeue`], or
//! [`Engine::cycle`] if packets need cycles of processing).

mod bytecode;
mod change;
mod contract;
pub(crate) mod decisions;
mod interpreter;
pub(crate) mod machine;
mod packet;
mod tally;

pub use bytecode::Bytecode;
pub use change::{Running, SavedRunning, Unlike};
pub use contract::{Cycle, Effect, Engine, Fault, Part, Served, Verdict};
pub use interpreter::Interpreter;
pub use machine::{Machine, Misfit, Saved};
pub use packet::{Kept, Offered, Stored};
pub use tally::{Counts, Tally};
