//! QUIC: quinn-proto, which is sans-IO itself, under a driver that paces as controllers require.
//!
//! [`Sending`] and [`Receiving`] transfer files: a thread of the caller calls `step`, which works for a limited time.
//! [`QuinnFactory`] is the adapter alone, for connections of `quinn`.

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

/// Header bytes of IPv4 and UDP for each QUIC packet; 20 bytes more with IPv6.
const BELOW: u32 = 28;
const IPV6_MORE: u32 = 20;
