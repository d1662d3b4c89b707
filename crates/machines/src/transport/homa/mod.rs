//! Homa, a receiver-driven transport (Montazeri, Li, Alizadeh, Ousterhout, "Homa: A Receiver-Driven
//! Low-Latency Transport Protocol Using Network Priorities", SIGCOMM 2018): the first RTTbytes of a message
//! leave at once ("unscheduled"), at a priority by the message's size; each further packet answers a grant of
//! its destination, at the priority that the grant names. A destination keeps RTTbytes granted and not yet
//! received of several messages at once (overcommitment), those with the fewest bytes left first; that is its
//! host agent's business ([`crate::host::HomaAgent`]), as is which of a source's messages sends next. A
//! message is a flow.
//!
//! ```text
//! CHOICE Homa §3.1: there are no calls, only messages, so no answer acknowledges one: one ACK reports that the
//! last byte has come.
//! CHOICE Homa §3.7: no BUSY. A destination that has received nothing of a message for `resend` requests what
//! is missing of it, and its agent repeats the last grant; a source sends again what it had sent, and leaves
//! the rest to come in its turn.
//! CHOICE Homa §3.7: what is sent again goes at the highest priority of data. (The paper: as the request names.)
//! ```

mod receiver;
mod sender;
pub(super) mod spec;
#[cfg(test)]
mod tests;

pub use receiver::HomaReceiver;
pub use sender::HomaSender;

use super::{HomaSpec, PathNeeds, Protocol, Wire};
use crate::congestion::Start;
use crate::problems::Invalid;
use thalweg_units::{FlowId, Stream};

impl Protocol for HomaSpec {
    type Sender = HomaSender;
    type Receiver = HomaReceiver;

    fn sender(&self, flow: FlowId, size: u64, _: &Start, _: Stream) -> Result<HomaSender, Invalid> {
        self.check()?;
        if size == 0 || size == u64::MAX {
            let why = "a packet names its message's size: at least 1 byte, and an end";
            return Err(Invalid::new(why).of("Homa").at("size"));
        }
        Ok(HomaSender::new(self, flow, size))
    }
    fn receiver(&self, flow: FlowId, size: u64, _: Stream) -> HomaReceiver {
        HomaReceiver::new(self, flow, size)
    }
    fn wire(&self) -> Wire {
        Wire {
            payload: self.payload,
            header: self.header,
            ack: Some(self.control),
            // Grants, or the ACK of all.
            acks: 1.0,
            ..Wire::default()
        }
    }
    /// SRPT at the source: what waits in a queue of the NIC could not be overtaken (§3.2).
    fn needs(&self) -> PathNeeds {
        PathNeeds { pulls: true, ..PathNeeds::default() }
    }
}
