//! Properties of transports that do not depend on their kind: each kind implements them in a file of its own.

mod expresspass;
mod homa;
mod ndp;
pub(crate) mod phost;
mod rdma;
mod tcp;
mod udp;
pub(crate) mod uet;

use crate::quantity::Q;
use crate::schema::{Document, Rank, Transport, of_kind};
use crate::topology::PacketSizes;
use thalweg_machines::congestion::ControllerSpec;
use thalweg_machines::transport::{TransportSpec, Wire};
use thalweg_units::Bytes;

/// The most that senders can write into the rank header.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) enum Ranks {
    /// Nothing.
    Never,
    /// The size of the flow.
    Size,
    /// The size of the flow, or its remaining bytes.
    Remaining,
}

/// A kind of transport, as written in a scenario.
pub(crate) trait TransportKind {
    /// The parameters of its machine. Sizes too large for a packet become the largest possible.
    fn spec(&self) -> TransportSpec;
    /// Its controller.
    fn congestion(&self) -> Option<&ControllerSpec> {
        None
    }
    /// Its controller, to fill in keys with dependent defaults.
    fn congestion_mut(&mut self) -> Option<&mut ControllerSpec> {
        None
    }
    /// The most that its senders can write into the rank header.
    fn ranks(&self) -> Ranks {
        Ranks::Never
    }
    /// What its senders write into the rank header, if the scenario gives it.
    fn rank(&self) -> Option<Rank> {
        None
    }
    /// True if its senders slow down after losses, whatever the controller.
    fn slows_on_loss(&self) -> bool {
        false
    }
    /// True if a connection can carry several flows, one after the other.
    fn carries_many(&self) -> bool {
        false
    }
    /// The highest class that the transport gives its packets itself; with RC3, the number of classes below the flow's
    /// own.
    fn classes(&self) -> u8 {
        0
    }
    /// A transport with the same packet sizes and all other keys by default.
    fn bare(&self) -> Transport;
}

impl Transport {
    /// The parameters of its machine.
    pub(crate) fn spec(&self) -> TransportSpec {
        of_kind!(self, |t| t.spec())
    }
    /// The sizes of its packets on the wire.
    pub(crate) fn wire(&self) -> Wire {
        self.spec().wire()
    }
    /// Sizes of a full packet and of its ACK; 0 if none is sent without losses.
    pub(crate) fn packet_sizes(&self) -> PacketSizes {
        let wire = self.wire();
        let ack = wire.ack.filter(|_| wire.is_acknowledged());
        PacketSizes { full: wire.full(), ack: ack.unwrap_or(0) }
    }
    /// See [`TransportKind::congestion`].
    pub(crate) fn congestion(&self) -> Option<&ControllerSpec> {
        of_kind!(self, |t| t.congestion())
    }
    /// See [`TransportKind::congestion_mut`].
    pub(crate) fn congestion_mut(&mut self) -> Option<&mut ControllerSpec> {
        of_kind!(self, |t| t.congestion_mut())
    }
    /// See [`TransportKind::ranks`].
    pub(crate) fn ranks(&self) -> Ranks {
        of_kind!(self, |t| t.ranks())
    }
    /// See [`TransportKind::rank`].
    pub(crate) fn rank(&self) -> Rank {
        of_kind!(self, |t| t.rank()).unwrap_or(Rank::None)
    }
    /// See [`TransportKind::slows_on_loss`].
    pub(crate) fn slows_on_loss(&self) -> bool {
        of_kind!(self, |t| t.slows_on_loss())
    }
    /// See [`TransportKind::carries_many`].
    pub(crate) fn carries_many(&self) -> bool {
        of_kind!(self, |t| t.carries_many())
    }
    /// See [`TransportKind::classes`].
    pub(crate) fn classes(&self) -> u8 {
        of_kind!(self, |t| t.classes())
    }
    /// See [`TransportKind::bare`].
    pub(crate) fn bare(&self) -> Transport {
        of_kind!(self, |t| t.bare())
    }
}

/// `[transport]`, then `[transports]` by name, then the transports of traffic sections that have one of their own.
/// `wanted`: the rank that a scheduler sorts by.
pub(crate) fn specs(doc: &Document, wanted: Option<Rank>) -> Vec<TransportSpec> {
    let own = std::iter::once(&doc.transport).chain(doc.transports.values()).map(Transport::spec);
    own.chain(doc.traffic.iter().filter_map(|traffic| traffic.pattern.family().transport(wanted))).collect()
}

/// A packet size in bytes.
fn bytes(size: Q<Bytes>) -> u32 {
    u32::try_from(size.0.get()).unwrap_or(u32::MAX)
}
