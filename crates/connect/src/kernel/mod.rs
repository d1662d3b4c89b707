//! The kernel's TCP: a BPF datapath (`datapath.bpf.c`) that sends every rate sample here and follows what the
//! controllers decide. Linux 6.10 or newer, with the rights of root.
//!
//! [`Attached`] holds the algorithm in the kernel for as long as it lives; processes of a [`Group`] use it.

mod adapter;
mod attached;
mod clock;
mod connection;
mod decisions;
mod error;
mod group;
mod latency;
mod loader;
mod records;

pub use adapter::{Adapter, Decision};
pub use attached::{Attached, Statistics};
pub use connection::Summary;
pub use error::Error;
pub use group::Group;
pub use records::{Kind, Record};
