//! What passed a port and what the port decided, as a file, and the same port offline.
//!
//! One format, whichever driver ran the port: packets of the kernel, or those of a simulated network. A record begins
//! with the port ([`Port`]): link, queue, stages, seed. Arrivals and decisions follow in the order in which they
//! happened. [`replay::replay`] drives a machine that is made of the former with the arrivals, in virtual time
//! ([`path`]), and compares what it decides.

pub mod encoder;
mod entry;
pub mod log;
pub mod path;
mod pool;
pub mod port;
pub mod replay;

pub use port::Port;
