//! Ultra Ethernet's transport (Ultra Ethernet specification 1.0, June 2025, §3.5 and §3.6): every packet of a flow
//! takes the path that its *entropy value* names, receivers place packets in any order, and switches cut what does not
//! fit to its header ([`crate::schedule::ndp`]), which draws a NACK. How much is under way is decided by the sender, by
//! a window that marks and delays move ([`window`], NSCC), by the receiver, who hands out credits at the rate of its
//! link (RCCC: its host's [`crate::host::UetAgent`]), or by both. Which entropy values are used follows from
//! [`crate::transport::path_selection`], for example REPS.
//!
//! Where the specification leaves a choice, and where it was not at hand, this follows the consortium's simulator
//! (ultraethernet/uet-htsim, files `uec.cpp`, `uec_mp.cpp`), which says that it may differ from the specification.
//!
//! ```text
//! CHOICE UET §3.5: packets are numbered apart from bytes, and requests to send (RTS) take numbers too, as in the
//! simulator.
//! CHOICE UET §3.5: one timer, on the packet that was sent longest ago; what expired is sent again, packet by packet.
//! With `back_off` above 0 the time doubles with each time that a packet was sent again, up to so many times. Other
//! reading (NICs): a timer per packet, always doubling.
//! CHOICE UET §3.5: at most one RTS per base round trip, but with credits alone no limit, as in the simulator. One that
//! is due earlier is left out, but waits if nothing else is under way.
//! CHOICE UET §3.5: a flow is complete when all of its bytes are acknowledged, whatever became of its RTSs.
//! CHOICE UET §3.6: what a sender calls for is divided by the flows of its NIC that may send, as in the simulator.
//! CHOICE UET §3.6: data that is sent before the first answer (speculative) is treated by switches as all other data.
//! CHOICE UET §3.5: the set-up of connections is not there; a flow's first packets find its other end ready. Several
//! messages over one connection, the receiver's penalty (its NIC's buffer), and SLEEK, a repair of losses without
//! trimming, are left out.
//! ```

mod delays;
mod numbers;
mod outstanding;
mod receiver;
mod sender;
pub(super) mod spec;
#[cfg(test)]
mod tests;
pub mod window;

pub use receiver::UetReceiver;
pub use sender::UetSender;

use super::{PathNeeds, Protocol, UetSpec, Wire};
use crate::Invalid;
use crate::congestion::Start;
use thalweg_units::{FlowId, Stream};

impl Protocol for UetSpec {
    type Sender = UetSender;
    type Receiver = UetReceiver;

    fn sender(&self, flow: FlowId, size: u64, start: &Start, stream: Stream) -> Result<UetSender, Invalid> {
        self.check()?;
        if size == 0 || size == u64::MAX {
            return Err("UET: the last packet says so: at least 1 byte, and an end".into());
        }
        if start.mss != self.payload {
            return Err("UET: payload is not what the flow was given".into());
        }
        Ok(UetSender::new(self, flow, size, start.line_rate, stream))
    }
    fn receiver(&self, flow: FlowId, size: u64, _: Stream) -> UetReceiver {
        UetReceiver::new(self, flow, size)
    }
    fn wire(&self) -> Wire {
        let packets = f64::from(self.ack_every).max(1.0) / f64::from(self.full().max(1));
        Wire {
            payload: self.payload,
            header: self.header,
            ack: Some(self.control),
            acks: 1.0 / packets.ceil().max(1.0),
            ..Wire::default()
        }
    }
    /// What may leave does so when the link is free, retransmissions first: nothing waits in the NIC's queue.
    fn needs(&self) -> PathNeeds {
        PathNeeds {
            pulls: true,
            path_values: self.path_selection.is_some(),
            reads_trimmed: true,
            ..PathNeeds::default()
        }
    }
}
