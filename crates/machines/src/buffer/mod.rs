//! Memory of switches that account for it by the input at which packets came.

mod inputs;

pub use inputs::{Input, InputMemory, InputSpec, Inputs};
