//! What scenarios want to know of a transport, whichever it is: each kind answers in a file of its own.

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

/// How much a sender knows of what it could write into the rank header.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) enum Ranks {
    /// It writes nothing.
    Never,
    /// Its flow's size.
    Size,
    /// And what of it remains.
    Remaining,
}

/// A kind of transport, as written in a scenario.
pub(crate) trait TransportKind {
    /// As the machines want it. Sizes too large for a packet become the largest there are.
    fn spec(&self) -> TransportSpec;
    /// Its controller.
    fn congestion(&self) -> Option<&ControllerSpec> {
        None
    }
    /// The same, to fill in what follows from elsewhere.
    fn congestion_mut(&mut self) -> Option<&mut ControllerSpec> {
        None
    }
    /// What its senders could write into the rank header.
    fn ranks(&self) -> Ranks {
        Ranks::Never
    }
    /// What the scenario has them write.
    fn rank(&self) -> Option<Rank> {
        None
    }
    /// Its senders slow down when packets are dropped, whatever the controller.
    fn slows_on_loss(&self) -> bool {
        false
    }
    /// A connection can carry one flow after the other.
    fn carries_many(&self) -> bool {
        false
    }
    /// The highest class that its packets are of by themselves; RC3: classes below the flow's own.
    fn classes(&self) -> u8 {
        0
    }
    /// The same packets, all else by default.
    fn bare(&self) -> Transport;
}

impl Transport {
    /// As the machines want it.
    pub(crate) fn spec(&self) -> TransportSpec {
        of_kind!(self, |t| t.spec())
    }
    /// What it puts on the wire.
    pub(crate) fn wire(&self) -> Wire {
        self.spec().wire()
    }
    /// A full packet and its ACK, if any comes without losses.
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

/// `[transport]`, then `[transports]` by name, then those that traffic brings; `wanted`: the rank that a scheduler
/// sorts by.
pub(crate) fn specs(doc: &Document, wanted: Option<Rank>) -> Vec<TransportSpec> {
    let own = std::iter::once(&doc.transport).chain(doc.transports.values()).map(Transport::spec);
    own.chain(doc.traffic.iter().filter_map(|traffic| traffic.pattern.family().transport(wanted))).collect()
}

/// Bytes on the wire.
fn bytes(size: Q<Bytes>) -> u32 {
    u32::try_from(size.0.get()).unwrap_or(u32::MAX)
}
