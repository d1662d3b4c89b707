//! RC3, recursively cautious congestion control: R. Mittal, J. Sherry, S. Ratnasamy, S. Shenker, NSDI 2014;
//! chapter 2 of R. Mittal, UCB/EECS-2018-103, whose sections are cited here.
//!
//! Two loops over one send buffer. The *primary loop* is TCP as it is, from byte 0 upwards, in the class of
//! the flow. The *RLP loop* (recursive low priority, §2.1.1) sends what the application has just written once
//! more, from its last segment backwards until it meets the primary loop: 40 segments one class below the
//! flow's, 400 two below, 4000 three below. ACKs have the class of their data. Those of the RLP loop change
//! nothing but what is known to be delivered; the primary loop passes over it ("ACK bump", §2.3.1) and
//! repairs the holes.
//!
//! The primary loop *is* [`TcpSender`], with whatever controller: not a copy. What the two have in common is
//! one small thing, [`Extras`](super::tcp): what the other loop has delivered. It counts neither as
//! outstanding nor as evidence of losses, and its ACKs move no window, no timer and no duplicate-ACK count,
//! so without such deliveries the loop does exactly what TCP does (§2.4.1 compares the two). The receiver is
//! TCP's with ACKs in the class of what they answer.
//!
//! Two options of the authors' simulator that the published runs do not use: packets of the RLP loop are
//! handed to the NIC one by one, when it has nothing else to send ([`Handed::Pull`]); a flow that is over
//! takes those that still wait there back ([`Rc3Spec::flush`]).
//!
//! Needs: hosts and switches that serve classes by strict priority, ACKs too, and push out the least
//! important packet; hosts whose queue holds all there is to send (§2.3.2).
//!
//! Left out: FIN; retransmissions of the RLP loop, which there are none of; delayed ACKs.

mod levels;
mod receiver;
mod sender;
pub(super) mod spec;
#[cfg(test)]
mod tests;

pub use receiver::Rc3Receiver;
pub use sender::Rc3Sender;

use super::{Handed, PathNeeds, Protocol, Rc3Spec, Windows, Wire};
use crate::congestion::{ControllerSpec, Start};
use crate::problems::Invalid;
use thalweg_units::{FlowId, Stream};

impl Protocol for Rc3Spec {
    type Sender = Rc3Sender;
    type Receiver = Rc3Receiver;

    fn sender(&self, flow: FlowId, size: u64, start: &Start, _: Stream) -> Result<Rc3Sender, Invalid> {
        Rc3Sender::new(self, flow, size, start)
    }
    fn receiver(&self, flow: FlowId, size: u64, _: Stream) -> Rc3Receiver {
        Rc3Receiver::new(self, flow, size)
    }
    fn controller(&self) -> Option<&ControllerSpec> {
        Some(&self.primary.controller)
    }
    fn wire(&self) -> Wire {
        self.primary.wire()
    }
    fn windows(&self) -> Windows {
        self.primary.windows()
    }
    fn needs(&self) -> PathNeeds {
        let Self { handed, flush, .. } = *self;
        PathNeeds { when_idle: handed == Handed::Pull, discards_queued: flush, ..PathNeeds::default() }
    }
}
