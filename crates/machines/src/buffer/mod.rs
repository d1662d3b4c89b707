//! Switch memory that is accounted by ingress: for each input, the bytes that arrived there.

mod inputs;

/// Most ports of a switch that accounts for its memory by input: an input's number has eight bits.
pub const MOST_PORTS: usize = 256;

pub use inputs::{Input, InputMemory, InputSpec, Inputs};
