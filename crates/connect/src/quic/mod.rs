//! QUIC: quinn-proto, which is sans-IO itself, under a driver that keeps the paces of controllers.
//!
//! [`Sending`] and [`Receiving`] move files: a thread of yours calls `step`, which works for as long as it is allowed
//! to. [`QuinnFactory`] is the bare adapter for those whose connections are `quinn`'s.

mod adapter;
mod clock;
mod controller;
mod delivery;
mod error;
mod file;
mod link;
mod receiving;
mod sending;
mod socket;
mod tls;

pub use adapter::Adapter;
pub use controller::QuinnFactory;
pub use error::Error;
pub use file::{Header, Reply};
pub use receiving::{Received, Receiving};
pub use sending::{Sending, Statistics};
pub use tls::Fingerprint;

/// IPv4 and UDP below each QUIC packet; 20 bytes more with IPv6.
const BELOW: u32 = 28;
const IPV6_MORE: u32 = 20;
