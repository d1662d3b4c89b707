//! RDMA over lossless and lossy Ethernet: RoCE's go-back-N, IRN, and what lies between (Mittal et al., "Revisiting Network
//! Support for RDMA", SIGCOMM 2018). One queue pair per flow. [`irn`] and [`go_back_n`] are loss recovery alone and know
//! packet numbers only; [`timer`] decides whether a timeout fires; sender and receiver put packets and time around them.

mod bitmap;
pub mod go_back_n;
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
pub use psn::Psn;
pub use receiver::RdmaReceiver;
pub use sender::{HandOver, RdmaSender};

use super::RdmaSpec;
use crate::congestion::Start;
use thalweg_units::{Bytes, FlowId, Rate, Span, Stream};

impl RdmaSpec {
    /// What its controllers are told at the start of a flow on such a path: windows start full, at the cap.
    pub fn start(&self, line_rate: Rate, base_rtt: Span, time_quantum: Span) -> Start {
        let full = self.cap.map_or(Bytes::MAX, |cap| Bytes::new(u64::from(cap) * u64::from(self.payload)));
        Start {
            flow: FlowId(0),
            stream: Stream::default(),
            mss: self.payload,
            initial_window: full,
            max_window: full,
            initial_threshold: full,
            line_rate,
            base_rtt,
            time_quantum,
        }
    }
}
