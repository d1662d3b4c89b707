//! The kernel's TCP: a BPF datapath (`datapath.bpf.c`) that sends every rate sample to this crate and follows the
//! decisions of controllers. Needs Linux 6.10 or newer, and root.
//!
//! [`Attached`] keeps the algorithm in the kernel as long as it lives; the processes of a [`Group`] use it.

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
