//! RDMA over lossless and lossy Ethernet: RoCE's go-back-N, IRN, and variants between them (Mittal et al., "Revisiting
//! Network Support for RDMA", SIGCOMM 2018). One queue pair per flow. [`irn`] and [`go_back_n`] are loss recovery alone
//! and know packet numbers only; [`timer`] decides whether a timeout fires; sender and receiver put packets and time
//! around them.

mod bitmap;
pub(super) mod choices;
mod drop_notified;
pub mod go_back_n;
mod hand_over;
pub mod irn;
mod layout;
mod psn;
mod receiver;
mod recovery;
mod segments;
mod sender;
pub(super) mod spec;
#[cfg(test)]
mod tests;
pub mod timer;

pub use bitmap::Bitmap;
pub use hand_over::State;
pub use psn::Psn;
pub use receiver::RdmaReceiver;
pub use sender::RdmaSender;

use super::{PathNeeds, Protocol, RdmaAcks, RdmaSpec, Recovery, Windows, Wire};
use crate::congestion::{ControllerSpec, Gives, Start};
use crate::problems::Invalid;
use thalweg_units::{Bytes, FlowId, Stream};

impl Protocol for RdmaSpec {
    type Sender = RdmaSender;
    type Receiver = RdmaReceiver;

    fn sender(&self, flow: FlowId, size: u64, start: &Start, stream: Stream) -> Result<RdmaSender, Invalid> {
        RdmaSender::new(self, flow, size, start, stream)
    }
    fn receiver(&self, flow: FlowId, size: u64, _: Stream) -> RdmaReceiver {
        RdmaReceiver::new(self, flow, size)
    }
    fn controller(&self) -> Option<&ControllerSpec> {
        Some(&self.controller)
    }
    fn wire(&self) -> Wire {
        let group = match &self.segments {
            Some(posted) => f64::from(posted.bytes) / f64::from(self.payload.max(1)),
            None => f64::from(self.rtt.segment),
        };
        let acks = match self.acks {
            RdmaAcks::PerPacket => 1.0,
            RdmaAcks::PerSegment => 1.0 / group.max(1.0),
            RdmaAcks::Never => 0.0,
        };
        Wire {
            payload: self.payload,
            header: self.header,
            extra_header: self.extra_header,
            ack: Some(self.answers.ack),
            acks,
            ..Wire::default()
        }
    }
    fn needs(&self) -> PathNeeds {
        let drop_notices = self.recovery == Recovery::DropNotified;
        let controller = self.controller.needs();
        let waits = self.cap.is_some() || controller.gives != Gives::Nothing;
        let predicts_idle = waits && !drop_notices && self.segments.is_none();
        let path_values = self.path_values.is_some();
        PathNeeds { drop_notices, predicts_idle, path_values, reads_notices: true, ..PathNeeds::default() }
    }
    /// Not where the host posts segments: their borders need not be those of messages.
    fn streams(&self) -> bool {
        self.segments.is_none()
    }
    /// Windows start full, at the cap.
    fn windows(&self) -> Windows {
        let full = self.cap.map_or(Bytes::MAX, |cap| Bytes::new(u64::from(cap) * u64::from(self.payload)));
        Windows { initial: full, max: full, threshold: full }
    }
}
