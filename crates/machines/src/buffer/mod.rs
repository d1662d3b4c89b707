//! How the ports of one switch share its memory.

mod inputs;
mod shared;

pub use inputs::{Input, InputMemory, InputSpec, Inputs};
pub use shared::SharedPool;
