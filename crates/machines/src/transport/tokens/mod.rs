//! A receiver-driven transport, after pHost (Gao, Narayan, Kumar, Agarwal, Ratnasamy, Shenker, "pHost: Distributed Near-Optimal
//! Datacenter Transport Over Commodity Network Fabric", CoNEXT 2015): a flow announces itself with a request, may send its first
//! packets at once, and every further packet answers a token from its destination. Which flow gets the next token is the
//! business of the destination's host agent ([`crate::host::TokenAgent`]), for which all its flows compete; which of several
//! flows with tokens sends next, that of the source's.
//!
//! Left out: priorities by flow size, other policies than the least remaining bytes first, and tokens that name a packet: here a
//! token is leave for any one, the sender chooses which, and ACKs per packet tell it what arrived.

mod arrivals;
mod receiver;
mod sender;
pub(super) mod spec;
#[cfg(test)]
mod tests;

pub use receiver::TokenReceiver;
pub use sender::TokenSender;

use super::{PathNeeds, Protocol, TokenSpec, Wire};
use crate::congestion::Start;
use thalweg_units::{FlowId, Stream};

impl Protocol for TokenSpec {
    type Sender = TokenSender;
    type Receiver = TokenReceiver;

    fn sender(&self, flow: FlowId, size: u64, start: &Start, _: Stream) -> Result<TokenSender, String> {
        TokenSender::new(self, flow, size, start)
    }
    fn receiver(&self, flow: FlowId, size: u64) -> TokenReceiver {
        TokenReceiver::new(self, flow, size)
    }
    fn wire(&self) -> Wire {
        Wire {
            payload: self.payload,
            header: self.header,
            ack: Some(self.control),
            acks: 1.0,
            ..Wire::default()
        }
    }
    /// A token is spent when the link is free: what waits in a queue of the NIC would be late.
    fn needs(&self) -> PathNeeds {
        PathNeeds { pulls: true, ..PathNeeds::default() }
    }
}
