//! Floor 2: the simulated network.
//!
//! A packet-level discrete-event simulation: [`Sim`] is a network at an instant, [`Sim::run`] takes
//! it forward. It wires the machines of floor 1 together and takes no protocol decision itself.
//!
//! * [`events`]: what happens next, in a total order that does not depend on insertion history;
//! * [`port`]: output queues, transmitters and wires; one or two events per packet-hop;
//! * [`routing`]: shortest paths of any graph;
//! * [`recording`], [`replay`]: a run's packets as data, and run again under another discipline;
//! * [`ideal`]: how long a flow takes alone, as a closed form;
//! * [`snapshot`], [`sealed`], [`diff`], [`check`]: state is data, replayable, and recounted on request.

pub mod arena;
pub mod beside;
mod build;
pub mod check;
mod circle;
mod connection;
pub mod diff;
pub mod events;
mod express;
mod fabric;
pub mod flow;
mod flows;
mod gate;
mod header;
mod hosts;
pub mod ideal;
mod incident;
mod journal;
mod lookahead;
mod memory;
mod nic;
mod ordered;
pub mod pause;
mod peaks;
pub mod port;
mod preempt;
pub mod prefetch;
pub mod probe;
mod quanta;
pub mod recording;
pub mod replay;
mod results;
mod ring;
pub mod routing;
pub mod sealed;
mod sim;
pub mod snapshot;
pub mod spec;

pub use build::{BuildError, ends};
pub use check::Violation;
pub use flow::{FlowEnd, FlowOutcome};
pub use pause::{Deadlock, PauseRecord};
pub use peaks::MemoryPeaks;
pub use recording::Recorded;
pub use replay::{Exit, Injection};
pub use sealed::LoadError;
pub use sim::{Counters, Sim, Tally};
