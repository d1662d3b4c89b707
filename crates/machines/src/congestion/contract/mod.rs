//! What all controllers have in common, and no algorithm: what a controller declares of itself (`declare`, `spec`),
//! what it is given when its flow starts (`start`), its calls as values (`observation`), its decisions as a record
//! (`decisions`, `recorder`), its state in time series (`report`), and what a controller observes whose decisions come
//! from outside (`interval`).

#[cfg(test)]
pub(super) mod conformance;
pub mod decisions;
pub(super) mod declare;
pub(super) mod interval;
pub(super) mod observation;
pub(super) mod recorder;
pub(super) mod report;
mod spec;
pub(super) mod start;
