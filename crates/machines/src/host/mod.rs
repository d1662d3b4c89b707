//! Host agents: one machine per host for all flows of a transport that begin or end there.
//!
//! A flow's two ends know only their own flow. Decisions that involve several flows belong to the agent:
//! which flow sends next, to which of the arriving flows the downlink is promised (pHost's tokens, Homa's
//! grants, ExpressPass' credits), how often a host may send CNPs (DCQCN, per NIC). It sees flows begin and
//! end and packets arrive, and sends control packets of its own. Like every machine it owns no clock and
//! does no I/O.
//!
//! A packet first comes to the end of its flow, then to the agent. After [`HostAgent::on_start`],
//! [`HostAgent::on_packet`] and [`HostAgent::on_timer`] the agent is polled until it answers something else
//! than [`Transmit::Packet`], and its timer is looked at. What it sends travels as that flow's: requests and
//! data to the destination, everything else to the source. So an agent sends only for flows that it has been
//! notified of and that are not over, or that it holds.

mod flows;
mod homa;
mod list;
mod ndp;
mod phost;
mod uet;

pub use homa::HomaAgent;
pub use ndp::NdpAgent;
pub use phost::PhostAgent;
pub use uet::UetAgent;

use crate::transport::{Transmit, TransportSpec};
use serde::{Deserialize, Serialize};
use thalweg_units::{FlowId, Rate, Time, dispatch};
use thalweg_wire::{Message, Packet, Side};

/// One end of a flow, as its host sees it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum End {
    /// It begins here.
    Source,
    /// It ends here.
    Destination,
}

/// A packet that has come to the host.
#[derive(Clone, Copy, Debug)]
pub struct Came<'a> {
    /// The packet.
    pub packet: &'a Packet,
    /// Its cold headers, if it carries any.
    pub side: Option<&'a Side>,
    /// To which end of its flow.
    pub end: End,
    /// Distinct payload bytes that this end knows to have arrived, including this packet: acknowledged at the source,
    /// received at the destination.
    pub arrived: u64,
}

impl<'a> Came<'a> {
    /// The message that the packet carries, with or without data.
    #[inline]
    pub fn message(&self) -> Option<&'a Message> {
        self.side.and_then(Side::message)
    }
}

/// An agent: it sees all flows of one transport at a host.
///
/// ```
/// use thalweg_machines::host::{Came, HostAgent};
/// use thalweg_machines::transport::Transmit;
/// use thalweg_units::{FlowId, Time};
/// use thalweg_wire::{Packet, Side};
///
/// /// Lets the flow with the fewest bytes left send first, and sends nothing itself.
/// struct Shortest;
///
/// impl HostAgent for Shortest {
///     type Spec = ();
///     fn on_packet(&mut self, _: &(), _: Time, _: Came<'_>) {}
///     fn on_timer(&mut self, _: &(), _: Time) {}
///     fn poll_transmit(&mut self, _: &(), _: Time, _: &mut Packet, _: &mut Side) -> Transmit {
///         Transmit::Idle
///     }
///     fn timer(&self, _: &()) -> Option<Time> {
///         None
///     }
///     fn rank(&self, _: FlowId, left: u64) -> u64 {
///         left
///     }
/// }
///
/// let agent = Shortest;
/// assert!(agent.rank(FlowId(1), 1460) < agent.rank(FlowId(0), 1_000_000));
/// ```
pub trait HostAgent {
    /// What its transport shares between flows.
    type Spec;
    /// A flow of `size` bytes begins here.
    fn on_start(&mut self, _spec: &Self::Spec, _now: Time, _flow: FlowId, _size: u64) {}
    /// An end of a flow is over: every byte is acknowledged, or has arrived. No calls for it follow.
    /// See [`HostAgent::holds`].
    fn on_over(&mut self, _spec: &Self::Spec, _now: Time, _flow: FlowId, _end: End) {}
    /// A packet has arrived, and the end of its flow has processed it.
    fn on_packet(&mut self, spec: &Self::Spec, now: Time, came: Came<'_>);
    /// The instant named by [`HostAgent::timer`] has come (calls before it are ignored).
    fn on_timer(&mut self, spec: &Self::Spec, now: Time);
    /// Fills in the next packet, which carries a message: every field but destination and route, as
    /// [`Endpoint::poll_transmit`](crate::transport::Endpoint::poll_transmit) does.
    fn poll_transmit(
        &mut self,
        spec: &Self::Spec,
        now: Time,
        packet: &mut Packet,
        side: &mut Side,
    ) -> Transmit;
    /// The next instant at which [`HostAgent::on_timer`] must be called, those of [`Transmit::At`] apart.
    fn timer(&self, spec: &Self::Spec) -> Option<Time>;
    /// Whether it may still send for a flow that ends here and is over; the flow's ends are kept until then. Once
    /// false, it stays false.
    fn holds(&self, _flow: FlowId) -> bool {
        false
    }
    /// The rank of a flow that begins here: where the NIC pulls, the flow with the lowest rank sends next; of equals,
    /// the one that has waited longest. `left`: bytes that its sender has yet to send ([`SendingEnd::remaining`]).
    ///
    /// [`SendingEnd::remaining`]: crate::transport::SendingEnd::remaining
    fn rank(&self, _flow: FlowId, _left: u64) -> u64 {
        0
    }
}

// The one list: transports with an agent. Each has a file of its own.
list::agents! {
    /// pHost: tokens go to the flow with the fewest remaining bytes.
    Phost(PhostAgent);
    /// Homa: grants to the messages with the fewest remaining bytes, several at once.
    Homa(HomaAgent);
    /// NDP: a pull per packet that arrives, round robin over flows.
    Ndp(NdpAgent);
    /// Ultra Ethernet: credits round robin over flows that request them.
    Uet(UetAgent);
}
