//! What several controllers, or the senders that run them, are built from.

pub(super) mod back_off;
pub mod pace;
pub mod sampler;
pub(super) mod windowed;
