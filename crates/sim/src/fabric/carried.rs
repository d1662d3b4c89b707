//! What ports have carried by now.

use crate::fabric::Fabric;
use crate::port::Lane;
use thalweg_net::spec::NetworkSpec;
use thalweg_units::{PortId, Time};

/// What a port has put on its wire; what only has its place there booked does not count.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Carried {
    /// Packets whose transmission has begun.
    pub packets: u64,
    /// Their bytes.
    pub bytes: u64,
    /// Those that have left: of a packet in transmission what is out already. (A packet that can be preempted counts as
    /// its last bit leaves.)
    pub left: u64,
}

/// By a port.
pub(crate) fn by(fabric: &Fabric, spec: &NetworkSpec, id: PortId, now: Time) -> Carried {
    let offered = |at| spec.direction(id).transmitter.offered(at).get();
    let remains = match (fabric.ports[id.at()].transmitting_until(now), fabric.reference(id)) {
        (None, _) => 0,
        (Some(_), Some(reference)) => reference.egress.remaining(now),
        (Some(end), None) => offered(end).saturating_sub(offered(now)),
    };
    let (packets, bytes) = begun(fabric, id, now);
    Carried { packets, bytes, left: bytes.saturating_sub(remains) }
}

/// Packets, by all ports.
pub(crate) fn packets(fabric: &Fabric, now: Time) -> u64 {
    (0..fabric.ports.len()).map(|id| begun(fabric, PortId::from(id), now).0).sum()
}

/// Packets and bytes whose transmission has begun.
pub(crate) fn begun(fabric: &Fabric, id: PortId, now: Time) -> (u64, u64) {
    let port = &fabric.ports[id.at()];
    // Express: counted as each was booked.
    let is_booked = port.mode.lane == Lane::Express;
    let (packets, bytes) = if is_booked { port.express_backlog(now) } else { (0, 0) };
    (port.sent.packets - u64::from(packets), port.sent.bytes - bytes)
}
