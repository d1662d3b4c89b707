//! The simulated network.
//!
//! A packet-level discrete-event simulation. [`Sim`] is a network ([`thalweg_net`]) at an instant, and [`Sim::run`]
//! advances it. It connects the protocol machines and takes no protocol decision itself.
//!
//! The state of a network has four owners, each of which serialises its own part: `fabric` (switches, ports, wires,
//! packets), `hosts` (the ends of the active flows, NIC scheduling), `flows` (the life of every flow) and
//! `instruments` (observers that change nothing). [`Sim`] is the run loop that moves events and packets between
//! them; `features` names the code paths that a network takes.
//!
//! * [`events`]: pending events in a total order that does not depend on the order of insertion;
//! * [`port`]: output queues, transmitters and wires; one or two events per packet-hop;
//! * [`recording`], [`replay`]: a run's packets as data, and run again under another discipline;
//! * [`snapshot`], [`sealed`], [`diff`], [`check`]: state is plain data, saved, compared and recounted on request.

pub mod arena;
mod boundary;
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
mod replay_input;
mod results;
mod rules;
mod sampling;
pub mod sealed;
mod sim;
pub mod snapshot;
mod uncontended;

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
pub use refused::{BuildError, NoPausePolicy};
pub use results::{Counters, IncidentLosses, ReliefTotals};
pub use sealed::LoadError;
pub use sim::{Halt, Sim};
pub use uncontended::Ideal;
