//! Memory of switches that account for it by the input at which packets came.

mod inputs;

/// Most ports of a switch that accounts for its memory by input: an input's number has eight bits.
pub const MOST_PORTS: usize = 256;

pub use inputs::{Input, InputMemory, InputSpec, Inputs};
