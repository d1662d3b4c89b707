//! pHost, a receiver-driven transport (Gao, Narayan, Kumar, Agarwal, Ratnasamy, Shenker, "pHost: Distributed
//! Near-Optimal Datacenter Transport Over Commodity Network Fabric", CoNEXT 2015): a flow announces itself
//! with a request, and each of its packets answers a token of its destination, which names the packet; so
//! that short ones need not wait, sources have free tokens. Which flow gets the next token is the business of
//! the destination's host agent ([`crate::host::PhostAgent`]), for which all its flows compete; which of
//! several flows with tokens sends next, that of the source's. When the last byte has come, one ACK reports it.
//!
//! What the paper leaves open is as in the authors' simulator (NetSys/simulator, `ext/capability*`): numbers
//! of tokens, the window counted from the highest that was answered, the waits. Left out: tenants and
//! deadlines as policies.

mod receiver;
mod sender;
pub(super) mod spec;
#[cfg(test)]
mod tests;

pub use receiver::PhostReceiver;
pub use sender::PhostSender;

use super::{PathNeeds, PhostSpec, Protocol, Wire};
use crate::congestion::Start;
use crate::problems::Invalid;
use thalweg_units::{FlowId, Stream};

impl Protocol for PhostSpec {
    type Sender = PhostSender;
    type Receiver = PhostReceiver;

    fn sender(&self, flow: FlowId, size: u64, start: &Start, _: Stream) -> Result<PhostSender, Invalid> {
        PhostSender::new(self, flow, size, start)
    }
    fn receiver(&self, flow: FlowId, size: u64, _: Stream) -> PhostReceiver {
        PhostReceiver::new(self, flow, size)
    }
    fn wire(&self) -> Wire {
        Wire {
            payload: self.payload,
            header: self.header,
            ack: Some(self.control),
            // Tokens, or the ACK of all.
            acks: 1.0,
            ..Wire::default()
        }
    }
    /// A token is spent when the link is free: what waits in a queue of the NIC would be late.
    fn needs(&self) -> PathNeeds {
        PathNeeds { pulls: true, ..PathNeeds::default() }
    }
}
