//! RDMA verbs over IRN (Mittal et al., "Revisiting Network Support for RDMA", SIGCOMM 2018, §4; dissertation
//! UCB/EECS-2018-103, §4.4) as state machines that own no clock, no socket and no memory.
//!
//! A [`Requester`] and a [`Responder`] are the two ends of a queue pair; they exchange packets as bytes
//! ([`wire`]) and touch registered [`memory`]. Packets that arrive out of order are placed at once; what they
//! entail (completions, Reads, Atomics, MSN) waits for everything before them as two bits per packet
//! ([`bitmap2`]). A [`Setup`] states whether a queue pair speaks IRN or falls back to RoCE.

mod arriving;
pub mod bitmap2;
#[macro_use]
mod engine;
pub mod memory;
pub mod pair;
mod queues;
mod requester;
mod responder;
mod setup;
pub mod state;
pub mod timer;
pub mod wire;

pub use arriving::Ignored;
pub use queues::{
    Arrived, Completion, Fence, Operation, PostError, ReceiveRequest, Received, Request, SendWith,
    SharedReceives, Status,
};
pub use requester::{Counters, Requester};
pub use responder::{Host, Responder};
pub use setup::{Retry, Setup, SetupError};

#[cfg(doctest)]
#[doc = include_str!("../../../docs/verbs.md")]
struct DocumentationPage;
