//! How the ports of one switch share its memory.

mod shared;

pub use shared::SharedPool;
