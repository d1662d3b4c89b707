//! Reliability, apart from congestion control: loss detection, retransmission, acknowledgement. A sender and a receiver
//! machine per flow.
//!
//! Both are driven alike: `on_packet` and `on_timer` feed observations in, `poll_transmit` hands packets
//! out one by one until it reports why it stops, and `timer` names the next deadline (the owner re-arms
//! lazily: a deadline may move later at any time). After *every* `on_packet`, `on_timer` and
//! [`Sender::start`], poll until it answers something else than [`Transmit::Packet`]. The owner adds what
//! only the network knows: destination and route.
//!
//! What all flows of one kind of transport share (a [`TransportSpec`]) is not kept in each of them but passed to every
//! call: always the one that the machine was made with. It also declares what others need to know of a transport: what
//! it puts on the wire, and what it needs of the network ([`Protocol`]).
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
    /// Open-loop datagrams without feedback.
    Udp(UdpSpec): UdpSender, UdpReceiver;
    /// RDMA queue pairs: RoCE, IRN and variants between them.
    Rdma(RdmaSpec): Box<RdmaSender>, RdmaReceiver;
    /// pHost, receiver-driven: each packet needs a token.
    Phost(PhostSpec): PhostSender, PhostReceiver;
    /// RC3: TCP, and a second loop that sends the same buffer from its end at low priorities.
    Rc3(Rc3Spec): Box<Rc3Sender>, Rc3Receiver;
    /// Homa, receiver-driven: packets need grants, except the first ones of a message.
    Homa(HomaSpec): HomaSender, HomaReceiver;
    /// ExpressPass, receiver-driven: each packet needs a credit, and every port limits the rate of credits.
    ExpressPass(ExpressPassSpec): ExpressPassSender, Box<ExpressPassReceiver>;
    /// NDP, receiver-driven: a packet per pull, over switches that trim packets when a queue is full.
    Ndp(NdpSpec): Box<NdpSender>, Box<NdpReceiver>;
    /// Ultra Ethernet: packets sprayed over paths and acknowledged by number; windows at senders, credits of receivers,
    /// or both.
    Uet(UetSpec): Box<UetSender>, Box<UetReceiver>;
}

impl Sender {
    /// A placeholder for a sender that runs in another part of a partitioned network. It is never called.
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
