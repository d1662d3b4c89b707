//! Work requests and completions, at both ends.

mod receive;
mod request;
pub(crate) mod send;

pub use receive::{Arrived, ReceiveRequest, Received, SharedReceives};
pub(crate) use receive::{Premature, Receives};
pub use request::{Completion, Fence, Operation, PostError, Request, SendWith, Status};
