//! What everything is measured in.
//!
//! One type per dimension ([`Time`], [`Span`], [`Rate`], [`Bytes`]), typed identifiers, quantity
//! strings with compulsory units, and the named random streams. Everything here is an integer:
//! sums replay exactly on every machine.
#![forbid(unsafe_code)]

mod dispatch;
mod ids;
pub mod notation;
mod quantity;
mod random;
mod rows;
mod tagged;
mod time;

pub use dispatch::mismatch;
pub use ids::{FlowId, HostId, LinkId, NodeId, PortId, WorkId};
pub use quantity::QuantityError;
pub use random::{Stream, fold64, mix64};
pub use rows::Rows;
pub use time::{Bytes, Rate, Serializer, Span, Time};
