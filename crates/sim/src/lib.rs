//! Floor 4: the simulated network.
//!
//! A packet-level discrete-event simulation: [`Sim`] is a network ([`thalweg_net`]) at an instant,
//! [`Sim::run`] takes it forward. It wires machines together and takes no protocol decision itself.
//!
//! The state of a network has four owners, each of which serialises its own part: `fabric` (switches, ports, wires,
//! packets), `hosts` (the ends of the active flows, NIC scheduling), `flows` (the life of every flow) and `instruments`
//! (what looks on). [`Sim`] is the run loop that moves events and packets between them; `features` names which code
//! paths a network takes.
//!
//! * [`events`]: what happens next, in a total order that does not depend on insertion history;
//! * [`port`]: output queues, transmitters and wires; one or two events per packet-hop;
//! * [`recording`], [`replay`]: a run's packets as data, and run again under another discipline;
//! * [`snapshot`], [`sealed`], [`diff`], [`check`]: state is data, replayable, and recounted on request.

pub mod arena;
mod border;
mod build;
pub mod check;
mod cx;
pub mod diff;
pub mod events;
mod fabric;
mod features;
mod flows;
mod hosts;
mod instruments;
mod lookahead;
pub mod parts;
mod paths;
pub mod port;
pub mod prefetch;
mod refused;
mod results;
mod rules;
mod sampling;
pub mod sealed;
mod sim;
pub mod snapshot;

pub use check::Violation;
pub use fabric::carried::Carried;
pub use fabric::memory::MemoryPeaks;
pub use flows::record::{FlowCounts, FlowEnd, FlowOutcome};
pub use flows::works::WorkRecord;
pub use hosts::replay::{self, Exit, Injection};
pub use instruments::EdgeTally;
pub use instruments::delays::Delays;
pub use instruments::pauses::{Deadlock, PauseRecord};
pub use instruments::probe;
pub use instruments::recording::{self, Recorded};
pub use refused::BuildError;
pub use results::Counters;
pub use sealed::LoadError;
pub use sim::{Pause, Sim};
