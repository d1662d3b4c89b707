//! RDMA over lossless and lossy Ethernet: RoCE, IRN and what lies between. One queue pair per flow.

mod bitmap;
pub mod irn;
mod psn;
pub(super) mod spec;
#[cfg(test)]
mod tests;

pub use bitmap::Bitmap;
pub use psn::Psn;

use super::{Endpoint, RdmaSpec, SenderStats, Transmit};
use crate::congestion::Start;
use crate::packet::{Packet, Side};
use serde::{Deserialize, Serialize};
use thalweg_units::{Bytes, FlowId, Rate, Span, Stream, Time};

impl RdmaSpec {
    /// What its controllers are told at the start of a flow on such a path: windows start full, at the cap.
    pub fn start(&self, line_rate: Rate, base_rtt: Span, time_quantum: Span) -> Start {
        let full = self.cap.map_or(Bytes::MAX, |cap| Bytes::new(u64::from(cap) * u64::from(self.payload)));
        Start {
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

/// A queue pair's requester side.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct RdmaSender {}

/// A queue pair's responder side.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct RdmaReceiver {}

impl RdmaSender {
    /// A sender of `size` payload bytes (`u64::MAX`: without end) that has not started.
    ///
    /// # Errors
    /// If a parameter is out of range; the message names it.
    pub fn new(_: &RdmaSpec, _: FlowId, _: u64, _: &Start, _: Stream) -> Result<Self, String> {
        Err("rdma is not built yet".into())
    }
    /// The flow starts: from now on `poll_transmit` answers.
    pub fn start(&mut self, _: &RdmaSpec, _: Time) {}
    /// The controller.
    pub fn controller(&self) -> &crate::congestion::Controller {
        unimplemented!()
    }
    /// Goes on with what an earlier flow has learnt.
    pub fn adopt(&mut self, _: crate::congestion::Controller) {}
    /// What it has done and where it stands.
    pub fn stats(&self) -> SenderStats {
        SenderStats::default()
    }
}

impl RdmaReceiver {
    /// A receiver of `size` payload bytes (`u64::MAX`: without end).
    pub fn new(_: &RdmaSpec, _: FlowId, _: u64) -> Self {
        Self {}
    }
    /// Payload bytes received in order.
    pub fn received(&self) -> u64 {
        0
    }
    /// Distinct payload bytes received, those above a gap included.
    pub fn unique_bytes(&self) -> u64 {
        0
    }
}

macro_rules! silent {
    ($end:ty) => {
        impl Endpoint for $end {
            type Spec = RdmaSpec;
            fn on_packet(&mut self, _: &RdmaSpec, _: Time, _: &Packet, _: Option<&Side>) {}
            fn on_timer(&mut self, _: &RdmaSpec, _: Time) {}
            fn poll_transmit(&mut self, _: &RdmaSpec, _: Time, _: &mut Packet, _: &mut Side) -> Transmit {
                Transmit::Idle
            }
            fn timer(&self) -> Option<Time> {
                None
            }
            fn is_done(&self) -> bool {
                false
            }
        }
    };
}
silent!(RdmaSender);
silent!(RdmaReceiver);
