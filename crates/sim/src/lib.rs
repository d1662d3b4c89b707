//! Floor 2: the simulated network.

pub mod spec;
