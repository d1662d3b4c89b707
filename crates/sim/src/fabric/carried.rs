//! What ports have sent so far.

use crate::fabric::Fabric;
use crate::port::{Backlog, Lane};
use thalweg_net::spec::NetworkSpec;
use thalweg_units::{PortId, Time};

/// What a port has put on its wire; departures that are only booked do not count.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Carried {
    /// Packets whose transmission has begun.
    pub packets: u64,
    /// Their bytes.
    pub bytes: u64,
    /// Bytes that have left, including those of the packet in transmission that are already sent. (A packet that
    /// can be preempted counts when its last bit leaves.)
    pub left: u64,
}

/// What a port has carried by `now`.
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

/// The number of packets carried by all ports.
pub(crate) fn packets(fabric: &Fabric, now: Time) -> u64 {
    (0..fabric.ports.len()).map(|id| begun(fabric, PortId::from(id), now).0).sum()
}

/// The numbers of packets, and of their bytes, whose transmission has begun.
pub(crate) fn begun(fabric: &Fabric, id: PortId, now: Time) -> (u64, u64) {
    let port = &fabric.ports[id.at()];
    // Express ports count packets when they are booked.
    let is_booked = port.mode.lane == Lane::Express;
    let ahead = if is_booked { port.express_backlog(now) } else { Backlog::default() };
    (port.sent.packets - u64::from(ahead.packets), port.sent.bytes - ahead.bytes)
}
