//! Reliability, apart from congestion control: a sender and a receiver machine per flow.
//!
//! Both are driven alike: `on_packet` and `on_timer` feed observations in, `poll_transmit` hands packets
//! out one by one until it reports why it stops, and `timer` names the next deadline (the owner re-arms
//! lazily: a deadline may move later at any time). After *every* `on_packet`, `on_timer` and
//! [`Sender::start`], poll until it answers something else than [`Transmit::Packet`]. The owner adds what
//! only the network knows: destination and route.
//!
//! What all flows of one kind of transport share (a [`TransportSpec`]) is not kept in each of them but
//! passed to every call: always the one that the machine was made with. It also says, once, what everybody
//! else wants to know of a transport: what it puts on the wire, what it needs of the network ([`Protocol`]).
//!
//! Each transport has a folder of its own and a line in the one list, from which the enums, dispatched
//! statically, follow.

pub(crate) mod arrivals;
mod collector;
mod contract;
mod counts;
mod delivery;
pub mod expresspass;
pub mod homa;
mod list;
pub mod ndp;
pub mod path_selection;
mod path_values;
pub mod phost;
mod rank;
pub mod rc3;
pub mod rdma;
mod rto;
pub mod tcp;
pub mod udp;
pub mod uet;

pub use contract::*;
pub use expresspass::spec::*;
pub use homa::spec::*;
pub use ndp::spec::*;
pub use path_selection::{PathFeedback, PathSelectionSpec, PathSelector};
pub use path_values::PathValues;
pub use phost::spec::*;
pub use rank::Rank;
pub use rc3::spec::*;
pub use rdma::choices::*;
pub use rdma::spec::*;
pub use rto::Rto;
pub use tcp::choices::*;
pub use tcp::spec::*;
pub use tcp::video::{RUNGS, VideoSpec};
pub use udp::{UdpPace, UdpSpec};
pub(crate) use uet::spec::QUANTUM;
pub use uet::spec::{AckValues, CreditSpec, UetSpec};

use crate::congestion::decisions::Log;
use crate::congestion::{ControllerSpec, Interval, Permit, Report, Start};
use crate::problems::Invalid;
use expresspass::{ExpressPassReceiver, ExpressPassSender};
use homa::{HomaReceiver, HomaSender};
use ndp::{NdpReceiver, NdpSender};
use phost::{PhostReceiver, PhostSender};
use rc3::{Rc3Receiver, Rc3Sender};
use rdma::{RdmaReceiver, RdmaSender};
use serde::{Deserialize, Serialize};
use tcp::{TcpReceiver, TcpSender};
use thalweg_units::{FlowId, Rate, Span, Stream, Time, dispatch};
use thalweg_wire::{Packet, Side};
use udp::{UdpReceiver, UdpSender};
use uet::{UetReceiver, UetSender};

// The one list.
list::transports! {
    /// Byte stream with acknowledgements.
    Tcp(TcpSpec): TcpSender, TcpReceiver;
    /// Open loop: datagrams, no feedback.
    Udp(UdpSpec): UdpSender, UdpReceiver;
    /// RoCE, IRN and what lies between: queue pairs.
    Rdma(RdmaSpec): Box<RdmaSender>, RdmaReceiver;
    /// Receiver-driven: a packet per token.
    Phost(PhostSpec): PhostSender, PhostReceiver;
    /// TCP, and a second loop of lower and lower priorities over the same buffer.
    Rc3(Rc3Spec): Box<Rc3Sender>, Rc3Receiver;
    /// Receiver-driven: a packet per grant, the first ones without.
    Homa(HomaSpec): HomaSender, HomaReceiver;
    /// Receiver-driven: a packet per credit, and credits are metered at every port.
    ExpressPass(ExpressPassSpec): ExpressPassSender, Box<ExpressPassReceiver>;
    /// Receiver-driven: a packet per pull, and headers of those that found a queue full.
    Ndp(NdpSpec): Box<NdpSender>, Box<NdpReceiver>;
    /// Packets on any path, acknowledged by number: windows at senders, credits of receivers, or both.
    Uet(UetSpec): Box<UetSender>, Box<UetReceiver>;
}

impl Sender {
    /// In place of a sender that is elsewhere: it is never called, and has nothing to send.
    pub fn elsewhere(flow: FlowId) -> Self {
        Self::Udp(UdpSender::idle(flow))
    }
}

#[cfg(test)]
mod recorder;
#[cfg(test)]
mod testing;
#[cfg(test)]
mod tests;
#[cfg(test)]
mod traces;
