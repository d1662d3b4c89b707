//! Records of the arrivals and decisions of a port as a file, and replay of the same port offline.
//!
//! The format does not depend on the driver of the port: an emulator with real packets, or a simulator. A record begins
//! with the port ([`Port`]): link, queue, stages, seed. Arrivals and decisions follow in the order of time.
//! [`replay::replay`] makes a machine of this port, feeds it the arrivals in virtual time ([`path`]), and compares its
//! decisions.

pub mod encoder;
mod entry;
pub mod log;
pub mod path;
mod pool;
pub mod port;
pub mod replay;

pub use port::Port;
