//! How the ports of one switch share its memory.

mod inputs;
mod shared;

pub use inputs::{Input, InputMemory, InputSpec, Inputs, Pause, PfcSpec, PfcThreshold};
pub use shared::SharedPool;
