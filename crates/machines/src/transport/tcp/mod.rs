//! TCP: SACK (RFC 6675), by time (RFC 8985), NewReno (RFC 6582) or timer-only loss repair, as [`TcpSpec`] says.

pub(super) mod choices;
mod prr;
mod rack;
mod ranges;
mod receiver;
mod scoreboard;
mod sender;
pub(super) mod spec;
pub(super) mod video;

pub use receiver::TcpReceiver;
pub use scoreboard::Scoreboard;
pub use sender::TcpSender;

use super::{Flight, Protocol, SetUp, TcpSpec, Windows, Wire};
use crate::congestion::{ControllerSpec, Start};
use crate::problems::Invalid;
use thalweg_units::{FlowId, Stream};

impl Protocol for TcpSpec {
    type Sender = TcpSender;
    type Receiver = TcpReceiver;

    fn sender(&self, flow: FlowId, size: u64, start: &Start, _: Stream) -> Result<TcpSender, Invalid> {
        TcpSender::new(self, flow, size, start)
    }
    fn receiver(&self, flow: FlowId, size: u64, _: Stream) -> TcpReceiver {
        TcpReceiver::new(flow, size)
    }
    fn controller(&self) -> Option<&ControllerSpec> {
        Some(&self.controller)
    }
    fn wire(&self) -> Wire {
        Wire {
            payload: self.mss,
            header: self.header,
            ack: Some(self.ack_wire),
            acks: 1.0,
            set_up: self.handshake.then_some(SetUp { request: self.syn_wire, answer: self.ack_wire }),
            ..Wire::default()
        }
    }
    fn windows(&self) -> Windows {
        Windows { initial: self.initial_window, max: self.max_window, threshold: self.initial_threshold }
    }
    fn sees_receiver(&self) -> bool {
        self.flight == Flight::SpanOmniscient
    }
}
